/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.security.AccessController;
import java.security.PrivilegedAction;

/**
 * The list of peers whose objects live, and the daemon thread that destroys what is unreachable.
 *
 * <p>The thread runs while there are peers and ends after two seconds without any, so that an idle
 * library costs nothing and can be unloaded. Starting and ending are decided under the lock that
 * adding takes. If no thread can be started, the peer stays listed and the next add tries again.
 */
final class Reclaimer implements Runnable {
    static final ReferenceQueue<NativeObject> QUEUE = new ReferenceQueue<>();
    private static final long IDLE_MILLIS = 2000;
    private static final String NAME = "kolibri-reclaimer";

    private static final Object LOCK = new Object();
    private static Peer first;
    private static int count;
    private static boolean isRunning;

    private Reclaimer() {}

    static void add(Peer peer) {
        synchronized (LOCK) {
            peer.next = first;
            if (first != null) {
                first.previous = peer;
            }
            first = peer;
            count++;
            if (!isRunning) {
                isRunning = start();
            }
        }
    }

    /** Takes a peer off the list; true for the one caller that did. */
    static boolean remove(Peer peer) {
        synchronized (LOCK) {
            if (peer.previous == peer) {
                return false;
            }
            if (peer.previous != null) {
                peer.previous.next = peer.next;
            } else {
                first = peer.next;
            }
            if (peer.next != null) {
                peer.next.previous = peer.previous;
            }
            peer.next = peer;
            peer.previous = peer;
            count--;
            return true;
        }
    }

    /** How many peers are listed. */
    static int count() {
        synchronized (LOCK) {
            return count;
        }
    }

    static boolean isRunning() {
        synchronized (LOCK) {
            return isRunning;
        }
    }

    private static boolean start() {
        try {
            Thread thread = newThreadOfOurs();
            thread.setDaemon(true);
            thread.setContextClassLoader(null);
            thread.start();
            return true;
        } catch (OutOfMemoryError noThread) {
            return false;
        }
    }

    /**
     * A new thread remembers the classes on its creator's stack for as long as it lives, and so
     * their class loaders, unless it is created in the name of this class alone.
     */
    @SuppressWarnings("removal")
    private static Thread newThreadOfOurs() {
        return AccessController.doPrivileged((PrivilegedAction<Thread>) Reclaimer::newThread);
    }

    /** Without the creator's inheritable thread locals where the VM can (Java 9, late Androids). */
    private static Thread newThread() {
        try {
            return Thread.class
                    .getConstructor(
                            ThreadGroup.class,
                            Runnable.class,
                            String.class,
                            long.class,
                            boolean.class)
                    .newInstance(null, new Reclaimer(), NAME, 0L, false);
        } catch (ReflectiveOperationException e) {
            return new Thread(null, new Reclaimer(), NAME, 0);
        }
    }

    @Override
    public void run() {
        boolean goesOn = true;
        while (goesOn) {
            goesOn = reclaimOne();
        }
    }

    /** Waits for one dead object; false when this thread may end. */
    private static boolean reclaimOne() {
        Reference<? extends NativeObject> dead = null;
        try {
            dead = QUEUE.remove(IDLE_MILLIS);
        } catch (InterruptedException ignored) {
            return true;
        }
        if (dead == null) {
            return !mayEnd();
        }
        Peer peer = (Peer) dead;
        if (remove(peer)) {
            try {
                peer.collected();
            } catch (Throwable failure) {
                report(failure);
            }
        }
        return true;
    }

    private static boolean mayEnd() {
        synchronized (LOCK) {
            isRunning = count != 0;
            return !isRunning;
        }
    }

    private static void report(Throwable failure) {
        Thread thread = Thread.currentThread();
        Thread.UncaughtExceptionHandler handler = thread.getUncaughtExceptionHandler();
        if (handler != null) {
            handler.uncaughtException(thread, failure);
        }
    }
}
