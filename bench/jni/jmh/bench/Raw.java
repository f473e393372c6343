/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package bench;

/** Raw JNI: the pointer as an argument, in a field, and the stand-in for fbjni's hybrids. */
public final class Raw {
    static final class Holder {
        final long pointer;

        Holder(long pointer) {
            this.pointer = pointer;
        }
    }

    final long pointer = Cell.create();
    final Holder holder = new Holder(pointer);

    static native int get(long self);

    static native int sum(long self, long other);

    static native int add(int a, int b);

    /** Where the plain C function of so many pointers is. */
    static native long address(int pointers);

    native int fieldGet();

    native int fieldSum(Raw other);

    native int baseGet();

    native int baseSum(Raw other);

    native int classicGet();

    native int classicSum(Raw other);
}
