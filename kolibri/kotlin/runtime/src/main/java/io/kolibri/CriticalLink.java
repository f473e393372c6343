/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.util.Locale;

/**
 * java.lang.foreign by name, since this package is compiled for Java 17. The one restricted method,
 * downcallHandle, is looked up by the calling class, so that it is that class's module whose native
 * access counts.
 */
final class CriticalLink {
    static final String PACKAGE = "java.lang.foreign.";

    private CriticalLink() {}

    /** A handle that calls the function at an address without leaving Java's thread state. */
    static MethodHandle link(MethodHandles.Lookup caller, long address, MethodType type)
            throws Throwable {
        Class<?> linkerClass = Class.forName(PACKAGE + "Linker");
        Class<?> segmentClass = Class.forName(PACKAGE + "MemorySegment");
        Class<?> descriptorClass = Class.forName(PACKAGE + "FunctionDescriptor");
        Class<?> optionClass = Class.forName(PACKAGE + "Linker$Option");
        Object linker = linkerClass.getMethod("nativeLinker").invoke(null);
        Object segment = segmentClass.getMethod("ofAddress", long.class).invoke(null, address);
        Object options = Array.newInstance(optionClass, 1);
        Array.set(options, 0,
                optionClass.getMethod("critical", boolean.class).invoke(null, false));
        MethodType linkType = MethodType.methodType(
                MethodHandle.class, segmentClass, descriptorClass, options.getClass());
        MethodHandle downcall = caller.findVirtual(linkerClass, "downcallHandle", linkType)
                .asFixedArity();
        // Not invoke, which no Android tool accepts for API 24, though it never runs there.
        MethodHandle handle = (MethodHandle) downcall.invokeWithArguments(
                linker, segment, descriptor(type), options);
        return handle.asType(type);
    }

    /**
     * Why a module may not call restricted methods without a warning; null if it may. Java 22 and
     * later.
     */
    static String refusal(Module module) {
        boolean isAllowed;
        try {
            isAllowed = (boolean) Module.class.getMethod("isNativeAccessEnabled").invoke(module);
        } catch (ReflectiveOperationException unknown) {
            isAllowed = false;
        }
        return isAllowed ? null : "native access is not enabled for " + module;
    }

    static Object descriptor(MethodType type) throws ReflectiveOperationException {
        Class<?> layoutClass = Class.forName(PACKAGE + "MemoryLayout");
        Class<?> descriptorClass = Class.forName(PACKAGE + "FunctionDescriptor");
        Object layouts = Array.newInstance(layoutClass, type.parameterCount());
        for (int i = 0; i < type.parameterCount(); i++) {
            Array.set(layouts, i, layout(type.parameterType(i)));
        }
        if (type.returnType() == void.class) {
            return descriptorClass.getMethod("ofVoid", layouts.getClass()).invoke(null, layouts);
        }
        return descriptorClass.getMethod("of", layoutClass, layouts.getClass())
                .invoke(null, layout(type.returnType()), layouts);
    }

    private static Object layout(Class<?> primitive) throws ReflectiveOperationException {
        String name = "JAVA_" + primitive.getName().toUpperCase(Locale.ROOT);
        return Class.forName(PACKAGE + "ValueLayout").getField(name).get(null);
    }
}
