/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.example;

import io.kolibri.NativeObject;

/** The same natives as Counter in the woven form, as the weaver writes it. */
public class Woven extends NativeObject {
    public Woven(int n) {
        super(create(n));
    }

    static native long create(int n);

    public static native int version();

    public static int sumOf(Woven a, Woven b) {
        int sum = sumOf(ptr(a), ptr(b));
        fence(a);
        fence(b);
        return sum;
    }

    private static native int sumOf(long a, long b);

    public int add(int by) {
        int result = add(ptr(this), by);
        fence(this);
        return result;
    }

    private static native int add(long self, int by);

    public int addFrom(Woven other) {
        int result = addFrom(ptr(this), ptr(other));
        fence(this);
        fence(other);
        return result;
    }

    private static native int addFrom(long self, long other);

    public int addMaybe(Woven other) {
        int result = addMaybe(ptr(this), ptrOrZero(other));
        fence(this);
        fence(other);
        return result;
    }

    private static native int addMaybe(long self, long other);

    public void reset() {
        reset(ptr(this));
        fence(this);
    }

    private static native void reset(long self);

    public String name(String s) {
        String result = name(ptr(this), s);
        fence(this);
        return result;
    }

    private static native String name(long self, String s);

    public int peek(int x) {
        int result = peek(ptr(this), x);
        fence(this);
        return result;
    }

    private static native int peek(long self, int x);

    static native int peek$critical(long self, int x);

    public int wide(int a, long b, double c, byte d, boolean e, char f, float g, Woven h) {
        int result = wide(ptr(this), a, b, c, d, e, f, g, ptr(h));
        fence(this);
        fence(h);
        return result;
    }

    private static native int wide(
            long self, int a, long b, double c, byte d, boolean e, char f, float g, long h);

    public int callBack(Runnable r) {
        int result = callBack(ptr(this), r);
        fence(this);
        return result;
    }

    private static native int callBack(long self, Runnable r);
}
