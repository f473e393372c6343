/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The examples, and running them. See write_examples.h.
 *
 * Large values (@9000) lie in extents when segments have 64 KiB, and what many
 * keys write (MSET of large values) is a batch in an extent.
 */
#if !defined(_GNU_SOURCE) && !defined(__APPLE__)
#define _GNU_SOURCE
#endif
#include "kevy/test/write_examples.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "testing/harness.h"

enum { WORDS_MAX = 64, WORD_MAX = 100 };

#define STRINGS "SET s hello; SET n 41; SET f 1.5; SET t soon PX 100000; SET big @9000"

const struct write_example write_examples[] = {
    {"", "SET s new"},
    {STRINGS, "SET s new"},
    {STRINGS, "SET t new"},
    {STRINGS, "SET t new KEEPTTL"},
    {STRINGS, "SET s new EX 10 GET"},
    {STRINGS, "SET s new PXAT 1700000900000 XX"},
    {STRINGS, "SET fresh v NX"},
    {STRINGS, "SET s @5000"},
    {STRINGS, "SET s @9000"},
    {STRINGS, "SET big small"},
    {STRINGS, "SET s late PXAT 5"},
    {STRINGS, "SETNX fresh v"},
    {STRINGS, "SETEX s 10 v"},
    {STRINGS, "PSETEX t 1234 v"},
    {STRINGS, "GETSET t new"},
    {STRINGS, "GETDEL s"},
    {STRINGS, "GETDEL big"},
    {STRINGS, "GETEX t PERSIST"},
    {STRINGS, "GETEX s PX 1500"},
    {STRINGS, "GETEX big EXAT 1700000900"},
    {STRINGS, "MSET s 1 n 2 fresh 3"},
    {STRINGS, "MSET a @3000 b @3000 s @3000"},
    {STRINGS, "MSET a @9000 b x c @9000"},
    {STRINGS, "MSET s 1 s 2 s 3"},
    {STRINGS, "MSETNX x 1 y 2"},
    {STRINGS, "APPEND s more"},
    {STRINGS, "APPEND t more"},
    {STRINGS, "APPEND fresh more"},
    {STRINGS, "APPEND s @9000"},
    {STRINGS, "SETRANGE s 400 x"},
    {STRINGS, "SETRANGE t 1 x"},
    {STRINGS, "INCR n"},
    {STRINGS, "INCR fresh"},
    {STRINGS, "DECR n"},
    {STRINGS, "INCRBY n 5"},
    {STRINGS "; PEXPIRE n 5000", "DECRBY n 5"},
    {STRINGS, "INCRBYFLOAT f 0.25"},
    {STRINGS, "SETBIT s 5000 1"},
    {STRINGS, "SETBIT t 3 0"},
    {STRINGS, "BITOP OR z s n"},
    {STRINGS, "BITOP XOR big big s"},
    {STRINGS, "BITOP AND s missing missing"},
    {STRINGS, "BITOP NOT t n"},
    {STRINGS, "BITFIELD s SET u8 0 1 INCRBY u8 5000 1 OVERFLOW SAT INCRBY i4 100 -9"},
    {STRINGS, "DEL s n big missing s"},
    {STRINGS, "UNLINK t"},
    {STRINGS, "RENAME s z"},
    {STRINGS, "RENAME t n"},
    {STRINGS, "RENAME big s"},
    {STRINGS, "RENAMENX s z"},
    {STRINGS, "COPY t z"},
    {STRINGS, "COPY big n REPLACE"},
    {STRINGS, "COPY t t DB 5"},
    {STRINGS, "MOVE s 3"},
    {STRINGS, "MOVE big 15"},
    {STRINGS, "EXPIRE s 100"},
    {STRINGS, "EXPIRE s 0"},
    {STRINGS, "EXPIRE t 500 GT"},
    {STRINGS, "PEXPIRE big 100"},
    {STRINGS, "EXPIREAT s 1700000900"},
    {STRINGS, "EXPIREAT big 5"},
    {STRINGS, "PEXPIREAT s 1700000900001"},
    {STRINGS, "PERSIST t"},
    {STRINGS "; COPY t t DB 2", "FLUSHDB"},
    {STRINGS "; COPY t t DB 2; COPY big b DB 2", "FLUSHALL"},
    {STRINGS "; COPY t t DB 2", "FLUSHALL ASYNC"},
    {STRINGS "; COPY s s DB 3", "SWAPDB 0 3"},
    {STRINGS, "SWAPDB 7 0"},
    {STRINGS "; FLUSHDB; SET s again", "SWAPDB 0 1"},
    {STRINGS, "kevy_set s new 0"},
    {STRINGS, "kevy_set t new 7000"},
    {STRINGS, "kevy_set s @9000 7000"},
    {STRINGS, "kevy_set_many s 1 t 2 fresh @9000"},
    {STRINGS, "kevy_set_many s @3000 t @3000 fresh @3000"},
};

size_t write_example_count(void)
{
    return sizeof write_examples / sizeof *write_examples;
}

bool write_is_of(const char *text, const char *name)
{
    size_t size = strcspn(text, " ;");
    return strlen(name) == size && strncasecmp(text, name, size) == 0;
}

/* ---- Running ---- */

struct words {
    const uint8_t *at[WORDS_MAX];
    size_t sizes[WORDS_MAX];
    size_t count;
    uint8_t *made[WORDS_MAX]; /* what a word's bytes lie in */
};

static void word_add(struct words *words, const char *text, size_t size)
{
    char *end, *copy = strndup(text, size);
    REQUIRE(copy != NULL && words->count < WORDS_MAX && size < WORD_MAX);
    if (text[0] == '@') {
        size = strtoul(copy + 1, &end, 10);
        free(copy);
        copy = (char *)malloc(size);
        REQUIRE(copy != NULL);
        for (size_t i = 0; i < size; i++) {
            copy[i] = (char)('a' + i * 7 % 26);
        }
    }
    words->at[words->count] = words->made[words->count] = (uint8_t *)copy;
    words->sizes[words->count++] = size;
}

/* Splits the first command of the text off; returns what follows it. */
static const char *words_take(struct words *words, const char *text)
{
    words->count = 0;
    for (text += strspn(text, " "); *text != '\0' && *text != ';'; text += strspn(text, " ")) {
        size_t size = strcspn(text, " ;");
        word_add(words, text, size);
        text += size;
    }
    return text + strspn(text, "; ");
}

static void words_free(struct words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        free(words->made[i]);
    }
}

static bool run_command(KevyDb *db, const struct words *words)
{
    KevyBuf reply = {NULL, 0, 0};
    int32_t status = kevy_cmd(db, words->count, words->at, words->sizes, &reply);
    bool is_good = status == 0 && reply.ptr[0] != '-';
    CHECK(status == 0 || reply.ptr == NULL);
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
    return is_good;
}

static bool run_function(KevyDb *db, const struct words *words)
{
    const uint8_t *keys[WORDS_MAX], *values[WORDS_MAX];
    size_t key_sizes[WORDS_MAX], value_sizes[WORDS_MAX], count = (words->count - 1) / 2;
    if (words->sizes[0] == strlen("kevy_set")) {
        uint64_t ttl_ms = strtoull((const char *)words->at[3], NULL, 10);
        return kevy_set(db, words->at[1], words->sizes[1], words->at[2], words->sizes[2], ttl_ms) ==
               0;
    }
    for (size_t i = 0; i < count; i++) {
        keys[i] = words->at[1 + 2 * i];
        key_sizes[i] = words->sizes[1 + 2 * i];
        values[i] = words->at[2 + 2 * i];
        value_sizes[i] = words->sizes[2 + 2 * i];
    }
    return kevy_set_many(db, count, keys, key_sizes, values, value_sizes) == 0;
}

bool write_run(KevyDb *db, const char *commands)
{
    bool is_good = true;
    while (is_good && *commands != '\0') {
        struct words words;
        bool is_function = strncmp(commands, "kevy_", 5) == 0;
        commands = words_take(&words, commands);
        is_good = (is_function ? run_function : run_command)(db, &words);
        words_free(&words);
    }
    return is_good;
}
