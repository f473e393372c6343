/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The natives of io.kevy.ChangeQueue: what change listeners are told, on its
 * way to the thread that calls them.
 *
 * The engine tells a change on the thread that made it, or on one of its own;
 * here it is only written down. Each listener has an ear of its own at the
 * engine, so it hears exactly what changes after it was added. A record, as
 * io.kevy.Change reads it, numbers little-endian:
 *
 *     0 size of what follows   4 ear   8 database   12 cause   16 is other   20 lost (u64)   28 key
 *
 * The queue is bounded; what has no room is counted for each ear, and told by a
 * record with the cause KEVY_CHANGE_LOST where it is missing. That needs no
 * memory at the time: an ear that lost something loses all until the next take.
 *
 * Locks. `stores_lock` guards which store a queue belongs to, so that either of
 * them may end first, and the list of ears; it is held while the engine lets go
 * of an ear, which waits for `hear` at most. Inside it the lock of a queue guards
 * the bytes, what the ears have lost, and the sleepers. `hear` takes only that.
 */
#include "doors/jvm/c/jvm_door.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD_HEAD = 28 };
#define BYTES_MAX ((size_t)16 << 20)

struct ear {
    struct ear *next;
    struct kj_changes *to;
    int64_t listener; /* the engine's number */
    jint id;
    uint64_t lost;
};

struct kj_changes {
    struct kj_changes *next; /* of the same store */
    struct kj_store *store;  /* NULL once that has ended */
    struct ear *ears;
    jint last_id;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint8_t *bytes;
    size_t size, cap;
    bool is_ended; /* with its store */
    bool is_woken; /* whoever waits, or the next one to, returns at once */
};

static pthread_mutex_t stores_lock = PTHREAD_MUTEX_INITIALIZER;

#define CHANGE_NATIVES(X, C)                                                                       \
    X(C, D, close)                                                                                 \
    X(C, M0, jint, add, "add")                                                                     \
    X(C, M1, void, remove, "remove", jint)                                                         \
    X(C, M0, jbyte__array, await, "await")                                                         \
    X(C, S1, void, wake, "wake", jlong)
KOL_NATIVES(ChangeQueue, CHANGE_NATIVES)

kol_status kj_changes_register(JNIEnv *env, char *report, size_t size)
{
    return kol_natives_register(env, &ChangeQueue__natives, report, size);
}

/* ---- Writing down: any thread, with the queue's lock held ---- */

static bool make_room(struct kj_changes *to, size_t more)
{
    size_t wanted = to->size + more;
    if (wanted <= to->cap) {
        return true;
    }
    size_t cap = to->cap < 4096 ? 4096 : 2 * to->cap;
    cap = cap < wanted ? wanted : cap;
    uint8_t *bytes = realloc(to->bytes, cap);
    if (bytes != NULL) {
        to->bytes = bytes;
        to->cap = cap;
    }
    return bytes != NULL;
}

/* There is room. */
static void write_record(struct kj_changes *to, jint id, const KevyChange *change)
{
    uint8_t *out = to->bytes + to->size;
    kj_put_u32(out, (uint32_t)(RECORD_HEAD - 4 + change->key_len));
    kj_put_u32(out + 4, (uint32_t)id);
    kj_put_u32(out + 8, change->database);
    kj_put_u32(out + 12, (uint32_t)change->cause);
    kj_put_u32(out + 16, change->is_other != 0);
    kj_put_u32(out + 20, (uint32_t)change->lost);
    kj_put_u32(out + 24, (uint32_t)(change->lost >> 32));
    if (change->key_len > 0) {
        memcpy(out + RECORD_HEAD, change->key, change->key_len);
    }
    to->size += RECORD_HEAD + change->key_len;
}

/* The engine's callback. */
static void hear(void *user, const KevyChange *change)
{
    struct ear *ear = user;
    struct kj_changes *to = ear->to;
    (void)pthread_mutex_lock(&to->lock);
    size_t more = RECORD_HEAD + change->key_len;
    bool fits = ear->lost == 0 && more <= BYTES_MAX && to->size <= BYTES_MAX - more;
    if (fits && make_room(to, more)) {
        write_record(to, ear->id, change);
    } else {
        ear->lost += change->cause == KEVY_CHANGE_LOST ? change->lost : 1;
    }
    (void)pthread_cond_signal(&to->moved);
    (void)pthread_mutex_unlock(&to->lock);
}

/* ---- Beginning and end ---- */

struct kj_changes *kj_changes_new(struct kj_store *store)
{
    struct kj_changes *changes = calloc(1, sizeof *changes);
    if (changes == NULL || pthread_mutex_init(&changes->lock, NULL) != 0) {
        free(changes);
        return NULL;
    }
    if (pthread_cond_init(&changes->moved, NULL) != 0) {
        (void)pthread_mutex_destroy(&changes->lock);
        free(changes);
        return NULL;
    }
    (void)pthread_mutex_lock(&stores_lock);
    changes->store = store;
    changes->next = store->changes;
    store->changes = changes;
    (void)pthread_mutex_unlock(&stores_lock);
    return changes;
}

/* With stores_lock held, as long as there is a store. */
static void end_ears(struct kj_changes *changes)
{
    while (changes->ears != NULL) {
        struct ear *ear = changes->ears;
        (void)kevy_unlisten(changes->store->db, ear->listener);
        (void)pthread_mutex_lock(&changes->lock);
        changes->ears = ear->next;
        (void)pthread_mutex_unlock(&changes->lock);
        free(ear);
    }
}

void kj_changes_end(struct kj_store *store)
{
    (void)pthread_mutex_lock(&stores_lock);
    for (struct kj_changes *of = store->changes; of != NULL; of = of->next) {
        end_ears(of);
        of->store = NULL;
        (void)pthread_mutex_lock(&of->lock);
        of->is_ended = true;
        (void)pthread_cond_broadcast(&of->moved);
        (void)pthread_mutex_unlock(&of->lock);
    }
    store->changes = NULL;
    (void)pthread_mutex_unlock(&stores_lock);
}

static void ChangeQueue_close(struct kj_changes *self)
{
    (void)pthread_mutex_lock(&stores_lock);
    if (self->store != NULL) {
        end_ears(self);
        struct kj_changes **at = &self->store->changes;
        while (*at != self) {
            at = &(*at)->next;
        }
        *at = self->next;
    }
    (void)pthread_mutex_unlock(&stores_lock);
    (void)pthread_cond_destroy(&self->moved);
    (void)pthread_mutex_destroy(&self->lock);
    free(self->bytes);
    free(self);
}

/* ---- Ears ---- */

/* With stores_lock held; a result of the engine. */
static int32_t add_ear(struct kj_changes *self, struct ear *ear)
{
    if (self->store == NULL) {
        return KEVY_EMISUSE;
    }
    ear->to = self;
    ear->id = ++self->last_id;
    ear->listener = kevy_listen(self->store->db, hear, ear);
    if (ear->listener < 0) {
        return ear->listener == KEVY_EMISUSE ? KEVY_EMISUSE : KEVY_ENOMEM;
    }
    (void)pthread_mutex_lock(&self->lock);
    ear->next = self->ears;
    self->ears = ear;
    (void)pthread_mutex_unlock(&self->lock);
    return 0;
}

static jint ChangeQueue_add(JNIEnv *env, struct kj_changes *self)
{
    struct ear *ear = calloc(1, sizeof *ear);
    if (ear == NULL) {
        (void)kj_fail_memory(env);
        return 0;
    }
    (void)pthread_mutex_lock(&stores_lock);
    int32_t result = add_ear(self, ear);
    jint id = ear->id;
    (void)pthread_mutex_unlock(&stores_lock);
    if (result != 0) {
        free(ear);
        (void)kj_fail_result(env, result);
    }
    return id;
}

static void ChangeQueue_remove(JNIEnv *env, struct kj_changes *self, jint id)
{
    (void)env;
    struct ear *ear = NULL;
    (void)pthread_mutex_lock(&stores_lock);
    for (struct ear **at = &self->ears; *at != NULL; at = &(*at)->next) {
        if ((*at)->id == id) {
            ear = *at;
            (void)kevy_unlisten(self->store->db, ear->listener);
            (void)pthread_mutex_lock(&self->lock);
            *at = ear->next;
            (void)pthread_mutex_unlock(&self->lock);
            break;
        }
    }
    (void)pthread_mutex_unlock(&stores_lock);
    free(ear);
}

/* ---- Taking ---- */

static bool has_lost(const struct kj_changes *of)
{
    for (const struct ear *ear = of->ears; ear != NULL; ear = ear->next) {
        if (ear->lost > 0) {
            return true;
        }
    }
    return false;
}

/* With the lock held: takes what was written, and behind it what each ear has lost since. */
static uint8_t *take(struct kj_changes *from, size_t *size_out)
{
    for (struct ear *ear = from->ears; ear != NULL; ear = ear->next) {
        if (ear->lost > 0 && make_room(from, RECORD_HEAD)) {
            KevyChange change = {.cause = KEVY_CHANGE_LOST, .is_other = 1, .lost = ear->lost};
            write_record(from, ear->id, &change);
            ear->lost = 0;
        }
    }
    uint8_t *bytes = from->bytes;
    *size_out = from->size;
    from->bytes = NULL;
    from->size = from->cap = 0;
    return bytes;
}

/* No array could be made: what was to be in it is lost. */
static void lose(struct kj_changes *of, const uint8_t *bytes, size_t size)
{
    (void)pthread_mutex_lock(&of->lock);
    for (size_t at = 0; at < size; at += 4 + (size_t)kj_u32(bytes + at)) {
        for (struct ear *ear = of->ears; ear != NULL; ear = ear->next) {
            if ((uint32_t)ear->id == kj_u32(bytes + at + 4)) {
                uint64_t count = kj_u32(bytes + at + 20) | (uint64_t)kj_u32(bytes + at + 24) << 32;
                ear->lost += count > 0 ? count : 1;
            }
        }
    }
    (void)pthread_mutex_unlock(&of->lock);
}

/* Sleeps until there are changes; null when woken. */
static jbyte__array ChangeQueue_await(JNIEnv *env, struct kj_changes *self)
{
    jbyte__array array = {NULL};
    size_t size = 0;
    (void)pthread_mutex_lock(&self->lock);
    while (self->size == 0 && !self->is_ended && !self->is_woken && !has_lost(self)) {
        (void)pthread_cond_wait(&self->moved, &self->lock);
    }
    self->is_woken = false;
    bool is_ended = self->is_ended;
    uint8_t *bytes = is_ended ? NULL : take(self, &size);
    (void)pthread_mutex_unlock(&self->lock);
    if (is_ended) {
        (void)kj_fail_result(env, KEVY_EMISUSE);
    } else if (size > 0) {
        array = kj_array(env, bytes, size);
        if (array.raw == NULL) {
            lose(self, bytes, size);
        }
    }
    free(bytes);
    return array;
}

static void ChangeQueue_wake(JNIEnv *env, jlong pointer)
{
    struct kj_changes *self = (struct kj_changes *)(intptr_t)pointer;
    (void)env;
    (void)pthread_mutex_lock(&self->lock);
    self->is_woken = true;
    (void)pthread_cond_broadcast(&self->moved);
    (void)pthread_mutex_unlock(&self->lock);
}
