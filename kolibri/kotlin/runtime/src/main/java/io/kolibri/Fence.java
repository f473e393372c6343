/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

/**
 * Keeps an object reachable up to a point, with calls that every Android release from API 24 on
 * has.
 *
 * <p>Reference.reachabilityFence came with API 28. The fallback stores into a field that is
 * never read under a condition no compiler can know to be false.
 */
final class Fence {
    private static volatile boolean never;
    private static Object sink;

    private Fence() {}

    static void reachable(Object object) {
        if (never) {
            sink = object;
        }
    }
}
