/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import java.nio.ByteBuffer;

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

    /** How many calls of {@link Cell#slow} are inside and wait for {@link #letGo}. */
    public static native int waiting();

    public static native void letGo();

    public static native String echo(String text);

    /** Runs commands: operation 1 adds one argument to the result, operation 2 two. */
    public static native long runCommands(ByteBuffer memory, int slots);

    /** Fills the memory with commands of operation 7 with a counter and 0.5; returns the slots. */
    public static native int fillCommands(ByteBuffer memory);

    /** Finds a class on a new thread of C; null if it is not found there. */
    public static native Class<?> findOnThread(String name);

    /** Runs it on eight threads of C, ten times each; returns how many runs failed. */
    public static native int runOnThreads(Runnable runnable);

    public static native void fail(int status, String message);
}
