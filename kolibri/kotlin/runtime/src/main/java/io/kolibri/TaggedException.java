/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

/**
 * A message that cannot be written or read: the status is one of C's, from status.h, and the path
 * tells which value was in the way, for example {@code $.users[3].name}.
 */
public class TaggedException extends KolibriException {
    /** Called in a way that the contract forbids. */
    public static final int EMISUSE = -5;
    /** A value of a class that messages have no kind for. */
    public static final int ETYPE = -8;
    /** A number, a date or a size that is out of range. */
    public static final int ERANGE = -9;
    /** The connection was closed. */
    public static final int EENDED = -12;
    /** The message is damaged or of another version. */
    public static final int EFORMAT = -14;
    /** More than 512 containers in each other. */
    public static final int EDEPTH = -15;
    /** The value contains itself. */
    public static final int ECYCLE = -16;

    private static final long serialVersionUID = 1;
    private final String path;

    TaggedException(int status, String what) {
        this(status, what, null);
    }

    TaggedException(int status, String what, String path) {
        super(path == null ? what : what + " at " + path, status);
        this.path = path;
    }

    /** Where the value is, from the root {@code $}; null when it is not about one value. */
    public String path() {
        return path;
    }
}
