/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Constructs that are refused, by real compilers. A line that says "refused: TEXT" must have an
 * error with that text at exactly that line; no other line may have one.
 */
class RefusedKotlinTest {
    private static final String MARK = "// refused: ";

    static Stream<String> versions() {
        return Kotlinc.versions();
    }

    static Stream<String> versionsWithContext() {
        return Kotlinc.versions().filter(each -> Kotlinc.of(each).hasCheckers());
    }

    @BeforeAll
    static void compilersRunOnTheJavaThatBuilds() {
        Assumptions.assumeTrue(Runtime.version().feature() == 17, "compilers run on Java 17 only");
    }

    @ParameterizedTest
    @MethodSource("versions")
    void whatTheSourceShows(String version, @TempDir Path out) throws Exception {
        check(version, "Source.kt", out);
    }

    @ParameterizedTest
    @MethodSource("versions")
    void whatOnlyTheClassFileShows(String version, @TempDir Path out) throws Exception {
        check(version, "ClassFile.kt", out);
    }

    @ParameterizedTest
    @MethodSource("versionsWithContext")
    void contextParameters(String version, @TempDir Path out) throws Exception {
        check(version, "Context.kt", out, "-Xcontext-parameters");
    }

    @ParameterizedTest
    @MethodSource("versions")
    void aWrongOptionIsRefused(String version, @TempDir Path out) throws Exception {
        Kotlinc.Result result = Kotlinc.of(version).compile(
                List.of(source("Context.kt")), out, "-P", "plugin:io.kolibri:target=windows");
        assertTrue(result.code() != 0 && result.output().contains("jvm or android"),
                result::output);
    }

    private static Path source(String name) throws Exception {
        return Path.of(RefusedKotlinTest.class.getResource("/kotlin/refused/" + name).toURI());
    }

    private static void check(String version, String name, Path out, String... more)
            throws Exception {
        Path source = source(name);
        Kotlinc.Result result = Kotlinc.of(version).compile(List.of(source), out, more);
        List<String> errors = result.output().lines()
                .filter(each -> each.contains(": error: ")).toList();
        List<String> wrong = new ArrayList<>();
        List<String> places = new ArrayList<>();
        List<String> lines = Files.readAllLines(source);
        for (int i = 0; i < lines.size(); i++) {
            int at = lines.get(i).indexOf(MARK);
            if (at >= 0) {
                String text = lines.get(i).substring(at + MARK.length());
                String place = name + ":" + (i + 1) + ":";
                places.add(place);
                if (errors.stream().noneMatch(
                        each -> each.contains(place) && each.contains(text))) {
                    wrong.add(place + " " + text);
                }
            }
        }
        assertEquals(List.of(), wrong, result::output);
        assertEquals(List.of(), errors.stream()
                .filter(each -> places.stream().noneMatch(each::contains)).toList());
        assertEquals(1, result.code(), result::output);
    }
}
