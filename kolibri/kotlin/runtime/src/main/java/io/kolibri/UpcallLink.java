/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.util.List;

/**
 * Upcall stubs of java.lang.foreign by name, as CriticalLink makes downcalls: the restricted
 * method, upcallStub, is looked up by the class whose method is called.
 */
final class UpcallLink {
    private UpcallLink() {}

    /** The address of a stub that lives as long as what is added to {@code kept} is reachable. */
    static long link(MethodHandles.Lookup owner, MethodHandle target, MethodType type,
            List<Object> kept) throws Throwable {
        Class<?> linkerClass = Class.forName(CriticalLink.PACKAGE + "Linker");
        Class<?> segmentClass = Class.forName(CriticalLink.PACKAGE + "MemorySegment");
        Class<?> descriptorClass = Class.forName(CriticalLink.PACKAGE + "FunctionDescriptor");
        Class<?> arenaClass = Class.forName(CriticalLink.PACKAGE + "Arena");
        Class<?> optionClass = Class.forName(CriticalLink.PACKAGE + "Linker$Option");
        Object linker = linkerClass.getMethod("nativeLinker").invoke(null);
        Object arena = arenaClass.getMethod("ofAuto").invoke(null);
        Object options = Array.newInstance(optionClass, 0);
        MethodType linkType = MethodType.methodType(segmentClass, MethodHandle.class,
                descriptorClass, arenaClass, options.getClass());
        Object stub = owner.findVirtual(linkerClass, "upcallStub", linkType).asFixedArity()
                .invokeWithArguments(linker, target, CriticalLink.descriptor(type), arena, options);
        kept.add(stub);
        return (long) segmentClass.getMethod("address").invoke(stub);
    }
}
