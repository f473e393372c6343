/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package bench;

import io.kolibri.Scope;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.State;

/** Java to native; bench/jni/rows says which row each of these is. */
@State(org.openjdk.jmh.annotations.Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ToNative {
    static {
        System.load(System.getProperty("bench.library"));
    }

    private final Cell cell = new Cell();
    private final Cell other = new Cell();
    private final Cell scoped = inScope();
    private final Guarded guarded = new Guarded();
    private final Guarded otherGuarded = new Guarded();
    private final Raw raw = new Raw();
    private final Raw otherRaw = new Raw();
    private int number = 5;

    private static Cell inScope() {
        try (Scope.Entered entered = new Scope("bench").enter()) {
            return entered == null ? null : new Cell();
        }
    }

    @Benchmark
    public int floor() {
        return number;
    }

    @Benchmark
    public int rawStatic() {
        return Raw.get(raw.pointer);
    }

    @Benchmark
    public int rawStaticTwo() {
        return Raw.sum(raw.pointer, otherRaw.pointer);
    }

    @Benchmark
    public int rawInts() {
        return Raw.add(number, 2);
    }

    @Benchmark
    public int rawField() {
        return raw.fieldGet();
    }

    @Benchmark
    public int rawFieldTwo() {
        return raw.fieldSum(otherRaw);
    }

    @Benchmark
    public int standInBase() {
        return raw.baseGet();
    }

    @Benchmark
    public int standInBaseTwo() {
        return raw.baseSum(otherRaw);
    }

    @Benchmark
    public int standInClassic() {
        return raw.classicGet();
    }

    @Benchmark
    public int standInClassicTwo() {
        return raw.classicSum(otherRaw);
    }

    @Benchmark
    public int jna() {
        return Jna.cell_get(raw.pointer);
    }

    @Benchmark
    public int jnaTwo() {
        return Jna.cell_sum(raw.pointer, otherRaw.pointer);
    }

    @Benchmark
    public int jnaInts() {
        return Jna.cell_add(number, 2);
    }

    @Benchmark
    public int plain() {
        return cell.get();
    }

    @Benchmark
    public int plainTwo() {
        return cell.sum(other);
    }

    @Benchmark
    public int plainInts() {
        return Cell.add(number, 2);
    }

    @Benchmark
    public int scoped() {
        return scoped.get();
    }

    @Benchmark
    public int leaf() {
        return cell.leaf();
    }

    @Benchmark
    public int leafTwo() {
        return cell.leafSum(other);
    }

    @Benchmark
    public int guarded() {
        return guarded.get();
    }

    @Benchmark
    public int guardedTwo() {
        return guarded.sum(otherGuarded);
    }

    @Benchmark
    public int guardedLeaf() {
        return guarded.leaf();
    }

    @Benchmark
    public int published() {
        return cell.field();
    }

    @Benchmark
    @OperationsPerInvocation(64)
    public int commands() {
        return cell.set(64);
    }
}
