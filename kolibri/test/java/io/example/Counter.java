/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.example;

import io.kolibri.NativeObject;

/** A shared native object in the unwoven form: plain native methods. */
public class Counter extends NativeObject {
    public int count = 7;
    public static int made;

    public Counter(int n) {
        super(create(n));
        made++;
    }

    Counter(int n, long pointer) {
        super(pointer);
        count = n;
    }

    static native long create(int n);

    public static native int version();

    public static native int sumOf(Counter a, Counter b);

    public native int add(int by);

    public native int addFrom(Counter other);

    public native int addMaybe(Counter other);

    public native void reset();

    public native String name(String s);

    public native int peek(int x);

    public native int wide(
            int a, long b, double c, byte d, boolean e, char f, float g, Counter h);

    public native int callBack(Runnable r);

    int count() {
        return count;
    }

    static int statics(int a, int b) {
        return a * b;
    }
}
