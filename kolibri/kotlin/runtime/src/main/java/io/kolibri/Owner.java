/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.util.ArrayDeque;

/**
 * A thread that owns native objects: those of kind {@link NativeKind#OWNER} are used, closed and
 * destroyed on it alone.
 *
 * <p>What must end there and begins elsewhere (an object was collected, a scope ended on another
 * thread) waits in the owner's queue until the owner's thread calls {@link #drain}. The wake hook
 * says that there is something to drain; it is called on any thread, without a lock, once for each
 * time the queue stops being empty.
 */
public final class Owner implements AutoCloseable {
    private static int leaked;

    private final Thread thread = Thread.currentThread();
    private final Runnable wake;
    private final ArrayDeque<Runnable> queue = new ArrayDeque<>();
    private boolean isClosed;

    /** Makes this thread an owner. A virtual thread cannot be one: its carrier changes. */
    public Owner(Runnable wake) {
        if (VirtualThreads.isVirtual(thread)) {
            throw new IllegalStateException("a virtual thread cannot own native objects");
        }
        this.wake = wake;
    }

    /** Makes this thread an owner that drains by itself, now and then. */
    public Owner() {
        this(null);
    }

    /** Runs what waits, on the owner's thread; returns how much it was. */
    public int drain() {
        check("the queue of an owner");
        int count = 0;
        for (Runnable next = take(); next != null; next = take()) {
            next.run();
            count++;
        }
        return count;
    }

    /**
     * Drains, and takes nothing more. Objects of this owner that are collected later are destroyed
     * on the cleaner's thread if their class says so, and leaked otherwise.
     */
    @Override
    public void close() {
        drain();
        synchronized (queue) {
            isClosed = true;
        }
        drain();
    }

    /** How many native objects could not be destroyed because their owner was gone. */
    public static int leaked() {
        synchronized (Owner.class) {
            return leaked;
        }
    }

    static void countLeak() {
        synchronized (Owner.class) {
            leaked++;
        }
    }

    /** Throws unless this is the owner's thread. */
    void check(String what) {
        if (Thread.currentThread() != thread) {
            throw new IllegalStateException(
                    what + " belongs to " + thread + ", not to " + Thread.currentThread());
        }
    }

    boolean isCurrent() {
        return Thread.currentThread() == thread;
    }

    /** Queues an action; false if the owner is closed or its thread has died. */
    boolean post(Runnable action) {
        boolean wasEmpty;
        synchronized (queue) {
            if (isClosed || !thread.isAlive()) {
                return false;
            }
            wasEmpty = queue.isEmpty();
            queue.add(action);
        }
        if (wasEmpty && wake != null) {
            wake.run();
        }
        return true;
    }

    private Runnable take() {
        synchronized (queue) {
            return queue.poll();
        }
    }
}
