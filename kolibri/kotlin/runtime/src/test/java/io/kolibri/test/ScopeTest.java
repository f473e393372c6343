/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kolibri.ReleasedException;
import io.kolibri.Scope;
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

/** Many objects that end together. */
class ScopeTest {
    private int ended;

    static Stream<Named<IntFunction<Cell>>> all() {
        return LifetimeTest.all();
    }

    @BeforeEach
    void start() {
        Await.noCells();
        ended = Counts.ended();
    }

    @AfterEach
    void nothingWentWrong() {
        assertEquals(0, Counts.touchedDead());
        assertEquals(0, Counts.wrongCount());
        assertNull(Scope.current());
    }

    @ParameterizedTest
    @MethodSource("all")
    void whatIsCreatedInsideEndsWithIt(IntFunction<Cell> make) {
        Cell outside = make.apply(1);
        List<Cell> inside = new ArrayList<>();
        Scope scope = new Scope("test");
        try (Scope.Entered entered = scope.enter()) {
            assertNotNull(entered);
            assertSame(scope, Scope.current());
            for (int i = 0; i < 5; i++) {
                inside.add(make.apply(i));
            }
        }
        assertEquals(5, scope.count());
        inside.get(2).close();
        assertEquals(4, scope.count());
        scope.close();
        scope.close();
        assertEquals(0, scope.count());
        for (Cell cell : inside) {
            assertTrue(cell.isClosed());
            assertThrows(ReleasedException.class, () -> cell.slow(0));
        }
        assertEquals(5, Counts.ended() - ended);
        assertEquals(1, outside.slow(0));
    }

    @ParameterizedTest
    @MethodSource("all")
    void creatingInAnEndedScopeFailsAndLeaksNothing(IntFunction<Cell> make) {
        int alive = Counts.created() - Counts.destroyed();
        Scope scope = new Scope("over");
        scope.close();
        assertTrue(scope.isClosed());
        try (Scope.Entered entered = scope.enter()) {
            assertNotNull(entered);
            IllegalStateException thrown =
                    assertThrows(IllegalStateException.class, () -> make.apply(1));
            assertEquals("scope over has ended", thrown.getMessage());
        }
        assertEquals(1, Counts.ended() - ended);
        Await.until(() -> Counts.created() - Counts.destroyed() <= alive);
    }

    @ParameterizedTest
    @MethodSource("all")
    void garbageLeavesItsScope(IntFunction<Cell> make) {
        Scope scope = new Scope("test");
        try (Scope.Entered entered = scope.enter()) {
            assertNotNull(entered);
            for (int i = 0; i < 100; i++) {
                make.apply(i);
            }
        }
        Await.until(() -> scope.count() == 0);
        Await.until(() -> Counts.ended() - ended >= 100);
        scope.close();
    }

    @Test
    void scopesNest() {
        Scope outer = new Scope("outer");
        Scope inner = new Scope("inner", outer);
        Scope sibling = new Scope("sibling", outer);
        Cell cell;
        try (Scope.Entered first = outer.enter()) {
            assertNotNull(first);
            try (Scope.Entered second = inner.enter()) {
                assertNotNull(second);
                cell = new SharedCell(1);
            }
            assertSame(outer, Scope.current());
        }
        sibling.close();
        assertEquals(1, outer.count());
        assertFalse(cell.isClosed());
        outer.close();
        assertTrue(inner.isClosed());
        assertTrue(cell.isClosed());
        assertThrows(IllegalStateException.class, () -> new Scope("late", outer));
    }

    @Test
    void leavingTwiceLeavesOnce() {
        Scope first = new Scope("first");
        Scope second = new Scope("second");
        Scope.Entered left = first.enter();
        left.close();
        try (Scope.Entered inside = second.enter()) {
            assertNotNull(inside);
            left.close();
            assertSame(second, Scope.current());
        }
    }

    @ParameterizedTest
    @MethodSource("all")
    void callsAndCreationsRaceWithTheEnd(IntFunction<Cell> make) throws Exception {
        AtomicInteger unexpected = new AtomicInteger();
        AtomicBoolean stop = new AtomicBoolean();
        Scope[] current = {new Scope("race")};
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            Runnable work =
                    () -> {
                        Scope scope = current[0];
                        if (scope.count() > 64) {
                            /* Four that create outrun the one that closes. */
                            Thread.yield();
                            return;
                        }
                        try (Scope.Entered entered = scope.enter()) {
                            assertNotNull(entered);
                            Cell cell = make.apply(1);
                            cell.both(cell, 0);
                        } catch (ReleasedException expected) {
                            Thread.onSpinWait();
                        } catch (IllegalStateException e) {
                            if (!"scope race has ended".equals(e.getMessage())) {
                                unexpected.incrementAndGet();
                            }
                        } catch (Throwable e) {
                            unexpected.incrementAndGet();
                        }
                    };
            threads.add(
                    new Thread(
                            () -> {
                                while (!stop.get()) {
                                    work.run();
                                }
                            }));
        }
        threads.forEach(Thread::start);
        for (int i = 0; i < 1000; i++) {
            Scope old = current[0];
            current[0] = new Scope("race");
            old.close();
            assertEquals(0, old.count());
        }
        stop.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        current[0].close();
        assertEquals(0, unexpected.get());
        Await.noCells();
    }
}
