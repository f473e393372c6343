/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.example;

import io.kolibri.KolibriException;
import io.kolibri.ReleasedException;

/** What the native tests do on the Java side, one method a scene. */
public final class Scenes {
    static boolean loudInitialised;

    private Scenes() {}

    interface Action {
        void run();
    }

    static String counter() {
        Counter a = new Counter(1);
        Counter b = new Counter(41);
        StringBuilder s = new StringBuilder();
        s.append("add ").append(a.add(1)).append(", addFrom ").append(a.addFrom(b));
        s.append(", addMaybe ").append(a.addMaybe(null));
        s.append(", name ").append(a.name("x\u00e9"));
        s.append(", peek ").append(a.peek(5)).append(", version ").append(Counter.version());
        s.append(", wide ").append(a.wide(1, 2L, 3.0, (byte) 4, true, 'a', 0.5f, b));
        s.append(", sumOf ").append(Counter.sumOf(a, b));
        s.append(", callBack ").append(a.callBack(() -> {}));
        a.reset();
        s.append(", reset ").append(a.add(0));
        b.close();
        s.append(", ").append(released(() -> b.add(1), "released"));
        s.append(", ").append(released(() -> a.addFrom(b), "released argument"));
        s.append(", ").append(refusedNull(() -> a.addFrom(null)));
        s.append(", ").append(failing(() -> new Counter(-1), () -> new Counter(-2)));
        return s.append(", ").append(sameThrown(a::callBack)).toString();
    }

    static String woven() {
        Woven a = new Woven(1);
        Woven b = new Woven(41);
        StringBuilder s = new StringBuilder();
        s.append("add ").append(a.add(1)).append(", addFrom ").append(a.addFrom(b));
        s.append(", addMaybe ").append(a.addMaybe(null));
        s.append(", name ").append(a.name("x\u00e9"));
        s.append(", peek ").append(a.peek(5)).append(", version ").append(Woven.version());
        s.append(", wide ").append(a.wide(1, 2L, 3.0, (byte) 4, true, 'a', 0.5f, b));
        s.append(", sumOf ").append(Woven.sumOf(a, b));
        s.append(", callBack ").append(a.callBack(() -> {}));
        a.reset();
        s.append(", reset ").append(a.add(0));
        b.close();
        s.append(", ").append(released(() -> b.add(1), "released"));
        s.append(", ").append(released(() -> a.addFrom(b), "released argument"));
        s.append(", ").append(refusedNull(() -> a.addFrom(null)));
        s.append(", ").append(failing(() -> new Woven(-1), () -> new Woven(-2)));
        return s.append(", ").append(sameThrown(a::callBack)).toString();
    }

    static String derived() {
        Derived d = new Derived(5);
        Counter c = new Counter(100);
        return "add " + d.add(1) + ", extra " + d.extra() + ", addFrom " + c.addFrom(d);
    }

    static boolean wasLoudInitialised() {
        return loudInitialised;
    }

    static int useLoud() {
        return Loud.ANSWER;
    }

    private static String released(Action action, String name) {
        try {
            action.run();
            return name + " did not throw";
        } catch (ReleasedException expected) {
            return name;
        }
    }

    private static String refusedNull(Action action) {
        try {
            action.run();
            return "null did not throw";
        } catch (NullPointerException expected) {
            return "null argument";
        }
    }

    private static String failing(Action throwing, Action silent) {
        String s = "";
        try {
            throwing.run();
        } catch (KolibriException e) {
            s += "thrown KolibriException " + e.status() + " " + e.getMessage();
        }
        try {
            silent.run();
        } catch (OutOfMemoryError e) {
            s += ", creator OutOfMemoryError";
        }
        return s;
    }

    private static String sameThrown(java.util.function.Consumer<Runnable> callBack) {
        IllegalArgumentException thrown = new IllegalArgumentException("mine");
        try {
            callBack.accept(
                    () -> {
                        throw thrown;
                    });
            return "callback did not throw";
        } catch (IllegalArgumentException e) {
            return e == thrown ? "callback threw the same" : "callback threw another";
        }
    }
}
