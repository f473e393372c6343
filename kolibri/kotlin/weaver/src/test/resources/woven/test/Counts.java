/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package test;

/** What happened to the C objects of this copy of the library. */
public final class Counts {
    private Counts() {}

    public static native int touchedDead();

    public static native int destroyed();

    /** How many calls of slow(-1) are inside and wait for {@link #letGo}. */
    public static native int waiting();

    public static native void letGo();

    /** The native rows of Counter and Guarded, one a line. */
    public static native String rows();
}
