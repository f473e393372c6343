/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Many keys in one call: the natives getMany and setMany of io.kevy.Store. Keys
 * and values come packed as commands do, for each its length (u32,
 * little-endian) and its bytes; values go back as kevy_get_many gives them.
 */
#include "doors/jvm/c/jvm_door.h"

#include <stdlib.h>

/* Parts of a packed array, every one of a list of `step`s beside each other: for pairs the keys,
 * then the values. */
struct parts {
    struct kj_bytes packed;
    size_t count;
    const uint8_t **at;
    size_t *size;
};

/* Counts the parts; false if they do not end where the bytes do. */
static bool count_parts(const struct kj_bytes *packed, size_t *out)
{
    size_t at = 0;
    for (*out = 0; packed->size - at >= 4; ++*out) {
        size_t size = kj_u32(packed->data + at);
        if (size > packed->size - at - 4) {
            return false;
        }
        at += 4 + size;
    }
    return at == packed->size;
}

/* Yours until close_parts, also after a failure. */
static bool open_parts(JNIEnv *env, jbyte__array array, size_t step, struct parts *out)
{
    out->count = 0;
    out->at = NULL;
    out->size = NULL;
    if (!kj_bytes_open(env, array, &out->packed)) {
        return false;
    }
    size_t count;
    if (!count_parts(&out->packed, &count) || count % step != 0) {
        return kj_fail_result(env, KEVY_EMISUSE);
    }
    out->at = malloc((count + 1) * sizeof *out->at);
    out->size = malloc((count + 1) * sizeof *out->size);
    if (out->at == NULL || out->size == NULL) {
        return kj_fail_memory(env);
    }
    const uint8_t *from = out->packed.data;
    for (size_t i = 0; i < count; i++) {
        size_t place = i % step * (count / step) + i / step;
        out->size[place] = kj_u32(from);
        out->at[place] = from + 4;
        from += 4 + out->size[place];
    }
    out->count = count / step;
    return true;
}

static void close_parts(struct parts *parts)
{
    free(parts->at);
    free(parts->size);
    kj_bytes_close(&parts->packed);
}

jbyte__array kj_get_many(JNIEnv *env, KevyDb *db, jbyte__array keys)
{
    struct parts parts;
    jbyte__array array = {NULL};
    if (open_parts(env, keys, 1, &parts)) {
        KevyBuf buf = {NULL, 0, 0};
        int64_t hits = kevy_get_many(db, parts.count, parts.at, parts.size, &buf);
        if (hits >= 0) {
            array = kj_array_take(env, &buf);
        } else {
            (void)kj_fail_result(env, hits == KEVY_EMISUSE ? KEVY_EMISUSE : KEVY_ENOMEM);
        }
    }
    close_parts(&parts);
    return array;
}

/* Throws what MSET, which is all or nothing too, says about the same pairs. */
static void set_failed(JNIEnv *env, KevyDb *db, const struct parts *pairs)
{
    size_t argc = 1 + 2 * pairs->count;
    const uint8_t **argv = malloc(argc * sizeof *argv);
    size_t *argv_len = malloc(argc * sizeof *argv_len);
    if (argv == NULL || argv_len == NULL) {
        (void)kj_fail_memory(env);
    } else {
        argv[0] = (const uint8_t *)"MSET";
        argv_len[0] = 4;
        for (size_t i = 0; i < 2 * pairs->count; i++) {
            size_t from = i % 2 * pairs->count + i / 2;
            argv[1 + i] = pairs->at[from];
            argv_len[1 + i] = pairs->size[from];
        }
        (void)kj_retry(env, db, argc, argv, argv_len);
    }
    free(argv);
    free(argv_len);
}

void kj_set_many(JNIEnv *env, KevyDb *db, jbyte__array packed)
{
    struct parts pairs;
    if (open_parts(env, packed, 2, &pairs)) {
        size_t n = pairs.count;
        int32_t result = kevy_set_many(db, n, pairs.at, pairs.size, pairs.at + n, pairs.size + n);
        if (result == KEVY_EMISUSE) {
            (void)kj_fail_result(env, result);
        } else if (result != 0) {
            set_failed(env, db, &pairs);
        }
    }
    close_parts(&pairs);
}
