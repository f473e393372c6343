/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

/** When a native object's C memory is freed, and on which thread. */
public enum NativeKind {
    /** When the Java object is unreachable; calls cost nothing extra. */
    SHARED,
    /** By close, or by the last call that leaves after it; each call takes a lease. */
    GUARDED,
    /**
     * When its {@link Owner} drains next after its close or its collection, on the owner's thread,
     * the only one that may call or close it. A call compares threads.
     */
    OWNER
}
