/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package bench;

import io.kolibri.HandleTable;
import io.kolibri.Handles;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Ints for objects that C holds, where JNI has global references. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class HandleCost {
    private final HandleTable table = new HandleTable();
    private final Object object = new Object();
    private final int inTable = table.add(object);
    private final int inHandles = Handles.add(object);

    @Benchmark
    public boolean tableCreateDelete() {
        return table.remove(table.add(object));
    }

    @Benchmark
    public Object tableGet() {
        return table.get(inTable);
    }

    @Benchmark
    public boolean handlesCreateDelete() {
        return Handles.remove(Handles.add(object));
    }

    @Benchmark
    public Object handlesGet() {
        return Handles.get(inHandles);
    }
}
