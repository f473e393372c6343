/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Requests: every form and every mistake, whole, byte by byte and cut in two
 * at every place, which must make no difference; a real server on the same
 * bytes; packed arguments.
 */
#include "kevy/src/text/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing/harness.h"
#include "testing/redis_server.h"

/* ---- What a stream of requests means, as text: [a|b][c](nothing)!error ---- */

struct outcome {
    char text[4096];
    size_t size;
};

static void outcome_add(struct outcome *outcome, const char *text, size_t size)
{
    if (outcome->size + size < sizeof outcome->text) {
        memcpy(outcome->text + outcome->size, text, size);
        outcome->size += size;
        outcome->text[outcome->size] = '\0';
    }
}

static void outcome_request(struct outcome *outcome, const struct kv_request *request)
{
    outcome_add(outcome, "[", 1);
    for (size_t i = 0; i < request->argc; i++) {
        outcome_add(outcome, "|", i > 0);
        for (size_t j = 0; j < request->argv[i].size; j++) {
            char c = (char)request->argv[i].data[j];
            c = c == '\0' ? '@' : c;
            outcome_add(outcome, &c, 1);
        }
    }
    outcome_add(outcome, "]", 1);
}

/* Feeds `stream` in pieces that end at the multiples of `step`, and at `cut`.
 * The buffer lies elsewhere at every call. */
static void feed(struct bytes stream, size_t step, size_t cut, struct outcome *outcome)
{
    struct kv_mem mem;
    struct kv_request request;
    size_t start = 0, end = 0, used;
    bool goes_on = true;
    kv_mem_init(&mem, &kv_mem_libc);
    kv_request_init(&request, &mem);
    *outcome = (struct outcome){"", 0};
    while (goes_on && end < stream.size) {
        size_t next = end + step;
        next = end < cut && next > cut ? cut : next;
        end = next < stream.size ? next : stream.size;
        for (bool more = false; goes_on && !more;) {
            size_t size = end - start;
            uint8_t *copy = malloc(size + 1);
            REQUIRE(copy != NULL);
            memcpy(copy, stream.data + start, size);
            switch (kv_request_parse(&request, bytes_of(copy, size), &used)) {
            case KV_REQUEST_MORE:
                more = true;
                break;
            case KV_REQUEST_READY:
                outcome_request(outcome, &request);
                break;
            case KV_REQUEST_NOTHING:
                outcome_add(outcome, "()", 2);
                break;
            case KV_REQUEST_ERROR:
                outcome_add(outcome, "!", 1);
                outcome_add(outcome, request.error, strlen(request.error));
                goes_on = false;
                break;
            case KV_REQUEST_NOMEM:
                CHECK(!"memory");
                goes_on = false;
                break;
            }
            free(copy);
            start += used;
        }
    }
    kv_request_done(&request);
    CHECK_INT(mem.used, 0);
}

static void check_stream(struct bytes stream, const char *want)
{
    struct outcome outcome;
    feed(stream, SIZE_MAX / 2, SIZE_MAX, &outcome);
    CHECK_STR(outcome.text, want);
    feed(stream, 1, SIZE_MAX, &outcome);
    CHECK_STR(outcome.text, want);
    for (size_t cut = 1; cut < stream.size && stream.size < 200; cut++) {
        feed(stream, SIZE_MAX / 2, cut, &outcome);
        if (!CHECK_STR(outcome.text, want)) {
            printf("    cut at %zu\n", cut);
            return;
        }
    }
}

#define STREAM(text, want) check_stream(BYTES_LITERAL(text), want)

TEST(multibulk)
{
    STREAM("*1\r\n$4\r\nPING\r\n", "[PING]");
    STREAM("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\na\r\n\r\n*1\r\n$4\r\nPING\r\n",
           "[SET|k|a\r\n][PING]");
    STREAM("*2\r\n$0\r\n\r\n$1\r\n\0\r\n", "[|@]");
    STREAM("*0\r\n*-1\r\n*-5\r\n*1\r\n$4\r\nPING\r\n", "()()()[PING]");
}

TEST(multibulk_mistakes)
{
    STREAM("*2147483648\r\n", "!ERR Protocol error: invalid multibulk length");
    STREAM("*9223372036854775808\r\n", "!ERR Protocol error: invalid multibulk length");
    STREAM("*+1\r\n", "!ERR Protocol error: invalid multibulk length");
    STREAM("* 1\r\n", "!ERR Protocol error: invalid multibulk length");
    STREAM("*\r\n", "!ERR Protocol error: invalid multibulk length");
    STREAM("*abc\r\n", "!ERR Protocol error: invalid multibulk length");
    STREAM("*1\n$4\nPING\n", "!ERR Protocol error: invalid multibulk length");
    STREAM("*1\r\n:5\r\n", "!ERR Protocol error: expected '$', got ':'");
    STREAM("*1\r\nPING\r\n", "!ERR Protocol error: expected '$', got 'P'");
    STREAM("*1\r\n\r\n", "!ERR Protocol error: expected '$', got ' '");
    STREAM("*1\r\n$-1\r\n", "!ERR Protocol error: invalid bulk length");
    STREAM("*1\r\n$536870913\r\n", "!ERR Protocol error: invalid bulk length");
    STREAM("*1\r\n$9223372036854775808\r\n", "!ERR Protocol error: invalid bulk length");
    STREAM("*1\r\n$a\r\n", "!ERR Protocol error: invalid bulk length");
    STREAM("*1\r\n$4\nPING\r\n", "!ERR Protocol error: invalid bulk length");
    STREAM("*1\r\n$4\r\nPINGXX", "!ERR Protocol error: invalid bulk terminator");
    STREAM("*1\r\n$4\r\nPING\n\n", "!ERR Protocol error: invalid bulk terminator");
    STREAM("*1\r\n$4\r\nPING\rX", "!ERR Protocol error: invalid bulk terminator");
}

/* A claim is no reason to take memory, and what is incomplete is not run. */
TEST(claims_and_cut_streams)
{
    STREAM("*1048577\r\n", "");
    STREAM("*2147483647\r\n$3\r\nabc\r\n", "");
    STREAM("*1\r\n$536870912\r\nabc", "");
    STREAM("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$10\r\nabc", "");
    STREAM("*1\r\n$4\r\nPING\r", "");
    STREAM("PING", "");
    STREAM("PING\r", "");
    STREAM("", "");
}

TEST(inline_form)
{
    STREAM("PING\r\n", "[PING]");
    STREAM("PING\n", "[PING]");
    STREAM("  SET   k\tv  \r\n", "[SET|k|v]");
    STREAM("\r\n\n  \r\nPING\n", "()()()[PING]");
    STREAM("SET k \"a b\"\r\n", "[SET|k|a b]");
    STREAM("SET k 'a b'\r\n", "[SET|k|a b]");
    STREAM("SET k \"\\x41\\n\\r\\t\\b\\a\\\\\\\"\\q\"\r\n", "[SET|k|A\n\r\t\b\a\\\"q]");
    STREAM("SET k 'it\\'s \\n'\r\n", "[SET|k|it's \\n]");
    STREAM("SET k \"\" ''\r\n", "[SET|k||]");
    STREAM("SET k a\"b c\"\r\n", "[SET|k|ab c]");
    STREAM("SET k \"\\x4\" \"\\xZZ\" \"\\x\"\r\n", "[SET|k|x4|xZZ|x]");
    STREAM("SET k \"\\x00\"\r\n", "[SET|k|@]");
}

TEST(inline_mistakes)
{
    static const char unbalanced[] = "!ERR Protocol error: unbalanced quotes in request";
    STREAM("SET A 'Value'Value\r\nPING\r\n", unbalanced);
    STREAM("GET \"\"\"k\"\"\"\r\n", unbalanced);
    STREAM("GET \"k\r\n", unbalanced);
    STREAM("GET 'k\r\n", unbalanced);
    STREAM("GET \"k\\\"\r\n", unbalanced);
    STREAM("GET \"\\\r\n", unbalanced);
}

TEST(long_lines)
{
    static uint8_t line[70000];
    memset(line, 'a', sizeof line);
    struct outcome outcome;
    static const struct {
        const char *start, *want;
    } cases[] = {{"*", "!ERR Protocol error: too big mbulk count string"},
                 {"*1\r\n$", "!ERR Protocol error: too big bulk count string"},
                 {"GET \"", "!ERR Protocol error: too big inline request"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(line, cases[i].start, strlen(cases[i].start));
        feed(bytes_of(line, sizeof line), SIZE_MAX / 2, SIZE_MAX, &outcome);
        CHECK_STR(outcome.text, cases[i].want);
        feed(bytes_of(line, sizeof line), 1000, SIZE_MAX, &outcome);
        CHECK_STR(outcome.text, cases[i].want);
    }
    memset(line, 'a', sizeof line);
    line[KV_REQUEST_LINE_MAX] = '\n';
    feed(bytes_of(line, KV_REQUEST_LINE_MAX + 1), SIZE_MAX / 2, SIZE_MAX, &outcome);
    CHECK(outcome.text[0] == '\0' || outcome.text[0] == '[');
    feed(bytes_of(line, KV_REQUEST_LINE_MAX + 1), SIZE_MAX / 2, SIZE_MAX, &outcome);
    CHECK(outcome.text[0] != '!');
    line[KV_REQUEST_LINE_MAX] = 'a';
    line[KV_REQUEST_LINE_MAX + 1] = '\n';
    feed(bytes_of(line, KV_REQUEST_LINE_MAX + 2), SIZE_MAX / 2, SIZE_MAX, &outcome);
    CHECK_STR(outcome.text, "!ERR Protocol error: too big inline request");
}

/* ---- A real server says the same to the same mistakes ---- */

TEST(mistakes_by_redis)
{
    static const char *const streams[] = {"*2147483648\r\n",
                                          "*+1\r\n",
                                          "* 1\r\n",
                                          "*abc\r\n",
                                          "*1\r\n:5\r\n",
                                          "*1\r\n$-1\r\n",
                                          "*1\r\n$a\r\n",
                                          "*1\r\n$536870913\r\n",
                                          "SET A 'V'V\r\n",
                                          "GET \"k\r\n",
                                          "GET 'k\r\n",
                                          "*1\r\n\r\n",
                                          "*1\r\n$9223372036854775808\r\n",
                                          "GET \"k\\\"\r\n"};
    struct transcript_target target;
    redis_start(&target);
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        struct bytes stream = bytes_of(streams[i], strlen(streams[i]));
        struct transcript_buffer reply = {NULL, 0, 0};
        struct outcome outcome;
        feed(stream, SIZE_MAX / 2, SIZE_MAX, &outcome);
        REQUIRE(outcome.text[0] == '!');
        CHECK(redis_raw(stream, 1, &reply));
        outcome.text[0] = '-';
        outcome_add(&outcome, "\r\n", 2);
        transcript_append(&reply, "", 0);
        if (!CHECK_STR((const char *)reply.data, outcome.text)) {
            printf("    %s\n", streams[i]);
        }
        transcript_free(&reply);
    }
    redis_stop();
}

/* ---- Memory ---- */

struct scarce {
    size_t left;
};

static void *scarce_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    struct scarce *scarce = self;
    if (new_size > 0 && scarce->left == 0) {
        return NULL;
    }
    scarce->left -= new_size > 0;
    return kv_mem_libc.resize(NULL, ptr, old_size, new_size);
}

TEST(every_allocation_fails_once)
{
    static const char *const streams[] = {"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n",
                                          "SET k \"v\"\r\n"};
    for (size_t i = 0; i < 2; i++) {
        enum kv_request_result result = KV_REQUEST_NOMEM;
        size_t left = 0;
        for (; result == KV_REQUEST_NOMEM && left < 50; left++) {
            struct scarce scarce = {left};
            struct kv_mem mem;
            struct kv_request request;
            size_t used;
            kv_mem_init(&mem, &(kevy_mem){&scarce, scarce_resize});
            kv_request_init(&request, &mem);
            result = kv_request_parse(&request, bytes_of(streams[i], strlen(streams[i])), &used);
            kv_request_done(&request);
            CHECK_INT(mem.used, 0);
        }
        CHECK_INT(result, KV_REQUEST_READY);
        CHECK(left > 2);
    }
}

/* ---- Packed ---- */

TEST(packed)
{
    static const uint8_t good[] = {3, 0, 0, 0, 'S', 'E', 'T', 0, 0, 0, 0, 1, 0, 0, 0, 'v'};
    struct bytes argv[3];
    REQUIRE_INT(kv_packed_count(bytes_of(good, sizeof good)), 3);
    kv_packed_parse(bytes_of(good, sizeof good), argv);
    CHECK_BYTES(argv[0].data, argv[0].size, "SET", 3);
    CHECK_INT(argv[1].size, 0);
    CHECK_BYTES(argv[2].data, argv[2].size, "v", 1);
    for (size_t size = 0; size < sizeof good; size++) {
        bool is_whole = size == 7 || size == 11;
        CHECK_INT(kv_packed_count(bytes_of(good, size)) != 0, is_whole);
    }
    static const uint8_t huge[] = {0xff, 0xff, 0xff, 0xff, 'x'};
    CHECK_INT(kv_packed_count(bytes_of(huge, sizeof huge)), 0);
}
