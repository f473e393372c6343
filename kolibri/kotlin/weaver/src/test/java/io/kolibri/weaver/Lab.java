/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.weaver;

import io.kolibri.NativeObject;
import io.kolibri.rewriter.Problem;
import io.kolibri.rewriter.Target;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/** Compiles Java sources into a folder, weaves it, and loads it with a copy of the library. */
final class Lab {
    final Path folder;

    Lab(Path folder) {
        this.folder = folder;
    }

    static Path runtime() throws Exception {
        return Path.of(NativeObject.class.getProtectionDomain().getCodeSource().getLocation()
                .toURI());
    }

    /**
     * Compiles sources by class name. What was compiled is kept under target/lab, so that the same
     * test finds it on a Java that has no compiler; without both the test is skipped.
     */
    Lab compile(Map<String, String> sources) throws Exception {
        Path kept = Path.of("target", "lab", Integer.toHexString(sources.hashCode()));
        if (!Files.isDirectory(kept)) {
            JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
            Assumptions.assumeTrue(compiler != null, "this Java has no compiler");
            Path fresh = Files.createDirectories(kept.resolveSibling(kept.getFileName() + ".new"));
            compile(compiler, sources, fresh);
            Files.move(fresh, kept);
        }
        try (Stream<Path> files = Files.walk(kept)) {
            for (Path each : files.filter(Files::isRegularFile).toList()) {
                Path copy = folder.resolve(kept.relativize(each).toString());
                Files.createDirectories(copy.getParent());
                Files.copy(each, copy, StandardCopyOption.REPLACE_EXISTING);
            }
        }
        return this;
    }

    private static void compile(JavaCompiler compiler, Map<String, String> sources, Path out)
            throws Exception {
        List<SimpleJavaFileObject> files = new ArrayList<>();
        sources.forEach((name, text) -> files.add(new Source(name, text)));
        StringWriter messages = new StringWriter();
        List<String> options = List.of("-d", out.toString(), "-cp", runtime().toString(),
                "--release", "17", "-proc:none");
        boolean isCompiled =
                compiler.getTask(messages, null, null, options, null, files).call();
        Assertions.assertTrue(isCompiled, messages::toString);
    }

    /** Compiles classes of the test resources, named without package. */
    Lab compileResources(String... names) throws Exception {
        Map<String, String> sources = new java.util.HashMap<>();
        for (String each : names) {
            try (var in = Lab.class.getResourceAsStream("/woven/test/" + each + ".java")) {
                sources.put("test." + each, new String(in.readAllBytes()));
            }
        }
        return compile(sources);
    }

    List<Problem> weave(Target target) throws Exception {
        return new Weave(List.of(folder), List.of(runtime()), target).run().problems();
    }

    /** Runs Scenario.main in a VM of its own, with its own copy of the library. */
    String fork(String option, String... arguments) throws Exception {
        List<String> options = new ArrayList<>(List.of(option, "-XX:+UseSerialGC", "-Xmx256m",
                "-cp", folder + ":" + runtime(), "test.Scenario", copyLibrary().toString()));
        options.addAll(List.of(arguments));
        return lastLine(java(folder, options));
    }

    /** Runs a Java program that must end well; returns what it said. */
    static String java(Path folder, List<String> options) throws Exception {
        List<String> command = new ArrayList<>(options);
        command.add(0, Path.of(System.getProperty("java.home"), "bin", "java").toString());
        Path output = folder.resolve("output.txt");
        Process process = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(output.toFile()).start();
        boolean isDone = process.waitFor(5, TimeUnit.MINUTES);
        process.destroyForcibly();
        String text = Files.readString(output).strip();
        Assertions.assertTrue(isDone && process.exitValue() == 0, text);
        return text;
    }

    static String lastLine(String text) {
        return text.substring(text.lastIndexOf('\n') + 1);
    }

    /** Takes the fences out of a woven class, as if the rewriter had forgotten them. */
    void removeFences(String file) throws Exception {
        Path path = folder.resolve(file);
        ClassNode cls = new ClassNode();
        new ClassReader(Files.readAllBytes(path)).accept(cls, 0);
        for (MethodNode method : cls.methods) {
            for (AbstractInsnNode at : method.instructions.toArray()) {
                if (at instanceof MethodInsnNode call && call.name.equals("reachabilityFence")) {
                    method.instructions.remove(at.getPrevious());
                    method.instructions.remove(at);
                }
            }
        }
        ClassWriter writer = new ClassWriter(0);
        cls.accept(writer);
        Files.write(path, writer.toByteArray());
    }

    private Path copyLibrary() throws IOException {
        Path library = Path.of(System.getProperty("native.build"), "jvm-test", "libwoven.so");
        Assertions.assertTrue(Files.exists(library), library + " is not built");
        return Files.copy(library, folder.resolve("libwoven-copy.so"));
    }

    /** Loads Scenario with its own copy of the native library. */
    Class<?> load() throws Exception {
        Path copy = copyLibrary();
        Class<?> scenario = loader().loadClass("test.Scenario");
        call(scenario, "load", copy.toString());
        return scenario;
    }

    URLClassLoader loader() throws IOException {
        URL[] urls = {folder.toUri().toURL()};
        return new URLClassLoader(urls, Lab.class.getClassLoader());
    }

    static Object call(Class<?> cls, String method, Object... arguments) throws Exception {
        for (var each : cls.getDeclaredMethods()) {
            if (each.getName().equals(method)) {
                try {
                    return each.invoke(null, arguments);
                } catch (java.lang.reflect.InvocationTargetException thrown) {
                    throw new AssertionError(method, thrown.getCause());
                }
            }
        }
        throw new NoSuchMethodException(method);
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String name, String text) {
            super(URI.create("string:///" + name.replace('.', '/') + ".java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }
}
