/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.util.AbstractSet;
import java.util.Collections;
import java.util.Iterator;
import java.util.Set;

/** A read-only set, in order. */
final class ValueSet extends AbstractSet<Object> {
    /** Null when HashMap's order will do. */
    final ValueIndex index;

    private final Set<Object> values;

    ValueSet(ValueIndex index, Set<Object> values) {
        this.index = index;
        this.values = Collections.unmodifiableSet(index == null ? values : index.keySet());
    }

    @Override
    public int size() {
        return values.size();
    }

    @Override
    public boolean contains(Object value) {
        return values.contains(value);
    }

    @Override
    public Iterator<Object> iterator() {
        return values.iterator();
    }
}
