/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What users registered: classes and schema ids. Copied when changed; any thread. */
final class TaggedCodecs {
    static final TaggedCodecs NONE = new TaggedCodecs(new HashMap<>(), new HashMap<>());

    /** One registration. */
    static final class Entry {
        final int id;
        private final Class<?> cls;
        private final TaggedCustom.Codec<Object> codec;

        @SuppressWarnings("unchecked") // It is only given instances of cls.
        Entry(int id, Class<?> cls, TaggedCustom.Codec<?> codec) {
            this.id = id;
            this.cls = cls;
            this.codec = (TaggedCustom.Codec<Object>) codec;
        }

        List<?> fields(Object value) {
            return codec.fields(value);
        }
    }

    private final Map<Class<?>, Entry> byClass;
    private final Map<Integer, Entry> byId;

    private TaggedCodecs(Map<Class<?>, Entry> byClass, Map<Integer, Entry> byId) {
        this.byClass = byClass;
        this.byId = byId;
    }

    TaggedCodecs with(int id, Class<?> cls, TaggedCustom.Codec<?> codec) {
        Entry entry = new Entry(id, cls, codec);
        Entry known = byId.get(id);
        if (known != null && known.cls != cls || byClass.containsKey(cls) && known == null) {
            throw new IllegalArgumentException(
                    cls.getName() + " or schema id " + id + " is registered already");
        }
        Map<Class<?>, Entry> classes = new HashMap<>(byClass);
        Map<Integer, Entry> ids = new HashMap<>(byId);
        classes.put(cls, entry);
        ids.put(id, entry);
        return new TaggedCodecs(classes, ids);
    }

    /** The registration of a class or of the nearest class above it; null if there is none. */
    Entry of(Class<?> cls) {
        if (byClass.isEmpty()) {
            return null;
        }
        Entry found = null;
        for (Class<?> each = cls; each != null && found == null; each = each.getSuperclass()) {
            found = byClass.get(each);
        }
        return found;
    }

    Object read(int id, ValueList fields) {
        Entry entry = byId.get(id);
        return entry == null ? new TaggedCustom(id, fields) : entry.codec.value(fields);
    }
}
