/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/*
 * * A class that Android never loads, so that it may use what Android lacks; the build checks
 * others.
 */
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.TYPE)
@interface JvmOnly {}
