/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * References: globals and weak globals with their failures, checked casts, and the classes that
 * handles name.
 *
 * A handle's record (struct kol__type) learns its class the first time a cast or level 3 asks, and
 * stands in the list of the state from then on, so that kol_unload can make it forget again.
 */
#include "kolibri/src/state.h"

kol_status kol__no_room(JNIEnv *env)
{
    if (!(*env)->ExceptionCheck(env)) {
        kol_throw_new(env, "java/lang/OutOfMemoryError", "no room for a reference or an array");
    }
    return KOL_EJAVA;
}

jobject kol__global(JNIEnv *env, jobject object)
{
    jobject global = object ? (*env)->NewGlobalRef(env, object) : NULL;
    if (object && !global) {
        kol__no_room(env);
    }
    return global;
}

void kol__global_drop(JNIEnv *env, jobject global)
{
    struct kol_attachment attachment;
    if (!global) {
        return;
    }
    if (env) {
        (*env)->DeleteGlobalRef(env, global);
    } else if (kol_attachment_open(&attachment, NULL, 1) == KOL_OK) {
        (*attachment.env)->DeleteGlobalRef(attachment.env, global);
        kol_attachment_close(&attachment);
    }
}

kol_status kol__weak(JNIEnv *env, jobject object, jweak *out)
{
    *out = object ? (*env)->NewWeakGlobalRef(env, object) : NULL;
    if (object && !*out) {
        return kol__no_room(env);
    }
    return KOL_OK;
}

void kol__weak_drop(JNIEnv *env, jweak weak)
{
    struct kol_attachment attachment;
    if (!weak) {
        return;
    }
    if (env) {
        (*env)->DeleteWeakGlobalRef(env, weak);
    } else if (kol_attachment_open(&attachment, NULL, 1) == KOL_OK) {
        (*attachment.env)->DeleteWeakGlobalRef(attachment.env, weak);
        kol_attachment_close(&attachment);
    }
}

kol_status kol__promote(JNIEnv *env, jweak weak, jobject *out)
{
    *out = weak ? (*env)->NewLocalRef(env, weak) : NULL;
    return *out ? KOL_OK : KOL_GONE;
}

/* A handle's class, resolved once. Null with an exception pending if it cannot be loaded. */
static jclass class_of(JNIEnv *env, struct kol__type *type)
{
    jclass cls = __atomic_load_n(&type->cls, __ATOMIC_ACQUIRE);
    jclass local = NULL;
    if (cls) {
        return cls;
    }
    if (kol__ready(env, type->descriptor) != KOL_OK ||
        kol__find(env, type->descriptor, &local) != KOL_OK) {
        return NULL;
    }
    jobject kept = NULL;
    int is_weak = 0;
    kol_status status = kol__hold_class(env, local, &kept, &is_weak);
    (*env)->DeleteLocalRef(env, local);
    if (status != KOL_OK) {
        return NULL;
    }
    pthread_mutex_lock(&kol__state.lock);
    if (!type->cls) {
        type->is_weak = is_weak;
        type->next = kol__state.types;
        kol__state.types = type;
        __atomic_store_n(&type->cls, (jclass)kept, __ATOMIC_RELEASE);
        kept = NULL;
    }
    pthread_mutex_unlock(&kol__state.lock);
    if (is_weak) {
        (*env)->DeleteWeakGlobalRef(env, kept);
    } else {
        (*env)->DeleteGlobalRef(env, kept);
    }
    return type->cls;
}

void kol__types_drop(JNIEnv *env)
{
    struct kol__type *type = kol__state.types;
    kol__state.types = NULL;
    while (type) {
        struct kol__type *next = type->next;
        if (type->is_weak) {
            (*env)->DeleteWeakGlobalRef(env, type->cls);
        } else {
            (*env)->DeleteGlobalRef(env, type->cls);
        }
        type->cls = NULL;
        type->next = NULL;
        type = next;
    }
}

kol_status kol__cast(JNIEnv *env, jobject object, struct kol__type *type)
{
    if (!object) {
        return KOL_OK;
    }
    jclass cls = class_of(env, type);
    if (!cls) {
        return KOL_EJAVA;
    }
    return (*env)->IsInstanceOf(env, object, cls) ? KOL_OK : KOL_ETYPE;
}

int kol__of_type(JNIEnv *env, jobject object, struct kol__type *type, const char *where)
{
    kol_status status = kol__cast(env, object, type);
    if (status == KOL_ETYPE) {
        kol__misuse(where, "a handle holds an object of another class");
    }
    return status != KOL_OK;
}

kol_status kol__array_new(JNIEnv *env, jsize count, struct kol__type *type, jobject *out)
{
    *out = NULL;
    if (count < 0) {
        return KOL_ERANGE;
    }
    jclass cls = class_of(env, type);
    if (!cls) {
        return KOL_EJAVA;
    }
    *out = (*env)->NewObjectArray(env, count, cls, NULL);
    return *out ? KOL_OK : KOL_EJAVA;
}
