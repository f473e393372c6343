/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.rewriter;

import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.MethodNode;

/** A method of the class being written, with what its host knows of it. */
final class KnownMethod extends MethodNode {
    final MethodFacts facts;

    /** The first line of its code, 0 without one. */
    int line;

    KnownMethod(MethodFacts facts, int access, String name, String descriptor, String signature,
            String[] exceptions) {
        super(Opcodes.ASM9, access, name, descriptor, signature, exceptions);
        this.facts = facts;
    }

    static MethodFacts factsOf(MethodNode method) {
        return method instanceof KnownMethod known ? known.facts : MethodFacts.NONE;
    }

    static int lineOf(MethodNode method) {
        return method instanceof KnownMethod known ? known.line : 0;
    }
}
