/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * Turns marked native methods of native objects into bridges and static natives, class file by
 * class file.
 *
 * <p>{@code int add(int by)}, native and annotated NativeMethod in a subclass of NativeObject,
 * becomes a method with a body: it reads the object's pointer (which throws when the object was
 * closed), calls {@code private static native int add(long, int)}, keeps the objects reachable
 * until the call has returned, and returns the result. Parameters marked AsNativePointer cross as
 * pointers too.
 *
 * <p>{@link ClassRewriter} is the door. It has two hosts: the weaver reads and writes class files,
 * the compiler plugin sits in the Kotlin compiler's class writer. {@link Rules} decides what may be
 * rewritten and says what is wrong otherwise; {@link BridgeWriter} writes the code; what is known
 * of other classes comes through {@link ClassSource}. Nothing here knows a compiler, a file or a
 * build tool, and nothing here is shared between threads.
 */
package io.kolibri.rewriter;
