/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The push lane: one subscription, one poller thread and one hop an object.
 *
 *     poller:  wait_batch (parked) -> leaves the batch in `batch` -> hop -> waits
 *     JS:      deliver: one packed ArrayBuffer for each listener -> wakes the poller
 *
 * The poller takes the next batch only when the last was delivered whole, so
 * at most one hop is under way and everything else waits in the engine's
 * bounded queue; timers and other work run between two hops. A listener that
 * has not finished (per-message delivery is sliced by ts/push.ts) returns true
 * and is waited for until pushDone.
 *
 * Stopping is in node_listen.c.
 */
#include "node_push.h"

#include <string.h>

static void listener_free(napi_env env, kn_listener *of)
{
    if (env != NULL && of->callback != NULL) {
        (void)napi_delete_reference(env, of->callback);
    }
    free(of->name);
    free(of);
}

void kn_push_free(kn_push *push)
{
    kevy_buf_free(push->batch.ptr, push->batch.len, push->batch.cap);
    pthread_cond_destroy(&push->moved);
    pthread_mutex_destroy(&push->lock);
    free(push);
}

/* ---- the poller ---- */

/* Leaves the batch for JavaScript. False when the lane is at its end. */
static bool batch_hand_over(kn_push *push, napi_threadsafe_function hop)
{
    pthread_mutex_lock(&push->lock);
    bool goes_on = !push->is_stopping;
    push->is_full = goes_on;
    pthread_mutex_unlock(&push->lock);
    if (!goes_on) {
        return false;
    }
    if (!kn_hop_send(hop, &push->landing)) {
        pthread_mutex_lock(&push->lock);
        push->is_full = false;
        pthread_mutex_unlock(&push->lock);
        return false;
    }
    pthread_mutex_lock(&push->lock);
    while (push->is_full && !push->is_stopping) {
        pthread_cond_wait(&push->moved, &push->lock);
    }
    goes_on = !push->is_stopping && push->status >= 0;
    pthread_mutex_unlock(&push->lock);
    return goes_on;
}

static bool is_stopping(kn_push *push)
{
    pthread_mutex_lock(&push->lock);
    bool stopping = push->is_stopping;
    pthread_mutex_unlock(&push->lock);
    return stopping;
}

/* Waits for a batch, counting the acknowledgements before it. */
static int32_t batch_wait(kn_push *push)
{
    const uint32_t flags = KEVY_BATCH_PATTERNS | KEVY_BATCH_ACKS;
    int32_t status;
    push->acks = 0;
    while ((status = kevy_sub_wait_batch(push->sub, 0, flags, 0, &push->batch, &push->count,
                                         &push->dropped)) >= 0 &&
           push->count == 0) {
        if (status == 0 && is_stopping(push)) {
            break;
        }
        push->acks += status == 1;
    }
    return status;
}

void *kn_push_poll(void *data)
{
    kn_push *push = data;
    napi_threadsafe_function hop = push->store->door->hop;
    bool goes_on = true;
    while (goes_on) {
        push->status = batch_wait(push);
        goes_on = push->status != 0 && batch_hand_over(push, hop);
    }
    return NULL;
}

/* ---- delivery, on JavaScript's thread ---- */

/* One message of a batch: pattern, channel and payload, each with its length before. */
typedef struct message {
    const uint8_t *pattern; /* NULL: by the name of its channel */
    const uint8_t *channel, *payload;
    size_t pattern_len, channel_len, payload_len;
} message;

static const uint8_t *part_read(const uint8_t *at, const uint8_t **out, size_t *len_out)
{
    uint32_t len =
        (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    *out = len == KEVY_MISSING ? NULL : at + 4;
    *len_out = len == KEVY_MISSING ? 0 : len;
    return at + 4 + *len_out;
}

static const uint8_t *message_read(const uint8_t *at, message *out)
{
    at = part_read(at, &out->pattern, &out->pattern_len);
    at = part_read(at, &out->channel, &out->channel_len);
    return part_read(at, &out->payload, &out->payload_len);
}

static bool is_for(const message *of, const kn_listener *to)
{
    const uint8_t *name = of->pattern != NULL ? of->pattern : of->channel;
    size_t len = of->pattern != NULL ? of->pattern_len : of->channel_len;
    return (of->pattern != NULL) == to->is_pattern && len == to->name_len &&
           memcmp(name, to->name, len) == 0;
}

/* What a listener gets of a message, as it lies in the batch: the payload, to a pattern's listener
 * with the channel before it. */
static const uint8_t *part_for(const message *of, const kn_listener *to, size_t *len_out)
{
    const uint8_t *start = (to->is_pattern ? of->channel : of->payload) - 4;
    *len_out = (size_t)(of->payload + of->payload_len - start);
    return start;
}

/* The messages for one listener as a packed ArrayBuffer; NULL when there is
 * none or an exception is pending. */
static napi_value batch_pack(kn_push *push, const kn_listener *to, uint32_t *count_out)
{
    message one;
    size_t size = 0, part_len;
    const uint8_t *end = push->batch.ptr + push->batch.len;
    *count_out = 0;
    for (const uint8_t *at = push->batch.ptr; at != end;) {
        at = message_read(at, &one);
        if (is_for(&one, to)) {
            (void)part_for(&one, to, &part_len);
            size += part_len;
            ++*count_out;
        }
    }
    uint8_t *out;
    napi_value packed = *count_out > 0 ? kn_buffer_new(push->store->door, size, &out) : NULL;
    if (packed == NULL) {
        return NULL;
    }
    for (const uint8_t *at = push->batch.ptr; at != end;) {
        at = message_read(at, &one);
        if (is_for(&one, to)) {
            const uint8_t *part = part_for(&one, to, &part_len);
            memcpy(out, part, part_len);
            out += part_len;
        }
    }
    return packed;
}

static void listener_call(napi_env env, kn_push *push, kn_listener *to)
{
    napi_handle_scope scope;
    napi_value argv[3], callback, undefined, result;
    uint32_t count;
    bool waits = false;
    if (napi_open_handle_scope(env, &scope) != napi_ok) {
        return;
    }
    to->dropped += (double)push->dropped;
    argv[0] = batch_pack(push, to, &count);
    if (argv[0] != NULL && napi_create_uint32(env, count, &argv[1]) == napi_ok &&
        napi_create_double(env, to->dropped, &argv[2]) == napi_ok &&
        napi_get_reference_value(env, to->callback, &callback) == napi_ok &&
        napi_get_undefined(env, &undefined) == napi_ok) {
        to->dropped = 0;
        push->pending++;
        if (napi_call_function(env, undefined, callback, 3, argv, &result) == napi_ok) {
            (void)napi_get_value_bool(env, result, &waits);
        }
        push->pending -= !waits;
    }
    kn_exception_report(env);
    (void)napi_close_handle_scope(env, scope);
}

void kn_push_sweep(napi_env env, kn_push *push)
{
    for (kn_listener **at = &push->listeners; *at != NULL;) {
        kn_listener *one = *at;
        if (one->is_removed) {
            *at = one->next;
            listener_free(env, one);
        } else {
            at = &one->next;
        }
    }
}

void kn_push_batch_done(kn_push *push)
{
    kevy_buf_free(push->batch.ptr, push->batch.len, push->batch.cap);
    push->batch = (KevyBuf){NULL, 0, 0};
    pthread_mutex_lock(&push->lock);
    push->is_full = false;
    pthread_cond_signal(&push->moved);
    pthread_mutex_unlock(&push->lock);
}

static void deliver(napi_env env, kn_push *push)
{
    push->is_delivering = true;
    if (push->status < 0) {
        (void)kn_fail(env, KN_ERROR, push->status == -1 ? "KEVY_ECLOSED" : "KEVY_ENOMEM",
                      "the push lane has ended");
        kn_exception_report(env);
    } else {
        push->met += push->acks;
        for (kn_listener *to = push->listeners; to != NULL && push->store != NULL; to = to->next) {
            if (!to->is_removed && to->since <= push->met) {
                listener_call(env, push, to);
            }
        }
    }
    push->is_delivering = false;
    kn_push_sweep(env, push);
    if (push->store != NULL && push->pending == 0) {
        kn_push_batch_done(push);
    }
}

void kn_push_land(napi_env env, kn_landing *landing)
{
    kn_push *push = (kn_push *)landing;
    if (env != NULL && push->store != NULL) {
        deliver(env, push);
    }
    if (push->store == NULL) {
        kn_push_free(push);
    }
}
