/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

/** An error of a native library that is mapped to no exception class of its own. */
public class KolibriException extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final int status;

    @CalledFromNative
    public KolibriException(String message, int status) {
        super(message);
        this.status = status;
    }

    /** The library's status number. */
    public int status() {
        return status;
    }
}
