/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.rewriter;

import java.util.List;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.MethodNode;

/**
 * One native method that passed the rules, and all that writing its bridge needs.
 *
 * @param owner internal name of its class
 * @param method the method as declared; becomes the bridge
 * @param receiver kind of the class
 * @param parameters in order
 * @param isLeaf bound without leaving Java's thread state where the VM can
 */
record NativeCall(
        String owner,
        MethodNode method,
        Kind receiver,
        List<Parameter> parameters,
        boolean isLeaf) {
    /** A parameter; `kind` is null for one that crosses as it is. */
    record Parameter(Type type, Kind kind, boolean isNullable) {
        boolean isPointer() {
            return kind != null;
        }

        boolean isLeased() {
            return isPointer() && kind.isLeased();
        }
    }

    Type result() {
        return Type.getReturnType(method.desc);
    }

    /** The descriptor of the static native: the pointers are longs, the receiver's first. */
    String stubDescriptor() {
        StringBuilder text = new StringBuilder("(J");
        for (Parameter each : parameters) {
            text.append(each.isPointer() ? "J" : each.type().getDescriptor());
        }
        return text.append(')').append(result().getDescriptor()).toString();
    }

    boolean hasLease() {
        return receiver.isLeased() || parameters.stream().anyMatch(Parameter::isLeased);
    }
}
