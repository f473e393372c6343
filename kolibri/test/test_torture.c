/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Native objects of all kinds under races of calls, closes, scope ends and collections. The
 * objects' memory is really freed, so that the address sanitizer sees what is used after its time;
 * without it each object carries a mark that its destroyer wipes.
 *
 * Once compiled quickly only and once by all compilers: what the optimiser thinks is dead differs.
 */
#undef KOL_CHECK
#define KOL_CHECK 2
#include "testing/jvm.h"

#include <kolibri/kolibri.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { ALIVE = 0x51EE7 };

struct toy {
    atomic_int mark;
    jint value;
};

static atomic_int created;
static atomic_int destroyed;
static atomic_int ended;
static atomic_int touched_dead;

#define TOY_NATIVES(X, C)                                                                          \
    X(C, N1, create, "create", jint)                                                               \
    X(C, M1, jint, use, "use", C)                                                                  \
    X(C, E, end)                                                                                   \
    X(C, D, destroy)

static struct toy *toy_new(jint value)
{
    struct toy *made = malloc(sizeof *made);
    if (made) {
        made->mark = ALIVE;
        made->value = value;
        created++;
    }
    return made;
}

static void touch(struct toy *toy)
{
    touched_dead += toy->mark != ALIVE;
}

/* A negative value makes the call take a while. */
static jint toy_use(struct toy *self, struct toy *other)
{
    touch(self);
    touch(other);
    for (clock_t start = clock(); self->value < 0 && clock() - start < CLOCKS_PER_SEC / 500;) {
    }
    touch(self);
    touch(other);
    return self->value + other->value;
}

static void toy_end(struct toy *self)
{
    touch(self);
    ended++;
}

static void toy_destroy(struct toy *self)
{
    touch(self);
    self->mark = 0;
    destroyed++;
    free(self);
}

#define TOY(T, NAME)                                                                               \
    KOL_NATIVE(T, NAME, struct toy)                                                                \
    KOL_NATIVES(T, TOY_NATIVES)                                                                    \
    static struct toy *T##_create(JNIEnv *env, jint value)                                         \
    {                                                                                              \
        (void)env;                                                                                 \
        return toy_new(value);                                                                     \
    }                                                                                              \
    static jint T##_use(JNIEnv *env, struct toy *self, struct toy *other)                          \
    {                                                                                              \
        (void)env;                                                                                 \
        return toy_use(self, other);                                                               \
    }                                                                                              \
    static void T##_end(struct toy *self)                                                          \
    {                                                                                              \
        toy_end(self);                                                                             \
    }                                                                                              \
    static void T##_destroy(struct toy *self)                                                      \
    {                                                                                              \
        toy_destroy(self);                                                                         \
    }

TOY(SharedToy, "io/example/Torture$SharedToy")
TOY(GuardedToy, "io/example/Torture$GuardedToy")
TOY(PlainToy, "io/example/Torture$PlainToy")
TOY(OwnedToy, "io/example/Torture$OwnedToy")

KOL_HANDLE(Torture, "io/example/Torture", java_lang_Object)
#define TORTURE(X, C)                                                                              \
    X(C, SF2, throws, jint, race, "race", jint, jint)                                              \
    X(C, SF1, throws, jint, lastUses, "lastUses", jint)                                            \
    X(C, SP0, throws, settle, "settle")
KOL_MEMBERS(Torture, TORTURE)
KOL_MEMBERS_DEFINE(Torture, TORTURE)

static void load(JNIEnv *env)
{
    static const struct kol_natives *const natives[] = {&SharedToy__natives, &GuardedToy__natives,
                                                        &PlainToy__natives, &OwnedToy__natives};
    static const struct kol_members *const tables[] = {&TORTURE__members};
    for (int i = 0; i < 4; i++) {
        REQUIRE_INT(kol_natives_register(env, natives[i], NULL, 0), KOL_OK);
    }
    REQUIRE_INT(kol_class_load(env, tables, 1, NULL, 0), KOL_OK);
}

static void check_end(JNIEnv *env)
{
    for (int i = 0; i < 2000 && created != destroyed; i++) {
        REQUIRE_INT(Torture_settle(env), KOL_OK);
    }
    CHECK_INT(created, destroyed);
    CHECK_INT(ended, destroyed);
    CHECK_INT(touched_dead, 0);
}

static void race(JNIEnv *env)
{
    load(env);
    for (jint kind = 0; kind < 4; kind++) {
        jint unexpected = -1;
        REQUIRE_INT(Torture_race(env, kind, 800, &unexpected), KOL_OK);
        CHECK_INT(unexpected, 0);
    }
    check_end(env);
}

static void last_uses(JNIEnv *env)
{
    jint sum = -1;
    load(env);
    REQUIRE_INT(Torture_lastUses(env, 60, &sum), KOL_OK);
    CHECK_INT(sum, 0);
    check_end(env);
}

#define CHECKED "-Xcheck:jni "
JVM_TEST_WITH(races_compiled_quickly, CHECKED "-XX:TieredStopAtLevel=1")
{
    race(env);
}

JVM_TEST_WITH(races_compiled_by_all, CHECKED "-XX:TieredStopAtLevel=4")
{
    race(env);
}

JVM_TEST_WITH(last_uses_compiled_at_once, CHECKED "-XX:TieredStopAtLevel=1 -Xcomp")
{
    last_uses(env);
}

JVM_TEST_WITH(last_uses_compiled_by_all, CHECKED "-XX:TieredStopAtLevel=4")
{
    last_uses(env);
}
