/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.weaver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kolibri.rewriter.Target;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Leaves of a class in a named module: the native access that counts is the one of its module, not
 * of ours. The runtime is a module too, an automatic one, without native access.
 */
class NamedModuleTest {
    private static final String APP = """
            package test;
            public class App {
                public static void main(String[] args) {
                    System.load(args[0]);
                    Counter counter = new Counter(40);
                    if (counter.get() != 40 || counter.sum(counter, 2) != 82) {
                        throw new AssertionError();
                    }
                    System.out.println(App.class.getModule().isNamed() + " "
                            + io.kolibri.NativeBinding.mode(Counter.class, "get") + " "
                            + io.kolibri.NativeBinding.reason(Counter.class, "get"));
                }
            }
            """;

    @TempDir Path folder;
    private Path classes;
    private Path runtime;

    @BeforeEach
    void pack() throws Exception {
        classes = Files.createDirectory(folder.resolve("classes"));
        Lab lab = new Lab(classes);
        lab.compile(Map.of("test.App", APP, "test.Counter", "package test; class Counter"
                + " extends io.kolibri.NativeObject { Counter(int x) { super(x); }"
                + " int get() { return 0; } long sum(Counter x, long y) { return 0; } }"));
        lab.compileResources("Counter", "Guarded", "Counts");
        assertEquals(List.of(), lab.weave(Target.JVM));
        runtime = jar("io.kolibri.runtime", Lab.runtime());
    }

    @Test
    void nativeAccessForTheCallersModuleAndDeniedForOurs() throws Exception {
        int version = Runtime.version().feature();
        String[] options = {"--enable-native-access=test.app"};
        if (version >= 24) {
            options = new String[] {options[0], "--illegal-native-access=deny"};
        }
        String said = run(options);
        assertTrue(said.startsWith("true " + (version < 22 ? "JNI Java " : "FFM null")), said);
    }

    @Test
    void turnedOff() throws Exception {
        String said = run("-Dkolibri.leaf=jni");
        assertEquals("true JNI kolibri.leaf=jni", said);
    }

    private String run(String... options) throws Exception {
        Path app = jar("test.app", classes);
        Path library = Files.copy(
                Path.of(System.getProperty("native.build"), "jvm-test", "libwoven.so"),
                folder.resolve("libwoven-copy.so"));
        List<String> all = new ArrayList<>(List.of(
                "-p", app + ":" + runtime, "--add-modules", "io.kolibri.runtime"));
        all.addAll(List.of(options));
        all.addAll(List.of("-m", "test.app/test.App", library.toString()));
        return Lab.lastLine(Lab.java(folder, all));
    }

    /** An automatic module of a folder of classes; a jar is one already. */
    private Path jar(String module, Path root) throws Exception {
        if (Files.isRegularFile(root)) {
            return root;
        }
        Path jar = folder.resolve(module + ".jar");
        var manifest = new java.util.jar.Manifest();
        manifest.getMainAttributes().putValue("Manifest-Version", "1.0");
        manifest.getMainAttributes().putValue("Automatic-Module-Name", module);
        try (var out = new java.util.jar.JarOutputStream(Files.newOutputStream(jar), manifest);
                var files = Files.walk(root)) {
            for (Path each : files.filter(path -> path.toString().endsWith(".class")).toList()) {
                out.putNextEntry(new java.util.zip.ZipEntry(root.relativize(each).toString()));
                out.write(Files.readAllBytes(each));
            }
        }
        return jar;
    }
}
