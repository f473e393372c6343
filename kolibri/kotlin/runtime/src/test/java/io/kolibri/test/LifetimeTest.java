/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kolibri.ReleasedException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The life of native objects of both kinds, in the plain and in the woven form. */
class LifetimeTest {
    private int created;
    private int ended;
    private int destroyed;

    static Stream<Named<IntFunction<Cell>>> all() {
        return Stream.of(
                Named.of("shared", SharedCell::new),
                Named.of("woven shared", WovenCell::new),
                Named.of("guarded", GuardedCell::new),
                Named.of("woven guarded", WovenGuardedCell::new));
    }

    static Stream<Named<IntFunction<Cell>>> guarded() {
        return all().skip(2);
    }

    static Stream<Named<IntFunction<Cell>>> shared() {
        return all().limit(2);
    }

    @BeforeEach
    void start() {
        Await.noCells();
        created = Counts.created();
        ended = Counts.ended();
        destroyed = Counts.destroyed();
    }

    @AfterEach
    void nothingWasTouchedDeadOrEndedTwice() {
        Await.noCells();
        assertEquals(0, Counts.touchedDead());
        assertEquals(0, Counts.wrongCount());
    }

    @ParameterizedTest
    @MethodSource("all")
    void callsAfterCloseAreReleasedExceptions(IntFunction<Cell> make) {
        Cell cell = make.apply(5);
        Cell other = make.apply(6);
        assertEquals(5, cell.slow(0));
        assertEquals(11, cell.both(other, 0));
        cell.close();
        assertTrue(cell.isClosed());
        assertThrows(ReleasedException.class, () -> cell.slow(0));
        assertThrows(ReleasedException.class, () -> other.both(cell, 0));
        assertThrows(IllegalStateException.class, () -> cell.both(other, 0));
        assertThrows(NullPointerException.class, () -> other.both(null, 0));
        assertEquals(6, other.slow(0));
        cell.close();
        other.close();
        assertEquals(2, Counts.ended() - ended);
    }

    @ParameterizedTest
    @MethodSource("guarded")
    void aGuardedObjectIsFreedByClose(IntFunction<Cell> make) {
        Cell cell = make.apply(1);
        cell.close();
        assertEquals(1, Counts.destroyed() - destroyed);
        cell.close();
        assertEquals(1, Counts.ended() - ended);
    }

    @ParameterizedTest
    @MethodSource("shared")
    void aSharedObjectIsFreedWhenUnreachable(IntFunction<Cell> make) {
        Cell cell = make.apply(1);
        cell.close();
        assertEquals(1, Counts.ended() - ended);
        assertEquals(0, Counts.destroyed() - destroyed);
        assertTrue(cell.isClosed());
    }

    @ParameterizedTest
    @MethodSource("all")
    void garbageIsEndedAndDestroyed(IntFunction<Cell> make) {
        for (int i = 0; i < 32; i++) {
            make.apply(i);
        }
        Await.until(() -> Counts.destroyed() - destroyed == 32);
        assertEquals(32, Counts.ended() - ended);
        assertEquals(32, Counts.created() - created);
    }

    @ParameterizedTest
    @MethodSource("guarded")
    void closeDuringACallWaitsForTheCallToLeave(IntFunction<Cell> make) throws Exception {
        Cell cell = make.apply(3);
        AtomicInteger result = new AtomicInteger();
        Thread caller = new Thread(() -> result.set(cell.slow(-1)));
        caller.start();
        Await.until(() -> Counts.waiting() == 1);
        cell.close();
        assertEquals(0, Counts.destroyed() - destroyed);
        assertThrows(ReleasedException.class, () -> cell.slow(0));
        assertEquals(1, Counts.waiting());
        Counts.letGo();
        caller.join();
        assertEquals(3, result.get());
        assertEquals(1, Counts.destroyed() - destroyed);
    }

    @ParameterizedTest
    @MethodSource("all")
    void callsRaceWithClose(IntFunction<Cell> make) throws Exception {
        AtomicInteger unexpected = new AtomicInteger();
        AtomicBoolean stop = new AtomicBoolean();
        Cell[] current = {make.apply(0)};
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            threads.add(
                    new Thread(
                            () -> {
                                while (!stop.get()) {
                                    try {
                                        Cell cell = current[0];
                                        cell.both(cell, 0);
                                    } catch (ReleasedException expected) {
                                        Thread.onSpinWait();
                                    } catch (Throwable other) {
                                        unexpected.incrementAndGet();
                                    }
                                }
                            }));
        }
        threads.forEach(Thread::start);
        for (int i = 1; i < 3000; i++) {
            Cell old = current[0];
            current[0] = make.apply(i);
            old.close();
        }
        stop.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        current[0].close();
        assertEquals(0, unexpected.get());
    }

    @ParameterizedTest
    @MethodSource("all")
    void nothingIsCollectedUnderItsCall(IntFunction<Cell> make) throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        Thread collector =
                new Thread(
                        () -> {
                            while (!stop.get()) {
                                System.gc();
                            }
                        });
        collector.start();
        int sum = 0;
        for (int i = 0; i < 60; i++) {
            sum += make.apply(1).slow(2000);
            sum += make.apply(1).both(make.apply(1), 1000);
        }
        stop.set(true);
        collector.join();
        assertEquals(180, sum);
    }

    @Test
    void theCleanerThreadIsADaemonAndEndsWhenIdle() {
        Cell cell = new SharedCell(1);
        /* One that is at its end may be there still. */
        Await.until(() -> cleaners().size() == 1);
        assertTrue(cleaners().get(0).isDaemon());
        assertEquals(1, cell.slow(0));
        cell = null;
        Await.until(() -> cleaners().isEmpty());
        /* And comes back. */
        cell = new SharedCell(2);
        assertEquals(1, cleaners().size());
        assertEquals(2, cell.slow(0));
    }

    static List<Thread> cleaners() {
        List<Thread> found = new ArrayList<>();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().equals("kolibri-reclaimer")) {
                found.add(thread);
            }
        }
        return found;
    }

    /** H25: what keeps an object reachable takes no lock that a user can hold. */
    @ParameterizedTest
    @MethodSource("all")
    void aHeldMonitorHoldsNothingUp(IntFunction<Cell> make) throws InterruptedException {
        Cell cell = make.apply(7);
        Thread caller;
        AtomicInteger value = new AtomicInteger();
        synchronized (cell) {
            caller = new Thread(() -> {
                value.set(cell.slow(0));
                cell.close();
            });
            caller.start();
            caller.join(120_000);
            assertFalse(caller.isAlive());
        }
        assertEquals(7, value.get());
        assertTrue(cell.isClosed());
    }
}
