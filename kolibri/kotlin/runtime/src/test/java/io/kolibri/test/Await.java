/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.BooleanSupplier;

/** Waiting for what the collector does, within ten seconds. */
final class Await {
    private Await() {}

    static void until(BooleanSupplier reached) {
        long deadline = System.nanoTime() + 10_000_000_000L;
        while (!reached.getAsBoolean() && System.nanoTime() < deadline) {
            System.gc();
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
        assertTrue(reached.getAsBoolean(), "not reached in ten seconds");
    }
}
