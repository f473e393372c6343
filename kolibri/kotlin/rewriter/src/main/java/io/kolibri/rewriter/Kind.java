/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.rewriter;

/** How a bridge gets the pointer of an object, by what is known of the object's class. */
public enum Kind {
    /** Reads the pointer; costs nothing more. */
    SHARED("ptr", "ptrOrZero"),
    /** Takes a lease for the length of the call. */
    GUARDED("enter", "enterOrZero"),
    /** Checks the thread. */
    OWNER("owned", "ownedOrZero"),
    /** The static type is NativeObject itself: the object decides, at run time. */
    ANY("enter", "enterOrZero");

    final String getter;
    final String nullableGetter;

    Kind(String getter, String nullableGetter) {
        this.getter = getter;
        this.nullableGetter = nullableGetter;
    }

    boolean isLeased() {
        return this == GUARDED || this == ANY;
    }
}
