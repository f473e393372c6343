/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The bus: publish and subscribe inside one store. This header is all that
 * the other rooms see of it.
 *
 *   kv_bus    one per store: channels, patterns and the one lock over them
 *   kv_port   one per handle, by value in it: who publishes and subscribes
 *   kv_sub    one subscription: a bounded queue of references to messages
 *
 * A message is copied once and shared by all that receive it. One lock covers
 * names and queues, so every subscriber sees all messages in one order: the
 * receivers of a message are those subscribed at that moment, nothing comes
 * before the acknowledgement of a subscribe, nothing after that of an
 * unsubscribe. Under the lock nothing allocates, frees, wakes or calls out.
 *
 * Waiters sleep in the kernel; a publisher makes a system call only when one
 * sleeps. Every function may be called from any thread at any time, also from
 * a handler that was just given a message.
 *
 * Lifetimes: kv_bus_drop gives up the store's reference; subscriptions hold
 * theirs, so that one left open by a closed store is inert, not dangling.
 *
 * Results: 0 done, 1 a frame, 0 none, < 0 a kevy_status. After an error
 * nothing has changed.
 */
#ifndef KEVY_SRC_BUS_BUS_H
#define KEVY_SRC_BUS_BUS_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/list.h"
#include "kevy.h"
#include "kevy/src/mem/mem.h"

struct kv_bus;
struct kv_sub;

/* ---- The bus of a store ---- */

/* Makes a bus. Its own memory comes from `table`, which must outlive the last subscription; the
 * buffers it hands out come from `bufs`, which must outlive them. `seed` is the store's secret for
 * hashing names. NULL without memory. Yours; give up with kv_bus_drop. */
struct kv_bus *kv_bus_new(const kevy_mem *table, struct kv_mem *bufs, uint64_t seed);

/* Gives up the store's reference, after all its ports are closed. */
void kv_bus_drop(struct kv_bus *bus);

/* Returns the bytes that the bus has allocated now. */
size_t kv_bus_memory(const struct kv_bus *bus);

/* Checks every structure of the bus that can be reached from it; for tests. */
bool kv_bus_verify(struct kv_bus *bus);

/* Returns how many times a sleeping thread was woken; for tests and statistics. */
uint64_t kv_bus_wakes(struct kv_bus *bus);

/* Counts since the bus was made. */
struct kv_bus_stats {
    uint64_t deliveries; /* messages that were queued, once for each receiver */
    uint64_t dropped;    /* messages that full queues dropped or refused, likewise */
    uint64_t wakes;
};
void kv_bus_stats(struct kv_bus *bus, struct kv_bus_stats *out);

/* ---- Ports ---- */

/* A handle's place on the bus. Stays where it is until it is closed. */
struct kv_port {
    struct kv_bus *bus;
    struct list subs; /* kv_sub.port_node; under the lock of the bus */
    bool is_closed;
};

void kv_port_open(struct kv_port *port, struct kv_bus *bus);

/* Makes the port's subscriptions inert: their queues are dropped, their waiters and the publishers
 * that wait for room return KEVY_ECLOSED. Call it before waiting for calls in flight; the port's
 * memory is yours again when those have left. Idempotent. */
void kv_port_close(struct kv_port *port);

/* ---- Publishing ---- */

/* Gives `payload` to every subscriber of `channel` and of the patterns that match it. Returns the
 * deliveries: a message that a full queue refused is none. KEVY_ENOMEM, KEVY_ELIMIT (name or
 * payload over KEVY_SIZE_MAX) and KEVY_ECLOSED: nobody received it. Waits while a receiver whose
 * policy is KEVY_SUB_BLOCK has no room; nobody has received the message until then. A thread that
 * is itself the only one to drain that receiver waits until it is closed. Costs one load when
 * nothing is subscribed, a hash more when nothing of that name is. */
int64_t kv_bus_publish(struct kv_port *port, struct bytes channel, struct bytes payload);

/* As kv_bus_publish, but where that would wait it returns KV_BUS_WOULD_WAIT and nobody has received
 * the message. */
#define KV_BUS_WOULD_WAIT INT64_MIN
int64_t kv_bus_publish_now(struct kv_port *port, struct bytes channel, struct bytes payload);

/* ---- Questions ---- */

/* A list of names: [u32 little-endian size][bytes] each, packed. */
struct kv_names {
    uint8_t *packed;
    size_t size;
    size_t capacity;
    size_t count;
};

/* Lists the channels that have subscribers, those that match the glob `pattern` or all if it is
 * NULL, in no order. 0 or KEVY_ENOMEM. Yours; free with kv_names_done. */
int32_t kv_bus_channels(struct kv_bus *bus, const struct bytes *pattern, struct kv_names *out);
void kv_names_done(struct kv_bus *bus, struct kv_names *names);

/* Returns the subscriptions to a channel (patterns do not count); how many different patterns. */
uint64_t kv_bus_numsub(struct kv_bus *bus, struct bytes channel);
uint64_t kv_bus_numpat(struct kv_bus *bus);

/* ---- Subscriptions ---- */

/* What `is_pattern` of the functions below says. */
#define KV_SUB_CHANNEL false
#define KV_SUB_PATTERN true

/* Makes a subscription with no channels. KEVY_ENOMEM or KEVY_ECLOSED and *out NULL on failure.
 * Yours; free with kv_sub_close. */
int32_t kv_sub_open(struct kv_port *port, struct kv_sub **out);

/* Says whether this process is a forked child of the one that opened `sub`. Then nothing else may
 * be called on it, since the lock of the bus may be held by a thread that is not here. */
bool kv_sub_is_inherited(const struct kv_sub *sub);

/* Unsubscribes from everything, wakes the threads that are inside other calls on `sub`, waits
 * until they have left, and frees. NULL is fine. Legal after the port and the bus are gone. */
void kv_sub_close(struct kv_sub *sub);

/* Adds or removes a name; the acknowledging frame is queued on return, with the number of names
 * that remain, also when the name was there already or was never there. 0, KEVY_ENOMEM,
 * KEVY_ECLOSED, KEVY_ELIMIT (name too long, or 65,536 acknowledgements unread). */
int32_t kv_sub_add(struct kv_sub *sub, struct bytes name, bool is_pattern);
int32_t kv_sub_remove(struct kv_sub *sub, struct bytes name, bool is_pattern);

/* Sets bounds (0 keeps one as it is) and policy, KEVY_SUB_*. With KEVY_SUB_DROP_OLDEST what is over
 * the new bounds is dropped now. A message larger than bytes_max alone is dropped and counted under
 * every policy. 0, KEVY_EMISUSE or KEVY_ECLOSED. */
int32_t kv_sub_limit(struct kv_sub *sub, uint32_t count_max, size_t bytes_max, int32_t policy);

/* Returns how many messages were dropped in all. */
uint64_t kv_sub_dropped(struct kv_sub *sub);

/* Makes the waits on `sub` return 0: those that sleep now, or else the next one that begins. */
int32_t kv_sub_wake(struct kv_sub *sub);

/* As the public functions of these names: 1 and a buffer, 0 nothing (time-out, kv_sub_wake; for
 * wait_raw also: only acknowledgements were there, and are consumed), KEVY_ECLOSED, KEVY_ENOMEM
 * (the frame stays queued). *out is zeroed unless the result is 1. timeout_ms 0 is for ever.
 * Several threads may wait: each frame goes to one of them. */
int32_t kv_sub_next(struct kv_sub *sub, KevyBuf *out);
int32_t kv_sub_next_raw(struct kv_sub *sub, KevyBuf *out);
int32_t kv_sub_wait(struct kv_sub *sub, uint64_t timeout_ms, KevyBuf *out);
int32_t kv_sub_wait_raw(struct kv_sub *sub, uint64_t timeout_ms, KevyBuf *out);

/* As kevy_sub_wait_batch. A batch also ends before a gap, so that *dropped_out (may be NULL) says
 * exactly how many messages are missing before its first one. */
int32_t kv_sub_wait_batch(struct kv_sub *sub, uint64_t timeout_ms, uint32_t flags, size_t bytes_max,
                          KevyBuf *out, uint32_t *count_out, uint64_t *dropped_out);

#endif
