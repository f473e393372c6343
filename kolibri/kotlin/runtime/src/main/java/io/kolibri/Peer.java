/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.lang.ref.PhantomReference;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * The part of a native object that outlives it: one allocation that is the cleaner's list node, the
 * reference that tells of the object's death, and the lease counter of a guarded object.
 *
 * <p>State is one int: the number of leases, and CLOSED. Who sets CLOSED runs the end callback of a
 * shared object; who brings a guarded one to CLOSED without leases runs its end callback and its
 * destroyer. A shared object's destroyer is the cleaner's alone. So each runs exactly once.
 */
final class Peer extends PhantomReference<NativeObject> {
    private static final int CLOSED = 1 << 31;
    private static final AtomicIntegerFieldUpdater<Peer> STATE =
            AtomicIntegerFieldUpdater.newUpdater(Peer.class, "state");

    /** The cleaner's list. */
    Peer previous;
    Peer next;

    private final long address;
    private final NativeType type;
    private volatile int state;

    private Peer(NativeObject object, long address, NativeType type) {
        super(object, Reclaimer.QUEUE);
        this.address = address;
        this.type = type;
    }

    /** A listed peer for a new object; if that fails, the C object is destroyed. */
    static Peer adopt(NativeObject object, long address) {
        NativeType type = null;
        try {
            type = NativeType.of(object.getClass());
            Peer peer = new Peer(object, address, type);
            Reclaimer.add(peer);
            return peer;
        } catch (Throwable failure) {
            if (type != null) {
                type.destroy(address);
            }
            throw failure;
        }
    }

    boolean isGuarded() {
        return type.kind == NativeKind.GUARDED;
    }

    boolean isClosed() {
        return state < 0;
    }

    long enter() {
        for (; ; ) {
            int seen = state;
            if (seen < 0) {
                throw new ReleasedException(type.name);
            }
            if (!isGuarded()) {
                return address;
            }
            if (STATE.compareAndSet(this, seen, seen + 1)) {
                return address;
            }
        }
    }

    void leave() {
        if (isGuarded() && STATE.decrementAndGet(this) == CLOSED) {
            finish();
        }
    }

    void close() {
        if (!setClosed()) {
            return;
        }
        if (!isGuarded()) {
            type.end(address);
        } else if (state == CLOSED) {
            finish();
        }
    }

    /** The object is unreachable; called by the cleaner, once. */
    void collected() {
        if (setClosed()) {
            type.end(address);
        }
        type.destroy(address);
    }

    private boolean setClosed() {
        for (; ; ) {
            int seen = state;
            if (seen < 0) {
                return false;
            }
            if (STATE.compareAndSet(this, seen, seen | CLOSED)) {
                return true;
            }
        }
    }

    /** A guarded object closed and without leases; the first of those who see that acts. */
    private void finish() {
        if (Reclaimer.remove(this)) {
            clear();
            try {
                type.end(address);
            } finally {
                type.destroy(address);
            }
        }
    }
}
