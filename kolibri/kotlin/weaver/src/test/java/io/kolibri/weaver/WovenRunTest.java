/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.weaver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.kolibri.rewriter.Target;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** Woven Java classes against the native library; the same scenarios unwoven, for comparison. */
class WovenRunTest {
    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    Path folder;

    private Lab lab;

    @BeforeEach
    void compile() throws Exception {
        lab = new Lab(folder).compileResources("Counter", "Guarded", "Counts", "Scenario");
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

    @Test
    void objectsLiveUntilTheirCallReturns() throws Exception {
        Lab.call(woven(), "unreachable", 40);
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
