/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.util.List;

/**
 * A value of somebody's own: a schema id, and fields whose meaning is between those who use the id.
 * What a reader makes of an id for which no {@link Codec} is registered. Immutable; any thread.
 */
public final class TaggedCustom {
    private final int id;
    private final List<Object> fields;

    /**
     * How a class of yours crosses. {@link SharedBuffers#register} makes it known. It is called on
     * the thread that writes or reads, and may be called by several at once.
     */
    public interface Codec<T> {
        /** The fields of a value, each of them something that messages can hold. */
        List<?> fields(T value);

        /** The value that has such fields. What it throws goes to whoever reads. */
        T value(List<?> fields);
    }

    /** A value with these fields; they are copied. */
    public TaggedCustom(int id, List<?> fields) {
        this(id, new ValueList(fields.toArray()));
    }

    TaggedCustom(int id, ValueList fields) {
        this.id = id;
        this.fields = fields;
    }

    /** The schema id; all 32 bits are used, so that large ones are negative. */
    public int id() {
        return id;
    }

    /** The fields, read-only. */
    public List<Object> fields() {
        return fields;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof TaggedCustom
                && id == ((TaggedCustom) other).id
                && fields.equals(((TaggedCustom) other).fields);
    }

    @Override
    public int hashCode() {
        return 31 * id + fields.hashCode();
    }

    @Override
    public String toString() {
        return "custom " + id + " " + fields;
    }
}
