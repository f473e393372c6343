/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.kolibri.rewriter.Target;
import io.kolibri.weaver.Weave;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.util.Textifier;
import org.objectweb.asm.util.TraceMethodVisitor;

/**
 * The plugin and the weaver make the same methods of the same Kotlin sources, for both targets;
 * only the plugin knows source lines. One exception is by contract: a private function's nullable
 * parameter, which a class file does not show, needs nullable = true for the weaver.
 */
class SameAsWeaverTest {
    static Stream<String> versions() {
        return Kotlinc.versions();
    }

    @ParameterizedTest
    @MethodSource("versions")
    void methodsAreEqual(String version, @TempDir Path folder) throws Exception {
        Assumptions.assumeTrue(Runtime.version().feature() == 17, "compilers run on Java 17 only");
        Kotlinc compiler = Kotlinc.of(version);
        List<Path> sources = List.of(
                Path.of(getClass().getResource("/kotlin/run/Counter.kt").toURI()));
        for (Target target : Target.values()) {
            Path plugged = folder.resolve(target + "-plugin");
            Path woven = folder.resolve(target + "-weaver");
            Kotlinc.Result result = compiler.compile(sources, plugged, "-P",
                    "plugin:io.kolibri:target=" + target.name().toLowerCase(java.util.Locale.ROOT));
            assertEquals(0, result.code(), result::output);
            result = compiler.compilePlain(sources, woven);
            assertEquals(0, result.code(), result::output);
            Weave.Outcome outcome = new Weave(List.of(woven),
                    List.of(Kotlinc.runtime(), compiler.stdlib()), target).run();
            assertEquals(List.of(), outcome.problems());
            for (String name : List.of("Counter", "Guarded", "Counts")) {
                assertEquals(methods(woven, name), methods(plugged, name));
            }
        }
    }

    /** The methods of a class as text, without lines and without maximum sizes. */
    private static String methods(Path folder, String name) throws Exception {
        ClassNode cls = new ClassNode();
        new ClassReader(Files.readAllBytes(folder.resolve("test/" + name + ".class")))
                .accept(cls, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        TreeMap<String, String> texts = new TreeMap<>();
        for (MethodNode method : cls.methods) {
            Textifier text = new Textifier();
            method.accept(new TraceMethodVisitor(text));
            StringWriter out = new StringWriter();
            text.print(new PrintWriter(out, true));
            texts.put(method.name + method.desc, method.access + "\n" + out);
        }
        return texts.toString().replaceAll("(?m)^ *(MAX|L\\d+$).*\n", "");
    }
}
