/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.weaver;

import io.kolibri.rewriter.Problem;
import io.kolibri.rewriter.Target;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * Weaves folders and jars in place. A file is replaced whole, by renaming, and only if something
 * changed; after a problem nothing more of that class is written.
 */
public final class Weave {
    private final List<Path> inputs;
    private final List<Path> classPath;
    private final Target target;

    /** What was done: classes rewritten, and what could not be. */
    public record Outcome(int woven, List<Problem> problems) {}

    public Weave(List<Path> inputs, List<Path> classPath, Target target) {
        this.inputs = inputs;
        this.classPath = classPath;
        this.target = target;
    }

    public Outcome run() throws IOException {
        List<Path> all = new ArrayList<>(inputs);
        all.addAll(classPath);
        List<Problem> problems = new ArrayList<>();
        int woven = 0;
        for (Path each : inputs) {
            try (ClassPath classes = new ClassPath(all)) {
                Weaver weaver = new Weaver(classes, target, problems::add);
                woven += Files.isDirectory(each) ? folder(each, weaver) : jar(each, weaver);
            }
        }
        return new Outcome(woven, problems);
    }

    private static int folder(Path root, Weaver weaver) throws IOException {
        List<Path> files;
        try (Stream<Path> found = Files.walk(root)) {
            files = found.filter(each -> isClass(each.toString())).sorted().toList();
        }
        int woven = 0;
        for (Path each : files) {
            byte[] file = Files.readAllBytes(each);
            byte[] out = weave(weaver, each.toString(), file);
            if (out != file) {
                Path fresh = Files.createTempFile(each.getParent(), "woven", null);
                Files.write(fresh, out);
                Files.move(fresh, each, StandardCopyOption.REPLACE_EXISTING);
                woven++;
            }
        }
        return woven;
    }

    private static int jar(Path path, Weaver weaver) throws IOException {
        Path fresh = Files.createTempFile(path.toAbsolutePath().getParent(), "woven", null);
        try {
            int woven;
            try (ZipFile in = new ZipFile(path.toFile());
                    OutputStream file = Files.newOutputStream(fresh);
                    ZipOutputStream out = new ZipOutputStream(file)) {
                woven = copy(path, in, out, weaver);
            }
            if (woven > 0) {
                Files.move(fresh, path, StandardCopyOption.REPLACE_EXISTING);
            }
            return woven;
        } finally {
            Files.deleteIfExists(fresh);
        }
    }

    private static int copy(Path path, ZipFile in, ZipOutputStream out, Weaver weaver)
            throws IOException {
        int woven = 0;
        Enumeration<? extends ZipEntry> entries = in.entries();
        boolean isSigned = false;
        while (entries.hasMoreElements()) {
            ZipEntry entry = entries.nextElement();
            isSigned |= entry.getName().matches("META-INF/[^/]*\\.(SF|RSA|DSA|EC)");
            byte[] file;
            try (InputStream stream = in.getInputStream(entry)) {
                file = stream.readAllBytes();
            }
            byte[] result = isClass(entry.getName()) ? weave(weaver, entry.getName(), file) : file;
            woven += result != file ? 1 : 0;
            write(out, entry, result);
        }
        if (isSigned && woven > 0) {
            throw new IOException(path + " is signed: weave before signing");
        }
        return woven;
    }

    private static void write(ZipOutputStream out, ZipEntry entry, byte[] file) throws IOException {
        ZipEntry copy = new ZipEntry(entry.getName());
        copy.setLastModifiedTime(entry.getLastModifiedTime());
        copy.setExtra(entry.getExtra());
        copy.setComment(entry.getComment());
        if (entry.getMethod() == ZipEntry.STORED) {
            java.util.zip.CRC32 crc = new java.util.zip.CRC32();
            crc.update(file);
            copy.setMethod(ZipEntry.STORED);
            copy.setSize(file.length);
            copy.setCrc(crc.getValue());
        }
        out.putNextEntry(copy);
        out.write(file);
        out.closeEntry();
    }

    private static byte[] weave(Weaver weaver, String name, byte[] file) throws IOException {
        try {
            return weaver.weave(file);
        } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException damaged) {
            throw new IOException(name + ": " + damaged.getMessage(), damaged);
        }
    }

    private static boolean isClass(String name) {
        return name.endsWith(".class") && !name.endsWith("module-info.class");
    }
}
