/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.lang.ref.WeakReference;

/**
 * What the runtime knows of one class of native objects: its kind, and how its objects end.
 *
 * <p>Types are found by class in an open table that is replaced when it grows, so reading takes no
 * lock. The table holds classes weakly and types hold no class, so a class can be unloaded.
 */
final class NativeType {
    private static volatile NativeType[] table = new NativeType[32];
    private static int count;

    final NativeKind kind;
    final boolean isFreeAnywhere;
    final String name;
    private final WeakReference<Class<?>> owner;
    private final int hash;
    private final long destroyer;
    private final long ender;

    private NativeType(Class<?> owner, NativeKind kind, long destroyer, long ender) {
        this.owner = new WeakReference<>(owner);
        this.hash = System.identityHashCode(owner);
        this.name = owner.getName();
        this.kind = kind;
        this.isFreeAnywhere = isFreeAnywhere(owner);
        this.destroyer = destroyer;
        this.ender = ender;
    }

    void destroy(long address) {
        if (destroyer != 0) {
            Native.call(destroyer, address);
        }
    }

    void end(long address) {
        if (ender != 0) {
            Native.call(ender, address);
        }
    }

    /** The type of a class; without a native table of its own it is its superclass's. */
    static NativeType of(Class<?> cls) {
        NativeType found = find(cls);
        return found != null ? found : inherit(cls);
    }

    /** Says how the objects of a class end; called by registration. */
    static void bind(Class<?> cls, long destroyer, long ender) {
        put(cls, destroyer, ender);
    }

    private static NativeType find(Class<?> cls) {
        NativeType[] types = table;
        int mask = types.length - 1;
        for (int i = System.identityHashCode(cls) & mask; types[i] != null; i = (i + 1) & mask) {
            if (types[i].owner.get() == cls) {
                return types[i];
            }
        }
        return null;
    }

    private static NativeType inherit(Class<?> cls) {
        for (Class<?> at = cls.getSuperclass(); at != null; at = at.getSuperclass()) {
            NativeType found = find(at);
            if (found != null) {
                return put(cls, found.destroyer, found.ender);
            }
        }
        return put(cls, 0, 0);
    }

    private static synchronized NativeType put(Class<?> cls, long destroyer, long ender) {
        NativeType type = new NativeType(cls, kindOf(cls), destroyer, ender);
        NativeType[] old = table;
        boolean isFull = (count + 1) * 2 > old.length;
        NativeType[] grown = new NativeType[isFull ? old.length * 2 : old.length];
        int kept = 0;
        for (NativeType each : old) {
            Class<?> owner = each == null ? null : each.owner.get();
            if (owner != null && owner != cls) {
                insert(grown, each);
                kept++;
            }
        }
        insert(grown, type);
        count = kept + 1;
        table = grown;
        return type;
    }

    private static void insert(NativeType[] types, NativeType type) {
        int mask = types.length - 1;
        int i = type.hash & mask;
        while (types[i] != null) {
            i = (i + 1) & mask;
        }
        types[i] = type;
    }

    /** The first class below NativeObject; what it declares holds for all below. */
    private static Class<?> top(Class<?> cls) {
        Class<?> top = cls;
        while (top.getSuperclass() != null && top.getSuperclass() != NativeObject.class) {
            top = top.getSuperclass();
        }
        return top;
    }

    private static boolean isFreeAnywhere(Class<?> cls) {
        NativeClass declared = top(cls).getAnnotation(NativeClass.class);
        return declared != null && declared.freeAnywhere();
    }

    private static NativeKind kindOf(Class<?> cls) {
        Class<?> top = top(cls);
        NativeClass declared = top.getAnnotation(NativeClass.class);
        NativeKind kind = declared == null ? NativeKind.SHARED : declared.value();
        for (Class<?> below = cls; below != top; below = below.getSuperclass()) {
            NativeClass other = below.getAnnotation(NativeClass.class);
            if (other != null && other.value() != kind) {
                throw new IllegalStateException(
                        below.getName() + " cannot change the kind of " + top.getName());
            }
        }
        return kind;
    }
}
