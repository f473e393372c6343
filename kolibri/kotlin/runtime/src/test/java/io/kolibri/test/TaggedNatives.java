/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import io.kolibri.Bridge;
import io.kolibri.Handles;
import java.nio.ByteBuffer;

/** The C half of a connection of tests: what it reads it can write again, in notation or as is. */
final class TaggedNatives {
    static {
        System.load(System.getProperty("native.build") + "/jvm-test/libtagged.so");
    }

    /** What {@link #take} does with a message that C pushes. */
    interface Receiver {
        void take(long where, ByteBuffer big);
    }

    private TaggedNatives() {}

    /** Opens C's side; the result is what the other natives want first. */
    static native long open(ByteBuffer block, int chunkSize, int nativeCount);

    static native void close(long self);

    /** How many writers of C's are open, and how many one-offs it took. */
    static native long leases(long self);

    static native long oneOffs(long self);

    /** Reads a message and answers with the same value. */
    static native long echo(long self, long where, ByteBuffer big, long room);

    /** The message in the notation. */
    static native String print(long self, long where, ByteBuffer big);

    /** Answers with the value of a notation. */
    static native long parse(long self, String notation, long room);

    /** Writes the value of a notation and passes it to {@link #take}. */
    static native void push(long self, String notation, int handle);

    /** The bridge that C calls. */
    // region take
    static int take(int handle, long where, ByteBuffer big) {
        try {
            ((Receiver) Handles.get(handle)).take(where, big);
            return 0;
        } catch (Throwable t) {
            return Bridge.caught(t);
        }
    }
    // end region
}
