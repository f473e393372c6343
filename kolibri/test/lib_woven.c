/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The native side of the tests of weaver and compiler plugin: classes of native objects
 * whose functions give back what arrived, so that a test sees each argument in its place.
 *
 * Each test loads its own copy of this library into its own class loader, with the classes it is
 * about. A class that is not there is left out; one that is there must have all rows.
 */
#define _POSIX_C_SOURCE 200809L
#include <kolibri/kolibri.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ALIVE = 0x51EE7, DEAD = 0xDEAD };

/* A counter; destroyed ones are poisoned and kept, so that a call on one is seen. */
struct counter {
    atomic_int mark;
    jint value;
};

static atomic_int touched_dead;
static atomic_int destroyed;
static atomic_int waiting;

KOL_NATIVE(Counter, "test/Counter", struct counter)
KOL_NATIVE(Guarded, "test/Guarded", struct counter)

static struct counter *counter_new(jint value)
{
    struct counter *made = calloc(1, sizeof *made);
    if (made) {
        made->mark = ALIVE;
        made->value = value;
    }
    return made;
}

static jint counter_read(struct counter *self)
{
    if (self->mark != ALIVE) {
        touched_dead++;
    }
    return self->value;
}

static void counter_free(struct counter *self)
{
    self->mark = DEAD;
    destroyed++;
}

static void sleep_millis(jint millis)
{
    struct timespec time = {millis / 1000, millis % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

/* Waits for Counts.letGo; half a minute at most, so that no test hangs. */
static void wait_to_be_let_go(void)
{
    waiting++;
    for (int i = 0; i < 30000 && waiting > 0; i++) {
        sleep_millis(1);
    }
}

/* Waits for a while, below 0 until it is let go, looking at it before and after. */
static jint counter_wait(struct counter *self, jint millis)
{
    jint value = counter_read(self);
    if (millis < 0) {
        wait_to_be_let_go();
    } else {
        sleep_millis(millis);
    }
    return value + counter_read(self) - self->value;
}

#define COUNTER_NATIVES(X, C)                                                                      \
    X(C, N1, create, "create", jint)                                                               \
    X(C, M1, jint, add, "add", jint)                                                               \
    X(C, M1, jint, addFrom, "addFrom", Counter)                                                    \
    X(C, M1, jint, addMaybe, "addMaybe", Counter__or_null)                                         \
    X(C, M8, jdouble, wide, "wide", jbyte, jlong, jchar, jdouble, jshort, jfloat, jboolean,        \
      Counter)                                                                                     \
    X(C, M1, java_lang_Object, same, "same", java_lang_Object)                                     \
    X(C, M1, jint, slow, "slow", jint)                                                             \
    X(C, M0, void, fail, "fail")                                                                   \
    X(C, M1, jint, mix, "mix", Guarded)                                                            \
    X(C, L0, jint, get, "get")                                                                     \
    X(C, L2, jlong, sum, "sum", Counter, jlong)                                                    \
    X(C, L8, jdouble, leafWide, "leafWide", jbyte, jlong, jchar, jdouble, jshort, jfloat,          \
      jboolean, Counter__or_null)                                                                  \
    X(C, D, destroy)
KOL_NATIVES(Counter, COUNTER_NATIVES)

static struct counter *Counter_create(JNIEnv *env, jint value)
{
    (void)env;
    return counter_new(value);
}

static jint Counter_add(JNIEnv *env, struct counter *self, jint by)
{
    (void)env;
    return counter_read(self) + by;
}

static jint Counter_addFrom(JNIEnv *env, struct counter *self, struct counter *other)
{
    (void)env;
    return counter_read(self) + counter_read(other);
}

static jint Counter_addMaybe(JNIEnv *env, struct counter *self, struct counter *other)
{
    (void)env;
    return counter_read(self) + (other ? counter_read(other) : 0);
}

static jdouble weigh(jbyte a, jlong b, jchar c, jdouble d, jshort e, jfloat f, jboolean g)
{
    return (jdouble)a + 2.0 * (jdouble)b + 3.0 * (jdouble)c + 4.0 * d + 5.0 * (jdouble)e +
           6.0 * (jdouble)f + (g ? 7.0 : 0.0);
}

static jdouble Counter_wide(JNIEnv *env, struct counter *self, jbyte a, jlong b, jchar c, jdouble d,
                            jshort e, jfloat f, jboolean g, struct counter *h)
{
    (void)env;
    return weigh(a, b, c, d, e, f, g) + 8.0 * counter_read(h) + 9.0 * counter_read(self);
}

static java_lang_Object Counter_same(JNIEnv *env, struct counter *self, java_lang_Object x)
{
    (void)env;
    counter_read(self);
    return x;
}

static jint Counter_slow(JNIEnv *env, struct counter *self, jint millis)
{
    (void)env;
    return counter_wait(self, millis);
}

static void Counter_fail(JNIEnv *env, struct counter *self)
{
    counter_read(self);
    kol_throw_new(env, "java/lang/UnsupportedOperationException", "as asked");
}

static jint Counter_mix(JNIEnv *env, struct counter *self, struct counter *other)
{
    (void)env;
    return counter_read(self) * counter_read(other);
}

static jint Counter_get(struct counter *self)
{
    return counter_read(self);
}

static jlong Counter_sum(struct counter *self, struct counter *other, jlong more)
{
    return counter_read(self) + counter_read(other) + more;
}

static jdouble Counter_leafWide(struct counter *self, jbyte a, jlong b, jchar c, jdouble d,
                                jshort e, jfloat f, jboolean g, struct counter *h)
{
    return weigh(a, b, c, d, e, f, g) + (h ? 8.0 * counter_read(h) : 0.0) +
           9.0 * counter_read(self);
}

static void Counter_destroy(struct counter *self)
{
    counter_free(self);
}

#define GUARDED_NATIVES(X, C)                                                                      \
    X(C, N1, create, "create", jint)                                                               \
    X(C, M1, jint, add, "add", jint)                                                               \
    X(C, M3, jint, three, "three", Guarded, Guarded__or_null, Counter)                             \
    X(C, M1, jint, slow, "slow", jint)                                                             \
    X(C, M0, void, fail, "fail")                                                                   \
    X(C, L1, jint, peek, "peek", Guarded)                                                          \
    X(C, D, destroy)
KOL_NATIVES(Guarded, GUARDED_NATIVES)

static struct counter *Guarded_create(JNIEnv *env, jint value)
{
    (void)env;
    return counter_new(value);
}

static jint Guarded_add(JNIEnv *env, struct counter *self, jint by)
{
    (void)env;
    return counter_read(self) + by;
}

static jint Guarded_three(JNIEnv *env, struct counter *self, struct counter *a, struct counter *b,
                          struct counter *c)
{
    (void)env;
    return counter_read(self) + 10 * counter_read(a) + (b ? 100 * counter_read(b) : 0) +
           1000 * counter_read(c);
}

static jint Guarded_slow(JNIEnv *env, struct counter *self, jint millis)
{
    (void)env;
    return counter_wait(self, millis);
}

static void Guarded_fail(JNIEnv *env, struct counter *self)
{
    counter_read(self);
    kol_throw_new(env, "java/lang/UnsupportedOperationException", "as asked");
}

static jint Guarded_peek(struct counter *self, struct counter *other)
{
    return counter_read(self) + counter_read(other);
}

static void Guarded_destroy(struct counter *self)
{
    counter_free(self);
}

/* One row for each construct of docs/plugin.md that works. */
KOL_HANDLE(java_lang_String, "java/lang/String", java_lang_Object)
KOL_HANDLE(java_lang_Integer, "java/lang/Integer", java_lang_Object)
KOL_HANDLE(java_lang_Void, "java/lang/Void", java_lang_Object)
KOL_NATIVE(Anything, "io/kolibri/NativeObject", struct counter)
KOL_NATIVE(Constructs, "test/Constructs", struct counter)
#define CONSTRUCTS_NATIVES(X, C)                                                                   \
    X(C, N1, create, "create", jint)                                                               \
    X(C, M1, jint, overInt, "over", jint)                                                          \
    X(C, M1, jint, overText, "over", java_lang_String)                                             \
    X(C, M1, jint, defaulted, "defaulted", jint)                                                   \
    X(C, M1, jint, many, "many", java_lang_String__array)                                          \
    X(C, M1, java_lang_Object, generic, "generic", java_lang_Object)                               \
    X(C, M1, jint, handle, "handle", Anything)                                                     \
    X(C, M0, jint, getSize, "getSize")                                                             \
    X(C, M1, void, setSize, "setSize", jint)                                                       \
    X(C, M1, jint, named, "named", jint)                                                           \
    X(C, M1, jint, plus, "plus", jint)                                                             \
    X(C, M1, jint, first, "first", jint__array)                                                    \
    X(C, M1, java_lang_Integer, boxed, "boxed", java_lang_Integer)                                 \
    X(C, M1, jint, nullable, "nullable", Constructs__or_null)                                      \
    X(C, M0, jint, locked, "locked")                                                               \
    X(C, M0, java_lang_Void, never, "never")                                                       \
    X(C, D, destroy)
KOL_NATIVES(Constructs, CONSTRUCTS_NATIVES)

static struct counter *Constructs_create(JNIEnv *env, jint value)
{
    (void)env;
    return counter_new(value);
}

static jint Constructs_overInt(JNIEnv *env, struct counter *self, jint x)
{
    (void)env;
    return counter_read(self) + x;
}

static jint Constructs_overText(JNIEnv *env, struct counter *self, java_lang_String x)
{
    return counter_read(self) + (*env)->GetStringLength(env, x.raw);
}

static jint Constructs_defaulted(JNIEnv *env, struct counter *self, jint x)
{
    (void)env;
    return counter_read(self) + x;
}

static jint Constructs_many(JNIEnv *env, struct counter *self, java_lang_String__array x)
{
    return counter_read(self) + java_lang_String__array__count(env, x);
}

static java_lang_Object Constructs_generic(JNIEnv *env, struct counter *self, java_lang_Object x)
{
    (void)env;
    counter_read(self);
    return x;
}

static jint Constructs_handle(JNIEnv *env, struct counter *self, struct counter *x)
{
    (void)env;
    return counter_read(self) * counter_read(x);
}

static jint Constructs_getSize(JNIEnv *env, struct counter *self)
{
    (void)env;
    return counter_read(self);
}

static void Constructs_setSize(JNIEnv *env, struct counter *self, jint x)
{
    (void)env;
    counter_read(self);
    self->value = x;
}

static jint Constructs_named(JNIEnv *env, struct counter *self, jint x)
{
    (void)env;
    return counter_read(self) - x;
}

static jint Constructs_plus(JNIEnv *env, struct counter *self, jint x)
{
    (void)env;
    return counter_read(self) + x;
}

static jint Constructs_first(JNIEnv *env, struct counter *self, jint__array x)
{
    jint value = 0;
    if (jint__array__read(env, x, 0, 1, &value) != KOL_OK) {
        return 0;
    }
    return counter_read(self) + value;
}

static java_lang_Integer Constructs_boxed(JNIEnv *env, struct counter *self, java_lang_Integer x)
{
    (void)env;
    counter_read(self);
    return x;
}

static jint Constructs_nullable(JNIEnv *env, struct counter *self, struct counter *x)
{
    (void)env;
    return x ? counter_read(x) : -counter_read(self);
}

static jint Constructs_locked(JNIEnv *env, struct counter *self)
{
    (void)env;
    return counter_read(self);
}

static java_lang_Void Constructs_never(JNIEnv *env, struct counter *self)
{
    counter_read(self);
    kol_throw_new(env, "java/lang/UnsupportedOperationException", "never");
    return java_lang_Void__raw(NULL);
}

static void Constructs_destroy(struct counter *self)
{
    counter_free(self);
}

KOL_NATIVE(Owned, "test/Owned", struct counter)
#define OWNED_NATIVES(X, C)                                                                        \
    X(C, N1, create, "create", jint)                                                               \
    X(C, M1, jint, add, "add", jint)                                                               \
    X(C, M1, jint, join, "join", Owned__or_null)                                                   \
    X(C, M1, jint, any, "any", Anything)                                                           \
    X(C, L0, jint, get, "get")                                                                     \
    X(C, D, destroy)
KOL_NATIVES(Owned, OWNED_NATIVES)

static struct counter *Owned_create(JNIEnv *env, jint value)
{
    (void)env;
    return counter_new(value);
}

static jint Owned_add(JNIEnv *env, struct counter *self, jint by)
{
    (void)env;
    return counter_read(self) + by;
}

static jint Owned_join(JNIEnv *env, struct counter *self, struct counter *other)
{
    (void)env;
    return counter_read(self) + (other ? counter_read(other) : 0);
}

static jint Owned_any(JNIEnv *env, struct counter *self, struct counter *other)
{
    (void)env;
    return counter_read(self) * counter_read(other);
}

static jint Owned_get(struct counter *self)
{
    return counter_read(self);
}

static void Owned_destroy(struct counter *self)
{
    counter_free(self);
}

/* What happened to the objects of this copy of the library. */
KOL_NATIVE(Counts, "test/Counts", struct counter)
#define COUNTS_NATIVES(X, C)                                                                       \
    X(C, S0, jint, touchedDead, "touchedDead")                                                     \
    X(C, S0, jint, destroyed, "destroyed")                                                         \
    X(C, S0, jint, waiting, "waiting")                                                             \
    X(C, S0, void, letGo, "letGo")                                                                 \
    X(C, S0, java_lang_String, rows, "rows")
KOL_NATIVES(Counts, COUNTS_NATIVES)

static jint Counts_touchedDead(JNIEnv *env)
{
    (void)env;
    return touched_dead;
}

static jint Counts_destroyed(JNIEnv *env)
{
    (void)env;
    return destroyed;
}

static jint Counts_waiting(JNIEnv *env)
{
    (void)env;
    return waiting;
}

static void Counts_letGo(JNIEnv *env)
{
    (void)env;
    waiting = 0;
}

/* The rows of the two classes as kol_natives_write writes them. */
static java_lang_String Counts_rows(JNIEnv *env)
{
    char text[4096];
    size_t used = kol_natives_write(&Counter__natives, text, sizeof text);
    used += kol_natives_write(&Guarded__natives, text + used, sizeof text - used);
    return java_lang_String__raw(used < sizeof text ? (*env)->NewStringUTF(env, text) : NULL);
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved);

/* Registers the classes that the loader has; a test brings those it is about. */
JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    static const struct kol_natives *const all[] = {&Counter__natives, &Guarded__natives,
                                                    &Constructs__natives, &Owned__natives};
    JNIEnv *env;
    char report[2048] = "";
    (void)reserved;
    kol_status status = kol_load(vm, "test/Counts", &env);
    if (status == KOL_OK) {
        status = kol_natives_register(env, &Counts__natives, report, sizeof report);
    }
    for (size_t i = 0; i < sizeof all / sizeof all[0] && status == KOL_OK; i++) {
        status = kol_natives_register(env, all[i], report, sizeof report);
        if (status == KOL_EJAVA) {
            (*env)->ExceptionClear(env);
            status = KOL_OK;
        }
    }
    return kol_load_result(env, status, report);
}
