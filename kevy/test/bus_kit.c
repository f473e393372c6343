/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the tests of the bus share; see bus_kit.h. It looks into the bus to
 * learn that a thread sleeps, since a test that merely waits a while either
 * is slow or proves nothing.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "kevy/test/bus_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kevy/src/bus/bus_inner.h"

static void *kit_mem_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    struct kit_mem *mem = (struct kit_mem *)self;
    if (new_size > old_size) {
        uint64_t call = atomic_fetch_add(&mem->calls, 1) + 1;
        uint64_t fail_at = atomic_load(&mem->fail_at);
        if (fail_at != 0 && (call == fail_at || (call > fail_at && atomic_load(&mem->fails_on)))) {
            return NULL;
        }
    }
    atomic_fetch_add(&mem->used, (int64_t)new_size - (int64_t)old_size);
    return kv_mem_libc.resize(NULL, ptr, old_size, new_size);
}

kevy_mem kit_mem_table(struct kit_mem *mem)
{
    return (kevy_mem){mem, kit_mem_resize};
}

void kit_open_over(struct bus_kit *kit, const kevy_mem *table, struct kv_mem *bufs)
{
    kit->bus = kv_bus_new(table, bufs, test_seed());
    REQUIRE(kit->bus != NULL);
    kv_port_open(&kit->port, kit->bus);
}

void kit_open(struct bus_kit *kit)
{
    kit_open_over(kit, &kv_mem_libc, &kv_mem_buffers);
}

void kit_close(struct bus_kit *kit)
{
    CHECK(kv_bus_verify(kit->bus));
    kv_port_close(&kit->port);
    kv_bus_drop(kit->bus);
}

struct bytes kit_text(const char *text)
{
    return bytes_of(text, strlen(text));
}

struct kv_sub *kit_sub(struct bus_kit *kit, const char *name, bool is_pattern)
{
    struct kv_sub *sub = NULL;
    KevyBuf frame;
    REQUIRE_INT(kv_sub_open(&kit->port, &sub), 0);
    REQUIRE_INT(kv_sub_add(sub, kit_text(name), is_pattern), 0);
    REQUIRE_INT(kv_sub_next(sub, &frame), 1);
    kit_buf_free(&frame);
    return sub;
}

int64_t kit_publish(struct bus_kit *kit, const char *channel, const char *payload)
{
    return kv_bus_publish(&kit->port, kit_text(channel), kit_text(payload));
}

int64_t kit_publish_number(struct bus_kit *kit, const char *channel, uint64_t number)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    return kit_publish(kit, channel, text);
}

void kit_buf_free(KevyBuf *buf)
{
    kv_mem_free(&kv_mem_buffers, buf->ptr, buf->cap);
    *buf = (KevyBuf){NULL, 0, 0};
}

static void kit_expect(int32_t result, KevyBuf *buf, const char *text)
{
    if (CHECK_INT(result, 1)) {
        CHECK_BYTES(buf->ptr, buf->len, text, strlen(text));
        CHECK(buf->cap >= buf->len && buf->cap > 0);
        kit_buf_free(buf);
    }
}

void kit_expect_frame(struct kv_sub *sub, const char *frame)
{
    KevyBuf buf;
    int32_t result = kv_sub_next(sub, &buf);
    kit_expect(result, &buf, frame);
}

void kit_expect_raw(struct kv_sub *sub, const char *payload)
{
    KevyBuf buf;
    int32_t result = kv_sub_next_raw(sub, &buf);
    kit_expect(result, &buf, payload);
}

void kit_expect_none(struct kv_sub *sub)
{
    KevyBuf buf;
    CHECK_INT(kv_sub_next(sub, &buf), 0);
    CHECK(buf.ptr == NULL && buf.len == 0 && buf.cap == 0);
}

uint64_t kit_number(const uint8_t *data, size_t size)
{
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++) {
        number = number * 10 + (uint64_t)(data[i] - '0');
    }
    return number;
}

void kit_sleep_ms(uint32_t ms)
{
    struct timespec left = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0) {
    }
}

static void kit_await_count(struct kv_bus *bus, struct kv_sleepers *sleepers, uint32_t count)
{
    struct kv_hold hold;
    uint32_t parked = 0;
    for (uint32_t i = 0; i < 30000 && parked < count; i++) {
        kv_hold_enter(&hold, bus);
        parked = sleepers->parked - sleepers->waking;
        kv_hold_leave(&hold);
        kit_sleep_ms(parked < count);
    }
    CHECK(parked >= count);
}

void kit_await_parked(struct kv_sub *sub, uint32_t count)
{
    kit_await_count(sub->bus, &sub->waiters, count);
}

void kit_await_blocked(struct kv_bus *bus, uint32_t count)
{
    kit_await_count(bus, &bus->room, count);
}
