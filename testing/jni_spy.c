/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The spy's table: one counting wrapper for each line of jni_spy_list.h. The list is read four
 * times: for the numbers of the functions, their names, their wrappers, and to fill the table.
 */
#include "testing/jni_spy.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum function {
#define ENTRY(name) spy_##name,
#define X0(R, name) ENTRY(name)
#define X1(R, name, A) ENTRY(name)
#define X2(R, name, A, B) ENTRY(name)
#define X3(R, name, A, B, C) ENTRY(name)
#define X4(R, name, A, B, C, D) ENTRY(name)
#define X5(R, name, A, B, C, D, E) ENTRY(name)
#define V0(name) ENTRY(name)
#define V1(name, A) ENTRY(name)
#define V2(name, A, B) ENTRY(name)
#define V3(name, A, B, C) ENTRY(name)
#define V4(name, A, B, C, D) ENTRY(name)
#define V5(name, A, B, C, D, E) ENTRY(name)
#include "testing/jni_spy_list.h"
#undef ENTRY
    FUNCTION_COUNT
};

static const char *const names[] = {
#define ENTRY(name) #name,
#include "testing/jni_spy_list.h"
#undef ENTRY
};

/* The real table may be longer than this header's; what follows is copied too. */
enum { SLOTS_BEYOND = 16 };
union table {
    struct JNINativeInterface_ functions;
    void *slots[sizeof(struct JNINativeInterface_) / sizeof(void *) + SLOTS_BEYOND];
};

static union table spying;
static const struct JNINativeInterface_ *real;
static JNIEnv *spied;
static jclass thrown_class;
static int counts[FUNCTION_COUNT];
static int total;
static int throwing;
static int throw_at;
static int has_thrown;
static int forbidden;
static const char *forbidden_name;

/* What the specification allows with an exception pending. */
static int is_allowed_pending(const char *name)
{
    return strncmp(name, "Exception", 9) == 0 || strncmp(name, "Delete", 6) == 0 ||
           strncmp(name, "Release", 7) == 0 || strcmp(name, "MonitorExit") == 0 ||
           strcmp(name, "PushLocalFrame") == 0 || strcmp(name, "PopLocalFrame") == 0;
}

/* Functions that never throw, so the spy does not make them. */
static int is_quiet(const char *name)
{
    static const char *const quiet[] = {
        "GetStringLength", "GetStringUTFLength", "GetArrayLength",
        "IsSameObject",    "GetObjectClass",     "IsInstanceOf",
        "GetSuperclass",   "IsAssignableFrom",   "GetObjectRefType",
        "GetVersion",      "GetJavaVM",          "GetDirectBufferAddress",
        "MonitorExit",     "PopLocalFrame",      "GetDirectBufferCapacity"};
    for (size_t i = 0; i < sizeof quiet / sizeof quiet[0]; i++) {
        if (strcmp(name, quiet[i]) == 0) {
            return 1;
        }
    }
    size_t size = strlen(name);
    return strncmp(name, "Exception", 9) == 0 || strncmp(name, "Delete", 6) == 0 ||
           strncmp(name, "Release", 7) == 0 || (size > 5 && strcmp(name + size - 5, "Field") == 0);
}

/* Counts one call; true if it must throw instead. */
static int note(JNIEnv *env, enum function function)
{
    counts[function]++;
    total++;
    if (!is_allowed_pending(names[function]) && real->ExceptionCheck(env)) {
        forbidden_name = forbidden++ ? forbidden_name : names[function];
    }
    if (is_quiet(names[function]) || ++throwing != throw_at) {
        return 0;
    }
    has_thrown = 1;
    if (!real->ExceptionCheck(env)) {
        real->ThrowNew(env, thrown_class, "thrown by the spy");
    }
    return 1;
}

#undef X0
#undef X1
#undef X2
#undef X3
#undef X4
#undef X5
#undef V0
#undef V1
#undef V2
#undef V3
#undef V4
#undef V5
/* A failing function returns null, or an error number. */
#define FAILED(R) _Generic((R)0, jint : JNI_ERR, default : 0)
#define WRAP(R, name, parameters, arguments)                                                       \
    static R JNICALL wrap_##name parameters                                                        \
    {                                                                                              \
        return note(env, spy_##name) ? (R)FAILED(R) : real->name arguments;                        \
    }
#define WRAP_VOID(name, parameters, arguments)                                                     \
    static void JNICALL wrap_##name parameters                                                     \
    {                                                                                              \
        if (!note(env, spy_##name)) {                                                              \
            real->name arguments;                                                                  \
        }                                                                                          \
    }
#define X0(R, name) WRAP(R, name, (JNIEnv * env), (env))
#define X1(R, name, A) WRAP(R, name, (JNIEnv * env, A a), (env, a))
#define X2(R, name, A, B) WRAP(R, name, (JNIEnv * env, A a, B b), (env, a, b))
#define X3(R, name, A, B, C) WRAP(R, name, (JNIEnv * env, A a, B b, C c), (env, a, b, c))
#define X4(R, name, A, B, C, D) WRAP(R, name, (JNIEnv * env, A a, B b, C c, D d), (env, a, b, c, d))
#define X5(R, name, A, B, C, D, E)                                                                 \
    WRAP(R, name, (JNIEnv * env, A a, B b, C c, D d, E e), (env, a, b, c, d, e))
#define V0(name) WRAP_VOID(name, (JNIEnv * env), (env))
#define V1(name, A) WRAP_VOID(name, (JNIEnv * env, A a), (env, a))
#define V2(name, A, B) WRAP_VOID(name, (JNIEnv * env, A a, B b), (env, a, b))
#define V3(name, A, B, C) WRAP_VOID(name, (JNIEnv * env, A a, B b, C c), (env, a, b, c))
#define V4(name, A, B, C, D) WRAP_VOID(name, (JNIEnv * env, A a, B b, C c, D d), (env, a, b, c, d))
#define V5(name, A, B, C, D, E)                                                                    \
    WRAP_VOID(name, (JNIEnv * env, A a, B b, C c, D d, E e), (env, a, b, c, d, e))
#include "testing/jni_spy_list.h"

#undef X0
#undef X1
#undef X2
#undef X3
#undef X4
#undef X5
#undef V0
#undef V1
#undef V2
#undef V3
#undef V4
#undef V5
#define SET(name) spying.functions.name = wrap_##name;
#define X0(R, name) SET(name)
#define X1(R, name, A) SET(name)
#define X2(R, name, A, B) SET(name)
#define X3(R, name, A, B, C) SET(name)
#define X4(R, name, A, B, C, D) SET(name)
#define X5(R, name, A, B, C, D, E) SET(name)
#define V0(name) SET(name)
#define V1(name, A) SET(name)
#define V2(name, A, B) SET(name)
#define V3(name, A, B, C) SET(name)
#define V4(name, A, B, C, D) SET(name)
#define V5(name, A, B, C, D, E) SET(name)

static jobject JNICALL refuse_object(JNIEnv *env, jobject object, jmethodID method, ...)
{
    (void)object;
    (void)method;
    real->FatalError(env, "the spy saw a JNI call with `...`: use the A form");
    return NULL;
}

static jint JNICALL refuse_int(JNIEnv *env, jobject object, jmethodID method, ...)
{
    return refuse_object(env, object, method) != NULL;
}

static void JNICALL refuse_void(JNIEnv *env, jobject object, jmethodID method, ...)
{
    refuse_object(env, object, method);
}

static void fill(void)
{
    memcpy(&spying, real, sizeof spying);
#include "testing/jni_spy_list.h"
    spying.functions.NewObject = refuse_object;
    spying.functions.CallObjectMethod = refuse_object;
    spying.functions.CallStaticObjectMethod = refuse_object;
    spying.functions.CallIntMethod = refuse_int;
    spying.functions.CallStaticIntMethod = refuse_int;
    spying.functions.CallVoidMethod = refuse_void;
    spying.functions.CallStaticVoidMethod = refuse_void;
}

void jni_spy_arm(JNIEnv *env)
{
    jni_spy_arm_throwing(env, 0);
}

void jni_spy_arm_throwing(JNIEnv *env, int n)
{
    jni_spy_disarm();
    real = *env;
    fill();
    memset(counts, 0, sizeof counts);
    total = 0;
    throwing = 0;
    throw_at = n;
    has_thrown = 0;
    forbidden = 0;
    forbidden_name = "none";
    thrown_class = real->FindClass(env, "java/lang/RuntimeException");
    spied = env;
    *env = &spying.functions;
}

void jni_spy_disarm(void)
{
    if (spied) {
        *spied = real;
        real->DeleteLocalRef(spied, thrown_class);
        spied = NULL;
    }
}

int jni_spy_count(void)
{
    return total;
}

int jni_spy_count_of(const char *function)
{
    for (int i = 0; i < FUNCTION_COUNT; i++) {
        if (strcmp(names[i], function) == 0) {
            return counts[i];
        }
    }
    fprintf(stderr, "jni_spy: no function is called %s\n", function);
    abort();
}

int jni_spy_has_thrown(void)
{
    return has_thrown;
}

int jni_spy_forbidden(void)
{
    return forbidden;
}

const char *jni_spy_forbidden_name(void)
{
    return forbidden_name;
}

const char *jni_spy_text(void)
{
    static char text[1024];
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < FUNCTION_COUNT && used + 64 < sizeof text; i++) {
        if (counts[i]) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %d", used ? ", " : "",
                                     names[i], counts[i]);
        }
    }
    return text;
}
