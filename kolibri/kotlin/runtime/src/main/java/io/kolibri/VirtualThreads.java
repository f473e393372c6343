/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.lang.reflect.Method;

/** What can be asked about virtual threads from classes compiled for 17. */
final class VirtualThreads {
    private static final Method IS_VIRTUAL = find();

    private VirtualThreads() {}

    static boolean isVirtual(Thread thread) {
        try {
            return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invoke(thread);
        } catch (ReflectiveOperationException e) {
            return false;
        }
    }

    private static Method find() {
        try {
            return Thread.class.getMethod("isVirtual");
        } catch (NoSuchMethodException e) {
            return null;
        }
    }
}
