/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.weaver;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Enumeration;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.tree.ClassNode;

/** Reads whole classes of folders and jars, those that have native methods, in order of name. */
final class ClassFiles {
    private ClassFiles() {}

    static List<ClassNode> read(List<Path> inputs) throws IOException {
        List<ClassNode> classes = new ArrayList<>();
        for (Path each : inputs) {
            if (Files.isDirectory(each)) {
                readFolder(each, classes);
            } else if (each.toString().endsWith(".class")) {
                classes.add(parse(Files.readAllBytes(each)));
            } else {
                readJar(each, classes);
            }
        }
        classes.sort(Comparator.comparing(each -> each.name));
        return classes;
    }

    private static void readFolder(Path root, List<ClassNode> out) throws IOException {
        try (Stream<Path> found = Files.walk(root)) {
            for (Path each : found.filter(Files::isRegularFile).toList()) {
                if (each.toString().endsWith(".class")) {
                    out.add(parse(Files.readAllBytes(each)));
                }
            }
        }
    }

    private static void readJar(Path path, List<ClassNode> out) throws IOException {
        try (ZipFile jar = new ZipFile(path.toFile())) {
            Enumeration<? extends ZipEntry> entries = jar.entries();
            while (entries.hasMoreElements()) {
                ZipEntry entry = entries.nextElement();
                if (entry.getName().endsWith(".class")) {
                    try (InputStream in = jar.getInputStream(entry)) {
                        out.add(parse(in.readAllBytes()));
                    }
                }
            }
        }
    }

    private static ClassNode parse(byte[] file) {
        ClassNode cls = new ClassNode();
        ClassReading.reader(file).accept(cls, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        return cls;
    }
}
