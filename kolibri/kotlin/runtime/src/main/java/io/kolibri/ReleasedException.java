/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

/** A native object was used after its close, or after the end of its scope. */
public class ReleasedException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    public ReleasedException(String className) {
        super(className + " was already released");
    }
}
