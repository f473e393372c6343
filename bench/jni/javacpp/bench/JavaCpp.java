/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package bench;

import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.annotation.Name;
import org.bytedeco.javacpp.annotation.Opaque;
import org.bytedeco.javacpp.annotation.Platform;

/** JavaCPP as its users write it: a Pointer subclass and static functions on it. */
@Platform(include = "peer.h")
public final class JavaCpp {
    /** A struct that Java knows only by its pointer. */
    @Opaque
    @Name("peer")
    public static final class Peer extends Pointer {
        public Peer(Pointer pointer) {
            super(pointer);
        }
    }

    static {
        System.load(System.getProperty("bench.javacpp"));
    }

    private JavaCpp() {}

    @Name("peer_new")
    static native Peer create();

    @Name("peer_get")
    static native int get(Peer self);

    @Name("peer_sum")
    static native int sum(Peer self, Peer other);

    @Name("peer_add")
    static native int add(int a, int b);
}
