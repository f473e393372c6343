/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.weaver;

import io.kolibri.rewriter.Target;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command. Exit code 0: done; 1: something cannot be woven or does not match; 2: usage. */
public final class Main {
    private static final String USAGE =
            """
            usage: weave [--class-path PATH] [--android] FOLDER|JAR...
                       rewrites the native methods in place
                   list FOLDER|JAR...
                       prints the native methods, woven or not, as a library sees them
                   draft FOLDER|JAR...
                       prints a first draft of the C tables
                   check --rows FILE FOLDER|JAR...
                       compares them with the rows a native library wrote (kol_natives_write)
            """;

    private final PrintStream out;
    private final PrintStream err;
    private final List<Path> inputs = new ArrayList<>();
    private final List<Path> classPath = new ArrayList<>();
    private Target target = Target.JVM;
    private Path rows;

    private Main(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    public static void main(String[] args) {
        System.exit(run(args, System.out, System.err));
    }

    /** The command without the exit. */
    static int run(String[] args, PrintStream out, PrintStream err) {
        try {
            return new Main(out, err).run(args);
        } catch (IOException | UncheckedIOException failure) {
            err.println("error: " + failure.getMessage());
            return 1;
        }
    }

    private int run(String[] args) throws IOException {
        if (args.length == 0 || !parse(args)) {
            err.print(USAGE);
            return 2;
        }
        for (Path each : inputs) {
            if (!Files.exists(each)) {
                err.println("error: no such file or folder: " + each);
                return 2;
            }
        }
        switch (args[0]) {
            case "weave":
                return weave();
            case "list":
                new Listing(inputs).print(out);
                return 0;
            case "draft":
                new Draft(inputs).print(out);
                return 0;
            case "check":
                return check();
            default:
                err.print(USAGE);
                return 2;
        }
    }

    private boolean parse(String[] args) {
        for (int i = 1; i < args.length; i++) {
            boolean hasValue = i + 1 < args.length;
            if (args[i].equals("--android")) {
                target = Target.ANDROID;
            } else if (args[i].equals("--class-path") && hasValue) {
                for (String each : args[++i].split(File.pathSeparator)) {
                    classPath.add(Path.of(each));
                }
            } else if (args[i].equals("--rows") && hasValue) {
                rows = Path.of(args[++i]);
            } else if (args[i].startsWith("-")) {
                return false;
            } else {
                inputs.add(Path.of(args[i]));
            }
        }
        return !inputs.isEmpty();
    }

    private int weave() throws IOException {
        Weave.Outcome outcome = new Weave(inputs, classPath, target).run();
        outcome.problems().forEach(each -> err.println("error: " + each));
        out.println(outcome.woven() + " classes woven");
        return outcome.problems().isEmpty() ? 0 : 1;
    }

    private int check() throws IOException {
        if (rows == null) {
            err.print(USAGE);
            return 2;
        }
        List<String> differences =
                Check.compare(Files.readAllLines(rows), new Listing(inputs).lines());
        differences.forEach(each -> err.println("error: " + each));
        return differences.isEmpty() ? 0 : 1;
    }
}
