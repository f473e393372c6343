/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Change listeners. The engine tells a change on the thread that made it, or on
 * one of its own; here it is only written down, and one hop brings JavaScript
 * everything that was written down until it lands.
 *
 *     engine:  hear -> a record at the end of `bytes` -> hop, if none is under way
 *     JS:      deliver: the records as one packed ArrayBuffer -> the next hop
 *
 * Each listener has an ear of its own at the engine, so it hears exactly what
 * changes after it was added. A record, as ts/changes.ts reads it:
 *
 *     0 size of what follows   4 ear   8 database   12 cause   16 is other   20 lost   28 key
 *
 * numbers are u32 but lost, a double; all in the machine's order but the size, little-endian.
 *
 * `bytes` is bounded; what has no room is counted for each ear, and told by a
 * record with the cause KEVY_CHANGE_LOST where it is missing. That needs no
 * memory at the time: an ear that lost something loses all until the next hop.
 *
 * Threads: `lock` guards bytes, size, cap, is_full, is_flying and each ear's
 * lost; the rest belongs to JavaScript's thread. Ending an ear waits for the
 * engine to leave it, so after that nobody writes. Whose the struct is: the
 * store's, until it is stopped; with a hop under way, the hop's.
 */
#include "node_door.h"

#include <pthread.h>
#include <string.h>

#define RECORD_HEAD 28u
#define BYTES_MAX ((size_t)16 << 20)

typedef struct ear {
    struct ear *next;
    kn_changes *to;
    int64_t listener; /* the engine's number */
    uint32_t id;
    uint64_t lost;
} ear;

struct kn_changes {
    kn_landing landing;
    kn_store *store; /* NULL once stopped */
    ear *ears;
    uint32_t last_id;
    napi_ref callback;
    bool is_delivering;
    bool is_awaited; /* JavaScript is still at the last batch */
    pthread_mutex_t lock;
    napi_threadsafe_function hop;
    uint8_t *bytes;
    size_t size, cap;
    bool is_full;   /* a hop is under way or being delivered */
    bool is_flying; /* a hop is under way */
};

/* ---- writing down; any thread, with the lock held ---- */

static bool room_make(kn_changes *to, size_t more)
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
static void record_write(kn_changes *to, uint32_t id, const KevyChange *change)
{
    size_t size = RECORD_HEAD - 4 + change->key_len;
    uint8_t *out = to->bytes + to->size;
    uint32_t numbers[] = {id, change->database, (uint32_t)change->cause, change->is_other != 0};
    double lost = (double)change->lost;
    for (unsigned k = 0; k < 4; k++) {
        out[k] = (uint8_t)(size >> 8 * k);
    }
    memcpy(out + 4, numbers, sizeof numbers);
    memcpy(out + 20, &lost, sizeof lost);
    if (change->key_len > 0) {
        memcpy(out + RECORD_HEAD, change->key, change->key_len);
    }
    to->size += 4 + size;
}

static void hop_start(kn_changes *to)
{
    to->is_full = to->is_flying = kn_hop_send(to->hop, &to->landing);
}

/* The engine's callback. */
static void hear(void *user, const KevyChange *change)
{
    ear *of = user;
    kn_changes *to = of->to;
    pthread_mutex_lock(&to->lock);
    size_t more = RECORD_HEAD + change->key_len;
    bool fits = of->lost == 0 && more <= BYTES_MAX && to->size <= BYTES_MAX - more;
    if (fits && room_make(to, more)) {
        record_write(to, of->id, change);
    } else {
        of->lost += change->cause == KEVY_CHANGE_LOST ? change->lost : 1;
    }
    if (!to->is_full) {
        hop_start(to);
    }
    pthread_mutex_unlock(&to->lock);
}

/* ---- delivery, on JavaScript's thread ---- */

static bool has_lost(const kn_changes *of)
{
    for (const ear *one = of->ears; one != NULL; one = one->next) {
        if (one->lost > 0) {
            return true;
        }
    }
    return false;
}

/* Takes what was written, and behind it what each ear has lost since. */
static uint8_t *bytes_take(kn_changes *from, size_t *size_out)
{
    pthread_mutex_lock(&from->lock);
    for (ear *one = from->ears; one != NULL; one = one->next) {
        if (one->lost > 0 && room_make(from, RECORD_HEAD)) {
            KevyChange change = {.cause = KEVY_CHANGE_LOST, .is_other = 1, .lost = one->lost};
            record_write(from, one->id, &change);
            one->lost = 0;
        }
    }
    uint8_t *bytes = from->bytes;
    *size_out = from->size;
    from->bytes = NULL;
    from->size = from->cap = 0;
    pthread_mutex_unlock(&from->lock);
    return bytes;
}

/* No ArrayBuffer could be made: what was in it is lost. */
static void bytes_lose(kn_changes *of, const uint8_t *bytes, size_t size)
{
    pthread_mutex_lock(&of->lock);
    for (size_t at = 0; at < size;) {
        uint32_t id;
        memcpy(&id, bytes + at + 4, sizeof id);
        for (ear *one = of->ears; one != NULL; one = one->next) {
            one->lost += one->id == id;
        }
        at += 4 + ((size_t)bytes[at] | (size_t)bytes[at + 1] << 8 | (size_t)bytes[at + 2] << 16 |
                   (size_t)bytes[at + 3] << 24);
    }
    pthread_mutex_unlock(&of->lock);
}

/* Returns true if JavaScript will say when it is done. */
static bool callback_call(napi_env env, kn_changes *of, napi_value packed)
{
    napi_value callback, undefined, result;
    bool waits = false;
    if (napi_get_reference_value(env, of->callback, &callback) == napi_ok &&
        napi_get_undefined(env, &undefined) == napi_ok &&
        napi_call_function(env, undefined, callback, 1, &packed, &result) == napi_ok) {
        (void)napi_get_value_bool(env, result, &waits);
    }
    return waits;
}

static void deliver(napi_env env, kn_changes *of)
{
    napi_handle_scope scope;
    size_t size;
    if (napi_open_handle_scope(env, &scope) != napi_ok) {
        return;
    }
    uint8_t *bytes = bytes_take(of, &size);
    napi_value packed = size > 0 ? kn_buffer_copy(of->store->door, bytes, size) : NULL;
    if (packed != NULL) {
        of->is_delivering = of->is_awaited = true;
        of->is_awaited = callback_call(env, of, packed);
        of->is_delivering = false;
    } else {
        bytes_lose(of, bytes, size);
    }
    free(bytes);
    kn_exception_report(env);
    (void)napi_close_handle_scope(env, scope);
}

/* What has come meanwhile gets a hop of its own: timers and other work run in between. */
static void batch_done(kn_changes *of)
{
    pthread_mutex_lock(&of->lock);
    of->is_full = false;
    if (of->size > 0 || has_lost(of)) {
        hop_start(of);
    }
    pthread_mutex_unlock(&of->lock);
}

static void changes_free(kn_changes *of)
{
    pthread_mutex_destroy(&of->lock);
    free(of->bytes);
    free(of);
}

static void changes_land(napi_env env, kn_landing *landing)
{
    kn_changes *of = (kn_changes *)landing;
    pthread_mutex_lock(&of->lock);
    of->is_flying = false;
    pthread_mutex_unlock(&of->lock);
    if (env != NULL && of->store != NULL) {
        deliver(env, of);
    }
    if (of->store == NULL) {
        changes_free(of);
    } else if (!of->is_awaited) {
        batch_done(of);
    }
}

/* ---- start and stop ---- */

static kn_changes *changes_new(kn_store *store, napi_value callback)
{
    napi_env env = store->door->env;
    kn_changes *changes = calloc(1, sizeof *changes);
    if (changes == NULL || pthread_mutex_init(&changes->lock, NULL) != 0) {
        free(changes);
        (void)kn_fail_memory(env);
        return NULL;
    }
    changes->landing.land = changes_land;
    changes->store = store;
    changes->hop = store->door->hop;
    if (napi_create_reference(env, callback, 1, &changes->callback) != napi_ok) {
        changes_free(changes);
        (void)kn_fail_memory(env);
        return NULL;
    }
    return changes;
}

static void ear_end(kn_store *store, ear *one)
{
    (void)kevy_unlisten(store->db, one->listener);
    free(one);
}

void kn_changes_stop(kn_store *store)
{
    kn_changes *changes = store->changes;
    if (changes == NULL) {
        return;
    }
    while (changes->ears != NULL) {
        ear *one = changes->ears;
        changes->ears = one->next;
        ear_end(store, one);
    }
    store->changes = NULL;
    changes->store = NULL;
    kn_hop_hold(store);
    (void)napi_delete_reference(store->door->env, changes->callback);
    if (!changes->is_flying && !changes->is_delivering) {
        changes_free(changes);
    }
}

/* Adds an ear at the end; NULL with an exception. */
static ear *ear_add(kn_store *store)
{
    kn_changes *changes = store->changes;
    ear *one = calloc(1, sizeof *one);
    if (one == NULL) {
        (void)kn_fail_memory(store->door->env);
        return NULL;
    }
    one->to = changes;
    one->id = ++changes->last_id;
    one->listener = kevy_listen(store->db, hear, one);
    if (one->listener < 0) {
        free(one);
        (void)kn_fail_memory(store->door->env);
        return NULL;
    }
    /* The list is walked by this thread alone; hear looks only at its own ear. */
    ear **end = &changes->ears;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = one;
    return one;
}

/* (id, callback) => the ear's id. The first callback of a lane gets the records of all its ears,
 * and returns true to be waited for until changesDone. */
napi_value kn_js_listen(napi_env env, napi_callback_info info)
{
    napi_value argv[2], result = NULL;
    size_t argc = 2;
    kn_store *store = kn_store_arguments(env, info, &argc, argv);
    if (store == NULL || !kn_hop_make(store->door)) {
        return NULL;
    }
    if (store->changes == NULL && (store->changes = changes_new(store, argv[1])) == NULL) {
        return NULL;
    }
    const ear *one = ear_add(store);
    if (one != NULL) {
        (void)napi_create_uint32(env, one->id, &result);
        kn_hop_hold(store);
    } else if (store->changes->ears == NULL) {
        kn_changes_stop(store);
    }
    return result;
}

/* (id, ear's id): idempotent; ends the lane with its last ear */
napi_value kn_js_unlisten(napi_env env, napi_callback_info info)
{
    napi_value argv[2];
    size_t argc = 2;
    uint32_t id = 0;
    kn_store *store = kn_store_arguments(env, info, &argc, argv);
    if (store == NULL || store->changes == NULL ||
        napi_get_value_uint32(env, argv[1], &id) != napi_ok) {
        return NULL;
    }
    for (ear **at = &store->changes->ears; *at != NULL; at = &(*at)->next) {
        ear *one = *at;
        if (one->id == id) {
            *at = one->next;
            ear_end(store, one);
            break;
        }
    }
    if (store->changes->ears == NULL) {
        kn_changes_stop(store);
    }
    return NULL;
}

/* (id): the batch that was waited for is done */
napi_value kn_js_changesDone(napi_env env, napi_callback_info info)
{
    napi_value argv[1];
    size_t argc = 1;
    kn_store *store = kn_store_arguments(env, info, &argc, argv);
    kn_changes *changes = store != NULL ? store->changes : NULL;
    if (changes != NULL && changes->is_awaited && !changes->is_delivering) {
        changes->is_awaited = false;
        batch_done(changes);
    }
    return NULL;
}
