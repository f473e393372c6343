/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.Map;

/**
 * The one native method of this package, the same code in every library that links Kolibri. The
 * first library of the process registers it, under this class's monitor, and sets the flag.
 */
@CalledFromNative
final class Native {
    @CalledFromNative static boolean registered;

    private static final boolean IS_ANDROID = "Dalvik".equals(System.getProperty("java.vm.name"));
    private static final ThreadLocal<long[]> EXPECTED = new ThreadLocal<>();
    private static volatile boolean anyExpected;

    private Native() {}

    /** Calls a C function of one pointer. */
    static native void call(long function, long argument);

    /**
     * C expects that this thread's next construction takes a pointer; {@link #expected} tells
     * whether it did, and so who frees it if the constructor threw.
     */
    @CalledFromNative
    static void expect(long address) {
        anyExpected = true;
        EXPECTED.set(new long[] {address, 0});
    }

    @CalledFromNative
    static boolean expected() {
        long[] expected = EXPECTED.get();
        EXPECTED.remove();
        return expected != null && expected[1] != 0;
    }

    /*
     * * All elements of a collection, iterable, iterator or array; of a map, keys and values by
     * turns.
     */
    @CalledFromNative
    static Object[] flatten(Object source) {
        if (source instanceof Object[]) {
            return ((Object[]) source).clone();
        }
        if (source instanceof Collection) {
            return ((Collection<?>) source).toArray();
        }
        ArrayList<Object> all = new ArrayList<>();
        if (source instanceof Map) {
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) source).entrySet()) {
                all.add(entry.getKey());
                all.add(entry.getValue());
            }
        } else {
            Iterator<?> each =
                    source instanceof Iterable
                            ? ((Iterable<?>) source).iterator()
                            : (Iterator<?>) source;
            while (each.hasNext()) {
                all.add(each.next());
            }
        }
        return all.toArray();
    }

    /** Peers tell that they took a pointer. */
    static void taken(long address) {
        long[] expected = anyExpected ? EXPECTED.get() : null;
        if (expected != null && expected[0] == address) {
            expected[1] = 1;
        }
    }

    @CalledFromNative
    static void bind(Class<?> cls, long destroyer, long ender) {
        NativeType.bind(cls, destroyer, ender);
    }

    /** Android binds leaves at registration and has not all that NativeBinding needs. */
    @CalledFromNative
    static void leaf(Class<?> cls, String name, String descriptor, long address) {
        if (!IS_ANDROID) {
            NativeBinding.register(cls, name, descriptor, address);
        }
    }
}
