/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Walks: one static bridge in Java flattens whatever it is given into an Object[], then each
 * reference is one GetObjectArrayElement, and 32 of them share a local frame. The array itself
 * lives in the frame outside.
 */
#include "kolibri/src/state.h"

enum { FRAME = 32 };

kol_status kol_walk_open(JNIEnv *env, jobject collection, struct kol_walk *walk)
{
    java_lang_Object__array elements = java_lang_Object__array__null();
    walk->elements = NULL;
    walk->at = 0;
    walk->count = 0;
    walk->is_frame_open = 0;
    if (!collection) {
        return KOL_ENULL;
    }
    kol_status status = kol__runtime_ready(env);
    if (status == KOL_OK) {
        status = kol__Native_flatten(env, java_lang_Object__raw(collection), &elements);
    }
    if (status == KOL_OK) {
        walk->elements = elements.raw;
        walk->count = (*env)->GetArrayLength(env, walk->elements);
    }
    return status;
}

jsize kol_walk_count(const struct kol_walk *walk)
{
    return walk->count;
}

static void close_frame(JNIEnv *env, struct kol_walk *walk)
{
    if (walk->is_frame_open) {
        walk->is_frame_open = 0;
        (*env)->PopLocalFrame(env, NULL);
    }
}

/* A frame has room for what the loop makes beside the elements. */
static kol_status open_frame(JNIEnv *env, struct kol_walk *walk)
{
    close_frame(env, walk);
    if ((*env)->PushLocalFrame(env, 2 * FRAME) != 0) {
        return KOL_EJAVA;
    }
    walk->is_frame_open = 1;
    return KOL_OK;
}

kol_status kol_walk_next(JNIEnv *env, struct kol_walk *walk, jobject *out)
{
    *out = NULL;
    if (walk->at == walk->count) {
        return KOL_NONE;
    }
    if (walk->at % FRAME == 0) {
        kol_status status = open_frame(env, walk);
        if (status != KOL_OK) {
            return status;
        }
    }
    /* Within bounds, so it cannot throw; null is an element like any other. */
    *out = (*env)->GetObjectArrayElement(env, walk->elements, walk->at++);
    return KOL_OK;
}

kol_status kol_walk_next_pair(JNIEnv *env, struct kol_walk *walk, jobject *key, jobject *value)
{
    kol_status status = kol_walk_next(env, walk, key);
    *value = NULL;
    return status == KOL_OK ? kol_walk_next(env, walk, value) : status;
}

void kol_walk_close(JNIEnv *env, struct kol_walk *walk)
{
    close_frame(env, walk);
    (*env)->DeleteLocalRef(env, walk->elements);
    walk->elements = NULL;
    walk->at = 0;
    walk->count = 0;
}
