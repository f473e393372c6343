/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The public functions for publish and subscribe: a KevySub is the bus's
 * kv_sub. See kevy.h and bus.h.
 *
 * Subscriptions outlive their handle, so their functions do not enter its
 * gate; a publish that may wait for room in a queue pins it.
 */
#include "kevy/src/engine/gate.h"

static struct kv_sub *sub_of(KevySub *sub)
{
    return (struct kv_sub *)(void *)sub;
}

/* Says whether a subscription can be used: given, and opened by this process. */
static bool is_ours(KevySub *sub)
{
    return sub != NULL && !kv_sub_is_inherited(sub_of(sub));
}

/* Results of the bus as ABI 1 has them: a closed queue is negative too. */
static int32_t sub_result(int32_t status)
{
    return status >= 0 ? status : status == KEVY_ECLOSED ? -1 : kv_result(status);
}

/* Payloads up to this size are published inside the epoch: a copy of them is short. */
#define PUBLISH_SMALL ((size_t)64 << 10)

/* Publishes without the epoch, which every free would have to wait for. */
static int64_t publish_pinned(KevyDb *db, struct kv_epoch_slot *slot, struct bytes channel,
                              struct bytes payload)
{
    kv_gate_pin(db);
    kv_gate_leave(slot);
    int64_t receivers = kv_bus_publish(&db->port, channel, payload);
    kv_gate_unpin(db);
    return receivers;
}

int64_t kevy_publish(KevyDb *db, const uint8_t *chan, size_t chan_len, const uint8_t *payload,
                     size_t payload_len)
{
    struct kv_epoch_slot *slot;
    struct bytes channel = bytes_of(chan, chan_len), bytes = bytes_of(payload, payload_len);
    int64_t receivers = KV_BUS_WOULD_WAIT;
    if (!kv_is_bytes(chan, chan_len)) {
        return kv_not_bytes(chan);
    }
    if (!kv_is_bytes(payload, payload_len)) {
        return kv_not_bytes(payload);
    }
    int status = kv_gate_enter(db, &slot);
    if (status < 0) {
        return kv_result(status);
    }
    if (payload_len <= PUBLISH_SMALL) {
        receivers = kv_bus_publish_now(&db->port, channel, bytes);
    }
    if (receivers == KV_BUS_WOULD_WAIT) {
        receivers = publish_pinned(db, slot, channel, bytes);
    } else {
        kv_gate_leave(slot);
    }
    return receivers >= 0 ? receivers : sub_result((int32_t)receivers);
}

static KevySub *subscribe(KevyDb *db, struct bytes name, bool is_pattern)
{
    struct kv_epoch_slot *slot;
    struct kv_sub *sub = NULL;
    if (!kv_is_bytes(name.data, name.size)) {
        (void)kv_not_bytes(name.data);
        return NULL;
    }
    int status = kv_gate_enter(db, &slot);
    if (status < 0) {
        (void)kv_result(status);
        return NULL;
    }
    status = kv_sub_open(&db->port, &sub);
    if (status == 0) {
        status = kv_sub_add(sub, name, is_pattern);
    }
    if (status < 0) {
        (void)kv_result(status);
        kv_sub_close(sub);
        sub = NULL;
    }
    kv_gate_leave(slot);
    return (KevySub *)(void *)sub;
}

KevySub *kevy_subscribe(KevyDb *db, const uint8_t *chan, size_t chan_len)
{
    return subscribe(db, bytes_of(chan, chan_len), KV_SUB_CHANNEL);
}

KevySub *kevy_psubscribe(KevyDb *db, const uint8_t *pat, size_t pat_len)
{
    return subscribe(db, bytes_of(pat, pat_len), KV_SUB_PATTERN);
}

void kevy_sub_close(KevySub *sub)
{
    if (is_ours(sub)) {
        kv_sub_close(sub_of(sub));
    }
}

/* Zeroes what a function will fill; false when the call is misused. */
static bool begins(KevySub *sub, KevyBuf *out)
{
    if (out != NULL) {
        *out = (KevyBuf){NULL, 0, 0};
    }
    return is_ours(sub) && out != NULL;
}

int32_t kevy_sub_next(KevySub *sub, KevyBuf *out)
{
    return begins(sub, out) ? sub_result(kv_sub_next(sub_of(sub), out)) : -1;
}

int32_t kevy_sub_next_raw(KevySub *sub, KevyBuf *out)
{
    return begins(sub, out) ? sub_result(kv_sub_next_raw(sub_of(sub), out)) : -1;
}

int32_t kevy_sub_wait(KevySub *sub, uint64_t timeout_ms, KevyBuf *out)
{
    return begins(sub, out) ? sub_result(kv_sub_wait(sub_of(sub), timeout_ms, out)) : -1;
}

int32_t kevy_sub_wait_raw(KevySub *sub, uint64_t timeout_ms, KevyBuf *out)
{
    return begins(sub, out) ? sub_result(kv_sub_wait_raw(sub_of(sub), timeout_ms, out)) : -1;
}

int32_t kevy_sub_wait_batch(KevySub *sub, uint64_t timeout_ms, uint32_t flags, size_t bytes_max,
                            KevyBuf *out, uint32_t *count_out, uint64_t *dropped_out)
{
    if (count_out != NULL) {
        *count_out = 0;
    }
    if (dropped_out != NULL) {
        *dropped_out = 0;
    }
    if (!begins(sub, out) || count_out == NULL ||
        (flags & ~(KEVY_BATCH_PATTERNS | KEVY_BATCH_NOWAIT | KEVY_BATCH_ACKS)) != 0) {
        return -1;
    }
    return sub_result(
        kv_sub_wait_batch(sub_of(sub), timeout_ms, flags, bytes_max, out, count_out, dropped_out));
}

int32_t kevy_sub_add(KevySub *sub, const uint8_t *name, size_t name_len, int32_t is_pattern)
{
    if (!kv_is_bytes(name, name_len)) {
        return kv_not_bytes(name);
    }
    return !is_ours(sub)
               ? -1
               : sub_result(kv_sub_add(sub_of(sub), bytes_of(name, name_len), is_pattern != 0));
}

int32_t kevy_sub_remove(KevySub *sub, const uint8_t *name, size_t name_len, int32_t is_pattern)
{
    if (!kv_is_bytes(name, name_len)) {
        return kv_not_bytes(name);
    }
    return !is_ours(sub)
               ? -1
               : sub_result(kv_sub_remove(sub_of(sub), bytes_of(name, name_len), is_pattern != 0));
}

int32_t kevy_sub_limit(KevySub *sub, uint32_t count_max, size_t bytes_max, int32_t policy)
{
    return !is_ours(sub) ? -1 : sub_result(kv_sub_limit(sub_of(sub), count_max, bytes_max, policy));
}

uint64_t kevy_sub_dropped(KevySub *sub)
{
    return !is_ours(sub) ? 0 : kv_sub_dropped(sub_of(sub));
}

int32_t kevy_sub_wake(KevySub *sub)
{
    return !is_ours(sub) ? -1 : sub_result(kv_sub_wake(sub_of(sub)));
}
