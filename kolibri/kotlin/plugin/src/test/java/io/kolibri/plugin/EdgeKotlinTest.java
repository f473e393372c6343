/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Names and kinds that take the long way to find: nested, inherited, aliased, bounded, local. */
class EdgeKotlinTest {
    static Stream<String> versions() {
        return Kotlinc.versions();
    }

    @BeforeAll
    static void compilersRunOnTheJavaThatBuilds() {
        Assumptions.assumeTrue(Runtime.version().feature() == 17, "compilers run on Java 17 only");
    }

    @ParameterizedTest
    @MethodSource("versions")
    void kindsAreFoundAndClassesVerify(String version, @TempDir Path out) throws Exception {
        Path source = Path.of(getClass().getResource("/kotlin/edge/Edge.kt").toURI());
        Kotlinc.Result result = Kotlinc.of(version).compile(List.of(source), out);
        assertEquals(0, result.code(), result::output);
        URL[] urls = {out.toUri().toURL(), Kotlinc.of(version).stdlib().toUri().toURL()};
        try (var loader = new URLClassLoader(urls, getClass().getClassLoader())) {
            crosses(loader, "edge.Outer$Nested", "aliased", long.class, long.class);
            crosses(loader, "edge.Outer$Deep", "wide",
                    long.class, long.class, long.class, double.class, long.class);
            crosses(loader, "edge.Outer$Deep", "nothing", long.class, long.class);
            crosses(loader, "edge.Shared", "bounded", long.class, long.class);
            crosses(loader, "edge.Generic", "both", long.class, long.class, long.class);
            crosses(loader, "edge.Square", "same", long.class, int.class);
            crosses(loader, "edge.EdgeKt$local$Local", "own", long.class);
            crosses(loader, "edge.WithCompanion$Companion", "ofCompanion", long.class);
        }
        for (String each : List.of("Outer$Nested", "Outer$Deep", "Shared", "Generic")) {
            String file = Files.readString(out.resolve("edge/" + each + ".class"),
                    StandardCharsets.ISO_8859_1);
            assertTrue(file.contains("enter") && file.contains("leave"), each + " takes no lease");
        }
    }

    private static void crosses(ClassLoader loader, String name, String method, Class<?>... types)
            throws Exception {
        Class<?> cls = Class.forName(name, true, loader);
        Method found = cls.getDeclaredMethod(method, types);
        assertTrue(Modifier.isNative(found.getModifiers()), found::toString);
        assertTrue(Modifier.isStatic(found.getModifiers()), found::toString);
    }

    /** The rows of docs/plugin.md that need no rule of ours. */
    @ParameterizedTest
    @MethodSource("versions")
    void theCompilerItselfRefuses(String version, @TempDir Path folder) throws Exception {
        String start = "import io.kolibri.*\nabstract class A : NativeObject(1) {\n@NativeMethod ";
        List<String> sources = List.of(
                start + "fun f() { @NativeMethod external fun g(): Int } }",
                start + "abstract external fun f(): Int }",
                start + "inline external fun f(): Int }",
                start + "external inline fun <reified T> f(): Int }",
                "import io.kolibri.*\ninterface I { @NativeMethod external fun f(): Int }");
        for (String each : sources) {
            Path file = Files.writeString(folder.resolve("Case.kt"), each);
            Kotlinc.Result result =
                    Kotlinc.of(version).compile(List.of(file), folder.resolve("out"));
            assertNotEquals(0, result.code(), each);
            assertTrue(result.output().contains("Case.kt:"), result::output);
        }
    }
}
