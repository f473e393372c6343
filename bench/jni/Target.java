/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package bench;

/** What the benchmark of calls from C calls. */
public final class Target {
    public int field;
    public static int statics;

    public Target(int field) {
        this.field = field;
    }

    static int fourInts(int a, int b, int c, int d) {
        return a + b + c + d;
    }
}
