/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Frames: what a subscriber reads, as the RESP2 arrays that a Redis server
 * pushes. Sizes are known before a byte is written, so that the buffer can be
 * allocated before the frame leaves its queue.
 *
 *   message      channel payload            (u)subscribe, p(un)subscribe
 *   pmessage     pattern channel payload      name, names that remain
 */
#ifndef KEVY_SRC_BUS_BUS_FRAME_H
#define KEVY_SRC_BUS_BUS_FRAME_H

#include "kevy/src/bus/bus_queue.h"

size_t kv_frame_message_size(const struct kv_entry *entry);
size_t kv_frame_ack_size(const struct kv_ack *ack);

/* Write exactly that many bytes. */
void kv_frame_write_message(const struct kv_entry *entry, uint8_t *to);
void kv_frame_write_ack(const struct kv_ack *ack, uint8_t *to);

#endif
