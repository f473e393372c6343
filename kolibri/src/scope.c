/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Scopes: a list of bindings, newest last, under the scope's own lock.
 *
 *     scope --- newest --> binding <--> binding <--> binding          each: BOUND
 *                             |
 *                  taken off the list by the one thread that ends the scope: RUNNING, then DONE
 *
 * A binding has two holders, its scope and the user who got it, and goes with the last. Its state
 * changes under the scope's lock only. Every binding holds its scope, so that a waiting unbind has
 * a lock to wait on. The thread that ends a scope owns the list from then on: nobody can bind, and
 * those who unbind take theirs off before it is reached, or wait.
 */
#include "kolibri/src/counters.h"

#include <kolibri/scope.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SCOPE_NAME_SIZE = 48 };
enum binding_state { BOUND, RUNNING, DONE };

struct kol_binding {
    struct kol_scope *scope;
    kol_scope_callback callback;
    void *object;
    struct kol_binding *older;
    struct kol_binding *newer;
    enum binding_state state;
    int holders;
};

struct kol_scope {
    pthread_mutex_t lock;
    pthread_cond_t callback_done;
    pthread_t ender; /* valid while a callback is RUNNING */
    struct kol_binding *newest;
    struct kol_binding *in_parent;
    size_t count;
    size_t holders; /* users, bindings and a running end; memory goes with the last */
    size_t users;   /* the scope ends with the last */
    int has_ended;
    char name[SCOPE_NAME_SIZE];
    struct kol_scope *previous; /* the list of scopes that have not ended */
    struct kol_scope *next;
};

static pthread_mutex_t scopes_lock = PTHREAD_MUTEX_INITIALIZER;
static struct kol_scope *scopes;
static __thread struct kol_scope *entered;

static void list_scope(struct kol_scope *scope)
{
    pthread_mutex_lock(&scopes_lock);
    scope->next = scopes;
    if (scopes) {
        scopes->previous = scope;
    }
    scopes = scope;
    pthread_mutex_unlock(&scopes_lock);
    KOL__TALLY_UP(scopes_open);
}

static void unlist_scope(struct kol_scope *scope)
{
    pthread_mutex_lock(&scopes_lock);
    if (scope->previous) {
        scope->previous->next = scope->next;
    } else {
        scopes = scope->next;
    }
    if (scope->next) {
        scope->next->previous = scope->previous;
    }
    pthread_mutex_unlock(&scopes_lock);
    KOL__TALLY_DOWN(scopes_open);
}

/* Gives one hold back without ending the scope. */
static void scope_let_go(struct kol_scope *scope)
{
    pthread_mutex_lock(&scope->lock);
    size_t holders = --scope->holders;
    pthread_mutex_unlock(&scope->lock);
    if (holders == 0) {
        pthread_cond_destroy(&scope->callback_done);
        pthread_mutex_destroy(&scope->lock);
        free(scope);
    }
}

static void end_child(void *object)
{
    kol_scope_end(object);
}

kol_status kol_scope_new(const char *name, struct kol_scope *parent, struct kol_scope **out)
{
    struct kol_scope *scope = calloc(1, sizeof *scope);
    *out = NULL;
    if (!scope) {
        return KOL_ENOMEM;
    }
    if (pthread_mutex_init(&scope->lock, NULL) != 0) {
        free(scope);
        return KOL_ENOMEM;
    }
    if (pthread_cond_init(&scope->callback_done, NULL) != 0) {
        pthread_mutex_destroy(&scope->lock);
        free(scope);
        return KOL_ENOMEM;
    }
    scope->holders = 1;
    scope->users = 1;
    if (name) {
        size_t size = strlen(name);
        memcpy(scope->name, name, size < SCOPE_NAME_SIZE ? size : SCOPE_NAME_SIZE - 1);
    }
    list_scope(scope);
    if (parent) {
        kol_status status = kol_scope_bind(parent, end_child, scope, &scope->in_parent);
        if (status != KOL_OK) {
            kol_scope_drop(scope);
            return status;
        }
    }
    *out = scope;
    return KOL_OK;
}

struct kol_scope *kol_scope_keep(struct kol_scope *scope)
{
    pthread_mutex_lock(&scope->lock);
    scope->holders++;
    scope->users++;
    pthread_mutex_unlock(&scope->lock);
    return scope;
}

void kol_scope_drop(struct kol_scope *scope)
{
    if (!scope) {
        return;
    }
    pthread_mutex_lock(&scope->lock);
    size_t users = --scope->users;
    pthread_mutex_unlock(&scope->lock);
    if (users == 0) {
        kol_scope_end(scope);
    }
    scope_let_go(scope);
}

/* Under the scope's lock. */
static void take_off(struct kol_scope *scope, struct kol_binding *binding)
{
    if (binding->newer) {
        binding->newer->older = binding->older;
    } else {
        scope->newest = binding->older;
    }
    if (binding->older) {
        binding->older->newer = binding->newer;
    }
    scope->count--;
}

/* Gives one hold of a binding back, and with the last one its hold of the scope. */
static void binding_let_go(struct kol_binding *binding)
{
    struct kol_scope *scope = binding->scope;
    pthread_mutex_lock(&scope->lock);
    int holders = --binding->holders;
    pthread_mutex_unlock(&scope->lock);
    if (holders == 0) {
        free(binding);
        scope_let_go(scope);
    }
}

kol_status kol_scope_bind(struct kol_scope *scope, kol_scope_callback callback, void *object,
                          struct kol_binding **out)
{
    struct kol_binding *binding = calloc(1, sizeof *binding);
    if (out) {
        *out = NULL;
    }
    if (!binding) {
        return KOL_ENOMEM;
    }
    binding->scope = scope;
    binding->callback = callback;
    binding->object = object;
    binding->holders = out ? 2 : 1;
    pthread_mutex_lock(&scope->lock);
    int has_ended = scope->has_ended;
    if (!has_ended) {
        binding->older = scope->newest;
        if (scope->newest) {
            scope->newest->newer = binding;
        }
        scope->newest = binding;
        scope->count++;
        scope->holders++;
        if (out) {
            *out = binding;
        }
    }
    pthread_mutex_unlock(&scope->lock);
    if (has_ended) {
        free(binding);
    }
    return has_ended ? KOL_EENDED : KOL_OK;
}

kol_status kol_scope_unbind(struct kol_binding *binding)
{
    if (!binding) {
        return KOL_GONE;
    }
    struct kol_scope *scope = binding->scope;
    pthread_mutex_lock(&scope->lock);
    int was_bound = binding->state == BOUND;
    if (was_bound) {
        take_off(scope, binding);
        binding->state = DONE;
    }
    while (binding->state == RUNNING && !pthread_equal(scope->ender, pthread_self())) {
        pthread_cond_wait(&scope->callback_done, &scope->lock);
    }
    pthread_mutex_unlock(&scope->lock);
    if (was_bound) {
        binding_let_go(binding);
    }
    binding_let_go(binding);
    return was_bound ? KOL_OK : KOL_GONE;
}

/* The next callback to run, marked as running; NULL when there is none. */
static struct kol_binding *next_to_run(struct kol_scope *scope)
{
    pthread_mutex_lock(&scope->lock);
    struct kol_binding *binding = scope->newest;
    if (binding) {
        take_off(scope, binding);
        binding->state = RUNNING;
    }
    pthread_mutex_unlock(&scope->lock);
    return binding;
}

static void has_run(struct kol_scope *scope, struct kol_binding *binding)
{
    pthread_mutex_lock(&scope->lock);
    binding->state = DONE;
    pthread_cond_broadcast(&scope->callback_done);
    pthread_mutex_unlock(&scope->lock);
    binding_let_go(binding);
}

void kol_scope_end(struct kol_scope *scope)
{
    pthread_mutex_lock(&scope->lock);
    int had_ended = scope->has_ended;
    scope->has_ended = 1;
    if (!had_ended) {
        scope->ender = pthread_self();
        scope->holders++;
    }
    pthread_mutex_unlock(&scope->lock);
    if (had_ended) {
        return;
    }
    unlist_scope(scope);
    for (struct kol_binding *at = next_to_run(scope); at; at = next_to_run(scope)) {
        at->callback(at->object);
        has_run(scope, at);
    }
    kol_scope_unbind(scope->in_parent);
    scope_let_go(scope);
}

int kol_scope_has_ended(struct kol_scope *scope)
{
    pthread_mutex_lock(&scope->lock);
    int has_ended = scope->has_ended;
    pthread_mutex_unlock(&scope->lock);
    return has_ended;
}

size_t kol_scope_count(struct kol_scope *scope)
{
    pthread_mutex_lock(&scope->lock);
    size_t count = scope->count;
    pthread_mutex_unlock(&scope->lock);
    return count;
}

struct kol_scope *kol_scope_current(void)
{
    return entered;
}

struct kol_scope *kol_scope_enter(struct kol_scope *scope)
{
    struct kol_scope *before = entered;
    entered = kol_scope_keep(scope);
    return before;
}

void kol_scope_leave(struct kol_scope *before)
{
    struct kol_scope *left = entered;
    entered = before;
    kol_scope_drop(left);
}

void kol_scope_report(void (*each)(const char *name, size_t count, void *user), void *user)
{
    pthread_mutex_lock(&scopes_lock);
    for (struct kol_scope *scope = scopes; scope; scope = scope->next) {
        each(scope->name, kol_scope_count(scope), user);
    }
    pthread_mutex_unlock(&scopes_lock);
}
