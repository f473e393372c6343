/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.example;

/** A throwable that cannot even say what it is. */
public final class Nasty extends RuntimeException {
    private static final long serialVersionUID = 1;

    public Nasty() {}

    @Override
    public String toString() {
        throw new IllegalStateException("no text");
    }
}
