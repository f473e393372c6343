/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How C calls static bridges ({@link Bridge}): through JNI, or by an upcall of java.lang.foreign at
 * half the price where the class asked for it and the VM has that (Java 22 and later, native access
 * enabled for the module of the bridge's class).
 *
 * <pre>{@code
 * static {
 *     BridgeBinding.allow(MethodHandles.lookup());
 * }
 * }</pre>
 *
 * <p>For bridges that are short and do not call back into C. C binds each when it loads its table,
 * so allow before that; loading runs the static initialiser. Stubs live as long as their class, and
 * keep neither it nor its loader alive. The system property {@code kolibri.bridge=jni} turns
 * upcalls off. Android never loads this class.
 */
@JvmOnly
public final class BridgeBinding {
    /** How C calls a bridge. */
    public enum Mode {
        /** A JNI call. */
        JNI,
        /** An upcall stub, while the thread's stack has room for it. */
        FFM
    }

    @JvmOnly
    private record Bound(Mode mode, String reason) {}

    /** What is known of one class; what its stubs need stays reachable from here alone. */
    private static final class Bridges {
        volatile MethodHandles.Lookup lookup;
        final Map<String, Bound> bound = new ConcurrentHashMap<>();
        final List<Object> kept = new ArrayList<>();
    }

    private static final ClassValue<Bridges> BRIDGES = new ClassValue<>() {
        @Override
        protected Bridges computeValue(Class<?> cls) {
            return new Bridges();
        }
    };

    private BridgeBinding() {}

    /** Lets C call the bridges of the lookup's class by upcalls. */
    public static void allow(MethodHandles.Lookup lookup) {
        if (!lookup.hasFullPrivilegeAccess()) {
            throw new IllegalArgumentException("not the class's own lookup: " + lookup);
        }
        BRIDGES.get(lookup.lookupClass()).lookup = lookup;
    }

    /** How bridges of a class will be bound, as far as the class, the VM and the module decide. */
    public static Mode mode(Class<?> owner) {
        return refusal(owner) == null ? Mode.FFM : Mode.JNI;
    }

    /**
     * How the bridge of this name was bound, with overloads one of them; null before C loaded its
     * table.
     */
    public static Mode mode(Class<?> owner, String name) {
        Bound bound = find(owner, name);
        return bound == null ? null : bound.mode();
    }

    /** Why that bridge is called through JNI; null if it is not, and before it was bound. */
    public static String reason(Class<?> owner, String name) {
        Bound bound = find(owner, name);
        return bound == null ? null : bound.reason();
    }

    /** Binds a bridge: the address of its stub, or 0 for JNI. */
    @CalledFromNative
    static long stub(Class<?> owner, String name, String descriptor) {
        Bridges bridges = BRIDGES.get(owner);
        String reason = refusal(owner);
        long address = 0;
        if (reason == null) {
            try {
                address = link(bridges, owner, name, descriptor);
            } catch (Throwable failure) {
                reason = failure.toString();
            }
        }
        Mode mode = address != 0 ? Mode.FFM : Mode.JNI;
        bridges.bound.put(name + descriptor, new Bound(mode, reason));
        return address;
    }

    private static Bound find(Class<?> owner, String name) {
        for (Map.Entry<String, Bound> each : BRIDGES.get(owner).bound.entrySet()) {
            if (each.getKey().startsWith(name + "(")) {
                return each.getValue();
            }
        }
        return null;
    }

    private static String refusal(Class<?> owner) {
        if (Runtime.version().feature() < 22) {
            return "Java " + Runtime.version().feature() + " has no upcalls";
        }
        if (BRIDGES.get(owner).lookup == null) {
            return owner.getName() + " has not called BridgeBinding.allow";
        }
        if ("jni".equals(System.getProperty("kolibri.bridge"))) {
            return "kolibri.bridge=jni";
        }
        return CriticalLink.refusal(owner.getModule());
    }

    private static long link(Bridges bridges, Class<?> owner, String name, String descriptor)
            throws Throwable {
        MethodType type = MethodType.fromMethodDescriptorString(descriptor, owner.getClassLoader());
        MethodHandles.Lookup own = MethodHandles.lookup();
        MethodHandle escaped = own.findStatic(BridgeBinding.class, "escaped",
                MethodType.methodType(int.class, Throwable.class));
        MethodHandle bridge = MethodHandles.catchException(
                bridges.lookup.findStatic(owner, name, type), Throwable.class, escaped);
        MethodHandle target = isForever(owner.getClassLoader()) ? bridge : weak(bridge, type);
        synchronized (bridges.kept) {
            bridges.kept.add(bridge);
            return UpcallLink.link(bridges.lookup, target, type, bridges.kept);
        }
    }

    private static boolean isForever(ClassLoader loader) {
        return loader == null || loader == ClassLoader.getSystemClassLoader()
                || loader == ClassLoader.getPlatformClassLoader();
    }

    /**
     * The VM holds a stub's target strongly. So the target is made of the JDK's own parts around a
     * weak reference, and the class of a loader that can go is not kept by its stubs.
     */
    private static MethodHandle weak(MethodHandle bridge, MethodType type) throws Throwable {
        MethodHandle get = MethodHandles.publicLookup()
                .bind(new WeakReference<>(bridge), "get", MethodType.methodType(Object.class))
                .asType(MethodType.methodType(MethodHandle.class));
        MethodHandle called = MethodHandles.foldArguments(MethodHandles.exactInvoker(type), get);
        MethodHandle failed = MethodHandles.dropArguments(
                MethodHandles.constant(int.class, -1), 0, Throwable.class);
        return MethodHandles.catchException(called, Throwable.class, failed);
    }

    /** What a bridge did not catch, or raised while it caught; nothing may leave a stub. */
    private static int escaped(Throwable throwable) {
        try {
            return Bridge.caught(throwable);
        } catch (Throwable noMemory) {
            return -1;
        }
    }
}
