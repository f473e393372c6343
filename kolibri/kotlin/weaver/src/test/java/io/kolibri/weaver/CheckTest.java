/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.weaver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kolibri.rewriter.Target;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Class files against the rows of a native library. */
class CheckTest {
    private static final List<String> ROWS = List.of(
            "# a comment, and an empty line",
            "",
            "test/Case N create (I)J (I)J",
            "test/Case M add (JI)I (I)I",
            "test/Case M join (JJ)I (Ltest/Case;)I",
            "test/Case L get (J)I ()I");
    private static final String SOURCE = """
            package test;
            import io.kolibri.*;
            class Case extends NativeObject {
                Case() { super(create(1)); }
                static native long create(int start);
                @NativeMethod native int add(int by);
                @NativeMethod native int join(@AsNativePointer Case other);
                @NativeMethod(leaf = true) native int get();
            }
            """;

    @TempDir Path folder;

    private List<String> compare(String source, List<String> rows, boolean isWoven)
            throws Exception {
        Lab lab = new Lab(folder).compile(Map.of("test.Case", source));
        if (isWoven) {
            assertEquals(List.of(), lab.weave(Target.JVM));
        }
        return Check.compare(rows, new Listing(List.of(folder)).lines());
    }

    @Test
    void equalTablesHaveNoDifference() throws Exception {
        assertEquals(List.of(), compare(SOURCE, ROWS, false));
        assertEquals(List.of(), compare(SOURCE, ROWS, true));
    }

    @Test
    void aMissingMethodIsNamed() throws Exception {
        String less = SOURCE.replace("@NativeMethod native int add(int by);", "");
        assertEquals(List.of("row test/Case.add: the class has no native (JI)I (woven) and no (I)I"
                + " (plain)"), compare(less, ROWS, true));
    }

    @Test
    void anotherTypeIsNamed() throws Exception {
        String other = SOURCE.replace("add(int by)", "add(long by)");
        List<String> differences = compare(other, ROWS, true);
        assertEquals(2, differences.size(), differences::toString);
        assertTrue(differences.get(0).endsWith("; it has static (JJ)I"), differences::toString);
        assertTrue(differences.get(1).startsWith("no row of the native library serves test/Case"),
                differences::toString);
    }

    @Test
    void aForgottenAnnotationIsSuspected() throws Exception {
        List<String> differences =
                compare(SOURCE.replace("@AsNativePointer ", ""), ROWS, true);
        assertTrue(differences.get(0).endsWith("is @AsNativePointer missing on a parameter?"),
                differences::toString);
    }

    @Test
    void aLeafNeedsALeafRow() throws Exception {
        List<String> rows = new ArrayList<>(ROWS);
        rows.set(5, "test/Case M get (J)I ()I");
        assertEquals(1, compare(SOURCE, rows, true).size());
        assertEquals(1, compare(SOURCE, rows, false).size());
    }

    @Test
    void aMethodWithoutARowIsNamed() throws Exception {
        assertEquals(List.of("no row of the native library serves test/Case static get (J)I leaf:"
                + " it would throw UnsatisfiedLinkError"),
                compare(SOURCE, ROWS.subList(0, 5), true));
    }

    @Test
    void aLineThatIsNoRowIsNamed() throws Exception {
        assertEquals(1, compare(SOURCE, List.of("garbage"), true).size());
        assertEquals(1, compare(SOURCE, List.of("test/Case Q add (JI)I (I)I"), true).size());
    }

    @Test
    void theDraftHasARowForEachNative() throws Exception {
        new Lab(folder).compile(Map.of("test.Case", SOURCE));
        String unwoven = draft();
        assertEquals("""
                KOL_NATIVE(Case, "test/Case", struct case)
                #define CASE_NATIVES(X, C) \\
                    X(C, N1, create, "create", jint) \\
                    X(C, M1, jint, add, "add", jint) \\
                    X(C, M1, jint, join, "join", Case) \\
                    X(C, L0, jint, get, "get") \\
                    X(C, D, destroy)
                KOL_NATIVES(Case, CASE_NATIVES)

                """, unwoven);
        assertEquals(List.of(), new Lab(folder).weave(Target.JVM));
        assertEquals(unwoven.lines().sorted().toList(), draft().lines().sorted().toList());
    }

    private String draft() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        String[] args = {"draft", folder.toString()};
        assertEquals(0, Main.run(args, new PrintStream(out), System.err));
        return out.toString();
    }
}
