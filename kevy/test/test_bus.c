/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Publish and subscribe by one thread: frames byte for byte, who receives
 * what and in which order, names, acknowledgements, questions, bad sizes.
 */
#include "kevy/test/bus_kit.h"

#include <stdio.h>

TEST(frames_are_what_redis_pushes)
{
    struct bus_kit kit;
    struct kv_sub *sub = NULL;
    kit_open(&kit);
    REQUIRE_INT(kv_sub_open(&kit.port, &sub), 0);
    kit_expect_none(sub);
    CHECK_INT(kv_sub_add(sub, kit_text("news"), false), 0);
    CHECK_INT(kv_sub_add(sub, kit_text("n?ws"), true), 0);
    CHECK_INT(kit_publish(&kit, "news", "hello"), 2);
    CHECK_INT(kv_sub_remove(sub, kit_text("news"), false), 0);
    CHECK_INT(kv_sub_remove(sub, kit_text("n?ws"), true), 0);
    kit_expect_frame(sub, "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n");
    kit_expect_frame(sub, "*3\r\n$10\r\npsubscribe\r\n$4\r\nn?ws\r\n:2\r\n");
    kit_expect_frame(sub, "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n");
    kit_expect_frame(sub, "*4\r\n$8\r\npmessage\r\n$4\r\nn?ws\r\n$4\r\nnews\r\n$5\r\nhello\r\n");
    kit_expect_frame(sub, "*3\r\n$11\r\nunsubscribe\r\n$4\r\nnews\r\n:1\r\n");
    kit_expect_frame(sub, "*3\r\n$12\r\npunsubscribe\r\n$4\r\nn?ws\r\n:0\r\n");
    kit_expect_none(sub);
    CHECK_INT(kit_publish(&kit, "news", "late"), 0);
    kit_expect_none(sub);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(every_change_of_names_is_acknowledged_with_what_remains)
{
    struct bus_kit kit;
    struct kv_sub *sub = NULL;
    kit_open(&kit);
    REQUIRE_INT(kv_sub_open(&kit.port, &sub), 0);
    CHECK_INT(kv_sub_remove(sub, kit_text("never"), false), 0);
    CHECK_INT(kv_sub_add(sub, kit_text("a"), false), 0);
    CHECK_INT(kv_sub_add(sub, kit_text("a"), false), 0);
    CHECK_INT(kv_sub_remove(sub, kit_text("never"), true), 0);
    CHECK_INT(kv_sub_remove(sub, kit_text("a"), false), 0);
    CHECK_INT(kv_sub_remove(sub, kit_text("a"), false), 0);
    kit_expect_frame(sub, "*3\r\n$11\r\nunsubscribe\r\n$5\r\nnever\r\n:0\r\n");
    kit_expect_frame(sub, "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n");
    kit_expect_frame(sub, "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n");
    kit_expect_frame(sub, "*3\r\n$12\r\npunsubscribe\r\n$5\r\nnever\r\n:1\r\n");
    kit_expect_frame(sub, "*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:0\r\n");
    kit_expect_frame(sub, "*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:0\r\n");
    kit_expect_none(sub);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(a_channel_subscribed_twice_delivers_once)
{
    struct bus_kit kit;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    CHECK_INT(kv_sub_add(sub, kit_text("a"), false), 0);
    CHECK_INT(kit_publish(&kit, "a", "x"), 1);
    kit_expect_raw(sub, "x");
    CHECK_INT(kv_sub_remove(sub, kit_text("a"), false), 0);
    CHECK_INT(kit_publish(&kit, "a", "y"), 0);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(messages_keep_their_place_between_acknowledgements)
{
    struct bus_kit kit;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    CHECK_INT(kit_publish(&kit, "b", "before"), 0);
    CHECK_INT(kit_publish(&kit, "a", "1"), 1);
    CHECK_INT(kv_sub_add(sub, kit_text("b"), false), 0);
    CHECK_INT(kit_publish(&kit, "b", "2"), 1);
    CHECK_INT(kv_sub_remove(sub, kit_text("b"), false), 0);
    CHECK_INT(kit_publish(&kit, "b", "after"), 0);
    CHECK_INT(kit_publish(&kit, "a", "3"), 1);
    kit_expect_frame(sub, "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\n1\r\n");
    kit_expect_frame(sub, "*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n");
    kit_expect_frame(sub, "*3\r\n$7\r\nmessage\r\n$1\r\nb\r\n$1\r\n2\r\n");
    kit_expect_frame(sub, "*3\r\n$11\r\nunsubscribe\r\n$1\r\nb\r\n:1\r\n");
    kit_expect_frame(sub, "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\n3\r\n");
    kit_expect_none(sub);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(raw_reading_skips_acknowledgements)
{
    struct bus_kit kit;
    struct kv_sub *sub = NULL;
    KevyBuf buf;
    kit_open(&kit);
    REQUIRE_INT(kv_sub_open(&kit.port, &sub), 0);
    CHECK_INT(kv_sub_add(sub, kit_text("a"), false), 0);
    CHECK_INT(kv_sub_next_raw(sub, &buf), 0);
    kit_expect_none(sub);
    CHECK_INT(kv_sub_add(sub, kit_text("b"), false), 0);
    CHECK_INT(kit_publish(&kit, "a", ""), 1);
    CHECK_INT(kv_sub_next_raw(sub, &buf), 1);
    CHECK(buf.ptr != NULL && buf.len == 0);
    kit_buf_free(&buf);
    CHECK_INT(kv_sub_next_raw(sub, &buf), 0);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(names_and_payloads_are_any_bytes)
{
    static const uint8_t name[] = {0, 0xff, '\r', '\n', 0};
    static const uint8_t half[] = {0xf0, 0x9f};
    struct bus_kit kit;
    struct kv_sub *sub = NULL;
    KevyBuf buf;
    kit_open(&kit);
    REQUIRE_INT(kv_sub_open(&kit.port, &sub), 0);
    CHECK_INT(kv_sub_add(sub, bytes_of(name, sizeof name), false), 0);
    CHECK_INT(kv_sub_add(sub, bytes_of(NULL, 0), false), 0);
    CHECK_INT(kv_bus_publish(&kit.port, bytes_of(name, sizeof name), bytes_of(half, 2)), 1);
    CHECK_INT(kv_bus_publish(&kit.port, bytes_of(name, 1), bytes_of(half, 2)), 0);
    CHECK_INT(kv_bus_publish(&kit.port, bytes_of(NULL, 0), bytes_of(NULL, 0)), 1);
    CHECK_INT(kv_sub_next_raw(sub, &buf), 1);
    CHECK_BYTES(buf.ptr, buf.len, half, sizeof half);
    kit_buf_free(&buf);
    kit_expect_frame(sub, "*3\r\n$7\r\nmessage\r\n$0\r\n\r\n$0\r\n\r\n");
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(sizes_of_every_class_arrive_whole)
{
    static uint8_t payload[5000];
    struct bus_kit kit;
    kit_open(&kit);
    struct kv_sub *subs[2] = {kit_sub(&kit, "c", false), kit_sub(&kit, "*", true)};
    for (size_t i = 0; i < sizeof payload; i++) {
        payload[i] = (uint8_t)(i * 31);
    }
    for (size_t size = 0; size <= sizeof payload; size += size < 600 ? 1 : 97) {
        REQUIRE_INT(kv_bus_publish(&kit.port, kit_text("c"), bytes_of(payload, size)), 2);
    }
    for (int i = 0; i < 2; i++) {
        KevyBuf buf;
        size_t size = 0;
        while (kv_sub_next_raw(subs[i], &buf) == 1) {
            REQUIRE_INT(buf.len, size);
            REQUIRE(memcmp(buf.ptr, payload, size) == 0);
            kit_buf_free(&buf);
            size += size < 600 ? 1 : 97;
        }
        CHECK(size > sizeof payload);
        kv_sub_close(subs[i]);
    }
    kit_close(&kit);
}

TEST(too_large_is_refused_and_nobody_receives)
{
    struct bus_kit kit;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    struct bytes huge = bytes_of("x", KEVY_SIZE_MAX + 1);
    CHECK_INT(kv_bus_publish(&kit.port, kit_text("a"), huge), KEVY_ELIMIT);
    CHECK_INT(kv_bus_publish(&kit.port, huge, kit_text("a")), KEVY_ELIMIT);
    CHECK_INT(kv_sub_add(sub, huge, false), KEVY_ELIMIT);
    CHECK_INT(kv_sub_remove(sub, huge, true), KEVY_ELIMIT);
    kit_expect_none(sub);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(unread_acknowledgements_are_bounded)
{
    struct bus_kit kit;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    for (int i = 0; i < 65536; i++) {
        REQUIRE_INT(kv_sub_add(sub, kit_text("a"), false), 0);
    }
    CHECK_INT(kv_sub_add(sub, kit_text("b"), false), KEVY_ELIMIT);
    CHECK_INT(kv_sub_remove(sub, kit_text("a"), false), KEVY_ELIMIT);
    CHECK_INT(kv_bus_numsub(kit.bus, kit_text("a")), 1);
    CHECK_INT(kv_bus_numsub(kit.bus, kit_text("b")), 0);
    kit_expect_frame(sub, "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n");
    CHECK_INT(kv_sub_add(sub, kit_text("b"), false), 0);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(questions_count_channels_and_patterns)
{
    struct bus_kit kit;
    struct kv_names names;
    struct bytes odd = kit_text("c*1"), none = kit_text("zz*");
    kit_open(&kit);
    struct kv_sub *a = kit_sub(&kit, "c0", false), *b = kit_sub(&kit, "p*", true);
    CHECK_INT(kv_sub_add(b, kit_text("c0"), false), 0);
    CHECK_INT(kv_sub_add(a, kit_text("p*"), true), 0);
    CHECK_INT(kv_sub_add(a, kit_text("q*"), true), 0);
    for (int i = 1; i < 1000; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "c%d", i);
        REQUIRE_INT(kv_sub_add(a, kit_text(name), false), 0);
    }
    CHECK(kv_bus_verify(kit.bus));
    CHECK_INT(kv_bus_numsub(kit.bus, kit_text("c0")), 2);
    CHECK_INT(kv_bus_numsub(kit.bus, kit_text("c999")), 1);
    CHECK_INT(kv_bus_numsub(kit.bus, kit_text("p*")), 0);
    CHECK_INT(kv_bus_numpat(kit.bus), 2);
    CHECK_INT(kv_bus_channels(kit.bus, NULL, &names), 0);
    CHECK_INT(names.count, 1000);
    kv_names_done(kit.bus, &names);
    CHECK_INT(kv_bus_channels(kit.bus, &odd, &names), 0);
    CHECK_INT(names.count, 100);
    CHECK_INT(load_u32(names.packed) + 4 <= names.size, 1);
    kv_names_done(kit.bus, &names);
    CHECK_INT(kv_bus_channels(kit.bus, &none, &names), 0);
    CHECK(names.count == 0 && names.size == 0);
    kv_names_done(kit.bus, &names);
    kv_sub_close(a);
    CHECK_INT(kv_bus_channels(kit.bus, NULL, &names), 0);
    CHECK_INT(names.count, 1);
    CHECK_BYTES(names.packed, names.size, "\2\0\0\0c0", 6);
    kv_names_done(kit.bus, &names);
    kv_sub_close(b);
    kit_close(&kit);
}

TEST(a_pattern_that_is_gone_still_names_what_it_caught)
{
    struct bus_kit kit;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a[bc]", true);
    CHECK_INT(kit_publish(&kit, "ac", "x"), 1);
    CHECK_INT(kit_publish(&kit, "ad", "x"), 0);
    CHECK_INT(kv_sub_remove(sub, kit_text("a[bc]"), true), 0);
    CHECK_INT(kv_bus_numpat(kit.bus), 0);
    kit_expect_frame(sub, "*4\r\n$8\r\npmessage\r\n$5\r\na[bc]\r\n$2\r\nac\r\n$1\r\nx\r\n");
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(batches_pack_payloads_and_if_wished_channels)
{
    struct bus_kit kit;
    KevyBuf buf;
    uint32_t count;
    uint64_t dropped;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    uint32_t now = KEVY_BATCH_NOWAIT;
    CHECK_INT(kv_sub_wait_batch(sub, 0, now, 0, &buf, &count, &dropped), 0);
    CHECK(buf.ptr == NULL && count == 0 && dropped == 0);
    CHECK_INT(kv_sub_add(sub, kit_text("bb"), false), 0);
    CHECK_INT(kit_publish(&kit, "a", "xyz"), 1);
    CHECK_INT(kit_publish(&kit, "bb", ""), 1);
    CHECK_INT(kv_sub_wait_batch(sub, 0, now, 0, &buf, &count, NULL), 1);
    CHECK_INT(count, 2);
    CHECK_BYTES(buf.ptr, buf.len, "\3\0\0\0xyz\0\0\0\0", 11);
    kit_buf_free(&buf);
    CHECK_INT(kit_publish(&kit, "bb", "q"), 1);
    now |= KEVY_BATCH_CHANNELS;
    CHECK_INT(kv_sub_wait_batch(sub, 0, now, 0, &buf, &count, &dropped), 1);
    CHECK_INT(count, 1);
    CHECK_BYTES(buf.ptr, buf.len, "\2\0\0\0bb\1\0\0\0q", 11);
    kit_buf_free(&buf);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(batches_tell_the_pattern_of_a_message)
{
    struct bus_kit kit;
    KevyBuf buf;
    uint32_t count, flags = KEVY_BATCH_NOWAIT | KEVY_BATCH_PATTERNS;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "ab", false);
    CHECK_INT(kv_sub_add(sub, kit_text("a?"), true), 0);
    CHECK_INT(kv_sub_add(sub, kit_text(""), true), 0);
    CHECK_INT(kit_publish(&kit, "ab", "x"), 2);
    CHECK_INT(kit_publish(&kit, "", "y"), 1);
    CHECK_INT(kv_sub_remove(sub, kit_text("a?"), true), 0);
    CHECK_INT(kv_sub_wait_batch(sub, 0, flags, 0, &buf, &count, NULL), 1);
    CHECK_INT(count, 3);
    CHECK_BYTES(buf.ptr, buf.len,
                "\xff\xff\xff\xff\2\0\0\0ab\1\0\0\0x"
                "\2\0\0\0a?\2\0\0\0ab\1\0\0\0x"
                "\0\0\0\0\0\0\0\0\1\0\0\0y",
                15 + 17 + 13);
    kit_buf_free(&buf);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(batches_can_tell_acknowledgements_in_their_place)
{
    struct bus_kit kit;
    KevyBuf buf;
    uint32_t count, flags = KEVY_BATCH_NOWAIT | KEVY_BATCH_ACKS;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    CHECK_INT(kit_publish(&kit, "a", "1"), 1);
    CHECK_INT(kit_publish(&kit, "a", "2"), 1);
    CHECK_INT(kv_sub_add(sub, kit_text("a"), false), 0);
    CHECK_INT(kv_sub_remove(sub, kit_text("b"), false), 0);
    CHECK_INT(kit_publish(&kit, "a", "3"), 1);
    const uint32_t counts[] = {2, 0, 0, 1};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        CHECK_INT(kv_sub_wait_batch(sub, 0, flags, 0, &buf, &count, NULL), 1);
        CHECK_INT(count, counts[i]);
        CHECK(buf.len == 5 * (size_t)count && (count > 0 || buf.ptr == NULL));
        kit_buf_free(&buf);
    }
    CHECK_INT(kv_sub_wait_batch(sub, 0, flags, 0, &buf, &count, NULL), 0);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(a_batch_ends_before_its_bound_but_holds_a_message)
{
    struct bus_kit kit;
    KevyBuf buf;
    uint32_t count, sizes[] = {4, 8, 9, 10, 11, 12, 20};
    uint32_t wants[] = {1, 1, 1, 2, 2, 2, 4};
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    for (int i = 0; i < 7; i++) {
        for (int j = 0; j < 5; j++) {
            REQUIRE_INT(kit_publish(&kit, "a", "x"), 1);
        }
        CHECK_INT(kv_sub_wait_batch(sub, 0, 2, sizes[i], &buf, &count, NULL), 1);
        CHECK_INT(count, wants[i]);
        CHECK_INT(buf.len, 5 * (size_t)count);
        kit_buf_free(&buf);
        CHECK_INT(kv_sub_wait_batch(sub, 0, 2, 0, &buf, &count, NULL), 1);
        CHECK_INT(count, 5 - wants[i]);
        kit_buf_free(&buf);
    }
    CHECK_INT(kit_publish(&kit, "a", "longer than the bound"), 1);
    CHECK_INT(kit_publish(&kit, "a", "b"), 1);
    CHECK_INT(kv_sub_wait_batch(sub, 0, 2, 1, &buf, &count, NULL), 1);
    CHECK_INT(count, 1);
    CHECK_INT(buf.len, 25);
    kit_buf_free(&buf);
    kit_expect_raw(sub, "b");
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(a_long_queue_comes_out_whole_in_batches)
{
    struct bus_kit kit;
    KevyBuf buf;
    uint32_t count;
    uint64_t next = 0;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    for (uint64_t i = 0; i < 50000; i++) {
        REQUIRE_INT(kit_publish_number(&kit, "a", i), 1);
    }
    while (kv_sub_wait_batch(sub, 0, KEVY_BATCH_NOWAIT, 10000, &buf, &count, NULL) == 1) {
        const uint8_t *at = buf.ptr;
        REQUIRE(buf.len <= 10000 && count > 0);
        for (uint32_t i = 0; i < count; i++) {
            REQUIRE_INT(kit_number(at + 4, load_u32(at)), next);
            next++;
            at += 4 + load_u32(at);
        }
        REQUIRE(at == buf.ptr + buf.len);
        kit_buf_free(&buf);
    }
    CHECK_INT(next, 50000);
    CHECK_INT(kv_sub_dropped(sub), 0);
    kv_sub_close(sub);
    kit_close(&kit);
}
