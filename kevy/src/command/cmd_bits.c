/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Strings as rows of bits: SETBIT, GETBIT, BITCOUNT, BITPOS, BITOP. Bit 0 is
 * the highest of the first byte. Integers in bits are in cmd_bitfield.c.
 */
#include "kevy.h"
#include "kevy/src/command/cmd_args.h"
#include "kevy/src/command/cmd_run.h"

#define TEXT_OFFSET "ERR bit offset is not an integer or out of range"
#define TEXT_BIT "ERR bit is not an integer or out of range"

static bool bit_offset(struct kv_call *call, size_t index, uint64_t *out)
{
    int64_t offset;
    if (!kv_arg_int_or(call, index, TEXT_OFFSET, &offset)) {
        return false;
    }
    if (offset < 0 || (uint64_t)offset >> 3 >= KEVY_SIZE_MAX) {
        return kv_call_refuse(call, TEXT_OFFSET);
    }
    *out = (uint64_t)offset;
    return true;
}

static unsigned bit_of(struct bytes value, uint64_t bit)
{
    uint64_t byte = bit >> 3;
    return byte < value.size ? value.data[byte] >> (7 - (bit & 7)) & 1u : 0;
}

void kv_run_getbit(struct kv_call *call)
{
    struct kv_item item = {{NULL, 0}, 0};
    uint64_t offset;
    if (bit_offset(call, 2, &offset)) {
        kv_call_find(call, call->argv[1], &item);
        kv_reply_int(call->reply, bit_of(item.value, offset));
    }
}

void kv_run_setbit(struct kv_call *call)
{
    struct kv_item item = {{NULL, 0}, 0};
    struct kv_scratch scratch;
    uint64_t offset;
    int64_t bit;
    if (!bit_offset(call, 2, &offset) || !kv_arg_int_or(call, 3, TEXT_BIT, &bit)) {
        return;
    }
    if (bit != 0 && bit != 1) {
        kv_call_refuse(call, TEXT_BIT);
        return;
    }
    kv_call_find(call, call->argv[1], &item);
    size_t byte = (size_t)(offset >> 3);
    size_t size = item.value.size > byte ? item.value.size : byte + 1;
    unsigned old = bit_of(item.value, offset), mask = 1u << (7 - (offset & 7));
    if (!kv_scratch_new(call, &scratch, size)) {
        return;
    }
    kv_scratch_fill(&scratch, item.value);
    uint8_t *p = scratch.data + byte;
    *p = (uint8_t)(bit == 1 ? *p | mask : *p & ~mask);
    if (kv_call_put_one(call, call->argv[1], bytes_of(scratch.data, size), item.expiry_ms)) {
        kv_reply_int(call->reply, old);
    }
    kv_scratch_done(&scratch);
}

/* ---- Ranges ---- */

/* A range of bits, both ends included; empty when first > last. */
struct bit_range {
    int64_t first;
    int64_t last;
};

/* Reads `BYTE | BIT` at argv[index], if it is there: bits of the unit, 8 or 1. */
static bool unit_parse(struct kv_call *call, size_t index, int64_t *out)
{
    *out = 8;
    if (call->argc <= index || kv_arg_is(call->argv[index], "byte")) {
        return true;
    }
    *out = 1;
    return kv_arg_is(call->argv[index], "bit") || kv_call_refuse(call, KV_TEXT_SYNTAX);
}

/* The bits from unit `start` to unit `end`, negative ones from the end, of a
 * value of `size` bytes. */
static struct bit_range range_of(int64_t start, int64_t end, int64_t unit, size_t size)
{
    int64_t total = (int64_t)size * 8 / unit;
    start = start < 0 ? start + total : start;
    end = end < 0 ? end + total : end;
    start = start < 0 ? 0 : start;
    end = end < 0 ? 0 : end;
    end = end >= total ? total - 1 : end;
    if (start > end) {
        return (struct bit_range){1, 0};
    }
    return (struct bit_range){start * unit, end * unit + unit - 1};
}

/* The byte of a value with the bits outside the range set to `fill`. */
static uint8_t range_byte(struct bytes value, const struct bit_range *range, int64_t byte,
                          uint8_t fill)
{
    unsigned mask = 0xff;
    if (byte == range->first >> 3) {
        mask &= 0xffu >> (range->first & 7);
    }
    if (byte == range->last >> 3) {
        mask &= 0xffu << (7 - (range->last & 7));
    }
    return (uint8_t)((value.data[byte] & mask) | (fill & ~mask));
}

static unsigned ones_of(uint64_t x)
{
    x = x - (x >> 1 & UINT64_C(0x5555555555555555));
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (unsigned)(x * UINT64_C(0x0101010101010101) >> 56);
}

static int64_t count_ones(struct bytes value, const struct bit_range *range)
{
    int64_t count = 0, byte = range->first >> 3, last = range->last >> 3;
    if (range->first > range->last) {
        return 0;
    }
    count += ones_of(range_byte(value, range, byte, 0));
    for (byte++; byte + 8 <= last; byte += 8) {
        count += ones_of(load_u64(value.data + byte));
    }
    for (; byte <= last; byte++) {
        count += ones_of(range_byte(value, range, byte, 0));
    }
    return count;
}

/* Redis looks at the unit last, and not at all for a range that runs
 * backwards. */
static void bitcount_range(struct kv_call *call, struct bytes value)
{
    int64_t start = 0, end = -1, unit;
    if (call->argc > 2 && (!kv_arg_int(call, 2, &start) || !kv_arg_int(call, 3, &end))) {
        return;
    }
    if (start < 0 && end < 0 && start > end) {
        kv_reply_int(call->reply, 0);
    } else if (unit_parse(call, 4, &unit)) {
        struct bit_range range = range_of(start, end, unit, value.size);
        kv_reply_int(call->reply, count_ones(value, &range));
    }
}

void kv_run_bitcount(struct kv_call *call)
{
    struct kv_item item;
    if (!kv_call_find(call, call->argv[1], &item)) {
        kv_reply_int(call->reply, 0);
    } else if (call->argc == 3 || call->argc > 5) {
        kv_call_refuse(call, KV_TEXT_SYNTAX);
    } else {
        bitcount_range(call, item.value);
    }
}

/* Returns the position of the first such bit in the range, or -1. */
static int64_t find_bit(struct bytes value, const struct bit_range *range, bool bit)
{
    const uint8_t skip = bit ? 0 : 0xff;
    for (int64_t byte = range->first >> 3, last = range->last >> 3; byte <= last; byte++) {
        unsigned x = range_byte(value, range, byte, skip);
        if (x == skip) {
            continue;
        }
        int64_t at = byte * 8;
        for (unsigned mask = 0x80; ((x & mask) != 0) != bit; mask >>= 1) {
            at++;
        }
        return at;
    }
    return -1;
}

/* A value is followed by clear bits for ever, unless the caller named an end. */
static void bitpos_range(struct kv_call *call, struct bytes value, bool bit)
{
    int64_t start = 0, end = -1, unit;
    if ((call->argc > 3 && !kv_arg_int(call, 3, &start)) || !unit_parse(call, 5, &unit) ||
        (call->argc > 4 && !kv_arg_int(call, 4, &end))) {
        return;
    }
    struct bit_range range = range_of(start, end, unit, value.size);
    int64_t at = range.first > range.last ? -1 : find_bit(value, &range, bit);
    bool is_behind = at < 0 && !bit && call->argc <= 4 && range.first <= range.last;
    kv_reply_int(call->reply, is_behind ? (int64_t)value.size * 8 : at);
}

void kv_run_bitpos(struct kv_call *call)
{
    struct kv_item item;
    int64_t bit;
    if (!kv_arg_int(call, 2, &bit)) {
        return;
    }
    if (bit != 0 && bit != 1) {
        kv_call_refuse(call, "ERR The bit argument must be 1 or 0.");
    } else if (!kv_call_find(call, call->argv[1], &item)) {
        kv_reply_int(call->reply, bit == 1 ? -1 : 0);
    } else if (call->argc > 6) {
        kv_call_refuse(call, KV_TEXT_SYNTAX);
    } else {
        bitpos_range(call, item.value, bit == 1);
    }
}

/* ---- BITOP ---- */

enum bit_operation { BIT_AND, BIT_OR, BIT_XOR, BIT_NOT };

static bool operation_parse(struct kv_call *call, enum bit_operation *out)
{
    static const char *const names[] = {"and", "or", "xor", "not"};
    for (unsigned i = 0; i < 4; i++) {
        if (kv_arg_is(call->argv[1], names[i])) {
            *out = (enum bit_operation)i;
            return i != BIT_NOT || call->argc == 4 ||
                   kv_call_refuse(call, "ERR BITOP NOT must be called with a single source key.");
        }
    }
    return kv_call_refuse(call, KV_TEXT_SYNTAX);
}

/* Combines a value, as if filled up with zeros, into `size` bytes. */
static void combine(enum bit_operation operation, uint8_t *into, size_t size, struct bytes value)
{
    for (size_t i = 0; i < value.size; i++) {
        uint8_t x = value.data[i];
        into[i] = (uint8_t)(operation == BIT_AND  ? into[i] & x
                            : operation == BIT_OR ? into[i] | x
                                                  : into[i] ^ x);
    }
    if (operation == BIT_AND) {
        memset(into + value.size, 0, size - value.size);
    }
}

static void bitop_compose(struct kv_call *call, enum bit_operation operation, uint8_t *out,
                          size_t size)
{
    for (size_t i = 3; i < call->argc; i++) {
        struct kv_item item = {{NULL, 0}, 0};
        kv_call_find(call, call->argv[i], &item);
        if (i == 3) {
            memset(out, 0, size);
            combine(BIT_OR, out, size, item.value);
        } else {
            combine(operation, out, size, item.value);
        }
    }
    for (size_t i = 0; operation == BIT_NOT && i < size; i++) {
        out[i] = (uint8_t)~out[i];
    }
}

void kv_run_bitop(struct kv_call *call)
{
    enum bit_operation operation;
    struct kv_scratch scratch;
    size_t size = 0;
    if (!operation_parse(call, &operation)) {
        return;
    }
    for (size_t i = 3; i < call->argc; i++) {
        struct kv_item item;
        if (kv_call_find(call, call->argv[i], &item) && item.value.size > size) {
            size = item.value.size;
        }
    }
    if (size == 0) {
        if (kv_call_remove_one(call, call->argv[2])) {
            kv_reply_int(call->reply, 0);
        }
        return;
    }
    if (!kv_scratch_new(call, &scratch, size)) {
        return;
    }
    bitop_compose(call, operation, scratch.data, size);
    if (kv_call_put_one(call, call->argv[2], bytes_of(scratch.data, size), 0)) {
        kv_reply_int(call->reply, (int64_t)size);
    }
    kv_scratch_done(&scratch);
}
