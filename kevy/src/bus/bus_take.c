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
#include "kevy/src/bus/bus_frame.h"
#include "kevy/src/bus/bus_inner.h"

/* A batch takes its entries out in runs of this length. */
#ifdef KEVY_HOSTILE
#define TAKE_RUN 3u
#else
#define TAKE_RUN 128u
#endif

/* How many messages ahead their cache lines are asked for. */
#define TAKE_AHEAD 8u

/* Looks at a queue that was found empty before sleeping on it: about as long as a wake costs the
 * publisher. In a stream that is a message or many, when idle it happens once. */
#define TAKE_LOOKS 50u

#define TAKE_BATCH_BYTES ((size_t)1 << 20)

#define TAKE_NS_PER_MS UINT64_C(1000000)

/* How a caller waits, and for what. */
struct take_wish {
    bool wants_acks;    /* acknowledgements are frames; otherwise they are skipped */
    bool may_sleep;     /* false: only what is there now */
    bool ends_with_ack; /* skipping an acknowledgement ends the wait */
    uint64_t timeout_ms;
    uint64_t deadline_ns; /* 0: not yet known */
    uint32_t wake_epoch;
    bool has_begun;
    bool has_looked;
    bool gathers; /* having found some, waits a moment for more */
};

/* Says whether kv_sub_wake ends this wait. */
static bool take_is_woken(struct kv_sub *sub, struct take_wish *wish)
{
    if (!wish->may_sleep) {
        return false;
    }
    if (!wish->has_begun) {
        wish->has_begun = true;
        wish->wake_epoch = sub->wake_epoch;
    }
    if (sub->wakes_next) {
        sub->wakes_next = false;
        return true;
    }
    return wish->wake_epoch != sub->wake_epoch;
}

/* While messages stream in, a batch that is taken too early is a batch of a few: each then costs
 * both sides the lock and its cache lines, which slows the publisher down, so that the next is not
 * larger. So a batch that found messages without sleeping looks on as long as more come: at such
 * intervals, since each look costs the publisher a cache line, and so often. */
#define TAKE_GLANCE_NS 500u /* the first: is the publisher running at all, on another core? */
#define TAKE_GATHER_NS 2000u
#define TAKE_GATHER_LOOKS 6u

/* Asks for the lines of entries that were written on another core, so that taking them out under
 * the lock does not wait. The array may be gone meanwhile: nothing is read. */
static void fetch_entries(const struct kv_entry *entries, uint32_t capacity, uint32_t first,
                          uint32_t end)
{
    uint32_t count = end - first;
    for (uint32_t i = 0; i < count && i < TAKE_RUN; i += 2) {
        kv_cpu_fetch(entries + ((first + i) & (capacity - 1)));
    }
}

static void pause_ns(uint64_t ns)
{
    for (uint64_t end = kv_mono_ns() + ns; kv_mono_ns() < end;) {
        kv_cpu_relax();
    }
}

/* Looks until nothing has come for a moment, or a run has; without the lock. */
static void take_gather(struct kv_hold *hold, struct kv_sub *sub)
{
    const struct kv_entry *entries = sub->queue.entries;
    uint32_t capacity = sub->queue.capacity, first = (uint32_t)sub->queue.head;
    uint32_t seen = (uint32_t)sub->queue.tail, arrivals = seen;
    kv_hold_leave(hold);
    for (uint32_t look = 0; look < TAKE_GATHER_LOOKS && arrivals - first < TAKE_RUN; look++) {
        pause_ns(look == 0 ? TAKE_GLANCE_NS : TAKE_GATHER_NS);
        arrivals = atomic_load_explicit(&sub->arrivals, memory_order_relaxed);
        if (arrivals == seen) {
            break;
        }
        seen = arrivals;
    }
    fetch_entries(entries, capacity, first, arrivals);
    kv_hold_again(hold);
}

/* Waits a moment for a message, without the lock. */
static void take_look(struct kv_hold *hold, struct kv_sub *sub)
{
    uint32_t arrivals = (uint32_t)sub->queue.tail;
    kv_hold_leave(hold);
    for (uint32_t i = 0; i < TAKE_LOOKS; i++) {
        if (atomic_load_explicit(&sub->arrivals, memory_order_relaxed) != arrivals) {
            break;
        }
        kv_cpu_relax();
    }
    kv_hold_again(hold);
}

static bool take_sleep(struct kv_hold *hold, struct kv_sub *sub, struct take_wish *wish)
{
    if (wish->deadline_ns == 0) {
        bool is_endless = wish->timeout_ms == 0 || wish->timeout_ms > KV_FOREVER / TAKE_NS_PER_MS;
        wish->deadline_ns =
            is_endless ? KV_FOREVER : kv_mono_after(wish->timeout_ms * TAKE_NS_PER_MS);
    }
    return kv_hold_sleep(hold, &sub->waiters, wish->deadline_ns);
}

/* Drops the acknowledgements that come out next; true if there were any. */
static bool take_skip_acks(struct kv_hold *hold, struct kv_sub *sub)
{
    bool has_skipped = false;
    while (kv_queue_front_ack(&sub->queue) != NULL) {
        kv_queue_drop_ack(hold, &sub->queue);
        has_skipped = true;
    }
    return has_skipped;
}

/* Waits until something is queued: 1. 0 when there is nothing and no reason to wait on. */
static int32_t take_await(struct kv_hold *hold, struct kv_sub *sub, struct take_wish *wish)
{
    bool is_in_time = true;
    for (;;) {
        if (sub->is_inert) {
            return KEVY_ECLOSED;
        }
        if (take_is_woken(sub, wish)) {
            return 0;
        }
        bool has_skipped = !wish->wants_acks && take_skip_acks(hold, sub);
        if (!kv_queue_is_empty(&sub->queue)) {
            if (!wish->gathers || kv_queue_count(&sub->queue) >= TAKE_RUN) {
                return 1;
            }
            wish->gathers = false;
            take_gather(hold, sub);
            continue;
        }
        if (!wish->may_sleep || !is_in_time || (has_skipped && wish->ends_with_ack)) {
            return 0;
        }
        if (!wish->has_looked) {
            wish->has_looked = true;
            take_look(hold, sub);
        } else {
            is_in_time = take_sleep(hold, sub, wish);
            wish->gathers = false;
        }
    }
}

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
    struct kv_entry entry = kv_queue_pop(hold, &sub->queue);
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
static int32_t take_one(struct kv_sub *sub, struct take_wish wish, KevyBuf *out)
{
    struct kv_hold hold;
    KevyBuf buf = {NULL, 0, 0};
    *out = buf;
    kv_sub_enter(&hold, sub);
    struct kv_mem *bufs = sub->bus->bufs;
    int32_t result;
    while ((result = take_await(&hold, sub, &wish)) == 1) {
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
    return take_one(sub, (struct take_wish){.wants_acks = true}, out);
}

int32_t kv_sub_next_raw(struct kv_sub *sub, KevyBuf *out)
{
    return take_one(sub, (struct take_wish){.wants_acks = false}, out);
}

int32_t kv_sub_wait(struct kv_sub *sub, uint64_t timeout_ms, KevyBuf *out)
{
    struct take_wish wish = {.wants_acks = true, .may_sleep = true, .timeout_ms = timeout_ms};
    return take_one(sub, wish, out);
}

int32_t kv_sub_wait_raw(struct kv_sub *sub, uint64_t timeout_ms, KevyBuf *out)
{
    struct take_wish wish = {.may_sleep = true, .ends_with_ack = true, .timeout_ms = timeout_ms};
    return take_one(sub, wish, out);
}

/* ---- Batches ---- */

struct take_batch {
    KevyBuf buf;
    size_t limit;
    uint32_t count;
    bool has_channels;
    bool has_patterns;
    bool has_acks; /* each is a batch of its own */
    uint64_t dropped;
    uint32_t run_count;
    struct kv_entry run[TAKE_RUN];
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

/* Returns what the buffer must hold at least (the first message) or should hold (all of them, up
 * to the limit). */
static size_t batch_size_wanted(const struct take_batch *batch, struct kv_sub *sub)
{
    struct kv_entry *first = kv_queue_slot(&sub->queue, sub->queue.head);
    size_t least = batch_entry_size(batch, first);
    uint64_t each = batch->has_patterns ? 32 : 8; /* lengths, and a guess at the patterns */
    uint64_t all = sub->queue.bytes + kv_queue_count(&sub->queue) * each;
    size_t most = all < batch->limit ? (size_t)all : batch->limit;
    return least > most ? least : most;
}

/* Takes out the next run: what fits the limit and the buffer, up to a gap. Sizes are counted here,
 * bytes are copied later. */
static void batch_take_run(struct take_batch *batch, struct kv_hold *hold, struct kv_sub *sub)
{
    struct kv_queue *queue = &sub->queue;
    size_t most = batch->limit < batch->buf.cap ? batch->limit : batch->buf.cap;
    batch->run_count = 0;
    while (batch->run_count < TAKE_RUN) {
        if (!batch->has_acks) {
            (void)take_skip_acks(hold, sub);
        }
        if (kv_queue_count(queue) == 0 || kv_queue_front_ack(queue) != NULL) {
            break;
        }
        struct kv_entry *entry = kv_queue_slot(queue, queue->head);
        size_t size = batch_entry_size(batch, entry);
        bool is_first = batch->count == 0;
        if (!is_first && (entry->dropped > 0 || batch->buf.len + size > most)) {
            break;
        }
        if (is_first) {
            batch->dropped = entry->dropped;
        }
        batch->run[batch->run_count++] = kv_queue_pop(hold, &sub->queue);
        batch->buf.len += size;
        batch->count++;
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

/* Messages come from another core. They are asked for some steps ahead and for writing, so that
 * giving up the references later, under the lock, does not wait for their cache lines. */
static uint8_t *batch_copy_run(const struct take_batch *batch, uint8_t *to)
{
    for (uint32_t i = 0; i < batch->run_count; i++) {
        if (i + TAKE_AHEAD < batch->run_count) {
            kv_cpu_fetch(batch->run[i + TAKE_AHEAD].message);
        }
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

/* Takes out and copies run after run; the buffer holds at least the first message. A run that is
 * not full is the last: what came while it was copied is better left to the next batch than fetched
 * one by one. */
static void batch_fill(struct take_batch *batch, struct kv_hold *hold, struct kv_sub *sub)
{
    uint8_t *to = batch->buf.ptr;
    do {
        batch_take_run(batch, hold, sub);
        take_make_room(hold, sub, batch->run_count < TAKE_RUN);
        kv_hold_leave(hold);
        to = batch_copy_run(batch, to);
        kv_hold_again(hold);
        for (uint32_t i = 0; i < batch->run_count; i++) {
            kv_entry_drop(hold, &batch->run[i]);
        }
    } while (batch->run_count == TAKE_RUN);
    ASSERT(to == batch->buf.ptr + batch->buf.len);
}

static int32_t batch_wait(struct take_batch *batch, struct kv_sub *sub, struct take_wish *wish)
{
    struct kv_hold hold;
    kv_sub_enter(&hold, sub);
    struct kv_mem *bufs = sub->bus->bufs;
    int32_t result;
    while ((result = take_await(&hold, sub, wish)) == 1) {
        if (kv_queue_front_ack(&sub->queue) != NULL) {
            kv_queue_drop_ack(&hold, &sub->queue);
            break;
        }
        struct kv_entry *first = kv_queue_slot(&sub->queue, sub->queue.head);
        if (batch->buf.ptr != NULL && batch_entry_size(batch, first) <= batch->buf.cap) {
            batch_fill(batch, &hold, sub);
            break;
        }
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
    struct take_wish wish = {.wants_acks = (flags & KEVY_BATCH_ACKS) != 0,
                             .may_sleep = (flags & KEVY_BATCH_NOWAIT) == 0,
                             .gathers = (flags & KEVY_BATCH_NOWAIT) == 0,
                             .timeout_ms = timeout_ms};
    batch.buf = (KevyBuf){NULL, 0, 0};
    batch.limit = bytes_max == 0 ? TAKE_BATCH_BYTES : bytes_max;
    batch.count = 0;
    batch.has_channels = (flags & KEVY_BATCH_CHANNELS) != 0;
    batch.has_patterns = (flags & KEVY_BATCH_PATTERNS) == KEVY_BATCH_PATTERNS;
    batch.has_acks = (flags & KEVY_BATCH_ACKS) != 0;
    batch.dropped = 0;
    int32_t result = batch_wait(&batch, sub, &wish);
    *out = result == 1 ? batch.buf : (KevyBuf){NULL, 0, 0};
    *count_out = result == 1 ? batch.count : 0;
    if (dropped_out != NULL) {
        *dropped_out = result == 1 ? batch.dropped : 0;
    }
    return result;
}
