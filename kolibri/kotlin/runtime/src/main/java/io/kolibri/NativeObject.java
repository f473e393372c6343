/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A Java object with a C object behind it. Subclass it, and pass the pointer that a native creator
 * returned to the constructor:
 *
 * <pre>{@code
 * public final class Counter extends NativeObject {
 *     public Counter(int start) { super(create(start)); }
 *     private static native long create(int start);
 *     public native int add(int by);
 * }
 * }</pre>
 *
 * <p>{@link #close} makes the object unusable: every later call throws {@link ReleasedException},
 * at once and on every thread. When the C memory goes is decided by the class's
 * {@link NativeKind}: a shared object's (the default) when the Java object is unreachable, a
 * guarded object's as soon as the last call in flight has left, an owner's when its owner drains.
 * In every case the end callback and the destroyer of the class's native table run exactly once,
 * also if nobody closes. An object that is created inside a {@link Scope} closes with it.
 *
 * <p>The static methods are for the bridges that call natives: what the compiler plugin and the
 * weaver generate, and what hand-written bridges use in the same way. A shared bridge is
 *
 * <pre>{@code
 * int add(int by) {
 *     int sum = add(ptr(this), by);
 *     fence(this);
 *     return sum;
 * }
 * private static native int add(long self, int by);
 * }</pre>
 *
 * an owner's has owned instead of ptr, and a guarded one, or one of unknown kind, is
 *
 * <pre>{@code
 * int add(int by) {
 *     long self = enter(this);
 *     try {
 *         return add(self, by);
 *     } finally {
 *         leave(this);
 *     }
 * }
 * }</pre>
 */
public abstract class NativeObject implements AutoCloseable {
    /** The C object; 0 when closed, and always 0 for an object that is not shared. C reads it. */
    volatile long pointer;

    /** Owns the C object beyond this one's death. C does not know it. */
    private final Peer peer;

    /**
     * Takes the C object, and binds this one to the current scope if there is one. If this
     * constructor fails, the C object is destroyed.
     *
     * @param pointer what the native creator returned; never 0
     */
    protected NativeObject(long pointer) {
        this(pointer, Scope.current(), null);
    }

    /** The same, bound to a given scope; null for none. */
    protected NativeObject(long pointer, Scope scope) {
        this(pointer, scope, null);
    }

    /** The same for a class of kind {@link NativeKind#OWNER}, on the owner's thread. */
    protected NativeObject(long pointer, Owner owner) {
        this(pointer, Scope.current(), owner);
    }

    private NativeObject(long pointer, Scope scope, Owner owner) {
        if (pointer == 0) {
            throw new IllegalArgumentException("null pointer for " + getClass().getName());
        }
        this.peer = Peer.adopt(this, pointer, owner);
        if (peer.isShared()) {
            this.pointer = pointer;
        }
        if (scope != null) {
            bind(scope);
        }
    }

    /** Ends the use of this object. Closing twice is fine. */
    @Override
    public void close() {
        release();
    }

    /**
     * Makes memory that this object's C side may write and Java reads without a call: direct,
     * zeroed, in native byte order. It lives as long as the C object, and as long as anybody holds
     * the buffer or a part of it. Hand it to C by a native method; C keeps its address
     * (kol_buffer_view).
     */
    protected final ByteBuffer publish(int size) {
        ByteBuffer published = ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
        peer.publish(published);
        return published;
    }

    /** True once this object was closed, by {@link #close} or by its scope. */
    public final boolean isClosed() {
        return peer.isClosed();
    }

    /** Bridges: the pointer of a live shared object; throws for null, closed and other kinds. */
    public static long ptr(NativeObject object) {
        long pointer = object.pointer;
        return pointer != 0 ? pointer : object.refuse();
    }

    /** Bridges: the same, and 0 for null. */
    public static long ptrOrZero(NativeObject object) {
        return object == null ? 0 : ptr(object);
    }

    /** Bridges: keeps the object reachable until here. */
    public static void fence(NativeObject object) {
        Fence.reachable(object);
    }

    /**
     * Bridges: the pointer of a live object of any kind, leased: its C memory stays until
     * {@link #leave}. Throws for null, closed, and the wrong thread of an owner's object; then
     * there is nothing to leave.
     */
    public static long enter(NativeObject object) {
        long pointer = object.pointer;
        return pointer != 0 ? pointer : object.peer.enter();
    }

    /** Bridges: gives back what {@link #enter} leased. Null is fine. */
    public static void leave(NativeObject object) {
        if (object == null) {
            return;
        }
        object.peer.leave();
        Fence.reachable(object);
    }

    /** Bridges: as {@link #enter}, and 0 for null. */
    public static long enterOrZero(NativeObject object) {
        return object == null ? 0 : enter(object);
    }

    /**
     * Bridges: the pointer of a live object of kind {@link NativeKind#OWNER}; throws for null,
     * closed and any thread but the owner's. Its memory stays until the owner drains.
     */
    public static long owned(NativeObject object) {
        return object.peer.enter();
    }

    /** Bridges: the same, and 0 for null. */
    public static long ownedOrZero(NativeObject object) {
        return object == null ? 0 : owned(object);
    }

    /** Reachable to the end, so that the cleaner cannot destroy what is still being ended. */
    private void release() {
        peer.checkThread();
        pointer = 0;
        peer.close();
        Fence.reachable(this);
    }

    private void bind(Scope scope) {
        WeakReference<NativeObject> self = new WeakReference<>(this);
        try {
            peer.bindTo(scope, () -> endInScope(self));
        } catch (RuntimeException ended) {
            release();
            throw ended;
        }
    }

    /** An object that is dying already is the cleaner's to end. */
    private static void endInScope(WeakReference<NativeObject> weak) {
        NativeObject object = weak.get();
        if (object != null) {
            object.pointer = 0;
            object.peer.closeAnywhere();
            Fence.reachable(object);
        }
    }

    private long refuse() {
        if (!peer.isShared() && !peer.isClosed()) {
            throw new IllegalStateException(
                    getClass().getName() + " is not shared: its bridges must enter and leave");
        }
        throw new ReleasedException(getClass().getName());
    }
}
