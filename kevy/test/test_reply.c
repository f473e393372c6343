/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Replies: the bytes of each kind in both protocols, arrays whose count comes
 * last, errors in parts, and every allocation failing once.
 */
#include "kevy/src/text/reply.h"

#include <string.h>

#include "testing/harness.h"

/* Memory that refuses from a given allocation on. */
struct scarce {
    struct kv_mem mem;
    size_t left;
};

static void *scarce_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    struct scarce *scarce = self;
    if (new_size > 0 && scarce->left-- == 0) {
        scarce->left = 0;
        return NULL;
    }
    return kv_mem_libc.resize(NULL, ptr, old_size, new_size);
}

static void scarce_init(struct scarce *scarce, size_t left)
{
    scarce->left = left;
    kv_mem_init(&scarce->mem, &(kevy_mem){scarce, scarce_resize});
}

static void check_reply(struct kv_reply *reply, const char *want)
{
    CHECK(!reply->failed);
    CHECK_BYTES(reply->data, reply->size, want, strlen(want));
    kv_reply_rewind(reply, 0);
}

static void write_everything(struct kv_reply *reply)
{
    kv_reply_array(reply, 3);
    kv_reply_ok(reply);
    kv_reply_status(reply, "PONG");
    kv_reply_int(reply, INT64_MIN);
    kv_reply_int_text(reply, BYTES_LITERAL("-7"));
    kv_reply_bulk(reply, BYTES_LITERAL("a\0b"));
    kv_reply_bulk(reply, bytes_of(NULL, 0));
    kv_reply_bulk_int(reply, -12);
    kv_reply_bulk_uint(reply, UINT64_MAX);
    kv_reply_null(reply);
    kv_reply_null_array(reply);
    kv_reply_map(reply, 1);
    kv_reply_set(reply, 2);
    size_t begin = kv_reply_array_begin(reply);
    kv_reply_int(reply, 1);
    kv_reply_int(reply, 2);
    kv_reply_array_end(reply, begin, 2);
    kv_reply_error_begin(reply, "ERR bad '");
    kv_reply_error_part(reply, BYTES_LITERAL("x\r\ny"));
    kv_reply_error_text(reply, "'");
    kv_reply_error_end(reply);
}

static const char everything[] =
    "*3\r\n+OK\r\n+PONG\r\n:-9223372036854775808\r\n:-7\r\n$3\r\na\0b\r\n$0\r\n\r\n$3\r\n-12\r\n"
    "$20\r\n18446744073709551615\r\n$-1\r\n*-1\r\n*2\r\n*2\r\n*2\r\n:1\r\n:2\r\n"
    "-ERR bad 'x  y'\r\n";

TEST(every_kind)
{
    struct kv_mem mem;
    struct kv_reply reply;
    kv_mem_init(&mem, &kv_mem_libc);
    kv_reply_init(&reply, &mem, 2);
    write_everything(&reply);
    CHECK(!reply.failed);
    CHECK_BYTES(reply.data, reply.size, everything, sizeof everything - 1);
    kv_reply_done(&reply);
    CHECK_INT(mem.blocks, 0);
}

TEST(resp3)
{
    struct kv_mem mem;
    struct kv_reply reply;
    kv_mem_init(&mem, &kv_mem_libc);
    kv_reply_init(&reply, &mem, 3);
    kv_reply_null(&reply);
    kv_reply_null_array(&reply);
    kv_reply_map(&reply, 1);
    kv_reply_set(&reply, 2);
    check_reply(&reply, "_\r\n_\r\n%1\r\n~2\r\n");
    kv_reply_done(&reply);
}

TEST(take)
{
    struct kv_mem mem;
    struct kv_reply reply;
    size_t size, capacity;
    kv_mem_init(&mem, &kv_mem_libc);
    kv_reply_init(&reply, &mem, 2);
    CHECK(kv_reply_take(&reply, &size, &capacity) == NULL && size == 0 && capacity == 0);
    kv_reply_ok(&reply);
    uint8_t *block = kv_reply_take(&reply, &size, &capacity);
    CHECK_BYTES(block, size, "+OK\r\n", 5);
    CHECK(capacity >= size && reply.data == NULL && reply.size == 0);
    kv_mem_free(&mem, block, capacity);
    CHECK_INT(mem.used, 0);
}

TEST(errors)
{
    struct kv_mem mem;
    struct kv_reply reply;
    kv_mem_init(&mem, &kv_mem_libc);
    kv_reply_init(&reply, &mem, 2);
    CHECK(!kv_reply_is_error(&reply));
    kv_reply_ok(&reply);
    CHECK(!kv_reply_is_error(&reply));
    kv_reply_rewind(&reply, 0);
    kv_reply_error(&reply, "ERR no");
    CHECK(kv_reply_is_error(&reply));
    check_reply(&reply, "-ERR no\r\n");
    kv_reply_done(&reply);
}

TEST(every_allocation_fails_once)
{
    size_t failures = 0;
    for (size_t left = 0; left < 100; left++) {
        struct scarce scarce;
        struct kv_reply reply;
        size_t size, capacity;
        scarce_init(&scarce, left);
        kv_reply_init(&reply, &scarce.mem, 2);
        write_everything(&reply);
        bool failed = reply.failed;
        failures += failed;
        uint8_t *block = kv_reply_take(&reply, &size, &capacity);
        CHECK_INT(block == NULL, failed);
        kv_mem_free(&scarce.mem, block, capacity);
        CHECK_INT(scarce.mem.used, 0);
        if (!failed) {
            break;
        }
    }
    CHECK(failures > 0 && failures < 100);
}

TEST(failure_sticks_until_rewound)
{
    struct scarce scarce;
    struct kv_reply reply;
    scarce_init(&scarce, 1);
    kv_reply_init(&reply, &scarce.mem, 2);
    kv_reply_ok(&reply);
    static uint8_t large[10000];
    kv_reply_bulk(&reply, bytes_of(large, sizeof large));
    CHECK(reply.failed);
    kv_reply_int(&reply, 1);
    CHECK(reply.failed);
    scarce.left = 100;
    kv_reply_rewind(&reply, 0);
    kv_reply_ok(&reply);
    check_reply(&reply, "+OK\r\n");
    kv_reply_done(&reply);
}
