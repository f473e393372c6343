/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.lang.invoke.CallSite;
import java.lang.invoke.ConstantCallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Binds the calls of {@code leaf} methods, once each, when they are first made: to the bare C
 * function by a critical downcall where the VM has that (Java 22 and later, native access enabled
 * for the module of the calling class), else to the static native beside it.
 *
 * <p>Only woven classes of the JVM output refer to this class; Android never loads it. The system
 * property {@code kolibri.leaf=jni} turns critical downcalls off.
 */
@JvmOnly
public final class NativeBinding {
    /** How a leaf is called. */
    public enum Mode {
        /** The static native: an ordinary JNI call. */
        JNI,
        /** The bare C function: no change of thread state. */
        FFM
    }

    @JvmOnly
    private record Bound(Mode mode, String reason) {}

    /** What registration and linking know of a class's leaves, by name and descriptor. */
    private static final class Leaves {
        final Map<String, Long> addresses = new ConcurrentHashMap<>();
        final Map<String, Bound> bound = new ConcurrentHashMap<>();
    }

    private static final ClassValue<Leaves> LEAVES = new ClassValue<>() {
        @Override
        protected Leaves computeValue(Class<?> cls) {
            return new Leaves();
        }
    };

    private NativeBinding() {}

    /** Links one call of a leaf; called by the VM. */
    public static CallSite bootstrap(MethodHandles.Lookup caller, String name, MethodType type)
            throws NoSuchMethodException, IllegalAccessException {
        Class<?> owner = caller.lookupClass();
        Leaves leaves = LEAVES.get(owner);
        String key = name + type.toMethodDescriptorString();
        MethodHandle stub = caller.findStatic(owner, name, type);
        MethodHandle direct = null;
        String reason = refusal(owner, leaves.addresses.get(key));
        if (reason == null) {
            try {
                direct = CriticalLink.link(caller, leaves.addresses.get(key), type);
            } catch (Throwable failure) {
                reason = failure.toString();
            }
        }
        Mode mode = direct != null ? Mode.FFM : Mode.JNI;
        leaves.bound.put(key, new Bound(mode, reason));
        return new ConstantCallSite(direct != null ? direct : stub);
    }

    /** How leaves of a class will be bound, as far as the VM and the module decide. */
    public static Mode mode(Class<?> owner) {
        return refusalOfVm(owner) == null ? Mode.FFM : Mode.JNI;
    }

    /**
     * How the leaf of this name was bound, with overloads one of them; null before its first call.
     */
    public static Mode mode(Class<?> owner, String name) {
        Bound bound = find(owner, name);
        return bound == null ? null : bound.mode();
    }

    /** Why that leaf is an ordinary JNI call; null if it is none, and before its first call. */
    public static String reason(Class<?> owner, String name) {
        Bound bound = find(owner, name);
        return bound == null ? null : bound.reason();
    }

    /** Registration tells where the bare function of a leaf is. */
    static void register(Class<?> owner, String name, String descriptor, long address) {
        LEAVES.get(owner).addresses.put(name + descriptor, address);
    }

    private static Bound find(Class<?> owner, String name) {
        for (Map.Entry<String, Bound> each : LEAVES.get(owner).bound.entrySet()) {
            if (each.getKey().startsWith(name + "(")) {
                return each.getValue();
            }
        }
        return null;
    }

    private static String refusal(Class<?> owner, Long address) {
        String reason = refusalOfVm(owner);
        return reason != null || address != null ? reason
                : "the native library registered no leaf row for it";
    }

    private static String refusalOfVm(Class<?> owner) {
        if ("jni".equals(System.getProperty("kolibri.leaf"))) {
            return "kolibri.leaf=jni";
        }
        if (Runtime.version().feature() < 22) {
            return "Java " + Runtime.version().feature() + " has no critical downcalls";
        }
        return CriticalLink.refusal(owner.getModule());
    }
}
