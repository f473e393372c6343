/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.weaver;

import io.kolibri.rewriter.ClassInfo;
import io.kolibri.rewriter.Kind;
import io.kolibri.rewriter.Names;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Reads class files: what the rewriter asks of other classes, and whether one concerns it. */
final class ClassReading {
    private static final byte[][] MARKS = {
        bytes(Names.NATIVE_METHOD), bytes(Names.AS_NATIVE_POINTER), bytes(Names.NATIVE_CLASS)
    };

    private ClassReading() {}

    /** Whether any of our annotations is named in it; most classes end here. */
    static boolean concernsUs(byte[] file) {
        for (byte[] mark : MARKS) {
            if (contains(file, mark)) {
                return true;
            }
        }
        return false;
    }

    /** A reader, with an error that says what to do about a class file that is too new. */
    static ClassReader reader(byte[] file) {
        try {
            return new ClassReader(file);
        } catch (IllegalArgumentException unknown) {
            throw new IllegalArgumentException(
                    unknown.getMessage() + ": a newer weaver, or an older target release, is"
                            + " needed", unknown);
        }
    }

    static ClassInfo info(byte[] file) {
        InfoVisitor visitor = new InfoVisitor();
        reader(file).accept(visitor, ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG);
        return visitor.info();
    }

    /** Passes the kind that a NativeClass annotation says to whoever asked. */
    static AnnotationVisitor kindReader(java.util.function.Consumer<Kind> out) {
        out.accept(Kind.SHARED);
        return new AnnotationVisitor(Opcodes.ASM9) {
            @Override
            public void visitEnum(String name, String descriptor, String value) {
                if (name.equals("value")) {
                    out.accept(Kind.valueOf(value));
                }
            }
        };
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static boolean contains(byte[] file, byte[] mark) {
        for (int i = 0; i + mark.length <= file.length; i++) {
            int same = 0;
            while (same < mark.length && file[i + same] == mark[same]) {
                same++;
            }
            if (same == mark.length) {
                return true;
            }
        }
        return false;
    }

    private static final class InfoVisitor extends ClassVisitor {
        private final Set<String> methods = new HashSet<>();
        private String name;
        private String superName;
        private List<String> interfaces;
        private Kind kind;

        InfoVisitor() {
            super(Opcodes.ASM9);
        }

        @Override
        public void visit(int version, int access, String name, String signature,
                String superName, String[] interfaces) {
            this.name = name;
            this.superName = superName;
            this.interfaces = interfaces == null ? List.of() : List.of(interfaces);
        }

        @Override
        public AnnotationVisitor visitAnnotation(String descriptor, boolean visible) {
            return descriptor.equals(Names.NATIVE_CLASS) ? kindReader(value -> kind = value) : null;
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor,
                String signature, String[] exceptions) {
            if ((access & Opcodes.ACC_PRIVATE) == 0) {
                methods.add(name + descriptor);
            }
            return null;
        }

        ClassInfo info() {
            return new ClassInfo(name, superName, interfaces, kind, methods);
        }
    }
}
