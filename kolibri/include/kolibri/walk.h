/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Going through a collection, an array or a map at about one JNI call a reference.
 *
 *     struct kol_walk walk;
 *     jobject each;
 *     kol_status status = kol_walk_open(env, collection, &walk);
 *     while (status == KOL_OK && (status = kol_walk_next(env, &walk, &each)) == KOL_OK) {
 *         …
 *     }
 *     kol_walk_close(env, &walk);
 *     return status == KOL_NONE ? KOL_OK : status;
 *
 * The walk sees a snapshot: what the collection held when it was opened, however it changes
 * meanwhile. References live in local frames of 32: each dies with its frame, together with other
 * local references that the loop made meanwhile, so what must stay is kept (T__keep). Do not open a
 * frame around a part of the loop and leave it open.
 *
 * Env's own thread.
 */
#ifndef KOLIBRI_WALK_H
#define KOLIBRI_WALK_H

#include <jni.h>
#include <kolibri/status.h>

/* A walk in progress. All members belong to the library. */
struct kol_walk {
    jobjectArray elements;
    jsize at;
    jsize count;
    int is_frame_open;
};

KOL__C_BEGIN

/*
 * Opens a walk over a java.util.Collection, any Iterable or Iterator, an Object[], or a Map, whose
 * keys and values then come by turns. KOL_OK; KOL_ENULL for null; KOL_EJAVA, with a
 * ClassCastException for anything else, or with what the collection threw. Close it also after an
 * error.
 */
kol_status kol_walk_open(JNIEnv *env, jobject collection, struct kol_walk *walk) KOL__MUST;

/* How many references there are in all; for a map twice its size. */
jsize kol_walk_count(const struct kol_walk *walk);

/* The next reference, or KOL_NONE when there is none left; KOL_EJAVA. */
kol_status kol_walk_next(JNIEnv *env, struct kol_walk *walk, jobject *out) KOL__MUST;

/* The next key and its value. */
kol_status kol_walk_next_pair(JNIEnv *env, struct kol_walk *walk, jobject *key,
                              jobject *value) KOL__MUST;

void kol_walk_close(JNIEnv *env, struct kol_walk *walk);

KOL__C_END

#endif
