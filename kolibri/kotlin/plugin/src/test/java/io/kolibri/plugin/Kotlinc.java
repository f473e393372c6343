/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.plugin;

import io.kolibri.NativeObject;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * A real Kotlin compiler of one release, in a class loader of its own, with the plugin as a user
 * has it. A loader is kept for all tests: the first compile of a release takes seconds, the
 * others less than one.
 */
final class Kotlinc {
    record Result(int code, String output) {}

    private static final Map<String, Kotlinc> ALL = new ConcurrentHashMap<>();

    final String version;
    private final List<Path> jars;
    private final URLClassLoader loader;

    private Kotlinc(String version) {
        this.version = version;
        try (Stream<Path> files = Files.list(
                Path.of(System.getProperty("kotlinc.home"), version))) {
            this.jars = files.filter(each -> each.toString().endsWith(".jar")).toList();
            URL[] urls = new URL[jars.size()];
            for (int i = 0; i < urls.length; i++) {
                urls[i] = jars.get(i).toUri().toURL();
            }
            this.loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
        } catch (java.io.IOException failure) {
            throw new java.io.UncheckedIOException(failure);
        }
    }

    static Stream<String> versions() {
        return Arrays.stream(System.getProperty("kotlinc.versions").trim().split("\\s+"));
    }

    static Kotlinc of(String version) {
        return ALL.computeIfAbsent(version, Kotlinc::new);
    }

    /** Whether this release has the API of the checkers. */
    boolean hasCheckers() {
        return !version.startsWith("2.0.") && !version.startsWith("2.1.");
    }

    Path stdlib() {
        return jars.stream().filter(each -> each.getFileName().toString()
                .startsWith("kotlin-stdlib-")).findFirst().orElseThrow();
    }

    static Path runtime() throws Exception {
        return locationOf(NativeObject.class);
    }

    static Path plugin() throws Exception {
        return locationOf(io.kolibri.plugin.rewriter.Names.class);
    }

    private static Path locationOf(Class<?> cls) throws Exception {
        return Path.of(cls.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    /** Compiles sources with the plugin. */
    Result compile(List<Path> sources, Path out, String... more) throws Exception {
        List<String> all = new ArrayList<>(List.of("-Xplugin=" + plugin()));
        all.addAll(Arrays.asList(more));
        return compilePlain(sources, out, all.toArray(new String[0]));
    }

    /** Compiles sources without it. */
    Result compilePlain(List<Path> sources, Path out, String... more) throws Exception {
        List<String> args = new ArrayList<>(List.of("-no-stdlib", "-no-reflect", "-jvm-target",
                "17", "-cp", stdlib() + ":" + runtime(), "-d", out.toString()));
        args.addAll(Arrays.asList(more));
        sources.forEach(each -> args.add(each.toString()));
        return run(args);
    }

    Result run(List<String> args) throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        thread.setContextClassLoader(loader);
        try (PrintStream stream = new PrintStream(bytes, true)) {
            Class<?> compiler = loader.loadClass("org.jetbrains.kotlin.cli.jvm.K2JVMCompiler");
            Object code = compiler.getMethod("exec", PrintStream.class, String[].class)
                    .invoke(compiler.getConstructor().newInstance(), stream,
                            args.toArray(new String[0]));
            return new Result((int) code.getClass().getMethod("getCode").invoke(code),
                    bytes.toString());
        } finally {
            thread.setContextClassLoader(before);
        }
    }
}
