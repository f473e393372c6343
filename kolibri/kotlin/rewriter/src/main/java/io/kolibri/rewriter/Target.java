/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.rewriter;

/** Where the class files will run. */
public enum Target {
    /** A JVM of 17 or later: leaf calls are bound by invokedynamic. */
    JVM,
    /** ART from API 24: leaf calls go to a stub marked CriticalNative, no invokedynamic. */
    ANDROID
}
