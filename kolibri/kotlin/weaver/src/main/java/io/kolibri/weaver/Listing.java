/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.weaver;

import io.kolibri.rewriter.Names;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.AnnotationNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodNode;

/** The native methods of class files, as a native library must register them. */
final class Listing {
    /** One native method; `isLeaf` if Java calls it as a leaf. */
    record Line(String owner, boolean isStatic, String name, String descriptor, boolean isLeaf) {
        @Override
        public String toString() {
            return owner + " " + (isStatic ? "static" : "instance") + " " + name + " " + descriptor
                    + (isLeaf ? " leaf" : "");
        }
    }

    private final List<ClassNode> classes;

    Listing(List<Path> inputs) throws IOException {
        this.classes = ClassFiles.read(inputs);
    }

    List<Line> lines() {
        List<Line> lines = new ArrayList<>();
        for (ClassNode cls : classes) {
            for (MethodNode method : cls.methods) {
                boolean isNative = (method.access & Opcodes.ACC_NATIVE) != 0;
                if (isNative && !method.name.endsWith("$critical")) {
                    boolean isStatic = (method.access & Opcodes.ACC_STATIC) != 0;
                    lines.add(new Line(cls.name, isStatic, method.name, method.desc,
                            isLeaf(cls, method)));
                }
            }
        }
        return lines;
    }

    void print(PrintStream out) {
        lines().forEach(out::println);
    }

    private static boolean isLeaf(ClassNode cls, MethodNode method) {
        if (isMarkedLeaf(method.invisibleAnnotations)) {
            return true;
        }
        for (MethodNode other : cls.methods) {
            if (other.name.equals(method.name + "$critical") && other.desc.equals(method.desc)) {
                return true;
            }
            for (AbstractInsnNode at : other.instructions) {
                if (at instanceof InvokeDynamicInsnNode call
                        && call.bsm.getOwner().equals("io/kolibri/NativeBinding")
                        && call.name.equals(method.name)
                        && call.desc.equals(method.desc)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean isMarkedLeaf(List<AnnotationNode> annotations) {
        return annotations != null && annotations.stream().anyMatch(each ->
                each.desc.equals(Names.NATIVE_METHOD)
                        && each.values != null
                        && each.values.contains(Boolean.TRUE));
    }
}
