/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** A parameter of a {@link NativeMethod} that crosses as the pointer of its native object. */
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.PARAMETER)
public @interface AsNativePointer {
    /** Whether null may be passed; it arrives as a null pointer. */
    boolean nullable() default false;
}
