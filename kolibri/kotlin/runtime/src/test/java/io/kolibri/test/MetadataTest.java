/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The native-image metadata and the shrinker rules against the C sources: each Java member that a
 * row of Kolibri's own tables names is in the metadata, and each class there exists.
 */
class MetadataTest {
    private static final String FOLDER = "META-INF/native-image/io.kolibri/kolibri-runtime/";

    private static String resource(String name) throws IOException {
        try (InputStream in = MetadataTest.class.getClassLoader().getResourceAsStream(name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static Set<String> all(String pattern, String text) {
        Set<String> found = new TreeSet<>();
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        while (matcher.find()) {
            found.add(matcher.group(1));
        }
        return found;
    }

    private static String sources() throws IOException {
        StringBuilder all = new StringBuilder();
        Path folder = Path.of("../../src");
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.sorted().toList()) {
                all.append(Files.readString(file));
            }
        }
        return all.toString();
    }

    @Test
    void everyMemberThatCCallsIsListed() throws Exception {
        String config = resource(FOLDER + "jni-config.json");
        Set<String> called = all("X\\(C, S?[FPNG]+\\d?,[^\"]*\"([\\w<>]+)\"", sources());
        assertTrue(called.size() > 20, called.toString());
        Set<String> listed = all("\"name\": \"([\\w<>]+)\"", config);
        called.removeAll(listed);
        assertEquals(Set.of(), called);
    }

    @Test
    void everyClassThatIsListedExists() throws Exception {
        String config = resource(FOLDER + "jni-config.json");
        Set<String> names = all("\\{\"name\": \"([\\w.]+\\.[\\w.]+)\"", config);
        assertTrue(names.size() > 15, names.toString());
        for (String name : names) {
            Class.forName(name, false, MetadataTest.class.getClassLoader());
        }
    }

    @Test
    void everyClassOfTheRuntimeThatCNamesIsKept() throws Exception {
        String rules = resource("META-INF/proguard/kolibri.pro");
        Set<String> named = all("\"io/kolibri/(\\w+)\"", sources());
        assertTrue(named.size() > 5, named.toString());
        for (String name : named) {
            assertTrue(rules.contains("class io.kolibri." + name + " {")
                    || rules.contains("class io.kolibri." + name + "\n"), name);
        }
    }
}
