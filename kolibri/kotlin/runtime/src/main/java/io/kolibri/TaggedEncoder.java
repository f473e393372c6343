/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import io.kolibri.TaggedStack.Kind;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Date;
import java.util.Map;
import java.util.Set;

/**
 * Java's values, written: which class becomes which kind. Final classes are asked for before
 * interfaces, which cost more to ask for.
 *
 * <p>A collection is copied before it is written, so that its count is known and holds; that the
 * collection still has as many elements afterwards is checked. The pairs of maps lie on a stack.
 */
final class TaggedEncoder {
    private final TaggedWriter to;
    private final SharedBuffers buffers;
    private final TaggedStack stack;

    TaggedEncoder(TaggedWriter to, SharedBuffers buffers, TaggedStack stack) {
        this.to = to;
        this.buffers = buffers;
        this.stack = stack;
    }

    void value(Object value) {
        if (value instanceof String) {
            to.put(to.textSlot((String) value));
        } else if (value instanceof Integer) {
            to.put(TaggedFormat.intSlot((Integer) value));
        } else if (value instanceof Double) {
            to.put(TaggedFormat.doubleSlot((Double) value));
        } else if (value instanceof Boolean) {
            to.bool((Boolean) value);
        } else if (value instanceof Long) {
            to.longInteger((Long) value);
        } else if (value == null) {
            to.nothing();
        } else if (value instanceof ValueMap) {
            record((ValueMap) value);
        } else if (value instanceof ValueList) {
            list(((ValueList) value).values, value);
        } else if (!array(value) && !scalar(value) && !own(value)) {
            container(value);
        }
    }

    private boolean array(Object value) {
        if (value instanceof byte[]) {
            to.bytes((byte[]) value);
        } else if (value instanceof double[]) {
            to.packed(new PackedArray(PackedArray.Kind.F64, value));
        } else if (value instanceof int[]) {
            to.packed(new PackedArray(PackedArray.Kind.I32, value));
        } else if (value instanceof Object[]) {
            list((Object[]) value, value);
        } else if (value instanceof long[]) {
            to.packed(new PackedArray(PackedArray.Kind.I64, value));
        } else if (value instanceof float[]) {
            to.packed(new PackedArray(PackedArray.Kind.F32, value));
        } else if (value instanceof short[]) {
            to.packed(new PackedArray(PackedArray.Kind.I16, value));
        } else if (value instanceof char[]) {
            to.packed(new PackedArray(PackedArray.Kind.U16, value));
        } else if (value instanceof boolean[]) {
            booleans((boolean[]) value);
        } else {
            return false;
        }
        return true;
    }

    private boolean scalar(Object value) {
        if (value == Undefined.UNDEFINED) {
            to.undefined();
        } else if (value instanceof Float) {
            to.number((Float) value);
        } else if (value instanceof Short || value instanceof Byte) {
            to.integer(((Number) value).intValue());
        } else if (value instanceof Character) {
            to.string(value.toString());
        } else if (value instanceof BigInteger) {
            to.bigint((BigInteger) value);
        } else if (value instanceof Date) {
            to.date((Date) value);
        } else if (value instanceof PackedArray) {
            to.packed((PackedArray) value);
        } else {
            return false;
        }
        return true;
    }

    /** The classes of this package, and those that were registered. */
    private boolean own(Object value) {
        TaggedCodecs.Entry codec = buffers.codecs().of(value.getClass());
        if (codec != null) {
            custom(codec.id, codec.fields(value).toArray(), value);
        } else if (value instanceof ValueList.OfDoubles) {
            to.doubles(((ValueList.OfDoubles) value).numbers);
        } else if (value instanceof ValueList.OfInts) {
            to.ints(((ValueList.OfInts) value).numbers);
        } else if (value instanceof TaggedError) {
            error((TaggedError) value, value);
        } else if (value instanceof TaggedCustom) {
            custom(((TaggedCustom) value).id(), ((TaggedCustom) value).fields().toArray(), value);
        } else {
            return false;
        }
        return true;
    }

    private void container(Object value) {
        if (value instanceof Map) {
            map((Map<?, ?>) value);
        } else if (value instanceof Set) {
            set((Set<?>) value);
        } else if (value instanceof Collection) {
            Object[] elements = ((Collection<?>) value).toArray();
            list(elements, value);
            same(elements.length, ((Collection<?>) value).size());
        } else if (value instanceof CharSequence) {
            to.string((CharSequence) value);
        } else if (value instanceof Enum) {
            to.string(((Enum<?>) value).name());
        } else if (value instanceof Throwable) {
            error(TaggedError.of((Throwable) value), value);
        } else if (value instanceof ByteBuffer) {
            to.bytes((ByteBuffer) value);
        } else {
            String name = value.getClass().getName();
            throw to.failure(TaggedException.ETYPE, "no " + name + " can be written");
        }
    }

    private void same(int written, int now) {
        if (written != now) {
            throw new TaggedException(TaggedException.EMISUSE, "a collection of " + written
                    + " elements changed to " + now, stack.lastPath());
        }
    }

    private void booleans(boolean[] values) {
        to.list(values.length);
        for (boolean each : values) {
            to.bool(each);
        }
        to.end();
    }

    private void all(Object[] elements) {
        for (Object each : elements) {
            value(each);
        }
        to.end();
    }

    private void list(Object[] elements, Object identity) {
        Class<?> first =
                elements.length > 1 && elements[0] != null ? elements[0].getClass() : null;
        if (first == Double.class && areAll(elements, first)) {
            to.doubles(toDoubles(elements));
        } else if (first == Integer.class && areAll(elements, first)) {
            to.ints(toInts(elements));
        } else if (first == null || !(elements[0] instanceof Map)
                || !rows(elements, identity)) {
            to.begin(Kind.ELEMENTS, elements.length, TaggedFormat.LIST, TaggedFormat.KIND_LIST,
                    identity);
            all(elements);
        }
    }

    private static boolean areAll(Object[] elements, Class<?> cls) {
        for (Object each : elements) {
            if (each == null || each.getClass() != cls) {
                return false;
            }
        }
        return true;
    }

    private static double[] toDoubles(Object[] elements) {
        double[] numbers = new double[elements.length];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = (Double) elements[i];
        }
        return numbers;
    }

    private static int[] toInts(Object[] elements) {
        int[] numbers = new int[elements.length];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = (Integer) elements[i];
        }
        return numbers;
    }

    private void set(Set<?> set) {
        Object[] elements = set.toArray();
        to.beginBlock(
                Kind.ELEMENTS, elements.length, elements.length, TaggedFormat.KIND_SET, set);
        all(elements);
        same(elements.length, set.size());
    }

    private void custom(int id, Object[] fields, Object identity) {
        to.custom(id, fields.length, identity);
        all(fields);
    }

    private void error(TaggedError error, Object identity) {
        to.beginBlock(Kind.ERROR, TaggedFormat.ERROR_FIELDS, TaggedFormat.ERROR_FIELDS,
                TaggedFormat.KIND_ERROR, identity);
        to.string(error.name());
        to.string(error.message());
        value(error.stack() != null ? error.stack() : Undefined.UNDEFINED);
        value(error.cause());
        value(error.data());
        to.end();
    }

    // Maps: of a shape, with string keys, with any keys.

    private TaggedShape shape(ValueMap map) {
        TaggedShape shape = map.shape;
        boolean isSent = buffers.sent().get(shape.number) == shape;
        return isSent ? shape : buffers.sent().of(shape.keys);
    }

    private void record(ValueMap map) {
        TaggedShape shape = map.isEmpty() ? null : shape(map);
        if (shape == null) {
            map(map);
            return;
        }
        to.record(shape, map);
        values(map);
    }

    private void values(ValueMap map) {
        for (int i = 0; i < map.shape.keys.length; i++) {
            value(map.at(i));
        }
        to.end();
    }

    private void map(Map<?, ?> map) {
        int from = stack.pairsUsed;
        boolean isObject = take(map);
        int count = (stack.pairsUsed - from) / 2;
        TaggedShape shape =
                isObject && count > 0 && count <= TaggedShapes.KEYS_MAX
                        ? buffers.sent().of(stack.pairs, from, count, 2)
                        : null;
        if (shape != null) {
            to.record(shape, map);
            values(from, count);
        } else if (isObject) {
            object(map, from, count);
        } else {
            to.beginBlock(Kind.MAP, count, count * 2L, TaggedFormat.KIND_MAP, map);
            for (int i = 0; i < count * 2; i++) {
                value(stack.pairs[from + i]);
            }
            to.end();
        }
        stack.dropPairs(from);
        same(count, map.size());
    }

    private void object(Map<?, ?> map, int from, int count) {
        to.begin(Kind.OBJECT, count, TaggedFormat.OBJECT, TaggedFormat.KIND_OBJECT, map);
        for (int i = 0; i < count; i++) {
            to.key((String) stack.pairs[from + i * 2]);
            value(stack.pairs[from + i * 2 + 1]);
        }
        to.end();
    }

    private void values(int from, int count) {
        for (int i = 0; i < count; i++) {
            value(stack.pairs[from + i * 2 + 1]);
        }
        to.end();
    }

    /** Puts the pairs of a map on the stack; whether it is an object, with nothing but strings. */
    private boolean take(Map<?, ?> map) {
        boolean isObject = !(map instanceof ValueMap.OfPairs) || !((ValueMap.OfPairs) map).isMap;
        for (Map.Entry<?, ?> each : map.entrySet()) {
            Object key = each.getKey();
            isObject = isObject && key instanceof String;
            stack.addPair(key, each.getValue());
        }
        return isObject;
    }

    /** Writes a list of objects that all have the same keys; false if it is no such list. */
    private boolean rows(Object[] elements, Object identity) {
        TaggedShape shape = shapeOfAll(elements);
        if (shape == null) {
            return false;
        }
        to.rows(shape, elements.length, identity);
        for (Object each : elements) {
            to.row(each);
            if (each instanceof ValueMap) {
                values((ValueMap) each);
            } else {
                row((Map<?, ?>) each, shape);
            }
        }
        to.end();
        return true;
    }

    private void row(Map<?, ?> map, TaggedShape shape) {
        int from = stack.pairsUsed;
        take(map);
        int count = (stack.pairsUsed - from) / 2;
        if (!TaggedShapes.same(shape, stack.pairs, from, count, 2)) {
            throw to.misuse("the keys of a map changed");
        }
        values(from, count);
        stack.dropPairs(from);
        same(count, map.size());
    }

    private TaggedShape shapeOfAll(Object[] elements) {
        int count = ((Map<?, ?>) elements[0]).size();
        if (count == 0 || count > TaggedShapes.KEYS_MAX || !areObjects(elements, count)) {
            return null;
        }
        TaggedShape shape = shapeOf((Map<?, ?>) elements[0]);
        for (int i = 1; shape != null && i < elements.length; i++) {
            shape = hasKeys((Map<?, ?>) elements[i], elements[0], shape) ? shape : null;
        }
        return shape;
    }

    /** Whether all are maps of one size that nobody writes in a way of their own. */
    private boolean areObjects(Object[] elements, int count) {
        TaggedCodecs codecs = buffers.codecs();
        for (Object each : elements) {
            if (!(each instanceof Map) || ((Map<?, ?>) each).size() != count
                    || each instanceof ValueMap.OfPairs && ((ValueMap.OfPairs) each).isMap
                    || codecs.of(each.getClass()) != null) {
                return false;
            }
        }
        return true;
    }

    private TaggedShape shapeOf(Map<?, ?> map) {
        if (map instanceof ValueMap) {
            return shape((ValueMap) map);
        }
        int from = stack.pairsUsed;
        boolean isObject = take(map);
        int count = (stack.pairsUsed - from) / 2;
        TaggedShape shape = isObject ? buffers.sent().of(stack.pairs, from, count, 2) : null;
        stack.dropPairs(from);
        return shape;
    }

    private static boolean hasKeys(Map<?, ?> map, Object first, TaggedShape shape) {
        if (map instanceof ValueMap && first instanceof ValueMap
                && ((ValueMap) map).shape == ((ValueMap) first).shape) {
            return true;
        }
        int i = 0;
        for (Object key : map.keySet()) {
            if (i == shape.keys.length || key != shape.keys[i] && !shape.keys[i].equals(key)) {
                return false;
            }
            i++;
        }
        return i == shape.keys.length;
    }
}
