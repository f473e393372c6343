/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Reading a subscription: one frame, one payload, or a batch of payloads; at
 * once or after sleeping.
 *
 * The buffer for a frame is allocated without the lock and before the frame
 * leaves its queue, so that a failed allocation loses nothing; another reader
 * may have taken that frame meanwhile, then the next one is looked at. Bytes
 * are copied without the lock: the taken entry holds the message.
 */
#include "kevy/src/bus/bus_await.h"
#include "kevy/src/bus/bus_frame.h"
#include "kevy/src/bus/bus_inner.h"

/* Blocks that a run frees are given back by slabs; for so many there is room. */
#ifdef KEVY_HOSTILE
#define TAKE_RETURNS 2u
#else
#define TAKE_RETURNS 32u
#endif

/* How many messages ahead their cache lines are asked for. */
#define TAKE_AHEAD 8u

#define TAKE_BATCH_BYTES ((size_t)1 << 20)

/* Lets publishers in that wait for room. Woken for each message of a batch, they would sleep again
 * after each: in a batch it is when half of the room is free, and at its end. */
static void take_make_room(struct kv_hold *hold, const struct kv_sub *sub, bool is_end)
{
    if (is_end || (kv_queue_count(&sub->queue) <= sub->count_max / 2 &&
                   sub->queue.bytes <= sub->bytes_max / 2)) {
        kv_hold_wake_all(hold, &hold->bus->room);
    }
}

/* Allocates or enlarges a buffer without the lock; an empty value still has an address. */
static bool take_reserve(struct kv_hold *hold, KevyBuf *buf, size_t size)
{
    size_t cap = size == 0 ? 1 : size;
    kv_hold_leave(hold);
    uint8_t *ptr = (uint8_t *)kv_mem_resize(hold->bus->bufs, buf->ptr, buf->cap, cap);
    kv_hold_again(hold);
    if (ptr != NULL) {
        buf->ptr = ptr;
        buf->cap = cap;
    }
    return ptr != NULL;
}

/* Returns the size of what comes out next, as the caller wants it. */
static size_t take_front_size(struct kv_sub *sub, bool is_frame)
{
    struct kv_ack *ack = kv_queue_front_ack(&sub->queue);
    if (ack != NULL) {
        return kv_frame_ack_size(ack);
    }
    struct kv_entry *entry = kv_queue_slot(&sub->queue, sub->queue.head);
    return is_frame ? kv_frame_message_size(entry) : entry->payload_size;
}

/* Takes out what comes next and writes it to a buffer that is large enough. */
static void take_front(struct kv_hold *hold, struct kv_sub *sub, bool is_frame, uint8_t *to)
{
    struct kv_ack *ack = kv_queue_front_ack(&sub->queue);
    if (ack != NULL) {
        kv_frame_write_ack(ack, to);
        kv_queue_drop_ack(hold, &sub->queue);
        return;
    }
    struct kv_entry entry = *kv_queue_slot(&sub->queue, sub->queue.head);
    kv_queue_advance(hold, &sub->queue, 1, kv_entry_weight(&entry));
    take_make_room(hold, sub, true);
    kv_hold_leave(hold);
    if (is_frame) {
        kv_frame_write_message(&entry, to);
    } else {
        memcpy(to, kv_message_payload(entry.message).data, entry.message->payload_size);
    }
    kv_hold_again(hold);
    kv_entry_drop(hold, &entry);
}

/* The four functions of one frame or payload. */
static int32_t take_one(struct kv_sub *sub, struct kv_wish wish, KevyBuf *out)
{
    struct kv_hold hold;
    KevyBuf buf = {NULL, 0, 0};
    *out = buf;
    kv_sub_enter(&hold, sub);
    struct kv_mem *bufs = sub->bus->bufs;
    int32_t result;
    while ((result = kv_sub_await(&hold, sub, &wish)) == 1) {
        buf.len = take_front_size(sub, wish.wants_acks);
        if (buf.ptr != NULL && buf.len <= buf.cap) {
            take_front(&hold, sub, wish.wants_acks, buf.ptr);
            break;
        }
        if (!take_reserve(&hold, &buf, buf.len)) {
            result = KEVY_ENOMEM;
            break;
        }
    }
    kv_sub_exit(&hold, sub);
    if (result == 1) {
        *out = buf;
    } else if (buf.ptr != NULL) {
        kv_mem_free(bufs, buf.ptr, buf.cap);
    }
    return result;
}

int32_t kv_sub_next(struct kv_sub *sub, KevyBuf *out)
{
    return take_one(sub, (struct kv_wish){.wants_acks = true}, out);
}

int32_t kv_sub_next_raw(struct kv_sub *sub, KevyBuf *out)
{
    return take_one(sub, (struct kv_wish){.wants_acks = false}, out);
}

int32_t kv_sub_wait(struct kv_sub *sub, uint64_t timeout_ms, KevyBuf *out)
{
    struct kv_wish wish = {.wants_acks = true, .may_sleep = true, .timeout_ms = timeout_ms};
    return take_one(sub, wish, out);
}

int32_t kv_sub_wait_raw(struct kv_sub *sub, uint64_t timeout_ms, KevyBuf *out)
{
    struct kv_wish wish = {.may_sleep = true, .ends_with_ack = true, .timeout_ms = timeout_ms};
    return take_one(sub, wish, out);
}

/* ---- Batches ---- */

struct take_batch {
    KevyBuf buf;
    size_t limit;
    uint32_t count;
    bool has_channels;
    bool has_patterns;
    bool has_acks;   /* each is a batch of its own */
    bool has_topics; /* some entries of the run refer to a pattern */
    uint64_t dropped;
    uint32_t run_count;
    uint32_t return_count;
    struct kv_entry run[KV_TAKE_RUN];
    struct kv_returns returns[TAKE_RETURNS];
};

static size_t batch_entry_size(const struct take_batch *batch, const struct kv_entry *entry)
{
    size_t size = 4 + (size_t)entry->payload_size;
    if (batch->has_channels) {
        size += 4 + (size_t)entry->channel_size;
    }
    if (batch->has_patterns) {
        size += 4 + (entry->pattern != NULL ? (size_t)entry->pattern->name_size : 0);
    }
    return size;
}

/* Returns what each message takes beside its bytes: lengths, and a guess at the patterns. */
static uint32_t batch_each(const struct take_batch *batch)
{
    return batch->has_patterns ? 32 : 8;
}

/* Returns what the buffer must hold at least (the first message) or should hold (all of them, up
 * to the limit). */
static size_t batch_size_wanted(const struct take_batch *batch, struct kv_sub *sub)
{
    struct kv_entry *first = kv_queue_slot(&sub->queue, sub->queue.head);
    size_t least = batch_entry_size(batch, first);
    uint64_t all = sub->queue.bytes + (uint64_t)kv_queue_count(&sub->queue) * batch_each(batch);
    size_t most = all < batch->limit ? (size_t)all : batch->limit;
    return least > most ? least : most;
}

/* Returns how many messages the next run may have: with acknowledgements up to the next of them. */
static uint32_t batch_run_max(const struct take_batch *batch, const struct kv_queue *queue)
{
    uint64_t most = kv_queue_count(queue);
    if (batch->has_acks && queue->first_ack != NULL) {
        most = queue->first_ack->position - queue->head;
    }
    return most < KV_TAKE_RUN ? (uint32_t)most : KV_TAKE_RUN;
}

/* Takes out the next run: what fits the limit and the buffer, up to a gap. Sizes are counted here,
 * bytes are copied later. */
static void batch_take_run(struct take_batch *batch, struct kv_hold *hold, struct kv_sub *sub)
{
    struct kv_queue *queue = &sub->queue;
    size_t most = batch->limit < batch->buf.cap ? batch->limit : batch->buf.cap;
    size_t len = batch->buf.len, weight = 0;
    uint32_t left = batch_run_max(batch, queue), count = 0;
    batch->has_topics = false;
    for (; count < left; count++) {
        const struct kv_entry *entry = kv_queue_slot(queue, queue->head + count);
        size_t size = batch_entry_size(batch, entry);
        if (batch->count + count > 0 && (entry->dropped > 0 || len + size > most)) {
            break;
        }
        len += size;
        weight += kv_entry_weight(entry);
        batch->has_topics |= entry->pattern != NULL;
        batch->run[count] = *entry;
    }
    if (batch->count == 0 && count > 0) {
        batch->dropped = batch->run[0].dropped;
    }
    batch->buf.len = len;
    batch->count += count;
    batch->run_count = count;
    kv_queue_advance(hold, queue, count, weight);
    if (!batch->has_acks) {
        (void)kv_sub_skip_acks(hold, sub);
    }
}

static uint8_t *batch_copy_field(uint8_t *to, struct bytes field)
{
    store_u32(to, (uint32_t)field.size);
    if (field.size > 0) {
        memcpy(to + 4, field.data, field.size);
    }
    return to + 4 + field.size;
}

static uint8_t *batch_copy_pattern(uint8_t *to, const struct kv_topic *pattern)
{
    if (pattern == NULL) {
        store_u32(to, KEVY_MISSING);
        return to + 4;
    }
    return batch_copy_field(to, kv_topic_name(pattern));
}

/* Messages come from another core: their first lines are asked for some steps ahead. */
static void batch_fetch_ahead(const struct take_batch *batch, uint32_t i)
{
    if (i + TAKE_AHEAD < batch->run_count) {
        const struct kv_entry *entry = &batch->run[i + TAKE_AHEAD];
        kv_cpu_fetch(entry->message);
        if (kv_message_size(kv_entry_weight(entry)) > KV_POOL_STEP) {
            kv_cpu_fetch((const uint8_t *)entry->message + KV_POOL_STEP);
        }
    }
}

static uint8_t *batch_copy_run(const struct take_batch *batch, uint8_t *to)
{
    for (uint32_t i = 0; i < batch->run_count; i++) {
        batch_fetch_ahead(batch, i);
        const struct kv_message *message = batch->run[i].message;
        if (batch->has_patterns) {
            to = batch_copy_pattern(to, batch->run[i].pattern);
        }
        if (batch->has_channels) {
            to = batch_copy_field(to, kv_message_channel(message));
        }
        to = batch_copy_field(to, kv_message_payload(message));
    }
    return to;
}

/* Gives back the blocks that were noted; under the lock. */
static void batch_return(struct take_batch *batch, struct kv_hold *hold)
{
    for (uint32_t i = 0; i < batch->return_count; i++) {
        kv_pool_return(&hold->bus->pool, &batch->returns[i], &hold->trash);
    }
    batch->return_count = 0;
}

/* Notes a block of a slab; those of one slab follow one another. */
static void batch_note_return(struct take_batch *batch, struct kv_hold *hold,
                              const struct kv_message *message)
{
    uint32_t last = batch->return_count;
    if (last == 0 || batch->returns[last - 1].slab != message->slab) {
        if (last == TAKE_RETURNS) {
            kv_hold_again(hold);
            batch_return(batch, hold);
            kv_hold_leave(hold);
            last = 0;
        }
        batch->returns[last] = (struct kv_returns){.slab = message->slab};
        batch->return_count = ++last;
    }
    batch->returns[last - 1].blocks[message->block / 64] |= UINT64_C(1) << message->block % 64;
}

/* Gives up the references of the run; without the lock. */
static void batch_drop_messages(struct take_batch *batch, struct kv_hold *hold)
{
    for (uint32_t i = 0; i < batch->run_count; i++) {
        struct kv_message *message = batch->run[i].message;
        if (!kv_message_unref(message)) {
            continue;
        }
        if (message->slab == NULL) {
            kv_mem_free(&hold->bus->mem, message, kv_message_size(kv_message_weight(message)));
        } else {
            batch_note_return(batch, hold, message);
        }
    }
}

/* And those to patterns, under the lock. */
static void batch_drop_patterns(const struct take_batch *batch, struct kv_hold *hold)
{
    for (uint32_t i = 0; batch->has_topics && i < batch->run_count; i++) {
        if (batch->run[i].pattern != NULL) {
            kv_topic_drop(hold, batch->run[i].pattern);
        }
    }
}

/* Takes out and copies run after run; the buffer holds at least the first message. A run that is
 * not full is the last: what came while it was copied is better left to the next batch than fetched
 * one by one. */
static void batch_fill(struct take_batch *batch, struct kv_hold *hold, struct kv_sub *sub)
{
    uint8_t *to = batch->buf.ptr;
    do {
        batch_take_run(batch, hold, sub);
        take_make_room(hold, sub, batch->run_count < KV_TAKE_RUN);
        kv_hold_leave(hold);
        to = batch_copy_run(batch, to);
        batch_drop_messages(batch, hold);
        kv_hold_again(hold);
        batch_return(batch, hold);
        batch_drop_patterns(batch, hold);
    } while (batch->run_count == KV_TAKE_RUN);
    ASSERT(to == batch->buf.ptr + batch->buf.len);
}

static int32_t batch_wait(struct take_batch *batch, struct kv_sub *sub, struct kv_wish *wish)
{
    struct kv_hold hold;
    kv_sub_enter(&hold, sub);
    struct kv_mem *bufs = sub->bus->bufs;
    bool has_reserved = false;
    int32_t result;
    while ((result = kv_sub_await(&hold, sub, wish)) == 1) {
        if (kv_queue_front_ack(&sub->queue) != NULL) {
            kv_queue_drop_ack(&hold, &sub->queue);
            break;
        }
        struct kv_entry *first = kv_queue_slot(&sub->queue, sub->queue.head);
        /* Once room was made for all, what came since is left to the next batch. */
        size_t size = has_reserved ? batch_entry_size(batch, first) : batch_size_wanted(batch, sub);
        if (batch->buf.ptr != NULL && size <= batch->buf.cap) {
            batch_fill(batch, &hold, sub);
            break;
        }
        has_reserved = true;
        if (!take_reserve(&hold, &batch->buf, batch_size_wanted(batch, sub))) {
            result = KEVY_ENOMEM;
            break;
        }
    }
    kv_sub_exit(&hold, sub);
    if (batch->count == 0 && batch->buf.ptr != NULL) {
        kv_mem_free(bufs, batch->buf.ptr, batch->buf.cap);
        batch->buf = (KevyBuf){NULL, 0, 0};
    }
    return result;
}

int32_t kv_sub_wait_batch(struct kv_sub *sub, uint64_t timeout_ms, uint32_t flags, size_t bytes_max,
                          KevyBuf *out, uint32_t *count_out, uint64_t *dropped_out)
{
    struct take_batch batch;
    struct kv_wish wish = {.wants_acks = (flags & KEVY_BATCH_ACKS) != 0,
                           .may_sleep = (flags & KEVY_BATCH_NOWAIT) == 0,
                           .timeout_ms = timeout_ms};
    batch.buf = (KevyBuf){NULL, 0, 0};
    batch.limit = bytes_max == 0 ? TAKE_BATCH_BYTES : bytes_max;
    batch.count = 0;
    batch.return_count = 0;
    batch.has_channels = (flags & KEVY_BATCH_CHANNELS) != 0;
    batch.has_patterns = (flags & KEVY_BATCH_PATTERNS) == KEVY_BATCH_PATTERNS;
    batch.has_acks = (flags & KEVY_BATCH_ACKS) != 0;
    batch.dropped = 0;
    if (wish.may_sleep) {
        wish.gathers = &batch.buf;
        wish.gathers_max = batch.limit;
        wish.gathers_each = batch_each(&batch);
    }
    int32_t result = batch_wait(&batch, sub, &wish);
    *out = result == 1 ? batch.buf : (KevyBuf){NULL, 0, 0};
    *count_out = result == 1 ? batch.count : 0;
    if (dropped_out != NULL) {
        *dropped_out = result == 1 ? batch.dropped : 0;
    }
    return result;
}
