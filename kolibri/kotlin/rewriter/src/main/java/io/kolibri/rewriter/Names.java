/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.rewriter;

import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;

/** The names of the runtime that woven classes refer to, as class files spell them. */
public final class Names {
    public static final String NATIVE_OBJECT = "io/kolibri/NativeObject";
    public static final String NATIVE_METHOD = "Lio/kolibri/NativeMethod;";
    public static final String AS_NATIVE_POINTER = "Lio/kolibri/AsNativePointer;";
    public static final String NATIVE_CLASS = "Lio/kolibri/NativeClass;";

    public static final String KOTLIN_METADATA = "Lkotlin/Metadata;";
    static final String CONTINUATION = "kotlin/coroutines/Continuation";
    static final String CRITICAL_NATIVE = "Ldalvik/annotation/optimization/CriticalNative;";
    static final String REFERENCE = "java/lang/ref/Reference";

    /** What registration looks for to hand ART the bare function of a leaf. */
    static final String CRITICAL_SUFFIX = "$critical";

    /** Binds the calls of leaf methods. */
    static final Handle BOOTSTRAP =
            new Handle(
                    Opcodes.H_INVOKESTATIC,
                    "io/kolibri/NativeBinding",
                    "bootstrap",
                    "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;"
                            + "Ljava/lang/invoke/MethodType;)Ljava/lang/invoke/CallSite;",
                    false);

    private Names() {}
}
