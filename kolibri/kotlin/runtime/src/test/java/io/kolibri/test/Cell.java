/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

/** A native object of any kind and form, for tests that are the same for all. */
public interface Cell extends AutoCloseable {
    /** Works on the cell for so many microseconds; returns its value. */
    int slow(int micros);

    /** Works on two cells; returns the sum of their values. */
    int both(Cell other, int micros);

    boolean isClosed();

    @Override
    void close();
}
