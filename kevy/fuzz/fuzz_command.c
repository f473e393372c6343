/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Property: whatever a store in memory is asked, it gives exactly one whole
 * RESP2 reply, and a pack of arguments that does not fit is refused.
 *
 * The input is commands: a byte with the number of arguments, then for each a
 * byte with its size and the bytes. Arguments that are numbers of seven digits
 * and more are left out where they would only make half a gigabyte of zeros.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kevy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARGS_MAX = 16, PACK_MAX = ARGS_MAX * (4 + 255) };

/* Returns the size of the reply at p, 0 if it is not whole. */
static size_t reply_size(const uint8_t *p, size_t size)
{
    const uint8_t *lf = size == 0 ? NULL : memchr(p, '\n', size);
    if (lf == NULL || lf - p < 2 || lf[-1] != '\r') {
        return 0;
    }
    size_t line = (size_t)(lf - p) + 1;
    if (*p == '+' || *p == '-' || *p == ':') {
        return line;
    }
    /* A reply ends without a NUL, so its number is copied to where one is. */
    char number[32] = {0};
    if ((*p != '$' && *p != '*') || line - 3 >= sizeof number) {
        return 0;
    }
    memcpy(number, p + 1, line - 3);
    long long count = strtoll(number, NULL, 10);
    if (count < 0) {
        return line;
    }
    if (*p == '$') {
        size_t end = line + (size_t)count + 2;
        return size >= end && p[end - 1] == '\n' ? end : 0;
    }
    for (; count > 0; count--) {
        size_t part = reply_size(p + line, size - line);
        if (part == 0) {
            return 0;
        }
        line += part;
    }
    return line;
}

static int is_large_number(const uint8_t *arg, size_t size)
{
    size_t digits = 0;
    for (size_t i = 0; i < size; i++) {
        digits += arg[i] >= '0' && arg[i] <= '9';
    }
    return digits >= 7 && digits <= 10;
}

static void run(KevyDb *db, const uint8_t *pack, size_t size)
{
    KevyBuf out;
    int32_t result = kevy_cmd_packed(db, pack, size, &out);
    if (result != 0 || reply_size(out.ptr, out.len) != out.len || out.len == 0) {
        abort();
    }
    kevy_buf_free(out.ptr, out.len, out.cap);
    if (kevy_cmd_packed(db, pack, size - 1, &out) != -1 || out.ptr != NULL) {
        abort();
    }
}

/* Packs one command; returns the size of the pack, 0 when there is none. */
static size_t take_command(const uint8_t **data, size_t *size, uint8_t *pack)
{
    size_t argc = 1 + **data % ARGS_MAX, at = 0;
    *data += 1;
    *size -= 1;
    for (; argc > 0 && *size > 0; argc--) {
        size_t arg = **data < *size - 1 ? **data : *size - 1;
        if (is_large_number(*data + 1, arg)) {
            arg = 0;
        }
        pack[at] = (uint8_t)arg;
        memset(pack + at + 1, 0, 3);
        memcpy(pack + at + 4, *data + 1, arg);
        at += 4 + arg;
        *data += 1 + arg;
        *size -= 1 + arg;
    }
    return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t pack[PACK_MAX];
    KevyDb *db = kevy_open_mem();
    if (db == NULL) {
        return 0;
    }
    while (size > 1) {
        size_t used = take_command(&data, &size, pack);
        if (used > 0) {
            run(db, pack, used);
        }
    }
    kevy_close(db);
    return 0;
}
