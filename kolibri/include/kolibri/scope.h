/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Scopes of C objects: many things that end together, each exactly once.
 *
 * What is bound to a scope has a callback. Ending the scope runs the callbacks, newest first, on
 * the thread that ends it, with no lock held: a callback may bind elsewhere, unbind, destroy other
 * objects, end the same scope again (which does nothing), or call Java. Once a scope has begun to
 * end, binding to it fails.
 *
 * A scope is counted: whoever holds it keeps its identity, so a scope of the past is never taken
 * for a new one at the same address. The binding belongs to whoever bound: kol_scope_unbind is
 * called exactly once for each, also after its callback has run, and waits for a callback that is
 * running on another thread. So after unbinding the object can go.
 *
 * No VM is needed here. Objects of Java have scopes of their own: io.kolibri.Scope.
 *
 * Any thread, unless said otherwise.
 */
#ifndef KOLIBRI_SCOPE_H
#define KOLIBRI_SCOPE_H

#include <kolibri/status.h>

struct kol_scope;
struct kol_binding;

typedef void (*kol_scope_callback)(void *object);

KOL__C_BEGIN

/*
 * Makes a scope. `name` is for reports; it is copied, at most 47 bytes, and may be NULL. With a
 * `parent`, which may be NULL, the new scope ends when the parent ends, in its turn among what is
 * bound there. Yours; give it back with kol_scope_drop. KOL_OK, KOL_ENOMEM, KOL_EENDED when the
 * parent has ended.
 */
kol_status kol_scope_new(const char *name, struct kol_scope *parent,
                         struct kol_scope **out) KOL__MUST;

/* Keeps a scope for another holder; returns it. */
struct kol_scope *kol_scope_keep(struct kol_scope *scope);

/* Gives a hold back. The last one ends the scope first. NULL is fine. */
void kol_scope_drop(struct kol_scope *scope);

/*
 * Binds an object: `callback(object)` runs when the scope ends. `out` receives the binding, yours
 * until kol_scope_unbind; with NULL the scope alone knows it, and the callback will run. KOL_OK;
 * KOL_EENDED when the scope has ended or begun to; KOL_ENOMEM. After an error the callback will not
 * run.
 */
kol_status kol_scope_bind(struct kol_scope *scope, kol_scope_callback callback, void *object,
                          struct kol_binding **out) KOL__MUST;

/*
 * Ends a binding. KOL_OK: the callback has not run and never will. KOL_GONE: it has run; if it was
 * running on another thread, this waited for it. From inside that very callback it does not wait.
 * NULL gives KOL_GONE.
 */
kol_status kol_scope_unbind(struct kol_binding *binding);

/* Ends the scope: runs every callback. Ending twice does nothing the second time. */
void kol_scope_end(struct kol_scope *scope);

/* True once the scope has begun to end. */
int kol_scope_has_ended(struct kol_scope *scope);

/* How many objects are bound. */
size_t kol_scope_count(struct kol_scope *scope);

/*
 * The scope that this thread works in, NULL if none. Borrowed until it is left. kol_scope_enter
 * keeps the scope and returns the one before it, which goes into kol_scope_leave, on the same
 * thread.
 */
struct kol_scope *kol_scope_current(void);
struct kol_scope *kol_scope_enter(struct kol_scope *scope);
void kol_scope_leave(struct kol_scope *before);

/*
 * Calls `each` with the name and the number of bound objects of every scope that has not ended:
 * the leak report. Runs under a lock: `each` must not use scopes.
 */
void kol_scope_report(void (*each)(const char *name, size_t count, void *user), void *user);

KOL__C_END

#endif
