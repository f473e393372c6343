/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Strings as numbers: INCR and its kin. A value is a number by its text
 * alone; how it came to be does not matter. The expiry stays.
 */
#include <math.h>

#include "kevy/src/command/cmd_args.h"
#include "kevy/src/command/cmd_run.h"
#include "kevy/src/text/number.h"

static void add_to(struct kv_call *call, int64_t increment)
{
    struct kv_edit edit;
    struct kv_item item;
    int64_t number = 0;
    if (kv_call_edit(call, call->argv[1], &edit, &item) &&
        !kv_number_parse_int(item.value, &number)) {
        kv_call_refuse(call, KV_TEXT_INT);
        return;
    }
    if (increment < 0 ? number < INT64_MIN - increment : number > INT64_MAX - increment) {
        kv_call_refuse(call, "ERR increment or decrement would overflow");
        return;
    }
    number += increment;
    uint8_t text[KV_INT_TEXT];
    struct bytes value = bytes_of(text, kv_number_format_int(number, text));
    if (kv_call_put_edit(call, &edit, value, item.expiry_ms)) {
        kv_reply_int_text(call->reply, value);
    }
}

void kv_run_incr(struct kv_call *call)
{
    add_to(call, 1);
}

void kv_run_decr(struct kv_call *call)
{
    add_to(call, -1);
}

void kv_run_incrby(struct kv_call *call)
{
    int64_t increment;
    if (kv_arg_int(call, 2, &increment)) {
        add_to(call, increment);
    }
}

void kv_run_decrby(struct kv_call *call)
{
    int64_t decrement;
    if (!kv_arg_int(call, 2, &decrement)) {
        return;
    }
    if (decrement == INT64_MIN) {
        kv_call_refuse(call, "ERR decrement would overflow");
        return;
    }
    add_to(call, -decrement);
}

void kv_run_incrbyfloat(struct kv_call *call)
{
    struct kv_item item = {{NULL, 0}, 0};
    long double number = 0, increment;
    if (kv_call_find(call, call->argv[1], &item) && !kv_number_parse_float(item.value, &number)) {
        kv_call_refuse(call, KV_TEXT_FLOAT);
        return;
    }
    if (!kv_number_parse_float(call->argv[2], &increment)) {
        kv_call_refuse(call, KV_TEXT_FLOAT);
        return;
    }
    number += increment;
    if (!isfinite(number)) {
        kv_call_refuse(call, "ERR increment would produce NaN or Infinity");
        return;
    }
    uint8_t text[KV_FLOAT_TEXT];
    struct bytes value = bytes_of(text, kv_number_format_float(number, text));
    kv_reply_bulk(call->reply, value);
    kv_call_put_one(call, call->argv[1], value, item.expiry_ms);
}
