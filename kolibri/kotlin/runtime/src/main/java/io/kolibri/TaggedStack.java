/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The containers that are open in a writer, and with them the path of the next value. Levels are
 * used again; closing one lets go of what it stands for.
 */
final class TaggedStack {
    /** What may come next in a container, and how its values are called. */
    enum Kind {
        ROOT, ELEMENTS, ROWS, OBJECT, RECORD, MAP, ERROR
    }

    /** One container: where its next value goes, and how many slots are left. */
    static final class Level {
        Kind kind;
        ByteBuffer bytes;
        int at;
        int left;
        int slots;
        Object identity;
        String key;
        TaggedShape shape;
    }

    private static final Object[] NO_PAIRS = {};
    /** An array of pairs up to this size is kept for the next message. */
    private static final int PAIRS_KEPT = 1 << 10;

    /** Keys and values of the maps that are being written, so many of it in use. */
    Object[] pairs = NO_PAIRS;

    int pairsUsed;
    private final List<Level> levels = new ArrayList<>();
    Level top;
    private int depth;

    TaggedStack() {
        levels.add(new Level());
        top = levels.get(0);
    }

    /** How many containers are open. */
    int depth() {
        return depth;
    }

    /** Only the root, whose slot is in the header. */
    void begin(ByteBuffer header, int at) {
        forget();
        set(top, Kind.ROOT, header, at, 1);
    }

    /** Closes everything. */
    void forget() {
        while (depth > 0) {
            pop();
        }
        clear(top);
        dropPairs(0);
        if (pairs.length > PAIRS_KEPT) {
            pairs = NO_PAIRS;
        }
    }

    void addPair(Object key, Object value) {
        if (pairs.length - pairsUsed < 2) {
            pairs = Arrays.copyOf(pairs, Math.max(64, pairs.length * 2));
        }
        pairs[pairsUsed] = key;
        pairs[pairsUsed + 1] = value;
        pairsUsed += 2;
    }

    void dropPairs(int from) {
        Arrays.fill(pairs, from, pairsUsed, null);
        pairsUsed = from;
    }

    Level push(Kind kind, ByteBuffer bytes, int at, int slots) {
        depth++;
        if (depth == levels.size()) {
            levels.add(new Level());
        }
        top = levels.get(depth);
        set(top, kind, bytes, at, slots);
        return top;
    }

    void pop() {
        clear(top);
        depth--;
        top = levels.get(depth);
    }

    private static void set(Level level, Kind kind, ByteBuffer bytes, int at, int slots) {
        level.kind = kind;
        level.bytes = bytes;
        level.at = at;
        level.left = slots;
        level.slots = slots;
    }

    private static void clear(Level level) {
        level.bytes = null;
        level.identity = null;
        level.key = null;
        level.shape = null;
        level.left = 0;
    }

    /** Whether an open container stands for this object. */
    boolean isOpen(Object identity) {
        for (int i = depth; i > 0; i--) {
            if (levels.get(i).identity == identity) {
                return true;
            }
        }
        return false;
    }

    /** Where the next value goes. */
    String path() {
        return path(0);
    }

    /** Where the value is that was written last, into the container begun last. */
    String lastPath() {
        return path(1);
    }

    private String path(int back) {
        StringBuilder path = new StringBuilder("$");
        for (int i = 1; i <= depth; i++) {
            Level level = levels.get(i);
            int next = level.slots - level.left;
            add(path, level, i == depth ? next - back : next - 1);
        }
        return TaggedPath.cut(path);
    }

    private static void add(StringBuilder path, Level level, int index) {
        switch (level.kind) {
            case OBJECT:
                if ((index & 1) == 1) {
                    TaggedPath.addKey(path, level.key);
                }
                break;
            case RECORD:
                if (index < level.shape.keys.length) {
                    TaggedPath.addKey(path, level.shape.keys[index]);
                }
                break;
            case MAP:
                TaggedPath.addPair(path, index);
                break;
            case ERROR:
                TaggedPath.addPart(path, index);
                break;
            default:
                path.append('[').append(index).append(']');
        }
    }
}
