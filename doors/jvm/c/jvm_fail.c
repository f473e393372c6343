/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Results of the engine as Java exceptions. Which class an error becomes is
 * decided in Kotlin, by the factories of io.kevy.Failures; here the facts are
 * carried over.
 *
 * The engine's scalar functions say only that they failed. Their commands say
 * why, in an error reply, and that is the text of the exception. Its status is
 * what kevy_last_status says.
 */
#include "doors/jvm/c/jvm_door.h"

#include <string.h>

KOL_MEMBERS_DEFINE(Failures, FAILURES)

bool kj_fail_memory(JNIEnv *env)
{
    (void)kol_throw_new(env, "java/lang/OutOfMemoryError", "no native memory");
    return false;
}

static bool throw_made(JNIEnv *env, kol_status status, java_lang_Throwable made)
{
    if (status == KOL_OK) {
        (void)kol_throw_again(env, (jthrowable)made.raw);
    }
    return false;
}

static bool text_new(JNIEnv *env, const char *bytes, size_t size, java_lang_String *out)
{
    jstring string = NULL;
    kol_status status = kol_text_new(env, bytes, size, &string);
    *out = java_lang_String__raw(string);
    return status == KOL_OK || status == KOL_EJAVA ? status == KOL_OK : kj_fail_memory(env);
}

bool kj_fail_open(JNIEnv *env, const KevyError *error)
{
    java_lang_String path, text;
    java_lang_Throwable made;
    const char *what = error->text[0] != '\0' ? error->text : kevy_status_text(error->status);
    if (error->status == KEVY_ENOMEM) {
        return kj_fail_memory(env);
    }
    if (!text_new(env, error->path, strlen(error->path), &path) ||
        !text_new(env, what, strlen(what), &text)) {
        return false;
    }
    kol_status status = Failures_at_open(env, error->status, error->sys_errno, (jlong)error->offset,
                                         path, text, &made);
    return throw_made(env, status, made);
}

bool kj_fail_result(JNIEnv *env, int32_t result)
{
    java_lang_Throwable made;
    if (result == KEVY_ENOMEM) {
        return kj_fail_memory(env);
    }
    return throw_made(env, Failures_of_status(env, result, &made), made);
}

bool kj_fail_reply(JNIEnv *env, const KevyBuf *reply)
{
    java_lang_String text;
    java_lang_Throwable made;
    size_t size = reply->len;
    while (size > 1 && (reply->ptr[size - 1] == '\r' || reply->ptr[size - 1] == '\n')) {
        size--;
    }
    if (!text_new(env, (const char *)reply->ptr + 1, size - 1, &text)) {
        return false;
    }
    return throw_made(env, Failures_of_refusal(env, kevy_last_status(), text, &made), made);
}

bool kj_retry(JNIEnv *env, KevyDb *db, size_t argc, const uint8_t *const *argv,
              const size_t *argv_len)
{
    KevyBuf reply = {NULL, 0, 0};
    if (kevy_cmd(db, argc, argv, argv_len, &reply) != 0 || reply.len == 0) {
        return kj_fail_memory(env);
    }
    bool went = reply.ptr[0] != '-' || kj_fail_reply(env, &reply);
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
    return went;
}
