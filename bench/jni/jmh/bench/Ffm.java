/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package bench;

import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;

/** A plain downcall of java.lang.foreign, by reflection because the sources are compiled for 17. */
final class Ffm {
    private static final String PACKAGE = "java.lang.foreign.";

    private Ffm() {}

    /** int cell_get(long), or null before Java 22. */
    static MethodHandle cellGet() {
        if (Runtime.version().feature() < 22) {
            return null;
        }
        try {
            return link();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static MethodHandle link() throws ReflectiveOperationException {
        Class<?> linker = Class.forName(PACKAGE + "Linker");
        Class<?> option = Class.forName(PACKAGE + "Linker$Option").arrayType();
        Class<?> layout = Class.forName(PACKAGE + "MemoryLayout");
        Class<?> layouts = Class.forName(PACKAGE + "ValueLayout");
        Class<?> descriptor = Class.forName(PACKAGE + "FunctionDescriptor");
        Class<?> segment = Class.forName(PACKAGE + "MemorySegment");
        Object parameters = Array.newInstance(layout, 1);
        Array.set(parameters, 0, layouts.getField("JAVA_LONG").get(null));
        Object type = descriptor.getMethod("of", layout, layout.arrayType())
                .invoke(null, layouts.getField("JAVA_INT").get(null), parameters);
        Object address = segment.getMethod("ofAddress", long.class).invoke(null, Raw.address());
        Object none = Array.newInstance(option.componentType(), 0);
        return (MethodHandle) linker.getMethod("downcallHandle", segment, descriptor, option)
                .invoke(linker.getMethod("nativeLinker").invoke(null), address, type, none);
    }
}
