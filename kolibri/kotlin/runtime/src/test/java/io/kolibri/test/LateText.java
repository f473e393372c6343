/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import java.util.function.Supplier;

/** A text that is asked for when it is written: code of the caller inside a writer. */
final class LateText implements CharSequence {
    private final Supplier<String> text;

    LateText(Supplier<String> text) {
        this.text = text;
    }

    @Override
    public int length() {
        return 0;
    }

    @Override
    public char charAt(int index) {
        return 0;
    }

    @Override
    public CharSequence subSequence(int from, int to) {
        return this;
    }

    @Override
    public String toString() {
        return text.get();
    }
}
