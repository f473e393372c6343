/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The C side of the tutorial in docs/plugin.md: a tally of numbers, once for a Kotlin class that
 * the compiler plugin rewrites and once for a Java class that the weaver rewrites.
 */
/* region c */
#include <kolibri/kolibri.h>

#include <stdlib.h>

struct tally {
    jint count;
    double sum;
};

KOL_NATIVE(Tally, "io/example/tally/Tally", struct tally)
#define TALLY_NATIVES(X, C)                                                                        \
    X(C, N0, create, "create")                                                                     \
    X(C, M1, void, add, "add", jdouble)                                                            \
    X(C, M1, void, merge, "merge", Tally)                                                          \
    X(C, L0, jint, count, "count")                                                                 \
    X(C, L0, jdouble, mean, "mean")                                                                \
    X(C, D, destroy)
KOL_NATIVES(Tally, TALLY_NATIVES)

static struct tally *Tally_create(JNIEnv *env)
{
    (void)env; /* a null result becomes an OutOfMemoryError */
    return calloc(1, sizeof(struct tally));
}

static void Tally_add(JNIEnv *env, struct tally *self, jdouble x)
{
    if (x != x) {
        kol_throw_new(env, "java/lang/IllegalArgumentException", "not a number");
        return;
    }
    self->count++;
    self->sum += x;
}

static void Tally_merge(JNIEnv *env, struct tally *self, struct tally *other)
{
    (void)env;
    self->count += other->count;
    self->sum += other->sum;
}

static jint Tally_count(struct tally *self)
{
    return self->count;
}

static jdouble Tally_mean(struct tally *self)
{
    return self->count ? self->sum / self->count : 0.0;
}

static void Tally_destroy(struct tally *self)
{
    free(self);
}
/* end region */

KOL_NATIVE(JavaTally, "io/example/tally/JavaTally", struct tally)
#define JAVA_TALLY_NATIVES(X, C)                                                                   \
    X(C, N0, create, "create")                                                                     \
    X(C, M1, void, add, "add", jdouble)                                                            \
    X(C, L0, jdouble, mean, "mean")                                                                \
    X(C, D, destroy)
KOL_NATIVES(JavaTally, JAVA_TALLY_NATIVES)

static struct tally *JavaTally_create(JNIEnv *env)
{
    return Tally_create(env);
}

static void JavaTally_add(JNIEnv *env, struct tally *self, jdouble x)
{
    Tally_add(env, self, x);
}

static jdouble JavaTally_mean(struct tally *self)
{
    return Tally_mean(self);
}

static void JavaTally_destroy(struct tally *self)
{
    free(self);
}

/* region load */
JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved);

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    JNIEnv *env;
    char report[1024] = "";
    (void)reserved;
    kol_status status = kol_load(vm, "io/example/tally/Tally", &env);
    if (status == KOL_OK) {
        status = kol_natives_register(env, &Tally__natives, report, sizeof report);
    }
    if (status == KOL_OK) {
        status = kol_natives_register(env, &JavaTally__natives, report, sizeof report);
    }
    return kol_load_result(env, status, report);
}
/* end region */
