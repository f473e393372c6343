/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package test;

import io.kolibri.NativeBinding;
import io.kolibri.Owner;
import io.kolibri.ReleasedException;
import java.util.concurrent.atomic.AtomicReference;

/** What woven classes must do, run inside their own class loader; each method throws to fail. */
public final class Scenario {
    private Scenario() {}

    public static void load(String library) {
        System.load(library);
    }

    private static void same(Object wanted, Object got) {
        if (!wanted.equals(got)) {
            throw new AssertionError("wanted " + wanted + ", got " + got);
        }
    }

    private static void refuses(Class<? extends Throwable> wanted, Runnable action) {
        try {
            action.run();
        } catch (Throwable thrown) {
            if (thrown.getClass() == wanted) {
                return;
            }
            throw new AssertionError("wanted " + wanted, thrown);
        }
        throw new AssertionError("nothing thrown, wanted " + wanted);
    }

    public static void calls() {
        Counter a = new Counter(40);
        Counter b = new Counter(2);
        same(42, a.add(2));
        same(42, a.addFrom(b));
        same(40, a.addMaybe(null));
        same(42, a.addMaybe(b));
        same(-1 + 2L * (1L << 40) + 3 * 65535.0 + 4 * 0.5 + 5 * -7 + 6 * 1.5 + 7 + 16 + 360,
                a.wide((byte) -1, 1L << 40, '\uffff', 0.5, (short) -7, 1.5f, true, b));
        Object x = new Object();
        same(x, a.same(x));
        if (a.same(null) != null) {
            throw new AssertionError("null did not cross");
        }
        refuses(UnsupportedOperationException.class, a::fail);
    }

    public static void released() {
        Counter a = new Counter(1);
        Counter b = new Counter(2);
        b.close();
        b.close();
        refuses(ReleasedException.class, () -> b.add(1));
        refuses(ReleasedException.class, b::get);
        refuses(ReleasedException.class, () -> a.addFrom(b));
        refuses(ReleasedException.class, () -> a.addMaybe(b));
        refuses(ReleasedException.class, () -> a.sum(b, 1));
        refuses(NullPointerException.class, () -> a.addFrom(null));
        refuses(NullPointerException.class, () -> a.sum(null, 1));
        same(2, a.add(1));
    }

    public static void guarded() {
        Guarded a = new Guarded(1);
        Guarded b = new Guarded(2);
        Guarded closed = new Guarded(3);
        Counter c = new Counter(4);
        closed.close();
        same(1, Counts.destroyed());
        same(4021, a.three(b, null, c));
        same(4221, a.three(b, b, c));
        same(4111, a.three(a, a, c));
        refuses(ReleasedException.class, () -> a.three(closed, null, c));
        refuses(ReleasedException.class, () -> a.three(b, closed, c));
        refuses(NullPointerException.class, () -> a.three(null, b, c));
        refuses(NullPointerException.class, () -> a.three(b, b, null));
        refuses(ReleasedException.class, () -> closed.add(1));
        refuses(UnsupportedOperationException.class, a::fail);
        same(3, a.peek(b));
        same(8, c.mix(b));
        refuses(ReleasedException.class, () -> c.mix(closed));
        c.close();
        refuses(ReleasedException.class, () -> a.three(b, b, c));
        refuses(ReleasedException.class, () -> c.mix(b));
        a.close();
        b.close();
        same(3, Counts.destroyed());
        same(0, Counts.touchedDead());
    }

    /** Close while a call is inside: the call ends well, and the last one out frees. */
    public static void closeDuringCall() throws InterruptedException {
        Guarded a = new Guarded(7);
        AtomicReference<Object> result = new AtomicReference<>();
        Thread caller = new Thread(() -> result.set(a.slow(-1)));
        caller.start();
        while (Counts.waiting() == 0) {
            Thread.sleep(1);
        }
        a.close();
        same(0, Counts.destroyed());
        refuses(ReleasedException.class, () -> a.add(1));
        same(1, Counts.waiting());
        Counts.letGo();
        caller.join();
        same(7, result.get());
        same(1, Counts.destroyed());
        same(0, Counts.touchedDead());
    }

    public static void owner() throws InterruptedException {
        Owner owner = new Owner();
        Owned a = new Owned(owner, 3);
        Owned b = new Owned(owner, 4);
        Guarded guarded = new Guarded(5);
        Counter closed = new Counter(6);
        closed.close();
        same(4, a.add(1));
        same(3, a.get());
        same(3, a.join(null));
        same(7, a.join(b));
        same(12, a.any(b));
        same(15, a.any(guarded));
        refuses(ReleasedException.class, () -> a.any(closed));
        refuses(NullPointerException.class, () -> a.any(null));
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread stranger = new Thread(() -> {
            refuses(IllegalStateException.class, () -> a.add(1));
            refuses(IllegalStateException.class, a::get);
        });
        stranger.setUncaughtExceptionHandler((thread, failure) -> thrown.set(failure));
        stranger.start();
        stranger.join();
        if (thrown.get() != null) {
            throw new AssertionError(thrown.get());
        }
        b.close();
        owner.drain();
        refuses(ReleasedException.class, () -> b.add(1));
        refuses(ReleasedException.class, () -> a.join(b));
        guarded.close();
        same(2, Counts.destroyed());
        a.close();
        owner.close();
        same(0, Counts.touchedDead());
    }

    public static void leaves(String wantedMode) {
        Counter a = new Counter(40);
        Counter b = new Counter(2);
        NativeBinding.Mode wanted = NativeBinding.Mode.valueOf(wantedMode);
        same(wanted, NativeBinding.mode(Counter.class));
        for (int i = 0; i < 3; i++) {
            same(40, a.get());
            same(43L, a.sum(b, 1));
            same(380.0, a.leafWide(
                    (byte) 3, -1, (char) 1, 2.0, (short) -1, 1.0f, true, null));
        }
        for (String each : new String[] {"get", "sum", "leafWide"}) {
            if (NativeBinding.mode(Counter.class, each) != wanted) {
                throw new AssertionError(each + ": " + NativeBinding.reason(Counter.class, each));
            }
        }
    }

    /**
     * Drops each object while its call is inside, with a collector that never rests; says how often
     * C saw a dead object. The calls are compiled before: an interpreted frame keeps everything.
     */
    public static int unreachable(int rounds) throws InterruptedException {
        Counter warm = new Counter(0);
        for (int i = 0; i < 20_000; i++) {
            warm.slow(0);
            warm.get();
        }
        Thread collector = new Thread(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                System.gc();
            }
        });
        collector.start();
        for (int i = 0; i < rounds; i++) {
            slowOnce(i);
            same(2L * i, new Counter(i).sum(new Counter(i), 0));
        }
        /* It did collect meanwhile; the thread that destroys may be behind. */
        long end = System.nanoTime() + 120_000_000_000L;
        while (Counts.destroyed() < rounds) {
            if (System.nanoTime() > end) {
                throw new AssertionError("the collector freed only " + Counts.destroyed());
            }
            Thread.sleep(1);
        }
        collector.interrupt();
        collector.join();
        return Counts.touchedDead();
    }

    private static void slowOnce(int i) {
        new Counter(i).slow(20);
    }

    /**
     * For a VM of its own: the library, the rounds, and how often to try until a dead object is
     * seen: on a busy machine compiler and collector may come late.
     */
    public static void main(String[] args) throws InterruptedException {
        load(args[0]);
        int dead = 0;
        for (int tries = Integer.parseInt(args[2]); tries > 0 && dead == 0; tries--) {
            dead = unreachable(Integer.parseInt(args[1]));
        }
        System.out.println(dead + " calls saw a dead object");
    }
}
