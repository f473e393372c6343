/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.math.BigInteger;
import java.security.SecureRandom;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A hash of values as keys, SipHash-1-3 of what {@code equals} looks at under a secret of this
 * process. Nobody outside can make different keys of equal hashes, as anybody can for the hashCode
 * of lists, maps and sets. Objects that are none of ours have their hashCode. One thread.
 */
final class KeyHash {
    private static final long SECRET_0;
    private static final long SECRET_1;

    static {
        SecureRandom random = new SecureRandom();
        SECRET_0 = random.nextLong();
        SECRET_1 = random.nextLong();
    }

    private long v0 = SECRET_0 ^ 0x736f6d6570736575L;
    private long v1 = SECRET_1 ^ 0x646f72616e646f6dL;
    private long v2 = SECRET_0 ^ 0x6c7967656e657261L;
    private long v3 = SECRET_1 ^ 0x7465646279746573L;

    private KeyHash() {}

    static long of(Object key) {
        KeyHash hash = new KeyHash();
        hash.add(key);
        return hash.end();
    }

    private void round() {
        v0 += v1;
        v1 = Long.rotateLeft(v1, 13) ^ v0;
        v0 = Long.rotateLeft(v0, 32);
        v2 += v3;
        v3 = Long.rotateLeft(v3, 16) ^ v2;
        v0 += v3;
        v3 = Long.rotateLeft(v3, 21) ^ v0;
        v2 += v1;
        v1 = Long.rotateLeft(v1, 17) ^ v2;
        v2 = Long.rotateLeft(v2, 32);
    }

    private void word(long word) {
        v3 ^= word;
        round();
        v0 ^= word;
    }

    private long end() {
        v2 ^= 0xff;
        round();
        round();
        round();
        return v0 ^ v1 ^ v2 ^ v3;
    }

    private void add(Object value) {
        if (value instanceof String) {
            text((String) value);
        } else if (value instanceof Double) {
            number(2, Double.doubleToLongBits((Double) value));
        } else if (value instanceof Integer) {
            number(3, (Integer) value);
        } else if (value instanceof Long) {
            number(4, (Long) value);
        } else if (value instanceof List) {
            list((List<?>) value);
        } else if (value instanceof Map) {
            number(5, ((Map<?, ?>) value).size());
            word(sum((Map<?, ?>) value));
        } else if (value instanceof Set) {
            number(6, ((Set<?>) value).size());
            word(sum((Set<?>) value));
        } else {
            other(value);
        }
    }

    private void number(int kind, long number) {
        word(kind);
        word(number);
    }

    private void text(String text) {
        int count = text.length();
        number(1, count);
        for (int i = 0; i < count; i += 4) {
            long word = 0;
            for (int j = i; j < count && j < i + 4; j++) {
                word = word << 16 | text.charAt(j);
            }
            word(word);
        }
    }

    private void list(List<?> list) {
        number(7, list.size());
        for (Object each : list) {
            add(each);
        }
    }

    /** Of a set, in any order. */
    private static long sum(Set<?> set) {
        if (set instanceof ValueSet && ((ValueSet) set).index != null) {
            return ((ValueSet) set).index.sum;
        }
        long sum = 0;
        for (Object each : set) {
            sum += of(each);
        }
        return sum;
    }

    private static long sum(Map<?, ?> map) {
        if (map instanceof ValueMap.OfPairs && ((ValueMap.OfPairs) map).index != null) {
            return ((ValueMap.OfPairs) map).index.sumOfPairs();
        }
        long sum = 0;
        for (Map.Entry<?, ?> each : map.entrySet()) {
            sum += ofPair(of(each.getKey()), each.getValue());
        }
        return sum;
    }

    static long ofPair(long key, Object value) {
        KeyHash hash = new KeyHash();
        hash.word(key);
        hash.add(value);
        return hash.end();
    }

    private void other(Object value) {
        if (value instanceof BigInteger) {
            bytes(8, ((BigInteger) value).toByteArray());
        } else if (value instanceof PackedArray) {
            packed((PackedArray) value);
        } else if (value instanceof TaggedCustom) {
            number(9, ((TaggedCustom) value).id());
            list(((TaggedCustom) value).fields());
        } else if (value instanceof TaggedError) {
            error((TaggedError) value);
        } else if (value instanceof Date) {
            // One that is a Timestamp may equal another: its time is all that both have.
            number(10, ((Date) value).getTime());
        } else {
            number(11, value == null ? 0 : value.hashCode());
        }
    }

    private void bytes(int kind, byte[] bytes) {
        number(kind, bytes.length);
        for (int i = 0; i < bytes.length; i += 8) {
            long word = 0;
            for (int j = i; j < bytes.length && j < i + 8; j++) {
                word = word << 8 | bytes[j] & 0xff;
            }
            word(word);
        }
    }

    private void packed(PackedArray packed) {
        number(12, packed.kind().ordinal());
        Object array = packed.array();
        int count = packed.count();
        word(count);
        for (int i = 0; i < count; i++) {
            word(array instanceof float[]
                    ? Float.floatToIntBits(((float[]) array)[i])
                    : array instanceof double[]
                            ? Double.doubleToLongBits(((double[]) array)[i])
                            : packed.longAt(i));
        }
    }

    private void error(TaggedError error) {
        word(13);
        add(error.name());
        add(error.message());
        add(error.stack());
        add(error.cause());
        add(error.data());
    }
}
