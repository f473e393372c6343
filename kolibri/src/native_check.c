/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Level 2 for natives: which addresses are live native objects of which type, and what leaf calls
 * do.
 *
 * The registry is a table beside the objects, so that a freed pointer is judged without being read.
 * Creators enter an address, destroyers mark it dead, a creator that gets the same memory again
 * makes it live again. An address that no checked creator made is not judged: the object may come
 * from elsewhere. Dead entries are forgotten when the table grows.
 *
 * A leaf runs without env, so what it does wrong is noted here and thrown by the thread's next
 * ordinary call.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "kolibri/src/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A leaf takes a microsecond; these limits leave room for a machine that is busy elsewhere. */
enum { FIRST_SIZE = 256, LEAF_WORK_NS = 10000000, LEAF_WAIT_NS = 1000000000 };

struct entry {
    uintptr_t address;                   /* 0: empty */
    const struct kol__native_type *type; /* NULL: dead */
};

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries;
static size_t entries_size;
static size_t entries_used;

static __thread const char *current_leaf;
static __thread const char *violating_leaf;

static size_t place_of(uintptr_t address, size_t size)
{
    uint64_t hash = (uint64_t)address * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(hash >> 32) & (size - 1);
}

/* The entry of an address, or the empty one where it belongs. */
static struct entry *find_entry(struct entry *table, size_t size, uintptr_t address)
{
    size_t at = place_of(address, size);
    while (table[at].address != 0 && table[at].address != address) {
        at = (at + 1) & (size - 1);
    }
    return &table[at];
}

static int grow_entries(void)
{
    size_t live = 0;
    for (size_t i = 0; i < entries_size; i++) {
        live += entries[i].type != NULL;
    }
    size_t size = FIRST_SIZE;
    while (size < live * 4) {
        size *= 2;
    }
    struct entry *grown = calloc(size, sizeof *grown);
    if (!grown) {
        return 0;
    }
    for (size_t i = 0; i < entries_size; i++) {
        if (entries[i].type) {
            *find_entry(grown, size, entries[i].address) = entries[i];
        }
    }
    free(entries);
    entries = grown;
    entries_size = size;
    entries_used = live;
    return 1;
}

void kol__native_made(jlong pointer, const struct kol__native_type *type)
{
    if (pointer == 0) {
        return;
    }
    pthread_mutex_lock(&registry_lock);
    if ((entries_used + 1) * 2 <= entries_size || grow_entries()) {
        struct entry *entry = find_entry(entries, entries_size, (uintptr_t)pointer);
        entries_used += entry->address == 0;
        if (!entry->type) {
            KOL__TALLY_UP(natives_checked);
        }
        entry->address = (uintptr_t)pointer;
        entry->type = type;
    }
    pthread_mutex_unlock(&registry_lock);
}

void kol__native_unmade(void *pointer)
{
    pthread_mutex_lock(&registry_lock);
    if (entries) {
        struct entry *entry = find_entry(entries, entries_size, (uintptr_t)pointer);
        if (entry->type) {
            KOL__TALLY_DOWN(natives_checked);
        }
        entry->type = NULL;
    }
    pthread_mutex_unlock(&registry_lock);
}

/* Every native object is an io.kolibri.NativeObject. */
static int is_of(const struct kol__native_type *type, const struct kol__native_type *wanted)
{
    if (strcmp(wanted->descriptor, "Lio/kolibri/NativeObject;") == 0) {
        return 1;
    }
    while (type && strcmp(type->descriptor, wanted->descriptor) != 0) {
        type = type->base;
    }
    return type != NULL;
}

/* What is wrong with a pointer; NULL if nothing is known to be. */
static const char *judge(jlong pointer, const struct kol__native_type *wanted)
{
    const char *verdict = NULL;
    if (pointer == 0) {
        return "a null pointer where a native object is needed";
    }
    pthread_mutex_lock(&registry_lock);
    if (entries) {
        struct entry *entry = find_entry(entries, entries_size, (uintptr_t)pointer);
        if (entry->address != 0 && !entry->type) {
            verdict = "a pointer to a destroyed native object";
        } else if (entry->address != 0 && !is_of(entry->type, wanted)) {
            verdict = "a pointer to a native object of another type";
        }
    }
    pthread_mutex_unlock(&registry_lock);
    return verdict;
}

static void throw_misuse(JNIEnv *env, const char *where, const char *what)
{
    char message[256];
    kol__misuse(where, what);
    snprintf(message, sizeof message, "%s: %s", where, what);
    kol_throw_new(env, "java/lang/IllegalStateException", message);
}

int kol__live(JNIEnv *env, jlong pointer, const struct kol__native_type *type, const char *where)
{
    const char *verdict = judge(pointer, type);
    if (verdict) {
        throw_misuse(env, where, verdict);
    }
    return verdict != NULL;
}

int kol__call_begin(JNIEnv *env, const char *where)
{
    const char *leaf = violating_leaf;
    (void)where;
    violating_leaf = NULL;
    if (leaf) {
        throw_misuse(env, leaf, "a leaf that used env, or ran too long");
    }
    return leaf != NULL;
}

static int64_t now_ns(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void kol__leaf_begin(struct kol__leaf *leaf, const char *where)
{
    leaf->outer = current_leaf;
    leaf->started_ns = now_ns(CLOCK_MONOTONIC);
    leaf->started_work_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    current_leaf = where;
}

void kol__leaf_end(struct kol__leaf *leaf, const char *where)
{
    current_leaf = leaf->outer;
    if (now_ns(CLOCK_THREAD_CPUTIME_ID) - leaf->started_work_ns > LEAF_WORK_NS ||
        now_ns(CLOCK_MONOTONIC) - leaf->started_ns > LEAF_WAIT_NS) {
        violating_leaf = where;
    }
}

int kol__is_in_leaf(void)
{
    if (current_leaf) {
        violating_leaf = current_leaf;
    }
    return current_leaf != NULL;
}
