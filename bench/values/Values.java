/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package bench;

import io.kolibri.Bridge;
import io.kolibri.SharedBuffers;
import java.nio.ByteBuffer;

/** What receives values in the benchmark, and the program that starts it. */
public final class Values {
    private static final SharedBuffers BUFFERS = new SharedBuffers();
    static Object last;

    private Values() {}

    /** A value that C built by JNI. */
    static int takeObject(Object value) {
        last = value;
        return 0;
    }

    /** A value that C sent as a message. */
    static int takeMessage(long where, ByteBuffer big) {
        try {
            last = BUFFERS.read(where, big);
            return 0;
        } catch (Throwable t) {
            return Bridge.caught(t);
        }
    }

    /** What came last, so that the lanes can be compared. */
    static boolean isEqualTo(Object other) {
        return last.equals(other);
    }

    static native void run(String bench, int rounds, int calls, ByteBuffer block, int chunkSize,
            int nativeCount);

    public static void main(String[] args) {
        System.load(args[0]);
        run(args[1], Integer.parseInt(args[2]), Integer.parseInt(args[3]), BUFFERS.block(),
                BUFFERS.chunkSize(), BUFFERS.nativeCount());
    }
}
