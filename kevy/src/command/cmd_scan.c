/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Walking over keys: KEYS all at once, SCAN a page at a time, RANDOMKEY.
 *
 * A SCAN cursor is the keyspace's own; any number a caller sends is safe. A
 * key that is there from the first page to the last is returned at least once.
 */
#include "kevy/src/command/cmd_args.h"
#include "kevy/src/command/cmd_run.h"
#include "kevy/src/text/glob.h"
#include "kevy/src/text/number.h"

/* A page of KEYS between two looks at the reply's memory. */
enum { KEYS_PAGE = 1024, SCAN_COUNT = 10 };

struct key_filter {
    struct kv_reply *reply;
    struct bytes pattern;
    bool has_pattern;
    bool wants_nothing; /* a TYPE that no key has */
    size_t count;       /* keys written */
};

static void visit_key(void *user, struct bytes key, const struct kv_item *item)
{
    struct key_filter *filter = user;
    (void)item;
    if (filter->wants_nothing ||
        (filter->has_pattern && !kv_glob_match(filter->pattern, key, false))) {
        return;
    }
    kv_reply_bulk(filter->reply, key);
    filter->count++;
}

void kv_run_keys(struct kv_call *call)
{
    struct key_filter filter = {.reply = call->reply,
                                .pattern = call->argv[1],
                                .has_pattern = !kv_glob_is_all(call->argv[1])};
    size_t begin = kv_reply_array_begin(call->reply);
    uint64_t cursor = 0;
    do {
        cursor = kv_keyspace_scan(call->keyspace, kv_call_db(call), cursor, KEYS_PAGE, visit_key,
                                  &filter);
    } while (cursor != 0 && !call->reply->failed);
    kv_reply_array_end(call->reply, begin, filter.count);
}

static bool scan_parse(struct kv_call *call, struct key_filter *filter, size_t *count)
{
    for (size_t i = 2; i < call->argc; i += 2) {
        struct bytes arg = call->argv[i];
        int64_t number;
        bool has_value = i + 1 < call->argc;
        if (kv_arg_is(arg, "count") && has_value) {
            if (!kv_arg_int(call, i + 1, &number)) {
                return false;
            }
            if (number < 1) {
                return kv_call_refuse(call, KV_TEXT_SYNTAX);
            }
            *count = (uint64_t)number > SIZE_MAX ? SIZE_MAX : (size_t)number;
        } else if (kv_arg_is(arg, "match") && has_value) {
            filter->pattern = call->argv[i + 1];
            filter->has_pattern = !kv_glob_is_all(filter->pattern);
        } else if (kv_arg_is(arg, "type") && has_value) {
            filter->wants_nothing = !kv_arg_is(call->argv[i + 1], "string");
        } else {
            return kv_call_refuse(call, KV_TEXT_SYNTAX);
        }
    }
    return true;
}

void kv_run_scan(struct kv_call *call)
{
    struct key_filter filter = {0};
    struct kv_reply keys;
    size_t count = SCAN_COUNT;
    uint64_t cursor;
    if (!kv_number_parse_cursor(call->argv[1], &cursor)) {
        kv_call_refuse(call, "ERR invalid cursor");
        return;
    }
    if (!scan_parse(call, &filter, &count)) {
        return;
    }
    kv_reply_init(&keys, call->mem, call->reply->protocol);
    filter.reply = &keys;
    cursor = kv_keyspace_scan(call->keyspace, kv_call_db(call), cursor, count, visit_key, &filter);
    kv_reply_array(call->reply, 2);
    kv_reply_bulk_uint(call->reply, cursor);
    kv_reply_array(call->reply, filter.count);
    kv_reply_raw(call->reply, bytes_of(keys.data, keys.size));
    call->reply->failed |= keys.failed;
    kv_reply_done(&keys);
}

void kv_run_randomkey(struct kv_call *call)
{
    const kevy_os *os = call->keyspace->clock->os;
    uint64_t random;
    struct bytes key;
    if (os->random(os->self, &random, sizeof random) < 0) {
        random = os->boot_ns(os->self);
    }
    if (kv_keyspace_random(call->keyspace, kv_call_db(call), random, &key) == 1) {
        kv_reply_bulk(call->reply, key);
    } else {
        kv_reply_null(call->reply);
    }
}
