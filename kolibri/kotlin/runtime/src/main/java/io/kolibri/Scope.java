/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

/**
 * Many native objects that end together. Closing a scope closes what is bound to it, newest first,
 * each exactly once, with no lock held: an end callback may close other objects, or create some
 * elsewhere. Once a scope has begun to close, binding to it fails.
 *
 * <p>A scope does not keep its objects alive, and closing or collecting an object takes it off its
 * scope. A scope inside another one closes with it.
 *
 * <p>While a thread is inside {@link #enter}, the objects it creates are bound to that scope:
 *
 * <pre>{@code
 * try (Scope scope = new Scope("request"); Scope.Entered entered = scope.enter()) {
 *     Parser parser = new Parser();
 *     parser.parse(text);
 * }
 * }</pre>
 *
 * <p>Any thread. What two threads close at the same time is closed by one of them.
 */
public final class Scope implements AutoCloseable {
    private static final ThreadLocal<Scope> CURRENT = new ThreadLocal<>();
    private static volatile boolean anyEntered;

    private final String name;
    private Bound newest;
    private int count;
    private boolean isClosed;
    private Bound inParent;

    /** A scope of its own; the name is for messages. */
    public Scope(String name) {
        this.name = name;
    }

    /** A scope inside another one. */
    public Scope(String name, Scope parent) {
        this(name);
        this.inParent = parent.bind(this::close);
    }

    /** The scope this thread is inside of, or null. */
    public static Scope current() {
        return anyEntered ? CURRENT.get() : null;
    }

    /**
     * Makes this the current scope of the thread until the result is closed, on the same thread.
     * Closing it twice does nothing the second time.
     */
    public Entered enter() {
        anyEntered = true;
        Scope before = CURRENT.get();
        CURRENT.set(this);
        return new Inside(before);
    }

    private static final class Inside implements Entered {
        private final Scope before;
        private boolean isOver;

        Inside(Scope before) {
            this.before = before;
        }

        @Override
        public void close() {
            if (isOver) {
                return;
            }
            isOver = true;
            if (before == null) {
                CURRENT.remove();
            } else {
                CURRENT.set(before);
            }
        }
    }

    /** The time inside a scope. */
    public interface Entered extends AutoCloseable {
        @Override
        void close();
    }

    /** Closes what is bound. Closing twice does nothing the second time. */
    @Override
    public void close() {
        synchronized (this) {
            if (isClosed) {
                return;
            }
            isClosed = true;
        }
        RuntimeException failure = null;
        for (Bound next = take(); next != null; next = take()) {
            try {
                next.end();
            } catch (RuntimeException e) {
                failure = first(failure, e);
            }
        }
        if (inParent != null) {
            inParent.remove();
        }
        if (failure != null) {
            throw failure;
        }
    }

    public synchronized boolean isClosed() {
        return isClosed;
    }

    /** How many objects are bound. */
    public synchronized int count() {
        return count;
    }

    @Override
    public String toString() {
        return "scope " + name;
    }

    /** Binds an action; throws if the scope has begun to close. */
    Bound bind(Runnable action) {
        Bound bound = new Bound(this, action);
        synchronized (this) {
            if (isClosed) {
                throw new IllegalStateException(this + " has ended");
            }
            bound.older = newest;
            if (newest != null) {
                newest.newer = bound;
            }
            newest = bound;
            bound.isListed = true;
            count++;
        }
        return bound;
    }

    private synchronized Bound take() {
        Bound taken = newest;
        if (taken != null) {
            unlink(taken);
        }
        return taken;
    }

    private void unlink(Bound bound) {
        if (bound.newer != null) {
            bound.newer.older = bound.older;
        } else {
            newest = bound.older;
        }
        if (bound.older != null) {
            bound.older.newer = bound.newer;
        }
        bound.isListed = false;
        count--;
    }

    private static RuntimeException first(RuntimeException first, RuntimeException later) {
        if (first == null) {
            return later;
        }
        if (first != later) {
            first.addSuppressed(later);
        }
        return first;
    }

    /** One thing in a scope. */
    static final class Bound {
        private final Scope scope;
        private final Runnable action;
        private Bound older;
        private Bound newer;
        private boolean isListed;

        private Bound(Scope scope, Runnable action) {
            this.scope = scope;
            this.action = action;
        }

        private void end() {
            action.run();
        }

        /** Takes it off its scope, if it is still there. */
        void remove() {
            synchronized (scope) {
                if (isListed) {
                    scope.unlink(this);
                }
            }
        }
    }
}
