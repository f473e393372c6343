/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the tests of the bus share: a bus with one port, names and payloads as
 * C strings, expectations of frames, and memory that runs out at will.
 */
#ifndef KEVY_TEST_BUS_KIT_H
#define KEVY_TEST_BUS_KIT_H

#include <stdatomic.h>

#include "kevy/src/bus/bus.h"
#include "testing/harness.h"

struct bus_kit {
    struct kv_bus *bus;
    struct kv_port port;
};

/* Memory that counts, and whose allocation number `fail_at` fails (0: none), or all from it on. */
struct kit_mem {
    _Atomic uint64_t calls; /* allocations and growths asked for */
    _Atomic uint64_t fail_at;
    _Atomic bool fails_on;
    _Atomic int64_t used;
};

/* Returns the table over a kit_mem. */
kevy_mem kit_mem_table(struct kit_mem *mem);

void kit_open(struct bus_kit *kit);
void kit_open_over(struct bus_kit *kit, const kevy_mem *table, struct kv_mem *bufs);

/* Checks the bus, closes port and bus. */
void kit_close(struct bus_kit *kit);

struct bytes kit_text(const char *text);

/* Makes a subscription to a channel, or to a pattern, and reads the acknowledgement. */
struct kv_sub *kit_sub(struct bus_kit *kit, const char *name, bool is_pattern);
int64_t kit_publish(struct bus_kit *kit, const char *channel, const char *payload);

/* Publishes the number as its decimal text. */
int64_t kit_publish_number(struct bus_kit *kit, const char *channel, uint64_t number);

/* Each checks what comes out next, without waiting. */
void kit_expect_frame(struct kv_sub *sub, const char *frame);
void kit_expect_raw(struct kv_sub *sub, const char *payload);
void kit_expect_none(struct kv_sub *sub);

/* Returns the number in a decimal payload. */
uint64_t kit_number(const uint8_t *data, size_t size);

/* Waits until `count` threads sleep on the subscription; fails the test after half a minute. */
void kit_await_parked(struct kv_sub *sub, uint32_t count);

/* The same for publishers that wait for room. */
void kit_await_blocked(struct kv_bus *bus, uint32_t count);

void kit_sleep_ms(uint32_t ms);
void kit_buf_free(KevyBuf *buf);

#endif
