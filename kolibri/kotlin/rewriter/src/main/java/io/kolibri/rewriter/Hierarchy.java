/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.rewriter;

import java.util.HashSet;
import java.util.Set;

/** Questions about classes that need their superclasses. */
final class Hierarchy {
    private final ClassSource source;

    Hierarchy(ClassSource source) {
        this.source = source;
    }

    /** A class whose superclass is not on the class path; the rewrite needs it. */
    static final class MissingClass extends RuntimeException {
        private static final long serialVersionUID = 1;
        final String name;

        MissingClass(String name) {
            super(name, null, false, false);
            this.name = name;
        }
    }

    /** The kind of a native object class, or null if it is no subclass of NativeObject. */
    Kind kindOf(String name) {
        if (name.equals(Names.NATIVE_OBJECT)) {
            return Kind.ANY;
        }
        for (ClassInfo at = find(name); at.superName() != null; at = find(at.superName())) {
            if (at.superName().equals(Names.NATIVE_OBJECT)) {
                return at.kind() == null ? Kind.SHARED : at.kind();
            }
        }
        return null;
    }

    /** Whether a superclass or interface has a method that a static of this name would hide. */
    boolean inheritsMethod(ClassInfo info, String nameAndDescriptor) {
        return inherits(info, nameAndDescriptor, new HashSet<>());
    }

    private boolean inherits(ClassInfo info, String method, Set<String> seen) {
        if (info.superName() != null && has(info.superName(), method, seen)) {
            return true;
        }
        for (String each : info.interfaces()) {
            if (has(each, method, seen)) {
                return true;
            }
        }
        return false;
    }

    private boolean has(String name, String method, Set<String> seen) {
        ClassInfo info = seen.add(name) ? source.find(name) : null;
        return info != null && (info.methods().contains(method) || inherits(info, method, seen));
    }

    private ClassInfo find(String name) {
        ClassInfo info = source.find(name);
        if (info == null) {
            throw new MissingClass(name);
        }
        return info;
    }
}
