/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * scope.h without a VM: order, once each, callbacks that bind, unbind, destroy and end, nesting,
 * and races of ending, binding and unbinding, for the thread sanitizer to judge.
 */
#include "testing/harness.h"

#include <kolibri/scope.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static struct kol_scope *new_scope(struct kol_scope *parent)
{
    struct kol_scope *scope = NULL;
    REQUIRE_INT(kol_scope_new("test", parent, &scope), KOL_OK);
    return scope;
}

static char order[64];

static void append(void *object)
{
    size_t size = strlen(order);
    memcpy(order + size, object, 1);
    order[size + 1] = 0;
}

TEST(callbacks_run_newest_first_and_once)
{
    char names[] = "abc";
    struct kol_scope *scope = new_scope(NULL);
    struct kol_binding *bindings[3];
    for (int i = 0; i < 3; i++) {
        REQUIRE_INT(kol_scope_bind(scope, append, &names[i], &bindings[i]), KOL_OK);
    }
    CHECK_INT(kol_scope_count(scope), 3);
    CHECK_INT(kol_scope_unbind(bindings[1]), KOL_OK);
    CHECK_INT(kol_scope_count(scope), 2);
    kol_scope_end(scope);
    kol_scope_end(scope);
    CHECK_STR(order, "ca");
    CHECK_INT(kol_scope_unbind(bindings[0]), KOL_GONE);
    CHECK_INT(kol_scope_unbind(bindings[2]), KOL_GONE);
    CHECK_INT(kol_scope_unbind(NULL), KOL_GONE);
    CHECK_INT(kol_scope_count(scope), 0);
    kol_scope_drop(scope);
    CHECK_STR(order, "ca");
}

TEST(binding_to_an_ended_scope_fails)
{
    char name[] = "x";
    struct kol_binding *binding = NULL;
    struct kol_scope *scope = new_scope(NULL);
    CHECK(!kol_scope_has_ended(scope));
    kol_scope_end(scope);
    CHECK(kol_scope_has_ended(scope));
    CHECK_INT(kol_scope_bind(scope, append, name, &binding), KOL_EENDED);
    CHECK(binding == NULL);
    struct kol_scope *child = NULL;
    CHECK_INT(kol_scope_new("child", scope, &child), KOL_EENDED);
    CHECK(child == NULL);
    kol_scope_drop(scope);
    CHECK_STR(order, "");
}

TEST(binding_twice_is_two_bindings)
{
    char name[] = "x";
    struct kol_binding *first;
    struct kol_binding *second;
    struct kol_scope *scope = new_scope(NULL);
    REQUIRE_INT(kol_scope_bind(scope, append, name, &first), KOL_OK);
    REQUIRE_INT(kol_scope_bind(scope, append, name, &second), KOL_OK);
    CHECK_INT(kol_scope_unbind(first), KOL_OK);
    kol_scope_drop(scope);
    CHECK_STR(order, "x");
    CHECK_INT(kol_scope_unbind(second), KOL_GONE);
}

TEST(the_last_user_ends_it)
{
    char name[] = "x";
    struct kol_scope *scope = new_scope(NULL);
    REQUIRE_INT(kol_scope_bind(scope, append, name, NULL), KOL_OK);
    kol_scope_keep(scope);
    kol_scope_drop(scope);
    CHECK_STR(order, "");
    kol_scope_drop(scope);
    CHECK_STR(order, "x");
    kol_scope_drop(NULL);
}

TEST(scopes_are_apart)
{
    char names[] = "ab";
    struct kol_scope *a = new_scope(NULL);
    struct kol_scope *b = new_scope(NULL);
    REQUIRE_INT(kol_scope_bind(a, append, &names[0], NULL), KOL_OK);
    REQUIRE_INT(kol_scope_bind(b, append, &names[1], NULL), KOL_OK);
    kol_scope_end(a);
    CHECK_STR(order, "a");
    CHECK(!kol_scope_has_ended(b));
    kol_scope_drop(a);
    kol_scope_drop(b);
    CHECK_STR(order, "ab");
}

/* A node that, when its scope ends, does all that a destructor might. */
struct node {
    struct kol_scope *scope;
    struct kol_binding *binding;
    struct node *sibling;
    kol_status bound_again;
    int ended;
};

static void node_ends(void *object)
{
    struct node *node = object;
    struct kol_binding *again = NULL;
    node->ended++;
    node->bound_again = kol_scope_bind(node->scope, node_ends, node, &again);
    kol_scope_end(node->scope);
    if (node->sibling) {
        node->sibling->bound_again = kol_scope_unbind(node->sibling->binding);
    }
    kol_scope_unbind(node->binding);
}

TEST(a_callback_may_do_anything)
{
    struct kol_scope *scope = new_scope(NULL);
    struct node older = {scope, NULL, NULL, KOL_NONE, 0};
    struct node newer = {scope, NULL, &older, KOL_NONE, 0};
    REQUIRE_INT(kol_scope_bind(scope, node_ends, &older, &older.binding), KOL_OK);
    REQUIRE_INT(kol_scope_bind(scope, node_ends, &newer, &newer.binding), KOL_OK);
    kol_scope_end(scope);
    CHECK_INT(newer.ended, 1);
    CHECK_INT(newer.bound_again, KOL_EENDED);
    CHECK_INT(older.ended, 0);
    CHECK_INT(older.bound_again, KOL_OK);
    kol_scope_drop(scope);
}

TEST(a_child_ends_with_its_parent_and_may_end_before)
{
    char names[] = "pabq";
    struct kol_scope *parent = new_scope(NULL);
    REQUIRE_INT(kol_scope_bind(parent, append, &names[0], NULL), KOL_OK);
    struct kol_scope *first = new_scope(parent);
    struct kol_scope *second = new_scope(parent);
    REQUIRE_INT(kol_scope_bind(first, append, &names[1], NULL), KOL_OK);
    REQUIRE_INT(kol_scope_bind(second, append, &names[2], NULL), KOL_OK);
    REQUIRE_INT(kol_scope_bind(parent, append, &names[3], NULL), KOL_OK);
    kol_scope_drop(first);
    CHECK_STR(order, "a");
    CHECK_INT(kol_scope_count(parent), 3);
    kol_scope_end(parent);
    CHECK_STR(order, "aqbp");
    CHECK(kol_scope_has_ended(second));
    kol_scope_drop(parent);
    kol_scope_drop(second);
}

TEST(the_current_scope_nests)
{
    struct kol_scope *outer = new_scope(NULL);
    struct kol_scope *inner = new_scope(NULL);
    CHECK(kol_scope_current() == NULL);
    struct kol_scope *before = kol_scope_enter(outer);
    struct kol_scope *between = kol_scope_enter(inner);
    CHECK(kol_scope_current() == inner);
    kol_scope_drop(inner);
    CHECK(!kol_scope_has_ended(kol_scope_current()));
    kol_scope_leave(between);
    CHECK(kol_scope_current() == outer);
    kol_scope_leave(before);
    CHECK(kol_scope_current() == NULL);
    kol_scope_drop(outer);
}

static void count_scope(const char *name, size_t count, void *user)
{
    size_t *sum = user;
    CHECK_STR(name, "test");
    *sum += 100 + count;
}

TEST(the_report_names_what_has_not_ended)
{
    char name[] = "x";
    size_t sum = 0;
    struct kol_scope *a = new_scope(NULL);
    struct kol_scope *b = new_scope(NULL);
    REQUIRE_INT(kol_scope_bind(b, append, name, NULL), KOL_OK);
    kol_scope_report(count_scope, &sum);
    CHECK_INT(sum, 201);
    kol_scope_end(b);
    sum = 0;
    kol_scope_report(count_scope, &sum);
    CHECK_INT(sum, 100);
    kol_scope_drop(a);
    kol_scope_drop(b);
}

/* An object of a race: freed by its owner after unbinding; a callback afterwards would be seen. */
struct racer {
    atomic_int ends;
    atomic_int is_gone;
    struct kol_binding *binding;
};

static atomic_int touched_gone;

static void racer_ends(void *object)
{
    struct racer *racer = object;
    touched_gone += racer->is_gone;
    racer->ends++;
}

struct race {
    struct kol_scope *scope;
    atomic_int stop;
    atomic_int wrong;
};

static void *bind_and_destroy(void *user)
{
    struct race *race = user;
    for (int i = 0; i < 3000; i++) {
        struct racer *racer = calloc(1, sizeof *racer);
        kol_status bound = kol_scope_bind(race->scope, racer_ends, racer, &racer->binding);
        if (bound == KOL_OK) {
            kol_status unbound = kol_scope_unbind(racer->binding);
            race->wrong += (unbound == KOL_OK) != (racer->ends == 0);
        } else {
            race->wrong += bound != KOL_EENDED || racer->ends != 0;
        }
        racer->is_gone = 1;
        free(racer);
    }
    return NULL;
}

static void *end_once(void *user)
{
    struct race *race = user;
    kol_scope_end(race->scope);
    return NULL;
}

TEST_LIMIT(ending_races_with_binding_and_unbinding, 60)
{
    for (int round = 0; round < 20; round++) {
        struct race race = {new_scope(NULL), 0, 0};
        pthread_t threads[5];
        for (int t = 0; t < 3; t++) {
            REQUIRE(pthread_create(&threads[t], NULL, bind_and_destroy, &race) == 0);
        }
        for (int t = 3; t < 5; t++) {
            REQUIRE(pthread_create(&threads[t], NULL, end_once, &race) == 0);
        }
        for (int t = 0; t < 5; t++) {
            pthread_join(threads[t], NULL);
        }
        CHECK_INT(race.wrong, 0);
        CHECK(kol_scope_has_ended(race.scope));
        kol_scope_drop(race.scope);
    }
    CHECK_INT(touched_gone, 0);
}

static void *make_children(void *user)
{
    struct race *race = user;
    struct kol_scope *child = NULL;
    for (int i = 0; i < 500; i++) {
        if (kol_scope_new("child", race->scope, &child) == KOL_OK) {
            kol_scope_drop(child);
        }
    }
    return NULL;
}

TEST_LIMIT(children_race_with_their_parents_end, 60)
{
    for (int round = 0; round < 20; round++) {
        struct race race = {new_scope(NULL), 0, 0};
        pthread_t makers[2];
        for (int t = 0; t < 2; t++) {
            REQUIRE(pthread_create(&makers[t], NULL, make_children, &race) == 0);
        }
        kol_scope_end(race.scope);
        for (int t = 0; t < 2; t++) {
            pthread_join(makers[t], NULL);
        }
        CHECK_INT(kol_scope_count(race.scope), 0);
        kol_scope_drop(race.scope);
    }
}
