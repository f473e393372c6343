/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.rewriter;

import java.util.List;
import java.util.Set;

/**
 * What the rewriter asks of a class it does not rewrite.
 *
 * @param name internal name
 * @param superName internal name, null for Object
 * @param interfaces internal names
 * @param kind what its NativeClass annotation says, null without one
 * @param methods name and descriptor of the methods that are not private
 */
public record ClassInfo(
        String name, String superName, List<String> interfaces, Kind kind, Set<String> methods) {}
