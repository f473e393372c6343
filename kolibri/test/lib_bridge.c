/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The native side of the JUnit tests of static bridges: natives that call bridges of the same
 * class, on Java's threads and on threads of C, and throw what the bridges kept.
 */
#define _POSIX_C_SOURCE 200809L
#include <kolibri/kolibri.h>

#include <pthread.h>

struct nothing {
    char unused;
};

#define BRIDGES(X, C)                                                                              \
    X(C, B0, none, "none")                                                                         \
    X(C, B2, add, "add", jint, jint)                                                               \
    X(C, B8, all, "all", jboolean, jbyte, jchar, jshort, jint, jlong, jfloat, jdouble)             \
    X(C, B1, fail, "fail", jint)                                                                   \
    X(C, B1, nest, "nest", jint)
#define NATIVES(X, C)                                                                              \
    X(C, S0, jboolean, isUpcall, "isUpcall")                                                       \
    X(C, S0, jint, callNone, "callNone")                                                           \
    X(C, S2, jint, callAdd, "callAdd", jint, jint)                                                 \
    X(C, S0, jint, callAll, "callAll")                                                             \
    X(C, S1, jint, callFail, "callFail", jint)                                                     \
    X(C, S1, jint, callNest, "callNest", jint)                                                     \
    X(C, S1, jint, callOnThread, "callOnThread", jint)

KOL_HANDLE(Bridges, "io/kolibri/test/Bridges", java_lang_Object)
KOL_HANDLE(PlainBridges, "io/kolibri/test/PlainBridges", java_lang_Object)
KOL_MEMBERS(Bridges, BRIDGES)
KOL_MEMBERS_DEFINE(Bridges, BRIDGES)
#define PLAIN_BRIDGES(X, C) BRIDGES(X, C)
KOL_MEMBERS(PlainBridges, PLAIN_BRIDGES)
KOL_MEMBERS_DEFINE(PlainBridges, PLAIN_BRIDGES)
KOL_NATIVE(Caller, "io/kolibri/test/Bridges", struct nothing)
KOL_NATIVE(PlainCaller, "io/kolibri/test/PlainBridges", struct nothing)

/* Throws what a bridge kept. */
static jint done(JNIEnv *env, jint result)
{
    if (result < 0) {
        (void)kol_bridge_throw(env);
    }
    return result;
}

/* Adds one at a time, on a thread that Java has not seen; below 0 if it could not. */
struct task {
    jint (*add)(JNIEnv *env, jint a, jint b);
    jint rounds;
    jint sum;
};

static void *work(void *user)
{
    struct task *task = user;
    JNIEnv *env = kol_env_attached();
    for (jint i = 0; i < task->rounds && task->sum >= 0; i++) {
        task->sum = env ? task->add(env, task->sum, 1) : -1;
    }
    return NULL;
}

static jint run_on_thread(jint rounds, jint (*add)(JNIEnv *env, jint a, jint b))
{
    struct task task = {add, rounds, 0};
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, &task) != 0) {
        return -1;
    }
    pthread_join(thread, NULL);
    return task.sum;
}

/* The natives of one class, T, over the bridges of the same class, C. */
#define CALLS(T, C)                                                                                \
    KOL_NATIVES(T, NATIVES)                                                                        \
    static jboolean T##_isUpcall(JNIEnv *env)                                                      \
    {                                                                                              \
        (void)env;                                                                                 \
        return C##_add__mode() == KOL_BRIDGE_FFM && C##_all__mode() == KOL_BRIDGE_FFM;             \
    }                                                                                              \
    static jint T##_callNone(JNIEnv *env)                                                          \
    {                                                                                              \
        return done(env, C##_none(env));                                                           \
    }                                                                                              \
    static jint T##_callAdd(JNIEnv *env, jint a, jint b)                                           \
    {                                                                                              \
        return done(env, C##_add(env, a, b));                                                      \
    }                                                                                              \
    static jint T##_callAll(JNIEnv *env)                                                           \
    {                                                                                              \
        return done(env, C##_all(env, JNI_TRUE, -2, 0xFFF0, -4, -5, INT64_C(1) << 40, .5F, .25));  \
    }                                                                                              \
    static jint T##_callFail(JNIEnv *env, jint how)                                                \
    {                                                                                              \
        return done(env, C##_fail(env, how));                                                      \
    }                                                                                              \
    static jint T##_callNest(JNIEnv *env, jint depth)                                              \
    {                                                                                              \
        return done(env, C##_nest(env, depth));                                                    \
    }                                                                                              \
    static jint T##_callOnThread(JNIEnv *env, jint rounds)                                         \
    {                                                                                              \
        (void)env;                                                                                 \
        return run_on_thread(rounds, C##_add);                                                     \
    }
CALLS(Caller, Bridges)
CALLS(PlainCaller, PlainBridges)

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved);
JNIEXPORT void JNICALL JNI_OnUnload(JavaVM *vm, void *reserved);

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    static const struct kol_members *const tables[] = {&BRIDGES__members, &PLAIN_BRIDGES__members};
    JNIEnv *env;
    char report[1024] = "";
    (void)reserved;
    kol_status status = kol_load(vm, "io/kolibri/test/Bridges", &env);
    if (status == KOL_OK) {
        status = kol_natives_register(env, &Caller__natives, report, sizeof report);
    }
    if (status == KOL_OK) {
        status = kol_natives_register(env, &PlainCaller__natives, report, sizeof report);
    }
    if (status == KOL_OK) {
        status = kol_class_load(env, tables, 2, report, sizeof report);
    }
    return kol_load_result(env, status, report);
}

JNIEXPORT void JNICALL JNI_OnUnload(JavaVM *vm, void *reserved)
{
    (void)reserved;
    kol_unload(vm);
}
