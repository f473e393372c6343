/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.weaver;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Compares the rows of a native library with the native methods of class files, so that what
 * registration would refuse at run time is an error of the build.
 *
 * <p>A row is a line of five words, as kol_natives_write writes it:
 *
 * <pre>
 * io/example/Counter M add (JI)I (I)I     class, kind, name, woven descriptor, plain descriptor
 * </pre>
 *
 * Kinds are those of native.h: M method, L leaf, S static, N creator. Lines that start with # are
 * comments.
 */
final class Check {
    private record Row(String owner, char kind, String name, String woven, String plain) {
        boolean isMethod() {
            return kind == 'M' || kind == 'L';
        }

        boolean matches(Listing.Line line) {
            if (!line.owner().equals(owner) || !line.name().equals(name)) {
                return false;
            }
            boolean isWoven = line.isStatic() && line.descriptor().equals(woven);
            boolean isPlain = line.isStatic() != isMethod() && line.descriptor().equals(plain);
            return isWoven || isPlain;
        }
    }

    private Check() {}

    /** What differs, one sentence each; empty if registration will succeed. */
    static List<String> compare(List<String> rowLines, List<Listing.Line> natives) {
        List<String> differences = new ArrayList<>();
        Map<String, List<Row>> rows = new LinkedHashMap<>();
        for (String each : rowLines) {
            if (!each.isBlank() && !each.startsWith("#")) {
                addRow(each, rows, differences);
            }
        }
        rows.values().forEach(each -> each.forEach(row -> checkRow(row, natives, differences)));
        for (Listing.Line each : natives) {
            List<Row> ofClass = rows.get(each.owner());
            if (ofClass != null && ofClass.stream().noneMatch(row -> row.matches(each))) {
                differences.add("no row of the native library serves " + each
                        + ": it would throw UnsatisfiedLinkError");
            }
        }
        return differences;
    }

    private static void addRow(
            String line, Map<String, List<Row>> rows, List<String> differences) {
        String[] words = line.trim().split("\\s+");
        if (words.length != 5 || words[1].length() != 1 || "MLSN".indexOf(words[1]) < 0) {
            differences.add("not a row (class, kind, name, woven, plain descriptor): " + line);
            return;
        }
        Row row = new Row(words[0], words[1].charAt(0), words[2], words[3], words[4]);
        rows.computeIfAbsent(row.owner(), key -> new ArrayList<>()).add(row);
    }

    private static void checkRow(Row row, List<Listing.Line> natives, List<String> differences) {
        String place = "row " + row.owner() + "." + row.name();
        List<Listing.Line> served = natives.stream().filter(row::matches).toList();
        if (served.isEmpty()) {
            differences.add(place + ": the class has no native " + row.woven() + " (woven) and no "
                    + row.plain() + " (plain)" + candidates(row, natives));
        }
        for (Listing.Line each : served) {
            if (each.isLeaf() && row.kind() != 'L') {
                differences.add(place + ": the class calls it as a leaf, but the row is no leaf"
                        + " (L): every call would take the slow road");
            }
        }
    }

    private static String candidates(Row row, List<Listing.Line> natives) {
        String found = natives.stream()
                .filter(each -> each.owner().equals(row.owner()) && each.name().equals(row.name()))
                .map(each -> (each.isStatic() ? "static " : "") + each.descriptor())
                .collect(Collectors.joining(", "));
        if (found.isEmpty()) {
            return "";
        }
        boolean hasObject = found.contains(";") && !row.woven().contains(";");
        return "; it has " + found
                + (hasObject ? ": is @AsNativePointer missing on a parameter?" : "");
    }
}
