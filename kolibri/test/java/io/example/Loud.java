/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.example;

/** A class whose initialiser is seen, and calls a native. */
public final class Loud {
    static final int ANSWER;

    static {
        Scenes.loudInitialised = true;
        ANSWER = answer();
    }

    private Loud() {}

    private static native int answer();
}
