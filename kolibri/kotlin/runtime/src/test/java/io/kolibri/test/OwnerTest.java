/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kolibri.Owner;
import io.kolibri.ReleasedException;
import io.kolibri.Scope;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Objects that live on one thread. */
class OwnerTest {
    private int ended;
    private int destroyed;

    static Stream<Named<BiFunction<Integer, Owner, Cell>>> all() {
        return Stream.of(
                Named.of("plain", OwnedCell::new), Named.of("woven", WovenOwnedCell::new));
    }

    @BeforeEach
    void start() {
        Await.noCells();
        ended = Counts.ended();
        destroyed = Counts.destroyed();
    }

    @AfterEach
    void nothingWentWrong() {
        assertEquals(0, Counts.touchedDead());
        assertEquals(0, Counts.wrongCount());
    }

    private static Throwable onAnotherThread(Runnable action) throws InterruptedException {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                action.run();
                            } catch (Throwable t) {
                                thrown.set(t);
                            }
                        });
        thread.start();
        thread.join();
        return thrown.get();
    }

    @ParameterizedTest
    @MethodSource("all")
    void onlyItsThreadUsesAndClosesIt(BiFunction<Integer, Owner, Cell> make) throws Exception {
        try (Owner owner = new Owner()) {
            Cell cell = make.apply(3, owner);
            assertEquals(3, cell.slow(0));
            assertTrue(onAnotherThread(() -> cell.slow(0)) instanceof IllegalStateException);
            assertTrue(onAnotherThread(cell::close) instanceof IllegalStateException);
            assertTrue(onAnotherThread(owner::drain) instanceof IllegalStateException);
            assertTrue(
                    onAnotherThread(() -> make.apply(1, owner)) instanceof IllegalStateException);
            assertFalse(cell.isClosed());
            assertEquals(6, cell.both(cell, 0));
            cell.close();
            assertThrows(ReleasedException.class, () -> cell.slow(0));
            assertThrows(ReleasedException.class, () -> cell.both(cell, 0));
        }
    }

    @ParameterizedTest
    @MethodSource("all")
    void aClosedOneIsDestroyedByTheNextDrain(BiFunction<Integer, Owner, Cell> make) {
        AtomicInteger woken = new AtomicInteger();
        try (Owner owner = new Owner(woken::incrementAndGet)) {
            Cell cell = make.apply(3, owner);
            Cell other = make.apply(4, owner);
            cell.close();
            cell.close();
            other.close();
            assertEquals(2, Counts.ended() - ended);
            assertEquals(0, Counts.destroyed() - destroyed);
            assertEquals(1, woken.get());
            assertEquals(2, owner.drain());
            assertEquals(2, Counts.destroyed() - destroyed);
            assertEquals(0, owner.drain());
        }
    }

    @ParameterizedTest
    @MethodSource("all")
    void garbageIsDestroyedByItsThread(BiFunction<Integer, Owner, Cell> make) {
        AtomicInteger woken = new AtomicInteger();
        try (Owner owner = new Owner(woken::incrementAndGet)) {
            for (int i = 0; i < 8; i++) {
                make.apply(i, owner);
            }
            AtomicInteger drained = new AtomicInteger();
            Await.until(
                    () -> {
                        assertEquals(drained.get(), Counts.destroyed() - destroyed);
                        return drained.addAndGet(owner.drain()) == 8;
                    });
            assertEquals(8, Counts.destroyed() - destroyed);
            assertEquals(8, Counts.ended() - ended);
            assertTrue(woken.get() > 0);
        }
    }

    @Test
    void afterItsOwnerOneThatMayGoesAnywhere() {
        Owner owner = new Owner();
        new WovenOwnedCell(1, owner);
        owner.close();
        Await.until(() -> Counts.destroyed() - destroyed == 1);
        assertEquals(1, Counts.ended() - ended);
    }

    @Test
    void afterItsOwnerOneThatMayNotIsLeakedAndCounted() {
        int leaked = Owner.leaked();
        Owner owner = new Owner();
        new OwnedCell(1, owner);
        owner.close();
        Await.until(() -> Owner.leaked() - leaked == 1);
        assertEquals(0, Counts.destroyed() - destroyed);
    }

    @Test
    void aDeadThreadIsAClosedOwner() throws Exception {
        assertEquals(null, onAnotherThread(() -> new WovenOwnedCell(1, new Owner())));
        Await.until(() -> Counts.destroyed() - destroyed == 1);
    }

    @ParameterizedTest
    @MethodSource("all")
    void aScopeThatEndsElsewhereUsesTheQueue(BiFunction<Integer, Owner, Cell> make)
            throws Exception {
        Scope scope = new Scope("test");
        try (Owner owner = new Owner();
                Scope.Entered entered = scope.enter()) {
            assertNotNull(entered);
            Cell cell = make.apply(3, owner);
            assertEquals(null, onAnotherThread(scope::close));
            assertEquals(0, Counts.ended() - ended);
            assertEquals(2, owner.drain());
            assertTrue(cell.isClosed());
            assertEquals(1, Counts.ended() - ended);
            assertEquals(1, Counts.destroyed() - destroyed);
        }
    }

    @Test
    void kindAndConstructorMustAgree() {
        assertThrows(IllegalStateException.class, () -> new OwnedCell(1, null));
    }
}
