/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

/** The steps of paths to values, for errors: {@code $.users[3].name}. */
final class TaggedPath {
    private static final int HEAD = 98;
    private static final int TAIL = 99;
    private static final String[] ERROR_PARTS = {".name", ".message", ".stack", ".cause", ".data"};

    private TaggedPath() {}

    /** Into the value of a key. */
    static void addKey(StringBuilder path, String key) {
        if (isIdentifier(key)) {
            path.append('.').append(key);
            return;
        }
        path.append("[\"");
        for (int i = 0; i < key.length(); i++) {
            char c = key.charAt(i);
            if (c < 0x20) {
                path.append("\\u00").append(c < 0x10 ? "0" : "").append(Integer.toHexString(c));
            } else {
                path.append(c == '"' || c == '\\' ? "\\" : "").append(c);
            }
        }
        path.append("\"]");
    }

    /** Into a key or a value of a map, which take turns. */
    static void addPair(StringBuilder path, int index) {
        path.append('{').append(index >> 1).append((index & 1) == 0 ? "}key" : "}");
    }

    /** Into a part of an error. */
    static void addPart(StringBuilder path, int index) {
        path.append(index < ERROR_PARTS.length ? ERROR_PARTS[index] : "");
    }

    private static boolean isIdentifier(String key) {
        for (int i = 0; i < key.length(); i++) {
            char c = key.charAt(i);
            boolean isLetter = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$';
            if (!isLetter && !(i > 0 && c >= '0' && c <= '9')) {
                return false;
            }
        }
        return !key.isEmpty();
    }

    /** The text, without the middle of a very long one. */
    static String cut(StringBuilder path) {
        int tail = path.length() - TAIL;
        return tail <= HEAD
                ? path.toString()
                : path.substring(0, HEAD) + "..." + path.substring(tail);
    }
}
