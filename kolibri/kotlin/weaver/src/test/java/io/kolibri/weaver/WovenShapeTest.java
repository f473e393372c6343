/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.weaver;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kolibri.rewriter.Target;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.util.CheckClassAdapter;
import org.objectweb.asm.util.Textifier;
import org.objectweb.asm.util.TraceMethodVisitor;

/** What woven class files look like. */
class WovenShapeTest {
    @TempDir Path folder;
    private Lab lab;

    @BeforeEach
    void compile() throws Exception {
        lab = new Lab(folder).compileResources("Counter", "Guarded");
    }

    private byte[] file(String name) throws Exception {
        return Files.readAllBytes(folder.resolve("test/" + name + ".class"));
    }

    private ClassNode read(String name) throws Exception {
        ClassNode cls = new ClassNode();
        new ClassReader(file(name)).accept(cls, ClassReader.SKIP_DEBUG);
        return cls;
    }

    private static MethodNode method(ClassNode cls, String name, String descriptor) {
        return cls.methods.stream()
                .filter(each -> each.name.equals(name) && each.desc.equals(descriptor))
                .findFirst().orElseThrow(() -> new AssertionError(name + descriptor));
    }

    private static List<String> code(MethodNode method) {
        Textifier text = new Textifier();
        method.accept(new TraceMethodVisitor(text));
        StringWriter out = new StringWriter();
        text.print(new PrintWriter(out, true));
        return out.toString().lines().map(String::strip)
                .filter(each -> each.matches("[A-Z]+\\d?( .*)?") && !each.startsWith("MAX"))
                .map(each -> each.replace("io/kolibri/NativeObject", "NativeObject")
                        .replace("java/lang/ref/Reference", "Reference"))
                .toList();
    }

    @Test
    void aSharedBridgeIsAStraightLine() throws Exception {
        assertEquals(List.of(), lab.weave(Target.JVM));
        ClassNode cls = read("Counter");
        assertEquals(List.of(
                "ALOAD 0",
                "INVOKESTATIC NativeObject.ptr (LNativeObject;)J",
                "ALOAD 1",
                "INVOKESTATIC NativeObject.ptr (LNativeObject;)J",
                "INVOKESTATIC test/Counter.addFrom (JJ)I",
                "ALOAD 0",
                "INVOKESTATIC Reference.reachabilityFence (Ljava/lang/Object;)V",
                "ALOAD 1",
                "INVOKESTATIC Reference.reachabilityFence (Ljava/lang/Object;)V",
                "IRETURN"), code(method(cls, "addFrom", "(Ltest/Counter;)I")));
        assertTrue(method(cls, "addFrom", "(Ltest/Counter;)I").tryCatchBlocks.isEmpty());
    }

    @Test
    void aGuardedBridgeHasOneHandler() throws Exception {
        assertEquals(List.of(), lab.weave(Target.JVM));
        ClassNode cls = read("Guarded");
        assertEquals(1, method(cls, "add", "(I)I").tryCatchBlocks.size());
        String three = "(Ltest/Guarded;Ltest/Guarded;Ltest/Counter;)I";
        assertEquals(1, method(cls, "three", three).tryCatchBlocks.size());
        assertEquals(9, code(method(cls, "three", three)).stream()
                .filter(each -> each.contains(".leave ") || each.contains(".enter")).count());
    }

    @Test
    void aLeafIsAnInvokedynamicOnTheJvmOnly() throws Exception {
        assertEquals(List.of(), lab.weave(Target.JVM));
        assertTrue(code(method(read("Counter"), "get", "()I")).stream()
                .anyMatch(each -> each.startsWith("INVOKEDYNAMIC get(J)I")));
    }

    @Test
    void androidHasNoInvokedynamicAndMarksTheBareStub() throws Exception {
        assertEquals(List.of(), lab.weave(Target.ANDROID));
        ClassNode cls = read("Counter");
        List<String> code = code(method(cls, "get", "()I"));
        assertFalse(code.toString().contains("INVOKEDYNAMIC"), code::toString);
        assertFalse(code.toString().contains("reachabilityFence"), code::toString);
        assertTrue(code.contains("INVOKESTATIC test/Counter.get$critical (J)I"), code::toString);
        assertEquals("Ldalvik/annotation/optimization/CriticalNative;",
                method(cls, "get$critical", "(J)I").invisibleAnnotations.get(0).desc);
        method(cls, "get", "(J)I");
    }

    @Test
    void everyClassVerifies() throws Exception {
        for (Target each : Target.values()) {
            Lab fresh = new Lab(Files.createDirectory(folder.resolve(each.name())))
                    .compileResources("Counter", "Guarded");
            assertEquals(List.of(), fresh.weave(each));
            for (String name : List.of("Counter", "Guarded")) {
                byte[] file = Files.readAllBytes(fresh.folder.resolve("test/" + name + ".class"));
                StringWriter out = new StringWriter();
                CheckClassAdapter.verify(new ClassReader(file), fresh.loader(), false,
                        new PrintWriter(out));
                assertEquals("", out.toString());
                Class.forName("test." + name, true, fresh.loader());
            }
        }
    }

    @Test
    void weavingTwiceChangesNothing() throws Exception {
        assertEquals(List.of(), lab.weave(Target.JVM));
        byte[] once = file("Counter");
        assertEquals(List.of(), lab.weave(Target.JVM));
        assertArrayEquals(once, file("Counter"));
    }

    /** javac gives the bridge of a covariant or generic override the annotations of it. */
    @Test
    void theBridgesOfOverridesAreLeftAlone() throws Exception {
        lab.compile(Map.of("test.Square", "package test; import io.kolibri.*;"
                + " abstract class Shape<T> extends NativeObject { Shape() { super(1); }"
                + " abstract Object same(T x, Shape<T> y); } class Square extends Shape<String> {"
                + " @NativeMethod native String same(String x, @AsNativePointer Shape<String> y);"
                + " }"));
        assertEquals(List.of(), lab.weave(Target.JVM));
        ClassNode cls = read("Square");
        method(cls, "same", "(JLjava/lang/String;J)Ljava/lang/String;");
        assertTrue(code(method(cls, "same", "(Ljava/lang/Object;Ltest/Shape;)Ljava/lang/Object;"))
                .stream().anyMatch(each -> each.startsWith("INVOKEVIRTUAL test/Square.same")));
    }

    @Test
    void aJarIsWovenInPlaceAndKeepsItsOtherFiles() throws Exception {
        Path jar = folder.resolve("some.jar");
        try (var out = new java.util.zip.ZipOutputStream(Files.newOutputStream(jar))) {
            for (String each : List.of("Counter", "Guarded")) {
                out.putNextEntry(new java.util.zip.ZipEntry("test/" + each + ".class"));
                out.write(file(each));
            }
            out.putNextEntry(new java.util.zip.ZipEntry("notes.txt"));
            out.write("kept".getBytes());
        }
        String[] args = {"weave", "--class-path", Lab.runtime().toString(), jar.toString()};
        assertEquals(0, Main.run(args, System.out, System.err));
        lab.weave(Target.JVM);
        try (ZipFile in = new ZipFile(jar.toFile())) {
            assertEquals("kept", new String(
                    in.getInputStream(in.getEntry("notes.txt")).readAllBytes()));
            assertArrayEquals(file("Counter"),
                    in.getInputStream(in.getEntry("test/Counter.class")).readAllBytes());
        }
    }
}
