/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package bench;

import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** A peer: java.lang.foreign as it is, without checks and fences; Java 22 and later. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Downcalls {
    static {
        System.load(System.getProperty("bench.library"));
    }

    private static final MethodHandle GET = Ffm.downcall(1);
    private static final MethodHandle SUM = Ffm.downcall(2);
    private static final MethodHandle ADD = Ffm.downcall(0);

    private final Raw raw = new Raw();
    private final Raw otherRaw = new Raw();
    private int number = 5;

    @Benchmark
    public int downcall() throws Throwable {
        return (int) GET.invokeExact(raw.pointer);
    }

    @Benchmark
    public int downcallTwo() throws Throwable {
        return (int) SUM.invokeExact(raw.pointer, otherRaw.pointer);
    }

    @Benchmark
    public int downcallInts() throws Throwable {
        return (int) ADD.invokeExact(number, 2);
    }
}
