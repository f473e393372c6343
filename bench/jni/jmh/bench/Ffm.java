/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package bench;

import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;

/** Plain downcalls of java.lang.foreign, by reflection as the sources are compiled for 17. */
final class Ffm {
    private static final String PACKAGE = "java.lang.foreign.";

    private Ffm() {}

    /** int cell_get(long), int cell_sum(long, long) or int cell_add(int, int); null before 22. */
    static MethodHandle downcall(int pointers) {
        if (Runtime.version().feature() < 22) {
            return null;
        }
        try {
            return link(Raw.address(pointers), pointers == 0 ? "JAVA_INT" : "JAVA_LONG",
                    pointers == 1 ? 1 : 2);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static MethodHandle link(long function, String parameter, int count)
            throws ReflectiveOperationException {
        Class<?> linker = Class.forName(PACKAGE + "Linker");
        Class<?> option = Class.forName(PACKAGE + "Linker$Option").arrayType();
        Class<?> layout = Class.forName(PACKAGE + "MemoryLayout");
        Class<?> layouts = Class.forName(PACKAGE + "ValueLayout");
        Class<?> descriptor = Class.forName(PACKAGE + "FunctionDescriptor");
        Class<?> segment = Class.forName(PACKAGE + "MemorySegment");
        Object parameters = Array.newInstance(layout, count);
        for (int i = 0; i < count; i++) {
            Array.set(parameters, i, layouts.getField(parameter).get(null));
        }
        Object type = descriptor.getMethod("of", layout, layout.arrayType())
                .invoke(null, layouts.getField("JAVA_INT").get(null), parameters);
        Object address = segment.getMethod("ofAddress", long.class).invoke(null, function);
        Object none = Array.newInstance(option.componentType(), 0);
        return (MethodHandle) linker.getMethod("downcallHandle", segment, descriptor, option)
                .invoke(linker.getMethod("nativeLinker").invoke(null), address, type, none);
    }
}
