/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Native objects seen from C: pointers and leases, closing, giving, owners, runnables.
 *
 * All decisions about lives are the runtime's (io.kolibri.Peer); this room only asks it. The
 * classes beyond the first two are resolved when they are first wanted.
 */
#include "kolibri/src/state.h"

#include <stdlib.h>

KOL_HANDLE(kol__Owner, "io/kolibri/Owner", java_lang_Object)
KOL_HANDLE(kol__Runnable, "io/kolibri/NativeRunnable", kol__NativeObject)
#define KOL__OWNER(X, C) X(C, F0, throws, jint, drain, "drain")
#define KOL__RUNNABLE(X, C) X(C, N2, throws, make, "<init>", jlong, jlong)
KOL_MEMBERS(kol__Owner, KOL__OWNER)
KOL_MEMBERS(kol__Runnable, KOL__RUNNABLE)
KOL_MEMBERS_DEFINE(kol__Owner, KOL__OWNER)
KOL_MEMBERS_DEFINE(kol__Runnable, KOL__RUNNABLE)

static pthread_mutex_t objects_lock = PTHREAD_MUTEX_INITIALIZER;

static kol_status objects_ready(JNIEnv *env)
{
    static const struct kol_members *const tables[] = {&KOL__OWNER__members,
                                                       &KOL__RUNNABLE__members};
    kol_status status = kol__runtime_ready(env);
    pthread_mutex_lock(&objects_lock);
    if (status == KOL_OK && !kol__s_kol__Runnable_make.cls) {
        status = kol_class_load(env, tables, 2, NULL, 0);
    }
    pthread_mutex_unlock(&objects_lock);
    return status;
}

void kol_lease_open(kol_lease *lease)
{
    lease->hold.count = 0;
}

void kol_lease_close(JNIEnv *env, kol_lease *lease)
{
    kol__hold_end(env, &lease->hold);
}

kol_status kol_object_pointer(JNIEnv *env, jobject object, kol_lease *lease, void **out)
{
    int ok = 0;
    *out = NULL;
    if (lease->hold.count == (int)(sizeof lease->hold.held / sizeof lease->hold.held[0])) {
        return KOL_ERANGE;
    }
    kol_status status = kol__runtime_ready(env);
    if (status == KOL_OK) {
        *out = (void *)(intptr_t)kol__pointer(env, object, 0, &ok, &lease->hold);
        status = ok ? KOL_OK : KOL_EJAVA;
    }
    return status;
}

kol_status kol_object_close(JNIEnv *env, jobject object)
{
    kol_status status = kol__runtime_ready(env);
    return status == KOL_OK ? kol__NativeObject_close(env, kol__NativeObject__raw(object)) : status;
}

kol_status kol_give_begin(JNIEnv *env, void *pointer)
{
    kol_status status = kol__runtime_ready(env);
    return status == KOL_OK ? kol__Native_expect(env, (jlong)(intptr_t)pointer) : status;
}

int kol_give_end(JNIEnv *env)
{
    jboolean was_taken = JNI_FALSE;
    jthrowable pending = kol_take(env);
    if (kol__runtime_ready(env) == KOL_OK && kol__Native_expected(env, &was_taken) != KOL_OK) {
        /* Not even the question could be asked: a leak is the lesser harm. */
        (*env)->ExceptionClear(env);
        was_taken = JNI_TRUE;
    }
    if (pending) {
        (*env)->Throw(env, pending);
        (*env)->DeleteLocalRef(env, pending);
    }
    return was_taken != 0;
}

kol_status kol_owner_drain(JNIEnv *env, jobject owner, jint *count_out)
{
    kol_status status = objects_ready(env);
    *count_out = 0;
    return status == KOL_OK ? kol__Owner_drain(env, kol__Owner__raw(owner), count_out) : status;
}

/* What a NativeRunnable points to. */
struct runnable {
    void (*run)(JNIEnv *env, void *user);
    void (*done)(void *user);
    void *user;
};

static void runnable_run(void *self)
{
    struct runnable *runnable = self;
    JNIEnv *env = kol_env();
    if (env) {
        runnable->run(env, runnable->user);
    }
}

static void runnable_done(void *self)
{
    struct runnable *runnable = self;
    if (runnable->done) {
        runnable->done(runnable->user);
    }
    free(runnable);
}

/* The destroyer's address rides in the class's type, which the runtime binds once. */
static kol_status bind_runnable(JNIEnv *env)
{
    void (*destroy)(void *) = runnable_done;
    kol__Class cls = kol__Class__raw(kol__s_kol__Runnable_make.cls);
    return kol__Native_bind(env, cls, (jlong)(intptr_t)destroy, 0);
}

kol_status kol_runnable_new(JNIEnv *env, void (*run)(JNIEnv *env, void *user),
                            void (*done)(void *user), void *user, jobject *out)
{
    void (*runner)(void *) = runnable_run;
    kol__Runnable made = kol__Runnable__null();
    *out = NULL;
    kol_status status = objects_ready(env);
    if (status == KOL_OK) {
        status = bind_runnable(env);
    }
    if (status != KOL_OK) {
        return status;
    }
    struct runnable *runnable = malloc(sizeof *runnable);
    if (!runnable) {
        return KOL_ENOMEM;
    }
    runnable->run = run;
    runnable->done = NULL; /* until it is certain that Java has taken it */
    runnable->user = user;
    status = kol_give_begin(env, runnable);
    if (status == KOL_OK) {
        status = kol__Runnable_make(env, (jlong)(intptr_t)runnable, (jlong)(intptr_t)runner, &made);
    }
    int was_taken = kol_give_end(env);
    if (status == KOL_OK) {
        runnable->done = done;
    } else if (!was_taken) {
        free(runnable);
    }
    *out = made.raw;
    return status;
}
