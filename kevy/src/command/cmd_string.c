/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Strings as wholes: GET and SET in all their forms. Parts of strings are in
 * cmd_bytes.c, numbers in cmd_number.c, bits in cmd_bits.c.
 */
#include "kevy/src/command/cmd_args.h"
#include "kevy/src/command/cmd_expiry.h"
#include "kevy/src/command/cmd_run.h"

/* ---- Options of SET and GETEX ---- */

struct set_options {
    bool nx, xx, get, keep_ttl, persist;
    bool has_time;
    struct kv_expiry_unit unit;
    struct bytes time;
};

static const struct {
    const char *word;
    struct kv_expiry_unit unit;
} time_words[] = {{"ex", {.is_seconds = true}},
                  {"px", {0}},
                  {"exat", {.is_seconds = true, .is_absolute = true}},
                  {"pxat", {.is_absolute = true}}};

/* Returns the unit that an argument names, or NULL. */
static const struct kv_expiry_unit *time_word(struct bytes arg)
{
    for (size_t i = 0; i < sizeof time_words / sizeof *time_words; i++) {
        if (kv_arg_is(arg, time_words[i].word)) {
            return &time_words[i].unit;
        }
    }
    return NULL;
}

static bool same_unit(struct kv_expiry_unit a, struct kv_expiry_unit b)
{
    return a.is_seconds == b.is_seconds && a.is_absolute == b.is_absolute;
}

/* One kind of time may be named, and more than once; then the last counts. */
static bool take_time(struct kv_call *call, size_t *at, const struct kv_expiry_unit *unit,
                      struct set_options *options)
{
    if (options->keep_ttl || options->persist || *at + 1 >= call->argc ||
        (options->has_time && !same_unit(options->unit, *unit))) {
        return false;
    }
    options->has_time = true;
    options->unit = *unit;
    options->time = call->argv[++*at];
    return true;
}

/* A flag of SET: which one, and what excludes it. */
static bool take_set_flag(struct bytes arg, struct set_options *options)
{
    if (kv_arg_is(arg, "nx") && !options->xx) {
        options->nx = true;
    } else if (kv_arg_is(arg, "xx") && !options->nx) {
        options->xx = true;
    } else if (kv_arg_is(arg, "get")) {
        options->get = true;
    } else if (kv_arg_is(arg, "keepttl") && !options->has_time) {
        options->keep_ttl = true;
    } else {
        return false;
    }
    return true;
}

static bool options_parse(struct kv_call *call, size_t from, bool is_set,
                          struct set_options *options)
{
    *options = (struct set_options){0};
    for (size_t i = from; i < call->argc; i++) {
        struct bytes arg = call->argv[i];
        const struct kv_expiry_unit *unit = time_word(arg);
        bool taken;
        if (unit != NULL) {
            taken = take_time(call, &i, unit, options);
        } else if (is_set) {
            taken = take_set_flag(arg, options);
        } else {
            taken = kv_arg_is(arg, "persist") && !options->has_time;
            options->persist = taken;
        }
        if (!taken) {
            return kv_call_refuse(call, KV_TEXT_SYNTAX);
        }
    }
    return true;
}

/* ---- SET ---- */

static void reply_item(struct kv_call *call, bool found, const struct kv_item *item)
{
    if (found) {
        kv_reply_bulk(call->reply, item->value);
    } else {
        kv_reply_null(call->reply);
    }
}

/* Sets a key; a time that was given as such may have passed already. */
static bool put_or_remove(struct kv_call *call, struct bytes key, struct bytes value,
                          uint64_t expiry_ms, bool is_absolute)
{
    if (is_absolute && expiry_ms <= kv_keyspace_now(call->keyspace)) {
        return kv_call_remove_one(call, key);
    }
    return kv_call_put_one(call, key, value, expiry_ms);
}

void kv_run_set(struct kv_call *call)
{
    struct bytes key = call->argv[1];
    if (call->argc == 3) {
        if (kv_call_put_one(call, key, call->argv[2], 0)) {
            kv_reply_ok(call->reply);
        }
        return;
    }
    struct set_options options;
    uint64_t expiry_ms = 0;
    if (!options_parse(call, 3, true, &options) ||
        (options.has_time && !kv_expiry_positive(call, options.time, options.unit, &expiry_ms))) {
        return;
    }
    struct kv_item item = {{NULL, 0}, 0};
    bool found = kv_call_find(call, key, &item);
    bool wanted = !(options.nx && found) && !(options.xx && !found);
    if (options.get) {
        reply_item(call, found, &item);
    } else if (!wanted) {
        kv_reply_null(call->reply);
    }
    if (options.keep_ttl && found) {
        expiry_ms = item.expiry_ms;
    }
    bool is_absolute = options.has_time && options.unit.is_absolute;
    if (wanted && put_or_remove(call, key, call->argv[2], expiry_ms, is_absolute) && !options.get) {
        kv_reply_ok(call->reply);
    }
}

void kv_run_setnx(struct kv_call *call)
{
    struct kv_item item;
    if (kv_call_find(call, call->argv[1], &item)) {
        kv_reply_int(call->reply, 0);
    } else if (kv_call_put_one(call, call->argv[1], call->argv[2], 0)) {
        kv_reply_int(call->reply, 1);
    }
}

static void run_setex(struct kv_call *call, struct kv_expiry_unit unit)
{
    uint64_t expiry_ms;
    if (kv_expiry_positive(call, call->argv[2], unit, &expiry_ms) &&
        kv_call_put_one(call, call->argv[1], call->argv[3], expiry_ms)) {
        kv_reply_ok(call->reply);
    }
}

void kv_run_setex(struct kv_call *call)
{
    run_setex(call, (struct kv_expiry_unit){.is_seconds = true});
}

void kv_run_psetex(struct kv_call *call)
{
    run_setex(call, (struct kv_expiry_unit){0});
}

void kv_run_getset(struct kv_call *call)
{
    struct kv_item item;
    bool found = kv_call_find(call, call->argv[1], &item);
    reply_item(call, found, &item);
    kv_call_put_one(call, call->argv[1], call->argv[2], 0);
}

/* ---- GET ---- */

void kv_run_get(struct kv_call *call)
{
    struct kv_item item;
    bool found = kv_call_find(call, call->argv[1], &item);
    reply_item(call, found, &item);
}

void kv_run_getdel(struct kv_call *call)
{
    struct kv_item item;
    bool found = kv_call_find(call, call->argv[1], &item);
    reply_item(call, found, &item);
    if (found) {
        kv_call_remove_one(call, call->argv[1]);
    }
}

void kv_run_getex(struct kv_call *call)
{
    struct set_options options;
    uint64_t expiry_ms = 0;
    struct kv_item item;
    if (!options_parse(call, 2, false, &options)) {
        return;
    }
    if (!kv_call_find(call, call->argv[1], &item)) {
        kv_reply_null(call->reply);
        return;
    }
    if (options.has_time && !kv_expiry_positive(call, options.time, options.unit, &expiry_ms)) {
        return;
    }
    kv_reply_bulk(call->reply, item.value);
    bool is_change = options.has_time || (options.persist && item.expiry_ms != 0);
    if (is_change && !call->reply->failed) {
        kv_call_done(
            call, kv_keyspace_expire(call->keyspace, kv_call_db(call), call->argv[1], expiry_ms));
    }
}

/* ---- Several keys ---- */

void kv_run_mget(struct kv_call *call)
{
    kv_reply_array(call->reply, call->argc - 1);
    for (size_t i = 1; i < call->argc; i++) {
        struct kv_item item;
        bool found = kv_call_find(call, call->argv[i], &item);
        reply_item(call, found, &item);
    }
}

enum { PAIRS_SMALL = 16 };

/* Puts the pairs of arguments from argv[1] on, all or none. */
static bool put_arguments(struct kv_call *call)
{
    struct kv_pair small[PAIRS_SMALL] = {0}, *pairs = small;
    size_t count = (call->argc - 1) / 2;
    if (count > PAIRS_SMALL) {
        pairs = kv_mem_new(call->mem, count * sizeof *pairs);
        if (pairs == NULL) {
            return kv_call_done(call, KEVY_ENOMEM);
        }
    }
    for (size_t i = 0; i < count; i++) {
        pairs[i] = (struct kv_pair){call->argv[1 + 2 * i], call->argv[2 + 2 * i], 0};
    }
    bool done = kv_call_put(call, pairs, count);
    if (pairs != small) {
        kv_mem_free(call->mem, pairs, count * sizeof *pairs);
    }
    return done;
}

static bool pairs_check(struct kv_call *call)
{
    if (call->argc % 2 == 1) {
        return true;
    }
    kv_reply_error_begin(call->reply, "ERR wrong number of arguments for '");
    kv_reply_error_text(call->reply, call->command->name);
    kv_reply_error_text(call->reply, "' command");
    kv_reply_error_end(call->reply);
    return false;
}

void kv_run_mset(struct kv_call *call)
{
    if (pairs_check(call) && put_arguments(call)) {
        kv_reply_ok(call->reply);
    }
}

void kv_run_msetnx(struct kv_call *call)
{
    if (!pairs_check(call)) {
        return;
    }
    for (size_t i = 1; i < call->argc; i += 2) {
        struct kv_item item;
        if (kv_call_find(call, call->argv[i], &item)) {
            kv_reply_int(call->reply, 0);
            return;
        }
    }
    if (put_arguments(call)) {
        kv_reply_int(call->reply, 1);
    }
}
