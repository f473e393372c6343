/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Records, headers, marks and maps as bytes: what is written is read back, and
 * anything else is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "kevy/src/store/mark.h"
#include "testing/harness.h"

static struct kv_check check;

static struct kv_place place_of(uint64_t incarnation, uint32_t number)
{
    static const uint8_t secret[KV_SECRET_SIZE] = {1, 2, 3};
    kv_check_init(&check, secret);
    return (struct kv_place){.check = &check,
                             .segment_key = kv_check_segment(&check, incarnation, number),
                             .incarnation = incarnation,
                             .segment_size = KV_SEGMENT_SIZE_MIN};
}

TEST(bytes_every_field_of_a_record_comes_back)
{
    uint8_t record[256];
    for (unsigned fields = 0; fields < 16; fields++) {
        struct kv_draft draft = {.type = KV_RECORD_VALUE,
                                 .expiry_ms = (fields & 1) != 0 ? 1111 : 0,
                                 .first_lsn = (fields & 2) != 0 ? 2222 : 0,
                                 .namespace_id = (fields & 4) != 0 ? 3333 : 0,
                                 .key = BYTES_LITERAL("a key"),
                                 .value = BYTES_LITERAL("and its value")};
        uint32_t batch = (fields & 8) != 0 ? 4444 : 0;
        memset(record, 0xff, sizeof record);
        kv_draft_encode(&draft, batch, record);
        CHECK_INT(kv_record_size(record), kv_draft_size(&draft, batch));
        CHECK_INT(kv_record_expiry(record), draft.expiry_ms);
        CHECK_INT(kv_record_first_lsn(record), draft.first_lsn);
        CHECK_INT(kv_record_namespace(record), draft.namespace_id);
        CHECK_INT(kv_record_batch(record), batch);
        CHECK_BYTES(kv_record_body(record), 18, "a keyand its value", 18);
        CHECK_INT(record[kv_record_size(record)], 0xff);
    }
}

TEST(bytes_a_check_belongs_to_one_place)
{
    uint8_t record[64];
    struct kv_place place = place_of(5, 6), next = place_of(5, 7), later = place_of(6, 6);
    struct kv_draft draft = {.type = KV_RECORD_VALUE, .key = BYTES_LITERAL("key")};
    kv_draft_encode(&draft, 0, record);
    kv_check_seal(&check, place.segment_key, 64, record);
    CHECK(kv_check_holds(&check, place.segment_key, 64, record));
    CHECK(!kv_check_holds(&check, place.segment_key, 80, record));
    CHECK(!kv_check_holds(&check, next.segment_key, 64, record));
    CHECK(!kv_check_holds(&check, later.segment_key, 64, record));
    for (unsigned bit = 0; bit < 8 * 32; bit++) {
        record[bit / 8] ^= (uint8_t)(1u << bit % 8);
        CHECK(kv_record_form(&place, record, 32, 0) == 0 ||
              !kv_check_holds(&check, place.segment_key, 64, record));
        record[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

TEST(bytes_a_header_comes_back)
{
    uint8_t bytes[KV_SEGMENT_HEADER];
    struct kv_segment_header out, header = {.store_id = {9},
                                            .kind = KV_SEGMENT_EXTENT,
                                            .slot = 100,
                                            .slot_count = 3,
                                            .number = 7,
                                            .incarnation = 8,
                                            .first_lsn = 9};
    kv_segment_header_encode(&header, bytes);
    REQUIRE(kv_segment_header_decode(bytes, &out));
    CHECK(memcmp(&out, &header, sizeof out) == 0);
    for (unsigned bit = 0; bit < 8 * KV_SEGMENT_HEADER; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        CHECK(!kv_segment_header_decode(bytes, &out));
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

TEST(bytes_a_namespace_map_comes_back)
{
    uint8_t bytes[KV_NAMESPACES_SIZE];
    struct kv_namespaces map, out;
    kv_namespaces_first(&map);
    map.database[3] = map.next++;
    kv_namespaces_encode(&map, bytes);
    REQUIRE(kv_namespaces_decode(bytes_of(bytes, sizeof bytes), &out));
    CHECK(memcmp(&map, &out, sizeof map) == 0);
    CHECK(kv_namespaces_has(&out, 16));
    CHECK(!kv_namespaces_has(&out, 3));
    CHECK(!kv_namespaces_decode(bytes_of(bytes, sizeof bytes - 1), &out));
    store_u32(bytes, 16);
    CHECK(!kv_namespaces_decode(bytes_of(bytes, sizeof bytes), &out));
    store_u32(bytes, 17);
    CHECK(!kv_namespaces_decode(bytes_of(bytes, sizeof bytes), &out));
}

TEST(bytes_a_mark_comes_back)
{
    static uint8_t file[KV_MARK_SIZE];
    struct kv_identity identity = {.segment_size = KV_SLOT_SIZE, .secret = {4}}, identity_out;
    struct kv_mark *mark = (struct kv_mark *)calloc(2, sizeof *mark), *out;
    bool is_whole = false;
    REQUIRE(mark != NULL);
    out = mark + 1;
    *mark = (struct kv_mark){.sequence = 41,
                             .incarnation = 77,
                             .incarnation_lsn = 11,
                             .log_end = 10,
                             .durable_lsn = 50,
                             .durable_slot = 3,
                             .durable_offset = 640,
                             .map_lsn = 20};
    kv_namespaces_first(&mark->map);
    kv_mark_bit_set(mark, 3);
    kv_mark_bit_set(mark, KV_SLOT_COUNT - 1);
    kv_mark_super_encode(&identity, file);
    kv_mark_slot_encode(&identity, mark, file + kv_mark_offset(mark->sequence));
    REQUIRE_INT(kv_mark_decode(file, sizeof file, &identity_out, out, &is_whole), KV_MARK_OK);
    CHECK(memcmp(mark, out, sizeof *mark) == 0);
    CHECK(memcmp(&identity, &identity_out, sizeof identity) == 0);
    CHECK(!is_whole);
    for (uint32_t i = 0; i < KV_MARK_PLACE_MAX + 1; i++) {
        kv_mark_place_add(mark, &(struct kv_mark_place){i + 1, 5 + i, 640 + 16 * i});
    }
    mark->sequence = 42;
    kv_mark_slot_encode(&identity, mark, file + kv_mark_offset(mark->sequence));
    REQUIRE_INT(kv_mark_decode(file, sizeof file, &identity_out, out, &is_whole), KV_MARK_OK);
    CHECK_INT(out->sequence, 42);
    CHECK(is_whole);
    CHECK(memcmp(mark, out, sizeof *mark) == 0);
    CHECK_INT(kv_mark_place_of(out, 7)->offset, 672);
    CHECK(kv_mark_place_of(out, 4) == NULL);
    CHECK(kv_mark_place_of(out, 5 + KV_MARK_PLACE_MAX) == NULL);
    file[kv_mark_offset(42) + 2000] ^= 1;
    REQUIRE_INT(kv_mark_decode(file, sizeof file, &identity_out, out, &is_whole), KV_MARK_OK);
    CHECK_INT(out->sequence, 41);
    CHECK(!is_whole);
    CHECK_INT(kv_mark_decode(file, 100, &identity_out, out, &is_whole), KV_MARK_DAMAGED);
    free(mark);
}

/* A mark is written again at open: what a newer version tells in it, behind a
 * feature that this one may pass over, is then not there, and it must not say so.
 * Nor is a place believed that no store writes. */
TEST(bytes_of_a_mark_that_are_not_known_are_not_told_again)
{
    static uint8_t file[KV_MARK_SIZE];
    static struct kv_mark mark, out;
    struct kv_identity identity = {.segment_size = KV_SLOT_SIZE}, identity_out;
    bool is_whole;
    mark = (struct kv_mark){.sequence = 2,
                            .compatible = UINT64_MAX,
                            .incarnation_lsn = 1,
                            .durable_lsn = 50,
                            .durable_slot = KV_MARK_NO_SLOT};
    kv_namespaces_first(&mark.map);
    kv_mark_place_add(&mark, &(struct kv_mark_place){51, 5, 640});
    kv_mark_place_add(&mark, &(struct kv_mark_place){52, 6, 640});
    kv_mark_place_add(&mark, &(struct kv_mark_place){20, 7, 640});
    kv_mark_super_encode(&identity, file);
    kv_mark_slot_encode(&identity, &mark, file + kv_mark_offset(mark.sequence));
    REQUIRE_INT(kv_mark_decode(file, sizeof file, &identity_out, &out, &is_whole), KV_MARK_OK);
    CHECK_INT(out.compatible, KV_MARK_COMPATIBLE);
    CHECK_INT(kv_mark_place_of(&out, 5)->lsn, 51);
    CHECK(kv_mark_place_of(&out, 6) == NULL);
    CHECK(kv_mark_place_of(&out, 7) == NULL);
}

/* The hash is part of the format: these numbers never change. */
TEST(bytes_the_hash_is_what_it_was)
{
    uint8_t bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 11);
    }
    uint64_t all = 0;
    for (size_t size = 0; size <= sizeof bytes; size++) {
        all = hash_fold(all ^ HASH_K0, hash_bytes(bytes, size, size * 3 + 1));
    }
    CHECK(all == UINT64_C(0x831cbfdfa7bfce43));
}
