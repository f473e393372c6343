/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package bench;

import io.kolibri.Bridge;
import java.util.ArrayList;
import java.util.HashMap;

/** What C calls in the benchmark of native to Java, and the program that starts it. */
public final class Target {
    static final Integer KEY = 1000;
    static final ArrayList<Object> LIST = new ArrayList<>();
    static final HashMap<Object, Object> MAP = new HashMap<>();
    static final int[] INTS = new int[256];
    static int shared = 7;

    int field = 7;

    static {
        for (int i = 0; i < 64; i++) {
            LIST.add("element " + i);
        }
        MAP.put(KEY, KEY);
    }

    static int add(int a, int b) {
        return a + b;
    }

    static int bridge(int a, int b) {
        try {
            return a + b;
        } catch (Throwable t) {
            return Bridge.caught(t);
        }
    }

    int four(int a, int b, int c, int d) {
        return field + a + b + c + d;
    }

    static native void run(String bench, int rounds, int calls);

    public static void main(String[] args) {
        System.load(args[0]);
        run(args[1], Integer.parseInt(args[2]), Integer.parseInt(args[3]));
    }
}
