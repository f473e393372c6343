/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.example;

import io.kolibri.NativeClass;
import io.kolibri.NativeKind;
import io.kolibri.NativeObject;
import io.kolibri.Owner;
import io.kolibri.ReleasedException;
import io.kolibri.Scope;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;

/** Calls, closes, scope ends and collections of native objects that race, on all kinds. */
public final class Torture {
    private static final int THREADS = 8;

    private Torture() {}

    interface Toy extends AutoCloseable {
        int use(Toy other);

        @Override
        void close();
    }

    /** Shared, woven. */
    static final class SharedToy extends NativeObject implements Toy {
        SharedToy(int value) {
            super(create(value));
        }

        private static native long create(int value);

        private static native int use(long self, long other);

        @Override
        public int use(Toy other) {
            SharedToy toy = (SharedToy) other;
            int result = use(ptr(this), ptr(toy));
            fence(this);
            fence(toy);
            return result;
        }
    }

    /** Guarded, woven. */
    @NativeClass(NativeKind.GUARDED)
    static final class GuardedToy extends NativeObject implements Toy {
        GuardedToy(int value) {
            super(create(value));
        }

        private static native long create(int value);

        private static native int use(long self, long other);

        @Override
        public int use(Toy other) {
            GuardedToy toy = (GuardedToy) other;
            long self = enter(this);
            try {
                long second = enter(toy);
                try {
                    return use(self, second);
                } finally {
                    leave(toy);
                }
            } finally {
                leave(this);
            }
        }
    }

    /** Guarded, unwoven. */
    @NativeClass(NativeKind.GUARDED)
    static final class PlainToy extends NativeObject implements Toy {
        PlainToy(int value) {
            super(create(value));
        }

        private static native long create(int value);

        private native int use(PlainToy other);

        @Override
        public int use(Toy other) {
            return use((PlainToy) other);
        }
    }

    /** An owner's, woven. */
    @NativeClass(value = NativeKind.OWNER, freeAnywhere = true)
    static final class OwnedToy extends NativeObject implements Toy {
        OwnedToy(int value, Owner owner) {
            super(create(value), owner);
        }

        private static native long create(int value);

        private static native int use(long self, long other);

        @Override
        public int use(Toy other) {
            OwnedToy toy = (OwnedToy) other;
            int result = use(owned(this), owned(toy));
            fence(this);
            fence(toy);
            return result;
        }
    }

    /** Runs a race on one kind; returns how many unexpected things were thrown. */
    static int race(int kind, int rounds) throws Exception {
        switch (kind) {
            case 0:
                return race(SharedToy::new, rounds);
            case 1:
                return race(GuardedToy::new, rounds);
            case 2:
                return race(PlainToy::new, rounds);
            default:
                return raceOwned(rounds);
        }
    }

    private static int race(IntFunction<Toy> make, int rounds) throws Exception {
        AtomicInteger unexpected = new AtomicInteger();
        AtomicBoolean stop = new AtomicBoolean();
        Toy[] shared = {make.apply(0), make.apply(1)};
        Thread[] threads = new Thread[THREADS];
        for (int t = 0; t < THREADS; t++) {
            threads[t] = new Thread(() -> use(shared, stop, unexpected));
            threads[t].start();
        }
        for (int i = 0; i < rounds; i++) {
            try (Scope scope = new Scope("race");
                    Scope.Entered entered = scope.enter()) {
                Toy next = make.apply(i);
                Toy old = shared[i & 1];
                shared[i & 1] = next;
                if (i % 3 == 0) {
                    old.close();
                }
                make.apply(i).use(next);
                if (entered == null || i % 64 == 0) {
                    System.gc();
                }
            }
        }
        stop.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        return unexpected.get();
    }

    private static void use(Toy[] shared, AtomicBoolean stop, AtomicInteger unexpected) {
        while (!stop.get()) {
            try {
                shared[0].use(shared[1]);
            } catch (ReleasedException expected) {
                Thread.onSpinWait();
            } catch (Throwable other) {
                unexpected.incrementAndGet();
            }
        }
    }

    private static int raceOwned(int rounds) {
        int unexpected = 0;
        try (Owner owner = new Owner()) {
            for (int i = 0; i < rounds; i++) {
                Toy toy = new OwnedToy(i, owner);
                toy.use(toy);
                if (i % 3 == 0) {
                    toy.close();
                    unexpected += isUsable(toy) ? 1 : 0;
                }
                if (i % 64 == 0) {
                    System.gc();
                }
                if (i % 16 == 0) {
                    owner.drain();
                }
            }
        }
        return unexpected;
    }

    private static boolean isUsable(Toy toy) {
        try {
            toy.use(toy);
            return true;
        } catch (ReleasedException expected) {
            return false;
        }
    }

    /** Objects whose last use is a slow call, while another thread collects. */
    static int lastUses(int count) throws Exception {
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
        for (int i = 0; i < count; i++) {
            sum += new SharedToy(-1).use(new SharedToy(1));
            sum += new GuardedToy(-1).use(new GuardedToy(1));
        }
        stop.set(true);
        collector.join();
        return sum;
    }

    static void settle() throws Exception {
        System.gc();
        Thread.sleep(5);
    }
}
