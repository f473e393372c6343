/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How a reader waits for what it takes (bus_take.c): looking, gathering,
 * sleeping. Only files of this room include it.
 */
#ifndef KEVY_SRC_BUS_BUS_AWAIT_H
#define KEVY_SRC_BUS_BUS_AWAIT_H

#include "kevy/src/bus/bus_inner.h"

/* A batch takes its entries out in runs of this length. */
#ifdef KEVY_HOSTILE
#define KV_TAKE_RUN 3u
#else
#define KV_TAKE_RUN 256u
#endif

/* How a caller waits, and for what. */
struct kv_wish {
    bool wants_acks;    /* acknowledgements are frames; otherwise they are skipped */
    bool may_sleep;     /* false: only what is there now */
    bool ends_with_ack; /* skipping an acknowledgement ends the wait */
    uint64_t timeout_ms;
    uint64_t deadline_ns; /* 0: not yet known */
    uint32_t wake_epoch;
    bool has_begun;
    bool has_looked;
    KevyBuf *gathers; /* having found some, waits a moment for more; gets room for them */
    size_t gathers_max;
    uint32_t gathers_each; /* what a message takes in it beside its bytes */
};

/* Drops the acknowledgements that come out next; true if there were any. */
bool kv_sub_skip_acks(struct kv_hold *hold, struct kv_sub *sub);

/* Waits until something is queued: 1. 0 when there is nothing and no reason to wait on, or
 * KEVY_ECLOSED. Leaves the lock meanwhile. */
int32_t kv_sub_await(struct kv_hold *hold, struct kv_sub *sub, struct kv_wish *wish);

#endif
