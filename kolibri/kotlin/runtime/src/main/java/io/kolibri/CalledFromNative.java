/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** A class, member or constructor that only C calls; the shipped shrinker rules keep it. */
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.TYPE, ElementType.METHOD, ElementType.CONSTRUCTOR, ElementType.FIELD})
public @interface CalledFromNative {}
