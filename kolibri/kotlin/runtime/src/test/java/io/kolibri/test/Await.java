/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kolibri.Owner;
import java.util.function.BooleanSupplier;

/** Waiting for what the collector does; only what never comes takes the whole time. */
final class Await {
    private Await() {}

    /** Until no cell lives but those that a test let an owner leak. */
    static void noCells() {
        until(() -> Counts.created() - Owner.leaked() == Counts.destroyed());
    }

    static void until(BooleanSupplier reached) {
        long deadline = System.nanoTime() + 120_000_000_000L;
        while (!reached.getAsBoolean() && System.nanoTime() < deadline) {
            System.gc();
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
        assertTrue(reached.getAsBoolean(), "not reached in two minutes");
    }
}
