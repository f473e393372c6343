/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.lang.ref.PhantomReference;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * The part of a native object that outlives it: one allocation that is the cleaner's list node, the
 * reference that tells of the object's death, and the lease counter of a guarded object.
 *
 * <p>State is one int: the number of leases, and CLOSED. Who sets CLOSED runs the end callback; of
 * a guarded object, who brings it to CLOSED without leases runs end callback and destroyer. Any
 * other destroyer is run by who took the peer off the cleaner's list: the cleaner, or for an
 * owner's object also its close, through the owner's queue. So each runs exactly once.
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
    private final Owner owner;
    private volatile Scope.Bound bound;

    /** Only held: what C may write until the destroyer has run. */
    private Object published;
    private volatile int state;

    private Peer(NativeObject object, long address, NativeType type, Owner owner) {
        super(object, Reclaimer.QUEUE);
        this.address = address;
        this.type = type;
        this.owner = owner;
    }

    /** A listed peer for a new object; if that fails, the C object is destroyed. */
    static Peer adopt(NativeObject object, long address, Owner owner) {
        NativeType type = null;
        Native.taken(address);
        try {
            type = NativeType.of(object.getClass());
            if ((type.kind == NativeKind.OWNER) != (owner != null)) {
                throw new IllegalStateException(
                        type.name + (owner == null ? " needs an owner" : " is not for owners"));
            }
            if (owner != null) {
                owner.check(type.name);
            }
            Peer peer = new Peer(object, address, type, owner);
            Reclaimer.add(peer);
            return peer;
        } catch (Throwable failure) {
            if (type != null) {
                type.end(address);
                type.destroy(address);
            }
            throw failure;
        }
    }

    /** Keeps memory that C may write for as long as the C object lives. */
    void publish(Object memory) {
        synchronized (this) {
            published = published == null ? memory : new Object[] {published, memory};
        }
    }

    /** Binds to a scope, which ends this peer by the action. */
    void bindTo(Scope scope, Runnable action) {
        bound = scope.bind(action);
        if (isClosed()) {
            bound.remove();
        }
    }

    boolean isShared() {
        return type.kind == NativeKind.SHARED;
    }

    private boolean isGuarded() {
        return type.kind == NativeKind.GUARDED;
    }

    boolean isClosed() {
        return state < 0;
    }

    /** Throws on a thread that may not use or close this object. */
    void checkThread() {
        if (owner != null) {
            owner.check(type.name);
        }
    }

    long enter() {
        for (; ; ) {
            int seen = state;
            if (seen < 0) {
                throw new ReleasedException(type.name);
            }
            if (!isGuarded()) {
                checkThread();
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
            destroyLater();
        } else if (state == CLOSED) {
            finish();
        }
    }

    /**
     * An owner's object is destroyed when its owner drains, so not under a call that closes it. A
     * shared one waits for its collection.
     */
    private void destroyLater() {
        if (owner != null && Reclaimer.remove(this)) {
            clear();
            owner.post(this::destroy);
        }
    }

    /** Closes now, or in the owner's queue if this is not its thread. */
    void closeAnywhere() {
        if (owner == null || owner.isCurrent()) {
            close();
        } else if (!owner.post(this::close) && Reclaimer.remove(this)) {
            clear();
            ownerIsGone();
        }
    }

    /** The object is unreachable; called by the cleaner, once, after taking it off the list. */
    void collected() {
        if (owner == null) {
            reclaim();
        } else if (!owner.post(this::reclaim)) {
            ownerIsGone();
        }
    }

    private void destroy() {
        type.destroy(address);
        Fence.reachable(published);
    }

    private void reclaim() {
        if (setClosed()) {
            type.end(address);
        }
        destroy();
    }

    private void ownerIsGone() {
        if (type.isFreeAnywhere) {
            reclaim();
        } else if (setClosed()) {
            Owner.countLeak();
        }
    }

    private boolean setClosed() {
        for (; ; ) {
            int seen = state;
            if (seen < 0) {
                return false;
            }
            if (STATE.compareAndSet(this, seen, seen | CLOSED)) {
                Scope.Bound in = bound;
                if (in != null) {
                    in.remove();
                }
                return true;
            }
        }
    }

    /** Closed and without leases; the first of those who see that acts. */
    private void finish() {
        if (Reclaimer.remove(this)) {
            clear();
            try {
                type.end(address);
            } finally {
                destroy();
            }
        }
    }
}
