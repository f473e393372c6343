/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.rewriter;

/**
 * Something that cannot be rewritten, and what to do instead.
 *
 * @param file the source file with the folders of its package, null where the class file has none
 * @param line of the method's code, 0 where it has none, as a native method
 * @param className internal name
 * @param method JVM name, null when the class itself is meant
 * @param descriptor of the method
 * @param text a sentence without the place
 */
public record Problem(String file, int line, String className, String method, String descriptor,
        String text) {
    /** The place as people write it, then the text. */
    @Override
    public String toString() {
        String source = file == null ? "" : file + (line > 0 ? ":" + line : "") + ": ";
        return source + place() + ": " + text;
    }

    private String place() {
        String dotted = className.replace('/', '.');
        if (method == null) {
            return dotted;
        }
        StringBuilder parameters = new StringBuilder();
        for (var type : org.objectweb.asm.Type.getArgumentTypes(descriptor)) {
            String name = type.getClassName();
            parameters.append(parameters.length() == 0 ? "" : ", ");
            parameters.append(name.substring(name.lastIndexOf('.') + 1));
        }
        return dotted + "." + method + "(" + parameters + ")";
    }
}
