/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What trampolines need beyond their own few instructions, and the one native of io.kolibri.
 *
 * A shared object's pointer is in its field. A guarded object keeps its field at 0, so that nobody
 * can use it without a lease: the plain form asks Java for one, and kol__release gives it back,
 * with whatever exception the call left still pending.
 *
 * io.kolibri.Native.call(function, argument) is the same code in every copy of Kolibri; the first
 * library of a process registers it, under the class's monitor and a Java flag.
 */
#include "kolibri/src/state.h"

#include <string.h>

KOL_MEMBERS_DEFINE(kol__Native, KOL__NATIVE_HOME)
KOL_MEMBERS_DEFINE(kol__NativeObject, KOL__NATIVE_OBJECT)

static pthread_mutex_t runtime_lock = PTHREAD_MUTEX_INITIALIZER;

static void JNICALL call(JNIEnv *env, jclass cls, jlong function, jlong argument)
{
    void (*called)(void *) = (void (*)(void *))(intptr_t)function;
    (void)env;
    (void)cls;
    called((void *)(intptr_t)argument);
}

static kol_status register_call(JNIEnv *env, jclass cls)
{
    char name[] = "call";
    char signature[] = "(JJ)V";
    void (*function)(JNIEnv *, jclass, jlong, jlong) = call;
    JNINativeMethod method = {name, signature, NULL};
    kol_status status = KOL_OK;
    memcpy(&method.fnPtr, &function, sizeof function);
    if ((*env)->MonitorEnter(env, cls) != JNI_OK) {
        return KOL_EJAVA;
    }
    if (!kol__Native_is_registered(env)) {
        if ((*env)->RegisterNatives(env, cls, &method, 1) == JNI_OK) {
            kol__Native_is_registered__set(env, JNI_TRUE);
        } else {
            status = KOL_EJAVA;
        }
    }
    (*env)->MonitorExit(env, cls);
    return status;
}

kol_status kol__runtime_ready(JNIEnv *env)
{
    static const struct kol_members *const tables[] = {&KOL__NATIVE_HOME__members,
                                                       &KOL__NATIVE_OBJECT__members};
    kol_status status = KOL_OK;
    if (__atomic_load_n(&kol__state.has_runtime, __ATOMIC_ACQUIRE)) {
        return KOL_OK;
    }
    pthread_mutex_lock(&runtime_lock);
    if (!kol__state.has_runtime) {
        status = kol_class_load(env, tables, 2, NULL, 0);
        if (status == KOL_OK) {
            status = register_call(env, kol__s_kol__Native_bind.cls);
        }
        __atomic_store_n(&kol__state.has_runtime, status == KOL_OK, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&runtime_lock);
    return status;
}

void kol__runtime_drop(JNIEnv *env)
{
    (void)env;
    __atomic_store_n(&kol__state.has_runtime, 0, __ATOMIC_RELEASE);
}

jlong kol__pointer(JNIEnv *env, jobject object, int null_is_fine, int *ok, struct kol__hold *hold)
{
    kol__NativeObject self = kol__NativeObject__raw(object);
    jlong pointer = 0;
    *ok = 1;
    if (!object && null_is_fine) {
        return 0;
    }
    if (object) {
        pointer = kol__NativeObject_pointer(env, self);
    }
    if (pointer != 0) {
        return pointer;
    }
    /* Null, closed or guarded: Java knows which, and throws for the first two. A lease on an
     * object that is not guarded is nothing, so none is lost if a close came in between. */
    *ok = kol__NativeObject_enter(env, self, &pointer) == KOL_OK;
    if (*ok) {
        hold->held[hold->count++] = object;
    }
    return pointer;
}

void kol__release(JNIEnv *env, struct kol__hold *hold)
{
    jthrowable pending = kol_take(env);
    while (hold->count > 0) {
        hold->count--;
        if (kol__NativeObject_leave(env, kol__NativeObject__raw(hold->held[hold->count])) !=
            KOL_OK) {
            (*env)->ExceptionClear(env);
        }
    }
    if (pending) {
        (*env)->Throw(env, pending);
        (*env)->DeleteLocalRef(env, pending);
    }
}

void kol__creator_failed(JNIEnv *env, const char *where)
{
    if (!(*env)->ExceptionCheck(env)) {
        kol_throw_new(env, "java/lang/OutOfMemoryError", where);
    }
}
