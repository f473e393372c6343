/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.rewriter;

/** Finds classes by internal name: the class path of a weaver, the symbols of a compiler. */
@FunctionalInterface
public interface ClassSource {
    /** The class, or null if it is not known. */
    ClassInfo find(String internalName);
}
