/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.weaver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.kolibri.rewriter.Target;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Woven Java classes against the native library; the same scenarios unwoven, for comparison. */
class WovenRunTest {
    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    Path folder;

    private Lab lab;

    @BeforeEach
    void compile() throws Exception {
        lab = new Lab(folder).compileResources(
                "Counter", "Guarded", "Owned", "Counts", "Scenario");
    }

    private Class<?> woven() throws Exception {
        assertEquals(List.of(), lab.weave(Target.JVM));
        return lab.load();
    }

    @Test
    void argumentsArriveInTheirPlaces() throws Exception {
        Lab.call(woven(), "calls");
    }

    @Test
    void closedAndNullObjectsThrow() throws Exception {
        Lab.call(woven(), "released");
    }

    @Test
    void guardedObjectsAreLeasedAndGivenBack() throws Exception {
        Lab.call(woven(), "guarded");
    }

    @Test
    void closeDuringACallFreesWhenItLeaves() throws Exception {
        Lab.call(woven(), "closeDuringCall");
    }

    @Test
    void leavesAreBoundAsTheVmAllows() throws Exception {
        Lab.call(woven(), "leaves", Runtime.version().feature() < 22 ? "JNI" : "FFM");
    }

    /** The bare function has no env and class; only ART calls it without. */
    @ParameterizedTest
    @ValueSource(strings = {"calls", "released", "guarded", "owner"})
    void theOutputForAndroidRunsOnAJvmToo(String scenario) throws Exception {
        assertEquals(List.of(), lab.weave(Target.ANDROID));
        Lab.call(lab.load(), scenario);
    }

    @Test
    void objectsOfAnOwnerAreForItsThread() throws Exception {
        Lab.call(woven(), "owner");
    }

    @Test
    void objectsLiveUntilTheirCallReturns() throws Exception {
        assertEquals(0, Lab.call(woven(), "unreachable", 40));
    }

    @Test
    void objectsLiveUntilTheirCallReturnsInTheFirstCompiler() throws Exception {
        assertEquals(List.of(), lab.weave(Target.JVM));
        assertEquals("0 calls saw a dead object",
                lab.fork("-XX:TieredStopAtLevel=1", "60", "1"));
    }

    /** Shows that the test above would see a missing fence. */
    @Test
    void withoutFencesTheyDoNot() throws Exception {
        assertEquals(List.of(), lab.weave(Target.JVM));
        lab.removeFences("test/Counter.class");
        String said = lab.fork("-XX:TieredStopAtLevel=1", "60", "100");
        assertNotEquals("0 calls saw a dead object", said);
    }

    @Test
    void theLibrarysOwnRowsMatchTheClasses() throws Exception {
        Class<?> counts = woven().getClassLoader().loadClass("test.Counts");
        List<String> rows = Lab.call(counts, "rows").toString().lines().toList();
        assertEquals(18, rows.size());
        List<Listing.Line> natives = new Listing(List.of(folder)).lines();
        assertEquals(List.of(), Check.compare(rows, natives));
    }

    @Test
    void unwovenClassesDoTheSame() throws Exception {
        Class<?> plain = lab.load();
        Lab.call(plain, "calls");
        Lab.call(plain, "released");
    }

    @Test
    void unwovenGuardedClassesDoTheSame() throws Exception {
        Lab.call(lab.load(), "guarded");
    }
}
