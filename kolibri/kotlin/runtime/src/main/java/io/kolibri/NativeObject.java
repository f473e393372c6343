/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

/**
 * A Java object with a C object behind it. Subclass it, and pass the pointer that a native creator
 * returned to the constructor:
 *
 * <pre>
 * public final class Counter extends NativeObject {
 *     public Counter(int start) { super(create(start)); }
 *     private static native long create(int start);
 *     public native int add(int by);
 * }
 * </pre>
 *
 * <p>{@link #close} makes the object unusable: every later call throws {@link ReleasedException},
 * at once and on every thread. When the C memory goes is decided by the class's {@link NativeKind}:
 * a shared object's (the default) when the Java object is unreachable, a guarded object's as soon
 * as the last call in flight has left. Either way the destroyer of the class's native table runs
 * exactly once, also if nobody closes.
 *
 * <p>The static methods are for the bridges that call natives: what the compiler plugin and the
 * weaver generate, and what hand-written bridges use in the same way. A shared bridge is
 * <pre>
 * int add(int by) { int sum = add(ptr(this), by); fence(this); return sum; }
 * private static native int add(long self, int by);
 * </pre>
 * and a guarded one is
 * <pre>
 * int add(int by) { long self = enter(this); try { return add(self, by); } finally { leave(this);
 * } } </pre>
 */
public abstract class NativeObject implements AutoCloseable {
    /** The C object; 0 when closed, and always 0 for a guarded object. C reads it. */
    volatile long pointer;

    /** Owns the C object beyond this one's death. C does not know it. */
    private final Peer peer;

    /**
     * Takes the C object. If this constructor fails, the C object is destroyed.
     *
     * @param pointer what the native creator returned; never 0
     */
    protected NativeObject(long pointer) {
        if (pointer == 0) {
            throw new IllegalArgumentException("null pointer for " + getClass().getName());
        }
        this.peer = Peer.adopt(this, pointer);
        this.pointer = peer.isGuarded() ? 0 : pointer;
    }

    /** Ends the use of this object. Closing twice is fine. */
    @Override
    public void close() {
        pointer = 0;
        peer.close();
    }

    /** True once {@link #close} was called. */
    public final boolean isClosed() {
        return peer.isClosed();
    }

    /** Bridges: the pointer of a live shared object; throws for null, closed and guarded. */
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
     * Bridges: the pointer of a live object of any kind, leased: a guarded object's C memory stays
     * until {@link #leave}. Throws for null and closed; then there is nothing to leave.
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

    private long refuse() {
        if (peer.isGuarded() && !peer.isClosed()) {
            throw new IllegalStateException(
                    getClass().getName() + " is guarded: its bridges must enter and leave");
        }
        throw new ReleasedException(getClass().getName());
    }
}
