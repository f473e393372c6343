/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Stores as transcript targets, through the public kevy_cmd, and all that a
 * target holds as one text. See cmd_kit.h.
 */
#include "kevy/test/cmd_kit.h"

#include <stdlib.h>
#include <string.h>

#include "testing/harness.h"

enum { ARGS_MAX = 4096 };

static bool run_on_store(void *self, size_t argc, const struct bytes *argv,
                         struct transcript_buffer *reply)
{
    static const uint8_t *data[ARGS_MAX];
    static size_t sizes[ARGS_MAX];
    KevyBuf out;
    REQUIRE(argc <= ARGS_MAX);
    for (size_t i = 0; i < argc; i++) {
        data[i] = argv[i].data;
        sizes[i] = argv[i].size;
    }
    if (kevy_cmd(self, argc, data, sizes, &out) != 0) {
        return false;
    }
    transcript_append(reply, out.ptr, out.len);
    kevy_buf_free(out.ptr, out.len, out.cap);
    return true;
}

struct transcript_target cmd_target(KevyDb *db)
{
    return (struct transcript_target){"kevy", db, run_on_store};
}

static size_t split_words(const char *text, struct bytes *argv)
{
    size_t argc = 0;
    for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
        size_t size = strcspn(text, " ");
        argv[argc++] = bytes_of(text, size);
        text += size;
    }
    return argc;
}

const char *cmd_say(KevyDb *db, const char *words)
{
    static struct transcript_buffer shown;
    struct transcript_buffer reply = {NULL, 0, 0};
    struct bytes argv[64];
    size_t argc = split_words(words, argv);
    shown.size = 0;
    transcript_append(&shown, "", 0);
    if (run_on_store(db, argc, argv, &reply)) {
        transcript_show(bytes_of(reply.data, reply.size), &shown);
    }
    transcript_free(&reply);
    return (const char *)shown.data;
}

void cmd_dump(const struct transcript_target *target, bool with_expiry,
              struct transcript_buffer *out)
{
    struct transcript_buffer keys = {NULL, 0, 0};
    struct bytes all[2] = {BYTES_LITERAL("KEYS"), BYTES_LITERAL("*")};
    REQUIRE(target->run(target->self, 2, all, &keys));
    transcript_sort(&keys, 1);
    size_t at = (size_t)((uint8_t *)memchr(keys.data, '\n', keys.size) - keys.data) + 1;
    while (at < keys.size) {
        struct bytes reply = bytes_of(keys.data + at, keys.size - at);
        size_t size = transcript_reply_size(reply);
        const uint8_t *body = (const uint8_t *)memchr(reply.data, '\n', size) + 1;
        struct bytes key = bytes_of(body, size - 2 - (size_t)(body - reply.data));
        struct bytes get[2] = {BYTES_LITERAL("GET"), key};
        struct bytes expiry[2] = {BYTES_LITERAL("PEXPIRETIME"), key};
        transcript_append(out, reply.data, size);
        REQUIRE(target->run(target->self, 2, get, out));
        REQUIRE(!with_expiry || target->run(target->self, 2, expiry, out));
        at += size;
    }
    transcript_free(&keys);
}
