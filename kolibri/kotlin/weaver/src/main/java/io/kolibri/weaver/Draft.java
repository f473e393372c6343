/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.weaver;

import io.kolibri.rewriter.Names;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AnnotationNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * A first draft of the C side of a class: its native table and empty functions. From then on the C
 * table is the truth, and Check compares.
 */
final class Draft {
    private static final String[] C_TYPES = {
        "void", "jboolean", "jchar", "jbyte", "jshort", "jint", "jfloat", "jlong", "jdouble"
    };

    private final List<ClassNode> classes;

    Draft(List<Path> inputs) throws IOException {
        this.classes = ClassFiles.read(inputs);
    }

    void print(PrintStream out) {
        for (ClassNode each : classes) {
            List<String> rows = new ArrayList<>();
            each.methods.forEach(method -> addRow(method, rows));
            if (!rows.isEmpty()) {
                printClass(each, rows, out);
            }
        }
    }

    private static void printClass(ClassNode cls, List<String> rows, PrintStream out) {
        String token = simpleName(cls.name);
        String list = token.toUpperCase(Locale.ROOT) + "_NATIVES";
        out.println("KOL_NATIVE(" + token + ", \"" + cls.name + "\", struct "
                + token.toLowerCase(Locale.ROOT) + ")");
        out.println("#define " + list + "(X, C) \\");
        rows.forEach(each -> out.println("    " + each + " \\"));
        out.println("    X(C, D, destroy)");
        out.println("KOL_NATIVES(" + token + ", " + list + ")");
        out.println();
    }

    private static void addRow(MethodNode method, List<String> rows) {
        boolean isNative = (method.access & Opcodes.ACC_NATIVE) != 0;
        boolean isStatic = (method.access & Opcodes.ACC_STATIC) != 0;
        AnnotationNode marked = find(method.invisibleAnnotations, Names.NATIVE_METHOD);
        boolean isStub = (method.access & Opcodes.ACC_SYNTHETIC) != 0;
        if (!isNative && marked == null || isStub) {
            return;
        }
        Type[] types = Type.getArgumentTypes(method.desc);
        Type result = Type.getReturnType(method.desc);
        boolean isCreator = isStatic && result.getSort() == Type.LONG
                && method.name.startsWith("create");
        String kind = isCreator ? "N" : isStatic ? "S" : isLeaf(marked) ? "L" : "M";
        StringBuilder row = new StringBuilder("X(C, " + kind + types.length);
        if (!isCreator) {
            row.append(", ").append(token(result));
        }
        row.append(", ").append(method.name).append(", \"").append(method.name).append('"');
        for (int i = 0; i < types.length; i++) {
            row.append(", ").append(parameter(method, i, types[i]));
        }
        rows.add(row.append(")").toString());
    }

    private static String parameter(MethodNode method, int index, Type type) {
        List<AnnotationNode>[] marks = method.invisibleParameterAnnotations;
        AnnotationNode pointer =
                marks == null ? null : find(marks[index], Names.AS_NATIVE_POINTER);
        if (pointer == null) {
            return token(type);
        }
        boolean isNullable = pointer.values != null && pointer.values.contains(Boolean.TRUE);
        return simpleName(type.getInternalName()) + (isNullable ? "__or_null" : "");
    }

    private static String token(Type type) {
        return switch (type.getSort()) {
            case Type.ARRAY -> token(type.getElementType())
                    + "__array".repeat(type.getDimensions());
            case Type.OBJECT -> type.getInternalName().replace('/', '_').replace('$', '_');
            default -> C_TYPES[type.getSort()];
        };
    }

    private static boolean isLeaf(AnnotationNode marked) {
        return marked != null && marked.values != null && marked.values.contains(Boolean.TRUE);
    }

    private static AnnotationNode find(List<AnnotationNode> list, String descriptor) {
        if (list == null) {
            return null;
        }
        return list.stream().filter(each -> each.desc.equals(descriptor)).findFirst().orElse(null);
    }

    private static String simpleName(String internalName) {
        return internalName.substring(internalName.lastIndexOf('/') + 1).replace('$', '_');
    }
}
