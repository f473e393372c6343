/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kolibri.Owner;
import io.kolibri.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Threads of C and virtual threads. */
class ThreadTest {
    @BeforeAll
    static void load() {
        Counts.load();
    }

    @Test
    void classesAreFoundOnThreadsOfC() {
        assertSame(SharedCell.class, Counts.findOnThread("io/kolibri/test/SharedCell"));
        assertSame(String[].class, Counts.findOnThread("[Ljava/lang/String;"));
        assertNull(Counts.findOnThread("io/kolibri/test/Nowhere"));
    }

    @Test
    void threadsOfCRunJavaAndLeave() {
        AtomicInteger runs = new AtomicInteger();
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        assertEquals(
                0,
                Counts.runOnThreads(
                        () -> {
                            runs.incrementAndGet();
                            threads.add(Thread.currentThread());
                        }));
        assertEquals(80, runs.get());
        assertEquals(8, threads.size());
        Await.until(() -> threads.stream().noneMatch(Thread::isAlive));
    }

    @Test
    void exceptionsOnThreadsOfCAreTheirs() {
        assertEquals(
                80,
                Counts.runOnThreads(
                        () -> {
                            throw new IllegalStateException("mine");
                        }));
    }

    private static Thread startVirtual(Runnable run) throws Exception {
        return (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, run);
    }

    private static void assumeVirtual() {
        Assumptions.assumeTrue(Runtime.version().feature() >= 21, "virtual threads: Java 21");
    }

    @Test
    void virtualThreadsShareObjectsAndKeepTheirScopes() throws Exception {
        assumeVirtual();
        AtomicInteger right = new AtomicInteger();
        GuardedCell shared = new GuardedCell(1);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            int value = i;
            threads.add(startVirtual(() -> useAndPark(shared, value, right)));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        shared.close();
        assertEquals(200, right.get());
        assertEquals(0, Counts.touchedDead());
    }

    private static void useAndPark(GuardedCell shared, int value, AtomicInteger right) {
        Scope scope = new Scope("virtual");
        try (Scope.Entered entered = scope.enter()) {
            WovenCell own = new WovenCell(value);
            int sum = own.slow(0) + shared.slow(0);
            Thread.sleep(1);
            boolean isMine = entered != null && Scope.current() == scope && scope.count() == 1;
            scope.close();
            if (isMine && own.isClosed() && sum == value + 1 && shared.slow(0) == 1) {
                right.incrementAndGet();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aVirtualThreadCannotOwn() throws Exception {
        assumeVirtual();
        AtomicInteger refused = new AtomicInteger();
        startVirtual(
                        () -> {
                            try {
                                new Owner().close();
                            } catch (IllegalStateException expected) {
                                refused.incrementAndGet();
                            }
                        })
                .join();
        assertTrue(refused.get() == 1);
    }
}
