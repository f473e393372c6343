/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.weaver;

import io.kolibri.rewriter.ClassRewriter;
import io.kolibri.rewriter.ClassSource;
import io.kolibri.rewriter.Names;
import io.kolibri.rewriter.Problem;
import io.kolibri.rewriter.Target;
import java.util.function.Consumer;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Weaves one class file in memory. Weaving twice changes nothing more. */
public final class Weaver {
    private final ClassSource classes;
    private final Target target;
    private final Consumer<Problem> problems;

    public Weaver(ClassSource classes, Target target, Consumer<Problem> problems) {
        this.classes = classes;
        this.target = target;
        this.problems = problems;
    }

    /** The woven class file, or the same array if there was nothing to do. */
    public byte[] weave(byte[] file) {
        if (!ClassReading.concernsUs(file)) {
            return file;
        }
        ClassReader reader = ClassReading.reader(file);
        ClassWriter writer = new ClassWriter(reader, 0);
        boolean[] hasProblem = {false};
        Visitor visitor = new Visitor(writer, new ClassRewriter(classes, target, problem -> {
            hasProblem[0] = true;
            problems.accept(problem);
        }));
        reader.accept(visitor, 0);
        return visitor.isRewritten && !hasProblem[0] ? writer.toByteArray() : file;
    }

    private static final class Visitor extends ClassVisitor {
        private final ClassRewriter rewriter;
        boolean isRewritten;

        Visitor(ClassWriter out, ClassRewriter rewriter) {
            super(Opcodes.ASM9, out);
            this.rewriter = rewriter;
        }

        @Override
        public void visit(int version, int access, String name, String signature,
                String superName, String[] interfaces) {
            rewriter.start(access, name, superName, interfaces);
            super.visit(version, access, name, signature, superName, interfaces);
        }

        @Override
        public void visitSource(String file, String debug) {
            rewriter.source(file);
            super.visitSource(file, debug);
        }

        @Override
        public AnnotationVisitor visitAnnotation(String descriptor, boolean visible) {
            rewriter.annotation(descriptor);
            AnnotationVisitor out = super.visitAnnotation(descriptor, visible);
            if (!descriptor.equals(Names.NATIVE_CLASS)) {
                return out;
            }
            AnnotationVisitor reader = ClassReading.kindReader(rewriter::kind);
            return new AnnotationVisitor(Opcodes.ASM9, out) {
                @Override
                public void visitEnum(String name, String type, String value) {
                    reader.visitEnum(name, type, value);
                    super.visitEnum(name, type, value);
                }
            };
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor,
                String signature, String[] exceptions) {
            return rewriter.method(
                    cv::visitMethod, access, name, descriptor, signature, exceptions);
        }

        @Override
        public void visitEnd() {
            isRewritten = rewriter.finish(cv::visitMethod);
            super.visitEnd();
        }
    }
}
