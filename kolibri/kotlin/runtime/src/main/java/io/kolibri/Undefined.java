/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

/** JavaScript's undefined in messages: not null, and never a value of Java's own. Any thread. */
public enum Undefined {
    /** The one value. */
    UNDEFINED;

    @Override
    public String toString() {
        return "undefined";
    }
}
