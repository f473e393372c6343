/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A native method whose object's pointer rides in the call: the compiler plugin and the weaver turn
 * it into a bridge and a static native. Without either it is a plain native method and works too.
 */
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.METHOD)
public @interface NativeMethod {
    /**
     * A short function that takes only primitives and pointers and needs no env: at most a
     * microsecond, no lock that can block, no call back into Java. On JDK 22 and later, and on
     * Android, it is called without leaving Java's thread state, several times faster.
     */
    boolean leaf() default false;
}
