/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.rewriter;

import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.MethodNode;

/**
 * Writes the body of a bridge.
 *
 * <p>Without a lease it is a straight line, and the result waits on the operand stack while the
 * fences run. A fence on the normal path is enough: at the call the VM cannot know whether the call
 * will throw, so the objects are live while C runs.
 *
 * <pre>
 * f(ptr(this), a, ptr(b)); fence(this); fence(b); return
 * </pre>
 *
 * <p>With leases there is one handler. The first lease is taken before the guarded range; each
 * further one is remembered in a local that is null until it was taken, and leave takes null.
 *
 * <pre>
 * p = enter(this); held = null;
 * try { q = enter(b); held = b; f(p, a, q) } catch (any) { leave(held); leave(this); throw }
 * leave(held); leave(this); return
 * </pre>
 */
final class BridgeWriter {
    private static final String TO_POINTER = "(Lio/kolibri/NativeObject;)J";
    private static final String TO_NOTHING = "(Lio/kolibri/NativeObject;)V";

    /** An object that crosses as a pointer; `held` is -1 for the first lease. */
    private static final class Pointer {
        final int object;
        final Kind kind;
        final String getter;
        final Type type;
        int pointer;
        int held = -1;

        Pointer(int object, Kind kind, boolean isNullable, Type type) {
            this.object = object;
            this.kind = kind;
            this.getter = isNullable ? kind.nullableGetter : kind.getter;
            this.type = type;
        }
    }

    private final NativeCall call;
    private final Target target;
    private final MethodNode out;
    private final Pointer receiver;
    private final Pointer[] pointers;
    private final List<Pointer> leases = new ArrayList<>();
    private final List<Object> frame = new ArrayList<>();
    private int nextLocal = 1;

    BridgeWriter(NativeCall call, Target target) {
        this.call = call;
        this.target = target;
        this.out = call.method();
        this.receiver = new Pointer(0, call.receiver(), false, Type.getObjectType(call.owner()));
        this.pointers = new Pointer[call.parameters().size()];
        frame.add(call.owner());
        addLease(receiver);
        for (int i = 0; i < pointers.length; i++) {
            NativeCall.Parameter each = call.parameters().get(i);
            if (each.isPointer()) {
                pointers[i] = new Pointer(nextLocal, each.kind(), each.isNullable(), each.type());
                addLease(pointers[i]);
            }
            frame.add(frameType(each.type()));
            nextLocal += each.type().getSize();
        }
    }

    private void addLease(Pointer pointer) {
        if (pointer.kind.isLeased()) {
            leases.add(pointer);
        }
    }

    /** Turns the native method into the bridge. */
    void write() {
        out.access &= ~Opcodes.ACC_NATIVE;
        out.visitCode();
        int line = KnownMethod.factsOf(out).line();
        if (line > 0) {
            Label start = new Label();
            out.visitLabel(start);
            out.visitLineNumber(line, start);
        }
        if (leases.isEmpty()) {
            writeCall();
            writeFences();
            out.visitInsn(call.result().getOpcode(Opcodes.IRETURN));
        } else {
            writeLeased();
        }
        out.visitMaxs(stackSize(), nextLocal);
    }

    private void writeLeased() {
        Label start = new Label();
        Label end = new Label();
        Label handler = new Label();
        writeFirstLease();
        out.visitTryCatchBlock(start, end, handler, null);
        out.visitLabel(start);
        for (Pointer each : leases.subList(1, leases.size())) {
            enter(each);
            out.visitVarInsn(Opcodes.ALOAD, each.object);
            out.visitVarInsn(Opcodes.ASTORE, each.held);
        }
        writeCall();
        out.visitLabel(end);
        writeLeaves();
        writeFences();
        out.visitInsn(call.result().getOpcode(Opcodes.IRETURN));
        out.visitLabel(handler);
        out.visitFrame(Opcodes.F_FULL, frame.size(), frame.toArray(), 1,
                new Object[] {"java/lang/Throwable"});
        writeLeaves();
        out.visitInsn(Opcodes.ATHROW);
    }

    /** Takes the first lease, and lays out the locals: what the handler sees comes first. */
    private void writeFirstLease() {
        Pointer first = leases.get(0);
        first.pointer = newLocal(2);
        frame.add(Opcodes.LONG);
        enter(first);
        for (Pointer each : leases.subList(1, leases.size())) {
            each.held = newLocal(1);
            frame.add(each.type.getInternalName());
            out.visitInsn(Opcodes.ACONST_NULL);
            out.visitVarInsn(Opcodes.ASTORE, each.held);
        }
        for (Pointer each : leases.subList(1, leases.size())) {
            each.pointer = newLocal(2);
        }
    }

    private void enter(Pointer lease) {
        out.visitVarInsn(Opcodes.ALOAD, lease.object);
        invokeRuntime(lease.getter, TO_POINTER);
        out.visitVarInsn(Opcodes.LSTORE, lease.pointer);
    }

    private void writeLeaves() {
        for (int i = leases.size() - 1; i >= 0; i--) {
            Pointer each = leases.get(i);
            out.visitVarInsn(Opcodes.ALOAD, each.held >= 0 ? each.held : each.object);
            invokeRuntime("leave", TO_NOTHING);
        }
    }

    private void writeCall() {
        loadPointer(receiver);
        int local = 1;
        for (int i = 0; i < pointers.length; i++) {
            Type type = call.parameters().get(i).type();
            if (pointers[i] != null) {
                loadPointer(pointers[i]);
            } else {
                out.visitVarInsn(type.getOpcode(Opcodes.ILOAD), local);
            }
            local += type.getSize();
        }
        String descriptor = call.stubDescriptor();
        if (!call.isLeaf()) {
            invokeStub(out.name, descriptor);
        } else if (target == Target.ANDROID) {
            invokeStub(out.name + Names.CRITICAL_SUFFIX, descriptor);
        } else {
            out.visitInvokeDynamicInsn(out.name, descriptor, Names.BOOTSTRAP);
        }
    }

    private void loadPointer(Pointer pointer) {
        if (pointer.kind.isLeased()) {
            out.visitVarInsn(Opcodes.LLOAD, pointer.pointer);
        } else {
            out.visitVarInsn(Opcodes.ALOAD, pointer.object);
            invokeRuntime(pointer.getter, TO_POINTER);
        }
    }

    private void writeFences() {
        writeFence(receiver);
        for (Pointer each : pointers) {
            if (each != null) {
                writeFence(each);
            }
        }
    }

    private void writeFence(Pointer pointer) {
        if (pointer.kind.isLeased()) {
            return;
        }
        out.visitVarInsn(Opcodes.ALOAD, pointer.object);
        if (target == Target.ANDROID) {
            invokeRuntime("fence", TO_NOTHING);
        } else {
            out.visitMethodInsn(Opcodes.INVOKESTATIC, Names.REFERENCE, "reachabilityFence",
                    "(Ljava/lang/Object;)V", false);
        }
    }

    private void invokeRuntime(String name, String descriptor) {
        out.visitMethodInsn(
                Opcodes.INVOKESTATIC, Names.NATIVE_OBJECT, name, descriptor, false);
    }

    private void invokeStub(String name, String descriptor) {
        out.visitMethodInsn(Opcodes.INVOKESTATIC, call.owner(), name, descriptor, false);
    }

    private int newLocal(int size) {
        int local = nextLocal;
        nextLocal += size;
        return local;
    }

    private int stackSize() {
        int arguments = Type.getArgumentsAndReturnSizes(call.stubDescriptor()) >> 2;
        return Math.max(arguments - 1, Math.max(2, call.result().getSize() + 1));
    }

    private static Object frameType(Type type) {
        return switch (type.getSort()) {
            case Type.BOOLEAN, Type.BYTE, Type.CHAR, Type.SHORT, Type.INT -> Opcodes.INTEGER;
            case Type.LONG -> Opcodes.LONG;
            case Type.FLOAT -> Opcodes.FLOAT;
            case Type.DOUBLE -> Opcodes.DOUBLE;
            default -> type.getInternalName();
        };
    }

    /** Declares the static natives that the bridge calls. */
    static void writeStubs(NativeCall call, Target target, MethodSink sink) {
        int access = Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC | Opcodes.ACC_NATIVE
                | Opcodes.ACC_SYNTHETIC;
        String name = call.method().name;
        sink.newMethod(access, name, call.stubDescriptor(), null, null).visitEnd();
        if (call.isLeaf() && target == Target.ANDROID) {
            MethodVisitor critical = sink.newMethod(
                    access, name + Names.CRITICAL_SUFFIX, call.stubDescriptor(), null, null);
            critical.visitAnnotation(Names.CRITICAL_NATIVE, false).visitEnd();
            critical.visitEnd();
        }
    }
}
