/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.rewriter;

import java.util.BitSet;

/**
 * What a compiler knows of a method and its class file does not say.
 *
 * @param nullable parameters whose type admits null
 * @param line where the method is declared, 0 if that is not known
 * @param refusal why a NativeMethod of this form of source is refused, null if it is not
 */
public record MethodFacts(BitSet nullable, int line, String refusal) {
    public static final MethodFacts NONE = new MethodFacts(new BitSet(), 0, null);
}
