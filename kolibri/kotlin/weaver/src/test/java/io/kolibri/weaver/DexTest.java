/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.weaver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kolibri.rewriter.Target;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The output for Android through Android's own tools, D8 and R8, at API level 24, with the runtime
 * beside it. The profile `android` brings the tools; without it the tests are skipped. They see
 * Java's library in place of the SDK's: what the runtime may use of that is checked elsewhere.
 */
class DexTest {
    private static final Path TOOLS = Path.of("target", "android", "r8.jar");
    private static final String SOURCE =
            """
            package test;
            import io.kolibri.*;
            public class Spare extends NativeObject {
                public Spare() { super(make()); }
                static native long make();
                @NativeMethod native int nobodyCallsThis(@AsNativePointer Spare other);
                @NativeMethod(leaf = true) native int norThisLeaf();
                int goesAway() { return 1; }
                public static void main(String[] arguments) { new Spare().close(); }
            }
            """;
    private static final String ENTRY =
            "-keep class test.Spare { public static void main(java.lang.String[]); }";

    @TempDir Path folder;

    @BeforeEach
    void needTools() {
        Assumptions.assumeTrue(Files.exists(TOOLS), "R8 is not there: -Pandroid brings it");
    }

    private Path woven(String... resources) throws Exception {
        Path classes = Files.createDirectories(folder.resolve("classes"));
        Lab lab = new Lab(classes).compile(Map.of("test.Spare", SOURCE));
        if (resources.length > 0) {
            lab.compileResources(resources);
        }
        assertEquals(List.of(), lab.weave(Target.ANDROID));
        return pack(classes, "app.jar");
    }

    private Path pack(Path from, String name) throws IOException {
        Path jar = folder.resolve(name);
        try (OutputStream file = Files.newOutputStream(jar);
                ZipOutputStream out = new ZipOutputStream(file);
                Stream<Path> files = Files.walk(from)) {
            for (Path each : files.filter(DexTest::isClass).sorted().toList()) {
                out.putNextEntry(new ZipEntry(from.relativize(each).toString()));
                out.write(Files.readAllBytes(each));
                out.closeEntry();
            }
        }
        return jar;
    }

    /** Without the rules in the runtime's jar, which the tool would read by itself. */
    private Path runtime() throws Exception {
        Path runtime = Lab.runtime();
        if (Files.isDirectory(runtime)) {
            return pack(runtime, "runtime.jar");
        }
        try (FileSystem jar = FileSystems.newFileSystem(runtime)) {
            return pack(jar.getPath("/"), "runtime.jar");
        }
    }

    private static boolean isClass(Path file) {
        return file.toString().endsWith(".class");
    }

    /** What the tool made, as text: names in a dex file are plain. */
    private String run(String tool, Path app, String... options) throws Exception {
        Path out = Files.createDirectories(folder.resolve("out"));
        List<String> command = new ArrayList<>(List.of(
                "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
                TOOLS.toAbsolutePath().toString(), "com.android.tools.r8." + tool, "--min-api",
                "24", "--lib", System.getProperty("java.home"), "--output", out.toString()));
        command.addAll(List.of(options));
        command.add(app.toString());
        command.add(runtime().toString());
        String text = Lab.java(folder, command);
        assertFalse(text.contains("Missing class"), text);
        return Files.readString(out.resolve("classes.dex"), StandardCharsets.ISO_8859_1);
    }

    private Path file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    @Test
    void d8TakesTheOutputAndTheRuntime() throws Exception {
        String dex = run("D8", woven("Counter", "Guarded", "Owned", "Counts", "Scenario"));
        assertTrue(dex.startsWith("dex\n"));
        assertTrue(dex.contains("norThisLeaf$critical"));
        assertTrue(dex.contains("Ldalvik/annotation/optimization/CriticalNative;"));
        assertTrue(dex.contains("Ltest/Scenario;"));
    }

    @Test
    void ourRulesKeepEveryNativeThroughR8() throws Exception {
        Path rules = Path.of("..", "runtime", "src", "main", "resources", "META-INF", "proguard",
                "kolibri.pro");
        String dex = run("R8", woven(), "--pg-conf", file("entry.pro", ENTRY).toString(),
                "--pg-conf", rules.toString());
        assertTrue(dex.contains("nobodyCallsThis"));
        assertTrue(dex.contains("norThisLeaf$critical"));
        assertTrue(dex.contains("Ldalvik/annotation/optimization/CriticalNative;"));
        assertTrue(dex.contains("Ltest/Spare;") && dex.contains("Lio/kolibri/NativeObject;"));
        assertFalse(dex.contains("goesAway"), "nothing was shrunk");
    }

    /** Shows that the test above would see rules that keep too little. */
    @Test
    void withoutThemR8TakesThemAway() throws Exception {
        String own = ENTRY + "\n-dontwarn **\n";
        String dex = run("R8", woven(), "--pg-conf", file("entry.pro", own).toString());
        assertFalse(dex.contains("nobodyCallsThis"));
    }
}
