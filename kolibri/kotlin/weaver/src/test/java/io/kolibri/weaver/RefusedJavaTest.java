/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.weaver;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kolibri.rewriter.Problem;
import io.kolibri.rewriter.Target;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Java that cannot be woven: what is said, and that the class file is left alone. */
class RefusedJavaTest {
    private static final String IMPORTS = "package test; import io.kolibri.*;";

    private static final PrintStream NOWHERE =
            new PrintStream(java.io.OutputStream.nullOutputStream());

    @TempDir Path folder;

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "@NativeMethod static native int f();                      | a static native has none",
        "@NativeMethod int f() { return 1; }                       | has a body already",
        "@NativeMethod native int f(@AsNativePointer String x);    | a subclass of NativeObject",
        "@NativeMethod native int f(@AsNativePointer Object x);    | a subclass of NativeObject",
        "@NativeMethod native int f(@AsNativePointer Runnable x);  | a subclass of NativeObject",
        "@NativeMethod native int f(@AsNativePointer int x);       | a subclass of NativeObject",
        "@NativeMethod native int f(@AsNativePointer Case... x);   | one by one",
        "native int f(@AsNativePointer Case x);                    | an effect only on parameters",
        "@NativeMethod(leaf = true) native int f(String x);        | a leaf takes only primitives",
        "@NativeMethod(leaf = true) native int f(Case x);          | a leaf takes only primitives",
        "@NativeMethod(leaf = true) native int f(int[] x);         | a leaf takes only primitives",
        "@NativeMethod(leaf = true) native String f();             | a leaf returns a primitive",
        "@NativeMethod(leaf = true) synchronized native int f();   | a leaf may not block",
        "@NativeMethod native int f(); int f(long x) { return 1; } | another method of this class",
        "@NativeMethod native boolean equals(); boolean equals(long x) { return true; } | another",
        "@NativeMethod native int f(int a, int b, int c, int d, int e, int g, int h, int i, int j);"
                + " | at most 8 parameters",
    })
    void aMember(String member, String said) throws Exception {
        refuses(IMPORTS + "class Case extends NativeObject { Case() { super(1); } " + member + "}",
                said);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "class Case { @NativeMethod native int f(); } | needs a member of a subclass of",
        "abstract class Case extends NativeObject { Case() { super(1); }"
                + " @NativeMethod abstract int f(); } | is not inherited",
        "class Other extends NativeObject { Other() { super(1); } }"
                + " class Case extends NativeObject { Case() { super(1); }"
                + " @NativeMethod native int f(@AsNativePointer Other x);"
                + " @NativeMethod native int f(@AsNativePointer Case x); } | another overload",
        "class Base extends NativeObject { Base() { super(1); } int f(long x) { return 1; } }"
                + " class Case extends Base { @NativeMethod native int f(); } | hide an inherited",
        "interface With { default int f(long x) { return 1; } }"
                + " class Case extends NativeObject implements With { Case() { super(1); }"
                + " @NativeMethod native int f(); } | hide an inherited",
        "class Base extends NativeObject { Base() { super(1); } }"
                + " @NativeClass(NativeKind.GUARDED) class Case extends Base {} | change the kind",
        "@NativeClass class Case {} | no subclass of",
    })
    void aClass(String source, String said) throws Exception {
        refuses(IMPORTS + source, said);
    }

    @Test
    void aSuperclassThatIsNowhere() throws Exception {
        String base = IMPORTS + "public class Base extends NativeObject { Base() { super(1); } }";
        String cls = IMPORTS + "class Case extends Base { @NativeMethod native int f(); }";
        Lab lab = new Lab(folder).compile(Map.of("test.Base", base, "test.Case", cls));
        Files.delete(folder.resolve("test/Base.class"));
        List<Problem> problems = lab.weave(Target.JVM);
        assertEquals(1, problems.size(), problems::toString);
        assertEquals("test/Case.java: test.Case.f(): class test.Base is not on the class path, and"
                + " how its objects are called depends on it", problems.get(0).toString());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "@interface Nullable {} | @Nullable Case x",
        "@interface Mine { @interface Nullable {} } | @Mine.Nullable Case x",
        "@java.lang.annotation.Target(java.lang.annotation.ElementType.TYPE_USE)"
                + " @interface Nullable {} | @Nullable Case x",
    })
    void anyAnnotationNamedNullableAdmitsNull(String annotation, String parameter)
            throws Exception {
        Lab lab = new Lab(folder).compile(Map.of("test.Case", IMPORTS + annotation
                + " class Case extends NativeObject { Case() { super(1); }"
                + " @NativeMethod native int f(@AsNativePointer " + parameter + "); }"));
        assertEquals(List.of(), lab.weave(Target.JVM));
        assertTrue(Files.readString(folder.resolve("test/Case.class"),
                java.nio.charset.StandardCharsets.ISO_8859_1).contains("ptrOrZero"));
    }

    @Test
    void theCommandSaysWhereAndFails() throws Exception {
        new Lab(folder).compile(Map.of("test.Case",
                IMPORTS + "class Case { @NativeMethod native int f(String x, int[] y); }"));
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        String[] args = {"weave", "--class-path", Lab.runtime().toString(), folder.toString()};
        int code = Main.run(args, NOWHERE, new PrintStream(err));
        assertEquals(1, code);
        assertTrue(err.toString().startsWith("error: test/Case.java: test.Case.f(String, int[]): "),
                err::toString);
    }

    /** A native method has no line; a method with a body has, unless the compiler left it out. */
    @Test
    void aMethodWithCodeIsNamedWithItsLine() throws Exception {
        Lab lab = new Lab(folder).compile(Map.of("test.Case", IMPORTS
                + "class Case extends NativeObject {\nCase() { super(1); }\n\n"
                + "@NativeMethod int f() {\nreturn 1; } }"));
        List<Problem> problems = lab.weave(Target.JVM);
        assertEquals(1, problems.size(), problems::toString);
        assertEquals("test/Case.java:5: test.Case.f(): @NativeMethod has a body already: make it"
                + " native (external in Kotlin)", problems.get(0).toString());
    }

    @Test
    void filesThatAreNoClassesAndNoJarsAreErrors() throws Exception {
        Path damaged = folder.resolve("Damaged.class");
        Files.write(damaged, ("\u00ca\u00fe\u00ba\u00be Lio/kolibri/NativeMethod;").getBytes(
                java.nio.charset.StandardCharsets.ISO_8859_1));
        Path text = Files.writeString(folder.resolve("some.jar"), "no jar");
        for (String each : List.of(folder.toString(), text.toString())) {
            ByteArrayOutputStream err = new ByteArrayOutputStream();
            assertEquals(1, Main.run(new String[] {"weave", each},
                    NOWHERE, new PrintStream(err)));
            assertTrue(err.toString().startsWith("error: "), err::toString);
        }
        assertEquals(2, Main.run(new String[] {"weave", "/no/such/folder"}, System.out,
                NOWHERE));
        assertEquals(2, Main.run(new String[] {}, System.out,
                NOWHERE));
    }

    private void refuses(String source, String said) throws Exception {
        Lab lab = new Lab(folder).compile(Map.of("test.Case", source));
        byte[] before = Files.readAllBytes(folder.resolve("test/Case.class"));
        List<Problem> problems = lab.weave(Target.JVM);
        assertTrue(!problems.isEmpty(), "woven");
        for (Problem each : problems) {
            assertTrue(each.text().contains(said), each::toString);
            assertTrue(each.toString().matches("test/Case\\.java(:1)?: test\\.Case.*"),
                    each::toString);
        }
        assertArrayEquals(before,
                Files.readAllBytes(folder.resolve("test/Case.class")));
    }
}
