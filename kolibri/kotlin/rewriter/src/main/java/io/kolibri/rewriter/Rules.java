/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.rewriter;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * What may be rewritten. Every rule is judged on the class file alone, so it holds for every
 * language; docs/plugin.md has the same rules as a table of source constructs.
 */
final class Rules {
    private static final int PARAMETERS_MAX = 8;

    private final ClassNode owner;
    private final ClassInfo ownerInfo;
    private final Hierarchy hierarchy;
    private final Consumer<Problem> problems;
    private final boolean isKotlin;
    private final Annotations annotations = new Annotations();
    private Kind receiver;

    Rules(ClassNode owner, ClassInfo ownerInfo, ClassSource source, Consumer<Problem> problems) {
        this.owner = owner;
        this.ownerInfo = ownerInfo;
        this.hierarchy = new Hierarchy(source);
        this.problems = problems;
        this.isKotlin = annotations.isOn(owner, Names.KOTLIN_METADATA);
    }

    /** The calls to rewrite. Whatever breaks a rule is reported and is not among them. */
    List<NativeCall> calls() {
        List<NativeCall> calls = new ArrayList<>();
        checkKind();
        for (MethodNode method : owner.methods) {
            try {
                NativeCall call = judge(method);
                if (call != null) {
                    calls.add(call);
                }
            } catch (Hierarchy.MissingClass missing) {
                report(method, "class " + missing.name.replace('/', '.') + " is not on the class"
                        + " path, and how its objects are called depends on it");
            }
        }
        return calls;
    }

    private void checkKind() {
        if (ownerInfo.kind() == null) {
            return;
        }
        try {
            Kind kind = hierarchy.kindOf(owner.name);
            if (kind == null) {
                report(null, "@NativeClass says nothing here: the class is no subclass of"
                        + " NativeObject");
            } else if (kind != ownerInfo.kind()) {
                report(null, "a subclass cannot change the kind, which is " + kind + " since the"
                        + " first class below NativeObject");
            }
        } catch (Hierarchy.MissingClass missing) {
            report(null, "superclass " + missing.name.replace('/', '.')
                    + " is not on the class path");
        }
    }

    private NativeCall judge(MethodNode method) {
        // Compilers give the bridges of a covariant or generic override the annotations of it.
        if ((method.access & Opcodes.ACC_BRIDGE) != 0) {
            return null;
        }
        if (!annotations.isOn(method, Names.NATIVE_METHOD)) {
            if (annotations.marksAnyPointer(method) && !isWoven(method)) {
                report(method, "@AsNativePointer has an effect only on parameters of a"
                        + " @NativeMethod");
            }
            return null;
        }
        if ((method.access & Opcodes.ACC_NATIVE) == 0 && isWoven(method)) {
            return null;
        }
        String refusal = refusalOfForm(method);
        if (refusal == null) {
            receiver = hierarchy.kindOf(owner.name);
            refusal = receiver != null ? refusalOfName(method)
                    : "@NativeMethod needs a member of a subclass of io.kolibri.NativeObject";
        }
        if (refusal != null) {
            report(method, refusal);
            return null;
        }
        return judgeParameters(method);
    }

    private static String refusalOfForm(MethodNode method) {
        if ((method.access & Opcodes.ACC_STATIC) != 0) {
            return "@NativeMethod needs an object, and a static native has none: remove the"
                    + " annotation and register it as a static row, or make it a member";
        }
        if (KnownMethod.factsOf(method).refusal() != null) {
            return KnownMethod.factsOf(method).refusal();
        }
        if ((method.access & Opcodes.ACC_ABSTRACT) != 0) {
            return "@NativeMethod is not inherited: put it on the native methods that implement"
                    + " this one";
        }
        if ((method.access & Opcodes.ACC_NATIVE) == 0) {
            return "@NativeMethod has a body already: make it native (external in Kotlin)";
        }
        return null;
    }

    private String refusalOfName(MethodNode method) {
        if (!isKotlin) {
            return null;
        }
        Type[] types = Type.getArgumentTypes(method.desc);
        if (types.length > 0
                && types[types.length - 1].getSort() == Type.OBJECT
                && types[types.length - 1].getInternalName().equals(Names.CONTINUATION)) {
            return "a suspend function cannot be native: declare a plain one and call it from a"
                    + " suspend function";
        }
        if (method.name.indexOf('-') >= 0 || method.name.indexOf('$') >= 0) {
            return "its JVM name \"" + method.name + "\" is made up by the compiler (internal, or"
                    + " a value class in the signature), or looks so: give it one with @JvmName,"
                    + " without - and $";
        }
        return null;
    }

    private NativeCall judgeParameters(MethodNode method) {
        Type[] types = Type.getArgumentTypes(method.desc);
        List<NativeCall.Parameter> parameters = new ArrayList<>();
        String refusal = types.length <= PARAMETERS_MAX ? null
                : "a native row has at most " + PARAMETERS_MAX + " parameters: pass an array or"
                        + " an object";
        for (int i = 0; i < types.length; i++) {
            Annotations.Pointer pointer = annotations.pointer(method, i);
            Kind kind = null;
            if (pointer != null) {
                kind = types[i].getSort() == Type.OBJECT
                        ? hierarchy.kindOf(types[i].getInternalName()) : null;
                if (kind == null) {
                    refusal = types[i].getSort() == Type.ARRAY
                            ? "@AsNativePointer on an array or vararg: pass the objects one by one"
                            : "@AsNativePointer needs a parameter whose type is a subclass of"
                                    + " NativeObject";
                }
            }
            parameters.add(new NativeCall.Parameter(
                    types[i], kind, pointer != null && pointer.isNullable()));
        }
        NativeCall call = new NativeCall(
                owner.name, method, receiver, parameters, annotations.isLeaf(method));
        refusal = refusal == null ? refusalOfLeaf(call) : refusal;
        refusal = refusal == null ? refusalOfStub(call) : refusal;
        if (refusal != null) {
            report(method, refusal);
            return null;
        }
        return call;
    }

    private static String refusalOfLeaf(NativeCall call) {
        if (!call.isLeaf()) {
            return null;
        }
        if ((call.method().access & Opcodes.ACC_SYNCHRONIZED) != 0) {
            return "a leaf cannot be synchronized: a leaf may not block";
        }
        for (NativeCall.Parameter each : call.parameters()) {
            if (!each.isPointer() && each.type().getSort() >= Type.ARRAY) {
                return "a leaf takes only primitives and @AsNativePointer objects, not "
                        + each.type().getClassName() + ": remove leaf";
            }
        }
        return call.result().getSort() < Type.ARRAY ? null
                : "a leaf returns a primitive or nothing, not " + call.result().getClassName()
                        + ": remove leaf";
    }

    private String refusalOfStub(NativeCall call) {
        String stub = call.method().name + call.stubDescriptor();
        for (MethodNode other : owner.methods) {
            boolean isOther = other != call.method();
            if (isOther && (other.name + other.desc).equals(stub)) {
                return "the generated native " + stub + " has the name and types of another method"
                        + " of this class: rename one";
            }
            if (isOther && other.name.equals(call.method().name) && stubOf(other).equals(stub)) {
                return "another overload crosses as the same native " + stub + ", since native"
                        + " objects are pointers there: rename one (@JvmName in Kotlin)";
            }
        }
        return hierarchy.inheritsMethod(ownerInfo, stub)
                ? "the generated native " + stub + " would hide an inherited method: rename this"
                        + " method" : null;
    }

    /** Name and descriptor of the native that a method crosses as, "" if it does not cross. */
    private String stubOf(MethodNode method) {
        boolean crosses = annotations.isOn(method, Names.NATIVE_METHOD)
                && (method.access & (Opcodes.ACC_NATIVE | Opcodes.ACC_STATIC))
                        == Opcodes.ACC_NATIVE;
        return crosses ? method.name + lowered(method) : "";
    }

    private String lowered(MethodNode method) {
        StringBuilder text = new StringBuilder("(J");
        Type[] types = Type.getArgumentTypes(method.desc);
        for (int i = 0; i < types.length; i++) {
            boolean isPointer = annotations.pointer(method, i) != null;
            text.append(isPointer ? "J" : types[i].getDescriptor());
        }
        return text.append(')').append(Type.getReturnType(method.desc)).toString();
    }

    /** Whether a method with a body is a bridge already: its static native is there. */
    private boolean isWoven(MethodNode method) {
        String descriptor = lowered(method);
        for (MethodNode other : owner.methods) {
            int wanted = Opcodes.ACC_NATIVE | Opcodes.ACC_STATIC;
            if ((other.access & wanted) == wanted
                    && other.name.equals(method.name)
                    && other.desc.equals(descriptor)) {
                return true;
            }
        }
        return false;
    }

    private void report(MethodNode method, String text) {
        String folder = owner.name.substring(0, owner.name.lastIndexOf('/') + 1);
        problems.accept(new Problem(
                owner.sourceFile == null ? null : folder + owner.sourceFile,
                method == null ? 0 : KnownMethod.lineOf(method),
                owner.name, method == null ? null : method.name,
                method == null ? null : method.desc, text));
    }
}
