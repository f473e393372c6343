/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The kind of a direct subclass of {@link NativeObject}; it holds for all classes below. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface NativeClass {
    NativeKind value() default NativeKind.SHARED;

    /**
     * For {@link NativeKind#OWNER}: whether objects that outlive their owner may be destroyed on
     * any thread. Otherwise they are leaked, and counted.
     */
    boolean freeAnywhere() default false;
}
