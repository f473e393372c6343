/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package bench;

import io.kolibri.CommandBuffer;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Java to native; bench/jni/rows says which row each of these is. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ToNative {
    static {
        System.load(System.getProperty("bench.library"));
    }

    private static final MethodHandle DOWNCALL = Ffm.cellGet();

    private final Cell cell = new Cell();
    private final Cell other = new Cell();
    private final Guarded guarded = new Guarded();
    private final Raw raw = new Raw();
    private final Raw otherRaw = new Raw();
    private final CommandBuffer commands = new CommandBuffer(128);

    @Benchmark
    public int rawStatic() {
        return Raw.get(raw.pointer);
    }

    @Benchmark
    public int rawStaticTwo() {
        return Raw.sum(raw.pointer, otherRaw.pointer);
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
    public int standInClassic() {
        return raw.classicGet();
    }

    @Benchmark
    public int jna() {
        return Jna.cell_get(raw.pointer);
    }

    /** Fails before Java 22, and is absent from the rows then. */
    @Benchmark
    public int downcall() throws Throwable {
        return (int) DOWNCALL.invokeExact(raw.pointer);
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
    public int published() {
        return cell.field();
    }

    @Benchmark
    @OperationsPerInvocation(64)
    public void commands() {
        commands.clear();
        for (int i = 0; i < 64; i++) {
            commands.add(0, i);
        }
        cell.run(commands.bytes(), commands.slots());
    }
}
