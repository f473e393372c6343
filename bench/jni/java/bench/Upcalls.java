/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package bench;

import io.kolibri.Bridge;
import io.kolibri.BridgeBinding;
import io.kolibri.CommandBuffer;
import java.lang.invoke.MethodHandles;
import java.nio.ByteBuffer;

/** Bridges that C calls by upcalls where the VM has them, and through JNI elsewhere. */
public final class Upcalls {
    static final ByteBuffer BYTES;
    private static final CommandBuffer COMMANDS = new CommandBuffer(128);
    static long sum;

    static {
        BYTES = COMMANDS.bytes();
        BridgeBinding.allow(MethodHandles.lookup());
    }

    private Upcalls() {}

    static int bridge(int a, int b) {
        try {
            return a + b;
        } catch (Throwable t) {
            return Bridge.caught(t);
        }
    }

    /** Runs what C has written: 0 adds its argument. */
    static int drain(int slots) {
        try {
            CommandBuffer commands = COMMANDS;
            long total = sum;
            commands.filled(slots);
            while (commands.next()) {
                if (commands.operation() == 0) {
                    total += commands.argument(0);
                }
            }
            sum = total;
            return 0;
        } catch (Throwable t) {
            return Bridge.caught(t);
        }
    }
}
