/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import io.kolibri.NativeClass
import io.kolibri.NativeKind
import io.kolibri.NativeMethod
import io.kolibri.NativeObject
import io.kolibri.ReleasedException

/**
 * What the change listeners of one thread are told, and its natives (doors/jvm/c/jvm_changes.c): a
 * bounded queue of records, with an ear at the store for each listener. Guarded, as [Store] is.
 *
 * A thread that waits holds a lease, so close wakes it, and frees the queue when it has left.
 */
@NativeClass(NativeKind.GUARDED)
internal class ChangeQueue(store: Store) : NativeObject(store.changes()) {

    /** A new ear; what it hears bears its number. */
    @NativeMethod external fun add(): Int

    /** Ends an ear; what it has heard may still be taken. */
    @NativeMethod external fun remove(ear: Int)

    /** Records, one or many; null when woken. */
    @NativeMethod private external fun await(): ByteArray?

    /** Sleeps until there are records. Throws when it is closed meanwhile, or the store is. */
    fun next(): ByteArray {
        while (true) {
            val self = enter(this)
            try {
                await()?.let {
                    return it
                }
            } finally {
                if (isClosed) wake(self)
                leave(this)
            }
        }
    }

    override fun close() {
        val self =
            try {
                enter(this)
            } catch (_: ReleasedException) {
                return
            }
        super.close()
        wake(self)
        leave(this)
    }

    private companion object {
        @JvmStatic private external fun wake(self: Long)
    }
}
