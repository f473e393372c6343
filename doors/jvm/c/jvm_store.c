/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The natives of io.kevy.Store, one handle on a store. What they mean is
 * documented on the methods of io.kevy.Kevy; numbers that Java can check are
 * checked there.
 *
 * Reading: a small value is copied to the stack and from there into its array,
 * so that nothing is allocated but the array; a large one goes through a buffer
 * of the engine.
 */
#include "doors/jvm/c/jvm_door.h"

#include <stdio.h>
#include <string.h>

enum { VALUE_LOCAL = 4096, NUMBER_SIZE = 24 };

#define STORE_NATIVES(X, C)                                                                        \
    X(C, N2, open, "open", java_lang_String, jlong__array)                                         \
    X(C, D, close)                                                                                 \
    X(C, M1, void, report, "report", jlong__array)                                                 \
    X(C, M0, void, sync, "sync")                                                                   \
    X(C, M0, void, shutdown, "shutdown")                                                           \
    X(C, M1, jbyte__array, get, "get", jbyte__array)                                               \
    X(C, M1, java_lang_String, text, "text", jbyte__array)                                         \
    X(C, M4, jlong, get_into, "getInto", jbyte__array, java_nio_ByteBuffer, jint, jint)            \
    X(C, M5, void, set, "set", jbyte__array, jbyte__array, jint, jint, jlong)                      \
    X(C, M3, void, set_text, "setText", jbyte__array, java_lang_String, jlong)                     \
    X(C, M5, void, set_from, "setFrom", jbyte__array, java_nio_ByteBuffer, jint, jint, jlong)      \
    X(C, M1, jbyte__array, get_many, "getMany", jbyte__array)                                      \
    X(C, M1, void, set_many, "setMany", jbyte__array)                                              \
    X(C, M0, jlong, changes, "changes")                                                            \
    X(C, M1, jbyte__array, cmd, "cmd", jbyte__array)                                               \
    X(C, M2, jlong, publish, "publish", jbyte__array, jbyte__array)                                \
    X(C, M2, jlong, subscribe, "subscribe", jbyte__array, jboolean)                                \
    X(C, S1, jlong, latch, "latch", jlong)                                                         \
    X(C, S1, void, await, "await", jlong)                                                          \
    X(C, S1, jbyte__array, encode, "encode", java_lang_String)                                     \
    X(C, S3, java_lang_String, decode, "decode", jbyte__array, jint, jint)                         \
    X(C, S1, java_lang_String, status_text, "statusText", jint)                                    \
    X(C, S0, java_lang_String, version, "version")
KOL_NATIVES(Store, STORE_NATIVES)

kol_status kj_store_register(JNIEnv *env, char *report, size_t size)
{
    return kol_natives_register(env, &Store__natives, report, size);
}

static const uint8_t *bytes_of(const char *text)
{
    return (const uint8_t *)text;
}

static java_lang_String text_of(JNIEnv *env, const char *bytes, size_t size)
{
    jstring string = NULL;
    kol_status status = kol_text_new(env, bytes, size, &string);
    if (status != KOL_OK && status != KOL_EJAVA) {
        (void)kj_fail_memory(env);
    }
    return java_lang_String__raw(status == KOL_OK ? string : NULL);
}

/* Reads a string that may not be null. */
static bool text_open(JNIEnv *env, java_lang_String string, struct kol_text *out)
{
    kol_status status = kol_text_open(env, string.raw, out);
    if (status == KOL_ENULL) {
        (void)kol_throw_new(env, "java/lang/NullPointerException", "text");
        return false;
    }
    return status == KOL_OK || (status != KOL_EJAVA && kj_fail_memory(env));
}

/* ---- Open and close ---- */

static KevyDb *open_path(JNIEnv *env, java_lang_String path, const KevyOpenOptions *options)
{
    KevyDb *db = NULL;
    KevyError error = {0};
    struct kol_text text;
    /* A path that is empty is a failure of the engine's, not a store in memory. */
    if (!text_open(env, path, &text)) {
        return NULL;
    }
    if (kevy_open_ex((const uint8_t *)text.bytes, text.size, options, &db, &error) != KEVY_OK) {
        (void)kj_fail_open(env, &error);
    }
    kol_text_close(&text);
    return db;
}

static KevyDb *open_memory(JNIEnv *env, const KevyOpenOptions *options)
{
    KevyDb *db = NULL;
    KevyError error = {0};
    if (kevy_open_ex(NULL, 0, options, &db, &error) != KEVY_OK) {
        (void)kj_fail_open(env, &error);
    }
    return db;
}

static struct kj_store *Store_open(JNIEnv *env, java_lang_String path, jlong__array numbers)
{
    jlong n[6];
    if (jlong__array__read(env, numbers, 0, 6, n) != KOL_OK) {
        return NULL;
    }
    KevyOpenOptions options = {(uint8_t)n[0],  (uint32_t)n[1], (uint32_t)n[2],
                               (uint64_t)n[3], (uint64_t)n[4], (uint64_t)n[5]};
    KevyDb *db = java_lang_String__is_null(path) ? open_memory(env, &options)
                                                 : open_path(env, path, &options);
    return db != NULL ? kj_store_new(db) : NULL;
}

static void Store_close(struct kj_store *self)
{
    kj_store_free(self);
}

/* The pointer of a latch for the store, for a thread that has a lease on it. */
static jlong Store_latch(JNIEnv *env, jlong self)
{
    (void)env;
    return (jlong)(intptr_t)kj_latch_of((struct kj_store *)(intptr_t)self);
}

static void Store_await(JNIEnv *env, jlong latch)
{
    (void)env;
    kj_latch_wait((struct kj_latch *)(intptr_t)latch);
}

static void Store_report(JNIEnv *env, struct kj_store *self, jlong__array out)
{
    KevyOpenReport report;
    if (kevy_open_report(self->db, &report) != 0) {
        (void)kj_fail_result(env, KEVY_EMISUSE);
        return;
    }
    jlong numbers[6] = {(jlong)report.replayed_commands,
                        (jlong)report.replayed_bytes,
                        (jlong)report.elapsed_ms,
                        (jlong)report.dropped_bytes,
                        report.corrupt,
                        report.quarantine_count};
    if (jlong__array__write(env, out, 0, 6, numbers) != KOL_OK) {
        return; /* the exception is pending */
    }
}

static void Store_sync(JNIEnv *env, struct kj_store *self)
{
    int32_t result = kevy_sync(self->db);
    if (result != 0) {
        (void)kj_fail_result(env, result);
    }
}

static void Store_shutdown(JNIEnv *env, struct kj_store *self)
{
    int32_t result = kevy_shutdown(self->db);
    if (result != 0) {
        (void)kj_fail_result(env, result);
    }
}

/* ---- Values ---- */

/* Says why a read failed. True: the reason is gone, read again. */
static bool get_failed(JNIEnv *env, KevyDb *db, int32_t result, const struct kj_bytes *key)
{
    const uint8_t *argv[] = {bytes_of("GET"), key->data};
    const size_t argv_len[] = {3, key->size};
    return result == -1 ? kj_fail_result(env, KEVY_EMISUSE) : kj_retry(env, db, 2, argv, argv_len);
}

/* A value on its way out: in `local` when it fits, else in `buf`. */
struct value {
    const uint8_t *data;
    size_t size;
    KevyBuf buf;
    uint8_t local[VALUE_LOCAL];
};

/* Fetches a value. False: there is none, or an exception is pending. */
static bool value_open(JNIEnv *env, KevyDb *db, const struct kj_bytes *key, struct value *out)
{
    int32_t hit;
    out->buf = (KevyBuf){NULL, 0, 0};
    out->data = out->local;
    do {
        hit = kevy_get_into(db, key->data, key->size, out->local, sizeof out->local, &out->size);
        if (hit == 2) {
            hit = kevy_get_shared(db, key->data, key->size, &out->buf);
            out->data = out->buf.ptr;
            out->size = out->buf.len;
        }
    } while (hit < 0 && get_failed(env, db, hit, key));
    return hit == 1;
}

static void value_close(struct value *value)
{
    kevy_buf_free_shared(value->buf.ptr, value->buf.len, value->buf.cap);
}

static jbyte__array Store_get(JNIEnv *env, struct kj_store *self, jbyte__array key)
{
    struct kj_bytes name;
    struct value value;
    jbyte__array array = {NULL};
    if (kj_bytes_open(env, key, &name) && value_open(env, self->db, &name, &value)) {
        array = kj_array(env, value.data, value.size);
        value_close(&value);
    }
    kj_bytes_close(&name);
    return array;
}

static java_lang_String Store_text(JNIEnv *env, struct kj_store *self, jbyte__array key)
{
    struct kj_bytes name;
    struct value value;
    java_lang_String string = {NULL};
    if (kj_bytes_open(env, key, &name) && value_open(env, self->db, &name, &value)) {
        string = text_of(env, (const char *)value.data, value.size);
        value_close(&value);
    }
    kj_bytes_close(&name);
    return string;
}

/* The size of the value, -1 none, -2 - size when it does not fit. */
static jlong Store_get_into(JNIEnv *env, struct kj_store *self, jbyte__array key,
                            java_nio_ByteBuffer buffer, jint start, jint end)
{
    struct kj_bytes name;
    uint8_t *target;
    size_t size = 0;
    int32_t hit = 0;
    if (kj_bytes_open(env, key, &name) && kj_view(env, buffer, start, end, &target)) {
        do {
            hit =
                kevy_get_into(self->db, name.data, name.size, target, (size_t)(end - start), &size);
        } while (hit < 0 && get_failed(env, self->db, hit, &name));
    }
    kj_bytes_close(&name);
    return hit == 1 ? (jlong)size : hit == 2 ? -2 - (jlong)size : -1;
}

/* Refuses what is too large before it is copied. */
static bool fits(JNIEnv *env, size_t size)
{
    return size <= KEVY_SIZE_MAX || kj_fail_result(env, KEVY_ELIMIT);
}

static void set(JNIEnv *env, KevyDb *db, const struct kj_bytes *key, const uint8_t *data,
                size_t size, jlong ttl_ms)
{
    int32_t result = kevy_set(db, key->data, key->size, data, size, (uint64_t)ttl_ms);
    if (result == 0) {
        return;
    }
    char number[NUMBER_SIZE];
    int digits = snprintf(number, sizeof number, "%lld", (long long)ttl_ms);
    const uint8_t *argv[] = {bytes_of("SET"), key->data, data, bytes_of("PX"), bytes_of(number)};
    const size_t argv_len[] = {3, key->size, size, 2, (size_t)digits};
    if (result == -1) {
        (void)kj_fail_result(env, KEVY_EMISUSE);
    } else if (fits(env, size)) {
        (void)kj_retry(env, db, ttl_ms > 0 ? 5 : 3, argv, argv_len);
    }
}

static void Store_set(JNIEnv *env, struct kj_store *self, jbyte__array key, jbyte__array array,
                      jint start, jint count, jlong ttl_ms)
{
    struct kj_bytes name, value;
    value.heap = NULL;
    if (kj_bytes_open(env, key, &name) && fits(env, count > 0 ? (size_t)count : 0) &&
        kj_part_open(env, array, start, count, &value)) {
        set(env, self->db, &name, value.data, value.size, ttl_ms);
    }
    kj_bytes_close(&value);
    kj_bytes_close(&name);
}

static void Store_set_text(JNIEnv *env, struct kj_store *self, jbyte__array key,
                           java_lang_String string, jlong ttl_ms)
{
    struct kj_bytes name;
    struct kol_text text;
    if (kj_bytes_open(env, key, &name) && text_open(env, string, &text)) {
        set(env, self->db, &name, (const uint8_t *)text.bytes, text.size, ttl_ms);
        kol_text_close(&text);
    }
    kj_bytes_close(&name);
}

static void Store_set_from(JNIEnv *env, struct kj_store *self, jbyte__array key,
                           java_nio_ByteBuffer buffer, jint start, jint end, jlong ttl_ms)
{
    struct kj_bytes name;
    uint8_t *source;
    if (kj_bytes_open(env, key, &name) && kj_view(env, buffer, start, end, &source)) {
        set(env, self->db, &name, source, (size_t)(end - start), ttl_ms);
    }
    kj_bytes_close(&name);
}

static jbyte__array Store_get_many(JNIEnv *env, struct kj_store *self, jbyte__array keys)
{
    return kj_get_many(env, self->db, keys);
}

static void Store_set_many(JNIEnv *env, struct kj_store *self, jbyte__array packed)
{
    kj_set_many(env, self->db, packed);
}

static jlong Store_changes(JNIEnv *env, struct kj_store *self)
{
    struct kj_changes *changes = kj_changes_new(self);
    if (changes == NULL) {
        (void)kj_fail_memory(env);
    }
    return (jlong)(intptr_t)changes;
}

/* ---- Commands ---- */

static jbyte__array Store_cmd(JNIEnv *env, struct kj_store *self, jbyte__array packed)
{
    struct kj_bytes command;
    KevyBuf reply = {NULL, 0, 0};
    jbyte__array array = {NULL};
    if (kj_bytes_open(env, packed, &command)) {
        int32_t result = kevy_cmd_packed(self->db, command.data, command.size, &reply);
        if (result == 0) {
            array = kj_array_take(env, &reply);
        } else {
            (void)kj_fail_result(env, result == -1 ? KEVY_EMISUSE : KEVY_ENOMEM);
        }
    }
    kj_bytes_close(&command);
    return array;
}

static jlong Store_publish(JNIEnv *env, struct kj_store *self, jbyte__array channel,
                           jbyte__array payload)
{
    struct kj_bytes name, body;
    int64_t receivers = 0;
    body.heap = NULL;
    if (kj_bytes_open(env, channel, &name) && kj_bytes_open(env, payload, &body)) {
        receivers = kevy_publish(self->db, name.data, name.size, body.data, body.size);
        if (receivers < 0) {
            (void)kj_fail_result(env, receivers == -1 ? KEVY_EMISUSE : KEVY_ENOMEM);
        }
    }
    kj_bytes_close(&body);
    kj_bytes_close(&name);
    return receivers;
}

static jlong Store_subscribe(JNIEnv *env, struct kj_store *self, jbyte__array name,
                             jboolean is_pattern)
{
    struct kj_bytes bytes;
    KevySub *sub = NULL;
    if (kj_bytes_open(env, name, &bytes)) {
        sub = is_pattern ? kevy_psubscribe(self->db, bytes.data, bytes.size)
                         : kevy_subscribe(self->db, bytes.data, bytes.size);
        if (sub == NULL) {
            (void)kj_fail_memory(env);
        }
    }
    kj_bytes_close(&bytes);
    return (jlong)(intptr_t)sub;
}

/* ---- Text ---- */

static jbyte__array Store_encode(JNIEnv *env, java_lang_String string)
{
    struct kol_text text;
    jbyte__array array = {NULL};
    if (text_open(env, string, &text)) {
        array = kj_array(env, (const uint8_t *)text.bytes, text.size);
        kol_text_close(&text);
    }
    return array;
}

static java_lang_String Store_decode(JNIEnv *env, jbyte__array array, jint start, jint count)
{
    struct kj_bytes bytes;
    java_lang_String string = {NULL};
    if (kj_part_open(env, array, start, count, &bytes)) {
        string = text_of(env, (const char *)bytes.data, bytes.size);
    }
    kj_bytes_close(&bytes);
    return string;
}

static java_lang_String Store_status_text(JNIEnv *env, jint status)
{
    const char *text = kevy_status_text(status);
    return text_of(env, text, strlen(text));
}

static java_lang_String Store_version(JNIEnv *env)
{
    const char *text = kevy_version();
    return text_of(env, text, strlen(text));
}
