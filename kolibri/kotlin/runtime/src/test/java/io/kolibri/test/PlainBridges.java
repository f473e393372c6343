/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import io.kolibri.Bridge;

/** The same without having asked for upcalls. {@link Bridges} loads the library. */
public final class PlainBridges {
    private PlainBridges() {}

    static native boolean isUpcall();

    static native int callNone();

    static native int callAdd(int a, int b);

    static native int callAll();

    static native int callFail(int how);

    static native int callNest(int depth);

    static native int callOnThread(int rounds);

    static int none() {
        return 7;
    }

    static int add(int a, int b) {
        try {
            return a + b;
        } catch (Throwable t) {
            return Bridge.caught(t);
        }
    }

    static int all(boolean z, byte b, char c, short s, int i, long j, float f, double d) {
        boolean isRight = z && b == -2 && c == 0xFFF0 && s == -4 && i == -5 && j == 1L << 40
                && f == 0.5f && d == 0.25;
        return isRight ? 1 : 0;
    }

    /** 0 catches as a bridge should; anything else escapes, in different depths of the stack. */
    static int fail(int how) {
        if (how > 0) {
            return how == 1 ? Integer.parseInt("escaped") : endless(0);
        }
        try {
            throw new IllegalStateException("caught");
        } catch (Throwable t) {
            return Bridge.caught(t);
        }
    }

    private static int endless(int depth) {
        return endless(depth + 1) + 1;
    }

    /** Through C and back, until the stack is used up. */
    static int nest(int depth) {
        deepest = Math.max(deepest, depth);
        try {
            return callNest(depth + 1);
        } catch (Throwable t) {
            return Bridge.caught(t);
        }
    }

    static int deepest;
}
