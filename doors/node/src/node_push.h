/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The push lane of one store, shared by node_push.c (poller and delivery) and
 * node_listen.c (start, listeners, stop).
 *
 * Threads: `lock` guards batch, count, dropped, acks, status, is_full and
 * is_stopping; the rest belongs to JavaScript's thread.
 *
 * When a listener begins. Each subscribe and unsubscribe asks the engine for an
 * acknowledgement, which stands in the queue behind the messages that came
 * before. Counted here and there, it lets a listener in: it gets exactly what
 * was published after it was added, also on a channel that others have.
 *
 * Whose it is: the store's, from start to stop. Stopped while a hop is under
 * way or being delivered, it is an orphan (store NULL) and freed by the hop.
 */
#ifndef DOORS_NODE_SRC_NODE_PUSH_H
#define DOORS_NODE_SRC_NODE_PUSH_H

#include "node_door.h"

#include <pthread.h>

typedef struct kn_listener {
    struct kn_listener *next;
    uint8_t *name; /* of the channel, or the pattern */
    size_t name_len;
    bool is_pattern;
    napi_ref callback;
    uint32_t id;
    uint64_t since; /* begins with the acknowledgement of this number */
    double dropped; /* not yet told to this listener */
    bool is_removed;
} kn_listener;

struct kn_push {
    kn_landing landing;
    kn_store *store; /* NULL once stopped */
    KevySub *sub;
    pthread_t poller;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    KevyBuf batch;
    uint32_t count;
    uint64_t dropped;
    uint64_t acks;  /* met right before the batch */
    int32_t status; /* of the last wait: negative ends the lane */
    bool is_full;   /* a hop is under way or being delivered */
    bool is_stopping;
    bool is_delivering;
    uint32_t pending; /* listeners that are still at the batch */
    uint32_t last_id;
    uint64_t asked, met;    /* acknowledgements: asked for, and met on the way here */
    kn_listener *listeners; /* in the order they came */
};

/* The poller's main; `data` is the kn_push. */
void *kn_push_poll(void *data);

/* Where the hop lands. */
void kn_push_land(napi_env env, kn_landing *landing);

/* Gives the batch back and lets the poller bring the next. */
void kn_push_batch_done(kn_push *push);

/* Frees the listeners that were removed; not while a batch is delivered. */
void kn_push_sweep(napi_env env, kn_push *push);

/* The poller has ended, or was never started. */
void kn_push_free(kn_push *push);

#endif
