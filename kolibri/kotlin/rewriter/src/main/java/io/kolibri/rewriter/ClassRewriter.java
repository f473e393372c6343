/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.rewriter;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Rewrites one class while it is being written.
 *
 * <p>The host tells of the class, sends each method through {@link #method}, and calls {@link
 * #finish} before it ends the class. Native methods are held back until then, because only the
 * whole class shows whether a generated native clashes; all others pass through. A class that
 * breaks a rule comes out with that method unchanged, and the problem reported: what to do about it
 * is the host's to say.
 */
public final class ClassRewriter {
    private final ClassNode header = new ClassNode();
    private final ClassSource classes;
    private final Target target;
    private final Consumer<Problem> problems;
    private Kind kind;

    public ClassRewriter(ClassSource classes, Target target, Consumer<Problem> problems) {
        this.classes = classes;
        this.target = target;
        this.problems = problems;
    }

    public void start(int access, String name, String superName, String[] interfaces) {
        header.visit(Opcodes.V17, access, name, null, superName, interfaces);
    }

    /** The source file's name, for messages; null where it is not known. */
    public void source(String file) {
        header.sourceFile = file;
    }

    /** An annotation of the class. */
    public void annotation(String descriptor) {
        header.visitAnnotation(descriptor, true);
    }

    /** What the NativeClass annotation says; null without one. */
    public void kind(Kind declared) {
        kind = declared;
    }

    /** Takes the place of the sink's newMethod. */
    public MethodVisitor method(
            MethodSink sink,
            int access,
            String name,
            String descriptor,
            String signature,
            String[] exceptions) {
        return method(
                sink, MethodFacts.NONE, access, name, descriptor, signature, exceptions);
    }

    /** The same, with what a compiler knows beyond the class file. */
    public MethodVisitor method(
            MethodSink sink,
            MethodFacts facts,
            int access,
            String name,
            String descriptor,
            String signature,
            String[] exceptions) {
        KnownMethod method =
                new KnownMethod(facts, access, name, descriptor, signature, exceptions);
        header.methods.add(method);
        if ((access & Opcodes.ACC_NATIVE) != 0) {
            return method;
        }
        MethodVisitor out = sink.newMethod(access, name, descriptor, signature, exceptions);
        return out == null ? null : new Watcher(method, out);
    }

    /**
     * Writes the methods that were held back, rewritten or not, and what they need. Says whether
     * any was rewritten.
     */
    public boolean finish(MethodSink sink) {
        List<NativeCall> calls = new Rules(header, info(), this::find, problems).calls();
        for (NativeCall each : calls) {
            new BridgeWriter(each, target).write();
        }
        Set<MethodNode> bridges = new HashSet<>();
        calls.forEach(each -> bridges.add(each.method()));
        for (MethodNode each : header.methods) {
            if ((each.access & Opcodes.ACC_NATIVE) != 0 || bridges.contains(each)) {
                String[] exceptions = each.exceptions.toArray(new String[0]);
                each.accept(sink.newMethod(
                        each.access, each.name, each.desc, each.signature, exceptions));
            }
        }
        for (NativeCall each : calls) {
            BridgeWriter.writeStubs(each, target, sink);
        }
        return !calls.isEmpty();
    }

    private ClassInfo find(String name) {
        return name.equals(header.name) ? info() : classes.find(name);
    }

    private ClassInfo info() {
        Set<String> methods = new HashSet<>();
        for (MethodNode each : header.methods) {
            if ((each.access & Opcodes.ACC_PRIVATE) == 0) {
                methods.add(each.name + each.desc);
            }
        }
        return new ClassInfo(header.name, header.superName, header.interfaces, kind, methods);
    }

    /** Notes the annotations and the first line of a method that passes through. */
    private static final class Watcher extends MethodVisitor {
        private final KnownMethod notes;

        Watcher(KnownMethod notes, MethodVisitor out) {
            super(Opcodes.ASM9, out);
            this.notes = notes;
        }

        @Override
        public void visitLineNumber(int line, org.objectweb.asm.Label start) {
            notes.line = notes.line == 0 ? line : Math.min(notes.line, line);
            super.visitLineNumber(line, start);
        }

        @Override
        public org.objectweb.asm.AnnotationVisitor visitAnnotation(
                String descriptor, boolean visible) {
            if (descriptor.equals(Names.NATIVE_METHOD)) {
                notes.visitAnnotation(descriptor, visible);
            }
            return super.visitAnnotation(descriptor, visible);
        }

        @Override
        public org.objectweb.asm.AnnotationVisitor visitParameterAnnotation(
                int parameter, String descriptor, boolean visible) {
            if (descriptor.equals(Names.AS_NATIVE_POINTER)) {
                notes.visitParameterAnnotation(parameter, descriptor, visible);
            }
            return super.visitParameterAnnotation(parameter, descriptor, visible);
        }
    }
}
