/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.example;

/** A native subclass: its own creator, its base's methods. */
public class Derived extends Counter {
    public Derived(int n) {
        super(n, make(n));
    }

    private static native long make(int n);

    public native int extra();
}
