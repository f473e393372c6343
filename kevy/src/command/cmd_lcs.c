/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * LCS: the longest common subsequence of two strings, by the table of lengths
 * that takes size times size steps and words. Which of several equally long
 * ones is answered is fixed by how Redis walks back through the table.
 */
#include "kevy.h"
#include "kevy/src/command/cmd_args.h"
#include "kevy/src/command/cmd_run.h"

struct lcs_options {
    bool wants_size, wants_ranges, with_size;
    int64_t size_min;
};

/* The table: at (i, j) the length of the LCS of the first i and j bytes. */
struct lcs {
    struct bytes a, b;
    uint32_t *lengths;
    size_t bytes;
};

/* A run of equal bytes, ends included. */
struct lcs_run {
    int64_t a_first, a_last, b_first, b_last;
};

static uint32_t *length_at(const struct lcs *lcs, size_t i, size_t j)
{
    return &lcs->lengths[i * (lcs->b.size + 1) + j];
}

static bool lcs_parse(struct kv_call *call, struct lcs_options *out)
{
    *out = (struct lcs_options){0};
    for (size_t i = 3; i < call->argc; i++) {
        struct bytes arg = call->argv[i];
        if (kv_arg_is(arg, "idx")) {
            out->wants_ranges = true;
        } else if (kv_arg_is(arg, "len")) {
            out->wants_size = true;
        } else if (kv_arg_is(arg, "withmatchlen")) {
            out->with_size = true;
        } else if (kv_arg_is(arg, "minmatchlen") && i + 1 < call->argc) {
            if (!kv_arg_int(call, ++i, &out->size_min)) {
                return false;
            }
        } else {
            return kv_call_refuse(call, KV_TEXT_SYNTAX);
        }
    }
    if (out->wants_size && out->wants_ranges) {
        return kv_call_refuse(call,
                              "ERR If you want both the length and indexes, please just use IDX.");
    }
    return true;
}

static bool lcs_new(struct kv_call *call, struct lcs *lcs)
{
    uint64_t cells = ((uint64_t)lcs->a.size + 1) * ((uint64_t)lcs->b.size + 1);
    if (cells > KEVY_SIZE_MAX / sizeof *lcs->lengths) {
        return kv_call_refuse(call, "ERR Insufficient memory, transient memory for LCS exceeds "
                                    "proto-max-bulk-len");
    }
    lcs->bytes = (size_t)cells * sizeof *lcs->lengths;
    lcs->lengths = kv_mem_zeroed(call->mem, lcs->bytes);
    return lcs->lengths != NULL ||
           kv_call_refuse(call,
                          "ERR Insufficient memory, failed allocating transient memory for LCS");
}

static void lcs_fill(struct lcs *lcs)
{
    for (size_t i = 1; i <= lcs->a.size; i++) {
        for (size_t j = 1; j <= lcs->b.size; j++) {
            uint32_t left = *length_at(lcs, i, j - 1), up = *length_at(lcs, i - 1, j);
            *length_at(lcs, i, j) = lcs->a.data[i - 1] == lcs->b.data[j - 1]
                                        ? *length_at(lcs, i - 1, j - 1) + 1
                                        : (left > up ? left : up);
        }
    }
}

static void reply_run(struct kv_call *call, const struct lcs_run *run,
                      const struct lcs_options *options)
{
    kv_reply_array(call->reply, options->with_size ? 3 : 2);
    kv_reply_array(call->reply, 2);
    kv_reply_int(call->reply, run->a_first);
    kv_reply_int(call->reply, run->a_last);
    kv_reply_array(call->reply, 2);
    kv_reply_int(call->reply, run->b_first);
    kv_reply_int(call->reply, run->b_last);
    if (options->with_size) {
        kv_reply_int(call->reply, run->a_last - run->a_first + 1);
    }
}

/* Walks back from the end; calls for each run of the ranges wanted, and writes
 * the subsequence to `out` if it is not NULL. Returns the number of runs. */
static size_t lcs_walk(struct kv_call *call, const struct lcs *lcs,
                       const struct lcs_options *options, uint8_t *out)
{
    size_t i = lcs->a.size, j = lcs->b.size, at = *length_at(lcs, i, j), count = 0;
    struct lcs_run run = {-1, -1, -1, -1};
    while (i > 0 && j > 0) {
        bool is_equal = lcs->a.data[i - 1] == lcs->b.data[j - 1];
        bool continues = is_equal && run.a_first == (int64_t)i && run.b_first == (int64_t)j;
        if (run.a_first >= 0 && !continues) {
            if (out == NULL && run.a_last - run.a_first + 1 >= options->size_min) {
                reply_run(call, &run, options);
                count++;
            }
            run.a_first = -1;
        }
        if (is_equal) {
            if (run.a_first < 0) {
                run.a_last = (int64_t)i - 1;
                run.b_last = (int64_t)j - 1;
            }
            run.a_first = (int64_t)--i;
            run.b_first = (int64_t)--j;
            at--;
            if (out != NULL) {
                out[at] = lcs->a.data[i];
            }
        } else if (*length_at(lcs, i - 1, j) > *length_at(lcs, i, j - 1)) {
            i--;
        } else {
            j--;
        }
    }
    if (out == NULL && run.a_first >= 0 && run.a_last - run.a_first + 1 >= options->size_min) {
        reply_run(call, &run, options);
        count++;
    }
    return count;
}

static void lcs_reply(struct kv_call *call, const struct lcs *lcs,
                      const struct lcs_options *options)
{
    uint32_t size = *length_at(lcs, lcs->a.size, lcs->b.size);
    struct kv_scratch scratch;
    if (options->wants_size) {
        kv_reply_int(call->reply, size);
    } else if (options->wants_ranges) {
        kv_reply_map(call->reply, 2);
        kv_reply_bulk_text(call->reply, "matches");
        size_t begin = kv_reply_array_begin(call->reply);
        size_t count = lcs_walk(call, lcs, options, NULL);
        kv_reply_array_end(call->reply, begin, count);
        kv_reply_bulk_text(call->reply, "len");
        kv_reply_int(call->reply, size);
    } else if (kv_scratch_new(call, &scratch, size)) {
        lcs_walk(call, lcs, options, scratch.data);
        kv_reply_bulk(call->reply, bytes_of(scratch.data, size));
        kv_scratch_done(&scratch);
    }
}

void kv_run_lcs(struct kv_call *call)
{
    struct lcs_options options;
    struct lcs lcs = {0};
    struct kv_item a = {{NULL, 0}, 0}, b = {{NULL, 0}, 0};
    if (!lcs_parse(call, &options)) {
        return;
    }
    kv_call_find(call, call->argv[1], &a);
    kv_call_find(call, call->argv[2], &b);
    lcs.a = a.value;
    lcs.b = b.value;
    if (lcs_new(call, &lcs)) {
        lcs_fill(&lcs);
        lcs_reply(call, &lcs, &options);
    }
    kv_mem_free(call->mem, lcs.lengths, lcs.bytes);
}
