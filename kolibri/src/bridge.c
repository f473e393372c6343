/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Static bridges and handles: thin calls into io.kolibri.Bridge, BridgeBinding and Handles,
 * resolved when first wanted. Whether the stack suffices for an upcall is bridge_room.c.
 */
#include "kolibri/src/state.h"

KOL_HANDLE(kol__Bridge, "io/kolibri/Bridge", java_lang_Object)
KOL_HANDLE(kol__Handles, "io/kolibri/Handles", java_lang_Object)
KOL_HANDLE(kol__Binding, "io/kolibri/BridgeBinding", java_lang_Object)
#define KOL__BRIDGE(X, C) X(C, SF0, throws, kol__Throwable, take, "take")
#define KOL__HANDLES(X, C)                                                                         \
    X(C, SF1, throws, jint, add, "add", java_lang_Object)                                          \
    X(C, SF1, throws, java_lang_Object, get, "get", jint)                                          \
    X(C, SF1, throws, jboolean, remove, "remove", jint)
#define KOL__BINDING(X, C)                                                                         \
    X(C, SF3, throws, jlong, stub, "stub", kol__Class, kol__String, kol__String)
KOL_MEMBERS(kol__Bridge, KOL__BRIDGE)
KOL_MEMBERS(kol__Handles, KOL__HANDLES)
KOL_MEMBERS(kol__Binding, KOL__BINDING)
KOL_MEMBERS_DEFINE(kol__Bridge, KOL__BRIDGE)
KOL_MEMBERS_DEFINE(kol__Handles, KOL__HANDLES)
KOL_MEMBERS_DEFINE(kol__Binding, KOL__BINDING)

static pthread_mutex_t bridges_lock = PTHREAD_MUTEX_INITIALIZER;

static kol_status bridges_ready(JNIEnv *env)
{
    static const struct kol_members *const tables[] = {&KOL__BRIDGE__members,
                                                       &KOL__HANDLES__members};
    kol_status status = KOL_OK;
    pthread_mutex_lock(&bridges_lock);
    if (!kol__s_kol__Handles_remove.cls) {
        status = kol_class_load(env, tables, 2, NULL, 0);
    }
    pthread_mutex_unlock(&bridges_lock);
    return status;
}

#ifndef __ANDROID__
static kol_status ask_stub(JNIEnv *env, jclass cls, kol__String name, kol__String type, jlong *out)
{
    static const struct kol_members *const tables[] = {&KOL__BINDING__members};
    kol_status status = KOL_OK;
    pthread_mutex_lock(&bridges_lock);
    if (!kol__s_kol__Binding_stub.cls) {
        status = kol_class_load(env, tables, 1, NULL, 0);
    }
    pthread_mutex_unlock(&bridges_lock);
    return status == KOL_OK ? kol__Binding_stub(env, kol__Class__raw(cls), name, type, out)
                            : status;
}

kol_status kol__bridge_bind(JNIEnv *env, jclass cls, const struct kol__row *row,
                            const char *signature)
{
    jlong address = 0;
    /* Bridge is initialised now: at the end of a stack, when first wanted, it could not be. */
    kol_status status = bridges_ready(env);
    if (status != KOL_OK) {
        return status;
    }
    kol__String name = kol__String__raw((*env)->NewStringUTF(env, row->name));
    if (kol__String__is_null(name)) {
        return KOL_EJAVA;
    }
    status = KOL_EJAVA;
    kol__String type = kol__String__raw((*env)->NewStringUTF(env, signature));
    if (!kol__String__is_null(type)) {
        status = ask_stub(env, cls, name, type, &address);
        kol__String__forget(env, type);
    }
    kol__String__forget(env, name);
    row->slot->stub = (void (*)(void))(intptr_t)address;
    return status;
}
#else
/* Android has no upcalls, and not all that BridgeBinding needs. */
kol_status kol__bridge_bind(JNIEnv *env, jclass cls, const struct kol__row *row,
                            const char *signature)
{
    (void)cls;
    (void)row;
    (void)signature;
    return bridges_ready(env);
}
#endif

jint kol__bridge_checked(JNIEnv *env, jint result)
{
    return (*env)->ExceptionCheck(env) ? -1 : result;
}

kol_status kol_bridge_throw(JNIEnv *env)
{
    kol__Throwable kept;
    if ((*env)->ExceptionCheck(env)) {
        return KOL_EJAVA;
    }
    kol_status status = bridges_ready(env);
    if (status == KOL_OK) {
        status = kol__Bridge_take(env, &kept);
    }
    if (status == KOL_OK && kol__Throwable__is_null(kept)) {
        return KOL_NONE;
    }
    if (status == KOL_OK) {
        status = kol_throw_again(env, (jthrowable)kept.raw);
        kol__Throwable__forget(env, kept);
    }
    return status;
}

kol_status kol_handle_new(JNIEnv *env, jobject object, jint *out)
{
    *out = 0;
    if (!object) {
        return KOL_ENULL;
    }
    kol_status status = bridges_ready(env);
    return status == KOL_OK ? kol__Handles_add(env, java_lang_Object__raw(object), out) : status;
}

kol_status kol_handle_get(JNIEnv *env, jint handle, jobject *out)
{
    java_lang_Object object = java_lang_Object__null();
    kol_status status = bridges_ready(env);
    if (status == KOL_OK) {
        status = kol__Handles_get(env, handle, &object);
    }
    *out = object.raw;
    return status == KOL_OK && !object.raw ? KOL_GONE : status;
}

kol_status kol_handle_drop(JNIEnv *env, jint handle)
{
    jboolean was_there;
    kol_status status = bridges_ready(env);
    return status == KOL_OK ? kol__Handles_remove(env, handle, &was_there) : status;
}
