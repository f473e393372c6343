/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.util.Objects;

/**
 * An error of the other side: data, not thrown yet. Immutable; any thread.
 *
 * <p>Throwables are written as such errors: the name is that of their class, the stack what
 * {@code printStackTrace} shows of their own frames, the cause theirs.
 */
public final class TaggedError {
    private final String name;
    private final String message;
    private final String stack;
    private final Object cause;
    private final Object data;

    /** What {@link #toThrowable} makes. Writing it writes the error that it was made from. */
    public static final class Thrown extends RuntimeException {
        private static final long serialVersionUID = 1;
        private final transient TaggedError error;

        private Thrown(TaggedError error, Throwable cause) {
            super(error.message.isEmpty() ? error.name : error.name + ": " + error.message, cause);
            this.error = error;
        }

        /** The error; null after serialization. */
        public TaggedError error() {
            return error;
        }
    }

    /**
     * An error. The stack may be null; cause and data are values of any kind, {@link
     * Undefined#UNDEFINED} where there is none.
     */
    public TaggedError(String name, String message, String stack, Object cause, Object data) {
        this.name = Objects.requireNonNull(name, "name");
        this.message = Objects.requireNonNull(message, "message");
        this.stack = stack;
        this.cause = cause;
        this.data = data;
    }

    /** The name of its class: {@code TypeError}, {@code java.io.IOException}. */
    public String name() {
        return name;
    }

    /** What it says; empty if it says nothing. */
    public String message() {
        return message;
    }

    /** The stack as the other side tells it, or null. */
    public String stack() {
        return stack;
    }

    /** The value that caused it, most often a TaggedError. */
    public Object cause() {
        return cause;
    }

    /** What else its sender attached. */
    public Object data() {
        return data;
    }

    /** A new exception with this error in it, and with its causes that are errors as causes. */
    public RuntimeException toThrowable() {
        Throwable inner =
                cause instanceof TaggedError ? ((TaggedError) cause).toThrowable() : null;
        return new Thrown(this, inner);
    }

    /** What a throwable is written as. */
    static TaggedError of(Throwable throwable) {
        if (throwable instanceof Thrown && ((Thrown) throwable).error != null) {
            return ((Thrown) throwable).error;
        }
        String message = throwable.getMessage();
        StringBuilder stack = new StringBuilder(throwable.toString());
        for (StackTraceElement frame : throwable.getStackTrace()) {
            stack.append("\n\tat ").append(frame);
        }
        Throwable cause = throwable.getCause();
        return new TaggedError(
                throwable.getClass().getName(),
                message != null ? message : "",
                stack.toString(),
                cause != null ? cause : Undefined.UNDEFINED,
                Undefined.UNDEFINED);
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof TaggedError)) {
            return false;
        }
        TaggedError that = (TaggedError) other;
        return name.equals(that.name)
                && message.equals(that.message)
                && Objects.equals(stack, that.stack)
                && Objects.equals(cause, that.cause)
                && Objects.equals(data, that.data);
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, message, stack, cause, data);
    }

    @Override
    public String toString() {
        return message.isEmpty() ? name : name + ": " + message;
    }
}
