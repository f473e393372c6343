/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.commons.ClassRemapper;
import org.objectweb.asm.commons.Remapper;

/** What the plugin's classes refer to: what lets one jar serve all compilers. */
class PluginClassesTest {
    /** Packages that one of the two forms of the compiler has under another name, or not at all. */
    private static final Pattern FOREIGN = Pattern.compile(
            "(com/intellij|org/objectweb|io/kolibri/rewriter|com/google|javax/inject)/.*");

    @Test
    void noClassRefersToARelocatedPackage() throws Exception {
        List<String> foreign = new ArrayList<>();
        int count = 0;
        try (Stream<Path> files = Files.walk(Kotlinc.plugin())) {
            for (Path each : files.filter(path -> path.toString().endsWith(".class")).toList()) {
                count++;
                for (String name : references(Files.readAllBytes(each))) {
                    if (FOREIGN.matcher(name).matches()) {
                        foreign.add(each.getFileName() + ": " + name);
                    }
                }
            }
        }
        assertTrue(count > 20, "only " + count + " classes");
        assertEquals(List.of(), foreign);
    }

    private static List<String> references(byte[] file) {
        List<String> names = new ArrayList<>();
        Remapper collector = new Remapper(org.objectweb.asm.Opcodes.ASM9) {
            @Override
            public String map(String internalName) {
                names.add(internalName);
                return internalName;
            }
        };
        new ClassReader(file).accept(new ClassRemapper(new ClassWriter(0), collector), 0);
        return names;
    }
}
