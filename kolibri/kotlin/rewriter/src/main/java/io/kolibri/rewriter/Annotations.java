/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.rewriter;

import java.util.List;
import org.objectweb.asm.tree.AnnotationNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TypeAnnotationNode;

/** Reads the annotations that steer the rewrite, of either retention. */
final class Annotations {
    /** The target type of an annotation on a parameter's type (JVMS 4.7.20.1). */
    private static final int FORMAL_PARAMETER = 0x16;

    /** A parameter marked AsNativePointer. */
    record Pointer(boolean isNullable) {}

    boolean isOn(ClassNode cls, String descriptor) {
        return find(cls.visibleAnnotations, descriptor) != null
                || find(cls.invisibleAnnotations, descriptor) != null;
    }

    boolean isOn(MethodNode method, String descriptor) {
        return find(method.visibleAnnotations, descriptor) != null
                || find(method.invisibleAnnotations, descriptor) != null;
    }

    boolean isLeaf(MethodNode method) {
        AnnotationNode found = find(method.invisibleAnnotations, Names.NATIVE_METHOD);
        found = found != null ? found : find(method.visibleAnnotations, Names.NATIVE_METHOD);
        return isTrue(found, "leaf");
    }

    /** The mark of a parameter, or null. */
    Pointer pointer(MethodNode method, int parameter) {
        AnnotationNode found =
                find(at(method.invisibleParameterAnnotations, parameter), Names.AS_NATIVE_POINTER);
        if (found == null) {
            found = find(
                    at(method.visibleParameterAnnotations, parameter), Names.AS_NATIVE_POINTER);
        }
        return found == null ? null
                : new Pointer(isTrue(found, "nullable") || isNullable(method, parameter));
    }

    boolean marksAnyPointer(MethodNode method) {
        return marksAny(method.invisibleParameterAnnotations)
                || marksAny(method.visibleParameterAnnotations);
    }

    private static boolean marksAny(List<AnnotationNode>[] parameters) {
        for (int i = 0; parameters != null && i < parameters.length; i++) {
            if (find(parameters[i], Names.AS_NATIVE_POINTER) != null) {
                return true;
            }
        }
        return false;
    }

    /** Whether any annotation named Nullable is on the parameter or its type. */
    private static boolean isNullable(MethodNode method, int parameter) {
        return KnownMethod.factsOf(method).nullable().get(parameter)
                || hasNullable(at(method.visibleParameterAnnotations, parameter))
                || hasNullable(at(method.invisibleParameterAnnotations, parameter))
                || hasNullableType(method.visibleTypeAnnotations, parameter)
                || hasNullableType(method.invisibleTypeAnnotations, parameter);
    }

    private static boolean hasNullable(List<AnnotationNode> list) {
        return list != null && list.stream().anyMatch(each -> isNullableName(each.desc));
    }

    private static boolean hasNullableType(List<TypeAnnotationNode> list, int parameter) {
        int place = FORMAL_PARAMETER << 24 | parameter << 16;
        return list != null && list.stream().anyMatch(each -> each.typeRef == place
                && each.typePath == null && isNullableName(each.desc));
    }

    private static boolean isNullableName(String descriptor) {
        int start = Math.max(descriptor.lastIndexOf('/'), descriptor.lastIndexOf('$'));
        return descriptor.substring(Math.max(start, 0) + 1).equals("Nullable;");
    }

    private static List<AnnotationNode> at(List<AnnotationNode>[] parameters, int index) {
        return parameters != null && index < parameters.length ? parameters[index] : null;
    }

    private static AnnotationNode find(List<AnnotationNode> list, String descriptor) {
        if (list == null) {
            return null;
        }
        return list.stream().filter(each -> each.desc.equals(descriptor)).findFirst().orElse(null);
    }

    private static boolean isTrue(AnnotationNode annotation, String name) {
        if (annotation == null || annotation.values == null) {
            return false;
        }
        for (int i = 0; i + 1 < annotation.values.size(); i += 2) {
            if (annotation.values.get(i).equals(name)) {
                return Boolean.TRUE.equals(annotation.values.get(i + 1));
            }
        }
        return false;
    }
}
