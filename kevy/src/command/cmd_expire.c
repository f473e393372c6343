/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Expiry: EXPIRE and its kin, TTL and its kin, PERSIST, and the one rule by
 * which every command reads a time (cmd_expiry.h).
 */
#include "kevy/src/command/cmd_expiry.h"

#include "base/assert.h"
#include "kevy/src/command/cmd_args.h"
#include "kevy/src/command/cmd_run.h"
#include "kevy/src/text/number.h"

/* ---- Reading a time ---- */

static bool refuse_time(struct kv_call *call)
{
    kv_reply_error_begin(call->reply, "ERR invalid expire time in '");
    kv_reply_error_text(call->reply, call->command->name);
    kv_reply_error_text(call->reply, "' command");
    kv_reply_error_end(call->reply);
    return false;
}

bool kv_expiry_any(struct kv_call *call, struct bytes arg, struct kv_expiry_unit unit, int64_t *out)
{
    int64_t time, now = unit.is_absolute ? 0 : (int64_t)kv_call_now(call);
    if (!kv_number_parse_int(arg, &time)) {
        return kv_call_refuse(call, KV_TEXT_INT);
    }
    if (unit.is_seconds) {
        if (time > INT64_MAX / 1000 || time < INT64_MIN / 1000) {
            return refuse_time(call);
        }
        time *= 1000;
    }
    if (time > INT64_MAX - now) {
        return refuse_time(call);
    }
    *out = time + now;
    return true;
}

bool kv_expiry_positive(struct kv_call *call, struct bytes arg, struct kv_expiry_unit unit,
                        uint64_t *out)
{
    int64_t time, expiry;
    if (!kv_number_parse_int(arg, &time)) {
        return kv_call_refuse(call, KV_TEXT_INT);
    }
    if (time <= 0) {
        return refuse_time(call);
    }
    if (!kv_expiry_any(call, arg, unit, &expiry)) {
        return false;
    }
    ASSERT(expiry > 0);
    *out = (uint64_t)expiry;
    return true;
}

/* ---- EXPIRE ---- */

struct expire_conditions {
    bool nx, xx, gt, lt;
};

static bool conditions_parse(struct kv_call *call, struct expire_conditions *out)
{
    *out = (struct expire_conditions){0};
    for (size_t i = 3; i < call->argc; i++) {
        struct bytes arg = call->argv[i];
        bool *flag = kv_arg_is(arg, "nx")   ? &out->nx
                     : kv_arg_is(arg, "xx") ? &out->xx
                     : kv_arg_is(arg, "gt") ? &out->gt
                     : kv_arg_is(arg, "lt") ? &out->lt
                                            : NULL;
        if (flag == NULL) {
            kv_reply_error_begin(call->reply, "ERR Unsupported option ");
            kv_reply_error_part(call->reply, arg);
            kv_reply_error_end(call->reply);
            return false;
        }
        *flag = true;
    }
    if (out->nx && (out->xx || out->gt || out->lt)) {
        return kv_call_refuse(
            call, "ERR NX and XX, GT or LT options at the same time are not compatible");
    }
    if (out->gt && out->lt) {
        return kv_call_refuse(call, "ERR GT and LT options at the same time are not compatible");
    }
    return true;
}

/* Whether the conditions let `expiry` replace `old` (0: none, which is later
 * than any other). */
static bool conditions_hold(const struct expire_conditions *conditions, uint64_t old,
                            int64_t expiry)
{
    bool has_old = old != 0;
    return !(conditions->nx && has_old) && !(conditions->xx && !has_old) &&
           !(conditions->gt && (!has_old || expiry <= (int64_t)old)) &&
           !(conditions->lt && has_old && expiry >= (int64_t)old);
}

static void run_expire(struct kv_call *call, struct kv_expiry_unit unit)
{
    struct expire_conditions conditions;
    struct kv_edit edit;
    struct kv_item item;
    int64_t expiry;
    if (!conditions_parse(call, &conditions) ||
        !kv_expiry_any(call, call->argv[2], unit, &expiry)) {
        return;
    }
    if (!kv_call_edit(call, call->argv[1], &edit, &item) ||
        !conditions_hold(&conditions, item.expiry_ms, expiry)) {
        kv_reply_int(call->reply, 0);
        return;
    }
    uint64_t expiry_ms = expiry <= 0 ? 1 : (uint64_t)expiry;
    if (kv_call_done(call, kv_keyspace_edit_expire(call->keyspace, &edit, &item, expiry_ms))) {
        kv_reply_int(call->reply, 1);
    }
}

void kv_run_expire(struct kv_call *call)
{
    run_expire(call, (struct kv_expiry_unit){.is_seconds = true});
}

void kv_run_pexpire(struct kv_call *call)
{
    run_expire(call, (struct kv_expiry_unit){0});
}

void kv_run_expireat(struct kv_call *call)
{
    run_expire(call, (struct kv_expiry_unit){.is_seconds = true, .is_absolute = true});
}

void kv_run_pexpireat(struct kv_call *call)
{
    run_expire(call, (struct kv_expiry_unit){.is_absolute = true});
}

void kv_run_persist(struct kv_call *call)
{
    struct kv_edit edit;
    struct kv_item item;
    if (!kv_call_edit(call, call->argv[1], &edit, &item) || item.expiry_ms == 0) {
        kv_reply_int(call->reply, 0);
    } else if (kv_call_done(call, kv_keyspace_edit_expire(call->keyspace, &edit, &item, 0))) {
        kv_reply_int(call->reply, 1);
    }
}

/* ---- TTL ---- */

static void run_ttl(struct kv_call *call, struct kv_expiry_unit unit)
{
    struct kv_item item;
    if (!kv_call_find(call, call->argv[1], &item)) {
        kv_reply_int(call->reply, -2);
        return;
    }
    if (item.expiry_ms == 0) {
        kv_reply_int(call->reply, -1);
        return;
    }
    uint64_t now = unit.is_absolute ? 0 : kv_call_now(call);
    uint64_t left = item.expiry_ms > now ? item.expiry_ms - now : 0;
    kv_reply_int(call->reply, (int64_t)(unit.is_seconds ? (left + 500) / 1000 : left));
}

void kv_run_ttl(struct kv_call *call)
{
    run_ttl(call, (struct kv_expiry_unit){.is_seconds = true});
}

void kv_run_pttl(struct kv_call *call)
{
    run_ttl(call, (struct kv_expiry_unit){0});
}

void kv_run_expiretime(struct kv_call *call)
{
    run_ttl(call, (struct kv_expiry_unit){.is_seconds = true, .is_absolute = true});
}

void kv_run_pexpiretime(struct kv_call *call)
{
    run_ttl(call, (struct kv_expiry_unit){.is_absolute = true});
}
