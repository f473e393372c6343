/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Strings in part: APPEND, SETRANGE, GETRANGE, STRLEN. A changed value is
 * composed beside the old one and put in its place; the expiry stays.
 */
#include "kevy.h"
#include "kevy/src/command/cmd_args.h"
#include "kevy/src/command/cmd_run.h"

void kv_run_strlen(struct kv_call *call)
{
    struct kv_item item;
    bool found = kv_call_find(call, call->argv[1], &item);
    kv_reply_int(call->reply, found ? (int64_t)item.value.size : 0);
}

/* Replaces the value by `size` bytes: the old one, zeros, and `part` at
 * `offset`; answers with the size. */
static void overwrite(struct kv_call *call, const struct kv_item *item, size_t size, size_t offset,
                      struct bytes part)
{
    struct kv_scratch scratch;
    if (!kv_scratch_new(call, &scratch, size)) {
        return;
    }
    kv_scratch_fill(&scratch, item->value);
    if (part.size > 0) {
        memcpy(scratch.data + offset, part.data, part.size);
    }
    if (kv_call_put_one(call, call->argv[1], bytes_of(scratch.data, size), item->expiry_ms)) {
        kv_reply_int(call->reply, (int64_t)size);
    }
    kv_scratch_done(&scratch);
}

void kv_run_append(struct kv_call *call)
{
    struct kv_item item = {{NULL, 0}, 0};
    struct bytes part = call->argv[2];
    bool found = kv_call_find(call, call->argv[1], &item);
    if (!found) {
        if (kv_call_put_one(call, call->argv[1], part, 0)) {
            kv_reply_int(call->reply, (int64_t)part.size);
        }
        return;
    }
    if (part.size > KEVY_SIZE_MAX - item.value.size) {
        kv_call_refuse(call, KV_TEXT_TOO_LONG);
        return;
    }
    overwrite(call, &item, item.value.size + part.size, item.value.size, part);
}

void kv_run_setrange(struct kv_call *call)
{
    struct kv_item item = {{NULL, 0}, 0};
    struct bytes part = call->argv[3];
    int64_t offset;
    if (!kv_arg_int(call, 2, &offset)) {
        return;
    }
    if (offset < 0) {
        kv_call_refuse(call, "ERR offset is out of range");
        return;
    }
    kv_call_find(call, call->argv[1], &item);
    if (part.size == 0) {
        kv_reply_int(call->reply, (int64_t)item.value.size);
        return;
    }
    if ((uint64_t)offset > KEVY_SIZE_MAX - part.size) {
        kv_call_refuse(call, KV_TEXT_TOO_LONG);
        return;
    }
    size_t end = (size_t)offset + part.size;
    size_t size = end > item.value.size ? end : item.value.size;
    overwrite(call, &item, size, (size_t)offset, part);
}

/* Turns first and last index, negative ones from the end, into the part of
 * `value` that they name. */
static struct bytes value_part(struct bytes value, int64_t start, int64_t end)
{
    int64_t size = (int64_t)value.size;
    if (start < 0 && end < 0 && start > end) {
        return bytes_of(value.data, 0);
    }
    start = start < 0 ? start + size : start;
    end = end < 0 ? end + size : end;
    start = start < 0 ? 0 : start;
    end = end < 0 ? 0 : end;
    end = end >= size ? size - 1 : end;
    if (start > end || size == 0) {
        return bytes_of(value.data, 0);
    }
    return bytes_of(value.data + start, (size_t)(end - start + 1));
}

void kv_run_getrange(struct kv_call *call)
{
    struct kv_item item = {{NULL, 0}, 0};
    int64_t start, end;
    if (kv_arg_int(call, 2, &start) && kv_arg_int(call, 3, &end)) {
        kv_call_find(call, call->argv[1], &item);
        kv_reply_bulk(call->reply, value_part(item.value, start, end));
    }
}

void kv_run_substr(struct kv_call *call)
{
    kv_run_getrange(call);
}
