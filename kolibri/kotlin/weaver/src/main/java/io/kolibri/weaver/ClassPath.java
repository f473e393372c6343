/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.weaver;

import io.kolibri.rewriter.ClassInfo;
import io.kolibri.rewriter.ClassSource;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Classes of folders, of jars, and of the JDK that runs the weaver, by internal name. What was read
 * once is remembered, so an object of this class serves one run.
 */
final class ClassPath implements ClassSource, Closeable {
    private final List<Path> folders = new ArrayList<>();
    private final List<ZipFile> jars = new ArrayList<>();
    private final Map<String, ClassInfo> known = new HashMap<>();

    /** Entries that do not exist are skipped, as a JVM does. */
    ClassPath(List<Path> entries) throws IOException {
        for (Path each : entries) {
            if (Files.isDirectory(each)) {
                folders.add(each);
            } else if (Files.isRegularFile(each)) {
                jars.add(new ZipFile(each.toFile()));
            }
        }
    }

    @Override
    public ClassInfo find(String name) {
        if (!known.containsKey(name)) {
            known.put(name, read(name + ".class"));
        }
        return known.get(name);
    }

    private ClassInfo read(String file) {
        try {
            for (Path each : folders) {
                Path path = each.resolve(file);
                if (Files.isRegularFile(path)) {
                    return ClassReading.info(Files.readAllBytes(path));
                }
            }
            for (ZipFile each : jars) {
                ZipEntry entry = each.getEntry(file);
                if (entry != null) {
                    try (InputStream in = each.getInputStream(entry)) {
                        return ClassReading.info(in.readAllBytes());
                    }
                }
            }
            try (InputStream in = ClassLoader.getPlatformClassLoader().getResourceAsStream(file)) {
                return in == null ? null : ClassReading.info(in.readAllBytes());
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(file, failure);
        }
    }

    @Override
    public void close() throws IOException {
        for (ZipFile each : jars) {
            each.close();
        }
    }
}
