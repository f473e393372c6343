/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * The rewriter's host for class files on disk: folders and jars, after any compiler.
 *
 * <p>{@link Weaver} does one class, {@link Weave} whole folders and jars, {@link Main} and {@link
 * WeaveMojo} are its command and its Maven goal. {@link Listing} and {@link Check} compare the
 * native methods of class files with the rows of a native library.
 */
package io.kolibri.weaver;
