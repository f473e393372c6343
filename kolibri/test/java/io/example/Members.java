/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.example;

/** Members of every kind for the class tests. */
public class Members {
    public boolean z = true;
    public byte b = -1;
    public char c = 'c';
    public short s = -2;
    public int i = 7;
    public long j = 1L << 40;
    public float f = 0.5f;
    public double d = 0.25;
    public String name = "field";
    public int keep = 5;

    public static int made;
    public static String shared = "shared";
    public static long[] longs = {1, 2, 3};

    public static class Inner {}

    public static class Sub extends Members {
        @Override
        public int overridden() {
            return 2;
        }
    }

    public Members() {
        made++;
    }

    public Members(int i, String name) {
        this();
        if (i < 0) {
            throw new IllegalArgumentException("negative");
        }
        this.i = i;
        this.name = name;
    }

    public int overridden() {
        return 1;
    }

    public int keep() {
        return keep * 2;
    }

    public int of(int x) {
        return x + i;
    }

    public String of(String x) {
        return x + name;
    }

    public long all(boolean z, byte b, char c, short s, int i, long j, float f, double d) {
        return (z ? 1 : 0) + b + c + s + i + j + (long) f + (long) d;
    }

    public void fail(String message) {
        throw new IllegalStateException(message);
    }

    public static int add(int a, int b) {
        return a + b;
    }

    public static int[][] grid(Members[] all) {
        return new int[][] {{all.length}};
    }

    public static void nothing() {}

    public static Object lies() {
        throw new IllegalStateException("nothrow was promised");
    }

    public static Object echo(Object o) {
        return o;
    }
}
