/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.rewriter;

import org.objectweb.asm.MethodVisitor;

/** Where the methods of the class being written go. */
@FunctionalInterface
public interface MethodSink {
    MethodVisitor newMethod(
            int access, String name, String descriptor, String signature, String[] exceptions);
}
