/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

/**
 * What static bridges that C calls do with exceptions: keep them for C to throw again, and return a
 * status. So C tests an int instead of asking the VM.
 *
 * <pre>{@code
 * static int onData(int handle, int size) {
 *     try {
 *         ((Listener) Handles.get(handle)).onData(size);
 *         return 0;
 *     } catch (Throwable t) {
 *         return Bridge.caught(t);
 *     }
 * }
 * }</pre>
 */
public final class Bridge {
    private static final ThreadLocal<Throwable> KEPT = new ThreadLocal<>();

    private Bridge() {}

    /** Keeps a throwable for this thread; a second one is added to the first. Returns -1. */
    public static int caught(Throwable throwable) {
        Throwable first = KEPT.get();
        if (first == null) {
            KEPT.set(throwable);
        } else if (first != throwable) {
            first.addSuppressed(throwable);
        }
        return -1;
    }

    /** What was kept, or null; nothing is kept afterwards. */
    @CalledFromNative
    static Throwable take() {
        Throwable kept = KEPT.get();
        KEPT.remove();
        return kept;
    }
}
