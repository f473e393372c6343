/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

/** What the native test library counted, over all cells of the process. */
public final class Counts {
    static {
        load();
    }

    private Counts() {}

    /** Loads the native test library; it is built by CMake into the folder of a system property. */
    public static void load() {
        System.load(System.getProperty("native.build") + "/jvm-test/libruntime.so");
    }

    public static native int created();

    public static native int ended();

    public static native int destroyed();

    /** How often a call, an end or a destroy met a destroyed cell. */
    public static native int touchedDead();

    /** How often a cell was not ended and destroyed exactly once, in this order. */
    public static native int wrongCount();

    public static native String echo(String text);

    public static native void fail(int status, String message);
}
