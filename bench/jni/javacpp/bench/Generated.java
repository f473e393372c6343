/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package bench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** A peer: what JavaCPP generates. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Generated {
    private final JavaCpp.Peer peer = JavaCpp.create();
    private final JavaCpp.Peer other = JavaCpp.create();
    private int number = 5;

    @Benchmark
    public int javacpp() {
        return JavaCpp.get(peer);
    }

    @Benchmark
    public int javacppTwo() {
        return JavaCpp.sum(peer, other);
    }

    @Benchmark
    public int javacppInts() {
        return JavaCpp.add(number, 2);
    }
}
