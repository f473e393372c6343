/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Making, taking and throwing exceptions; the map from statuses to exception classes.
 *
 * Messages go through UTF-16 (text.c): ThrowNew wants modified UTF-8 and garbles the rest. When an
 * exception is pending already, it is saved, the new one is made, added to it as suppressed, and
 * the first is thrown again: the same object. Failing to make the new one leaves what that raised.
 */
#include "kolibri/src/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAP_MAX = 32, MESSAGE_SIZE = 1024 };

static struct {
    int status;
    const char *name;
} map[MAP_MAX];
static int map_count;

kol_status kol_throw_map(int status, const char *name)
{
    kol_status result = KOL_OK;
    pthread_mutex_lock(&kol__state.lock);
    int i = 0;
    while (i < map_count && map[i].status != status) {
        i++;
    }
    if (i == MAP_MAX) {
        result = KOL_ERANGE;
    } else {
        map[i].status = status;
        map[i].name = name;
        map_count = i == map_count ? i + 1 : map_count;
    }
    pthread_mutex_unlock(&kol__state.lock);
    return result;
}

static const char *mapped(int status)
{
    const char *name = NULL;
    pthread_mutex_lock(&kol__state.lock);
    for (int i = 0; i < map_count; i++) {
        if (map[i].status == status) {
            name = map[i].name;
        }
    }
    pthread_mutex_unlock(&kol__state.lock);
    return name;
}

jthrowable kol_take(JNIEnv *env)
{
    jthrowable throwable = (*env)->ExceptionOccurred(env);
    if (throwable) {
        (*env)->ExceptionClear(env);
    }
    return throwable;
}

kol_status kol_throw_again(JNIEnv *env, jthrowable throwable)
{
    (*env)->Throw(env, throwable);
    return KOL_EJAVA;
}

/* Makes an object by a constructor of one String, and an int if `status` is not null. */
static kol_status make(JNIEnv *env, const char *name, const char *message, const int *status,
                       jthrowable *out)
{
    jclass cls = NULL;
    jstring text = NULL;
    jvalue arguments[2];
    kol_status result = kol_class_find(env, name, &cls);
    *out = NULL;
    if (result == KOL_OK && message) {
        result = kol_text_new(env, message, strlen(message), &text);
    }
    jmethodID constructor = NULL;
    if (result == KOL_OK) {
        const char *signature = status ? "(Ljava/lang/String;I)V" : "(Ljava/lang/String;)V";
        constructor = (*env)->GetMethodID(env, cls, "<init>", signature);
    }
    if (constructor) {
        arguments[0].l = text;
        arguments[1].j = 0;
        arguments[1].i = status ? *status : 0;
        *out = (*env)->NewObjectA(env, cls, constructor, arguments);
    }
    (*env)->DeleteLocalRef(env, text);
    (*env)->DeleteLocalRef(env, cls);
    return *out ? KOL_OK : result == KOL_OK ? KOL_EJAVA : result;
}

/* Adds `later` to `first` as suppressed; if that fails, the failure is dropped. */
static void suppress(JNIEnv *env, jthrowable first, jthrowable later)
{
    if (!later || (*env)->IsSameObject(env, first, later)) {
        return;
    }
    kol_status status =
        kol__Throwable_addSuppressed(env, kol__Throwable__raw(first), kol__Throwable__raw(later));
    if (status != KOL_OK) {
        (*env)->ExceptionClear(env);
    }
}

static kol_status throw_made(JNIEnv *env, const char *name, const char *message, const int *number,
                             jthrowable cause)
{
    jthrowable made = NULL;
    jthrowable first = kol_take(env);
    kol_status status = make(env, name, message, number, &made);
    if (status == KOL_OK && cause) {
        kol__Throwable same;
        status = kol__Throwable_initCause(env, kol__Throwable__raw(made),
                                          kol__Throwable__raw(cause), &same);
        (*env)->DeleteLocalRef(env, status == KOL_OK ? same.raw : NULL);
    }
    if (status == KOL_OK) {
        KOL__TALLY_UP(exceptions_thrown);
        (*env)->Throw(env, made);
    } else if (status != KOL_EJAVA && !(*env)->ExceptionCheck(env)) {
        jclass error = (*env)->FindClass(env, "java/lang/InternalError");
        if (error) {
            (*env)->ThrowNew(env, error, kol_status_text(status));
        }
    }
    (*env)->DeleteLocalRef(env, made);
    if (first) {
        jthrowable later = kol_take(env);
        suppress(env, first, later);
        (*env)->Throw(env, first);
        (*env)->DeleteLocalRef(env, later);
        (*env)->DeleteLocalRef(env, first);
    }
    return KOL_EJAVA;
}

kol_status kol_throw_new(JNIEnv *env, const char *name, const char *message)
{
    return throw_made(env, name, message, NULL, NULL);
}

kol_status kol_throw_cause(JNIEnv *env, const char *name, const char *message, jthrowable cause)
{
    return throw_made(env, name, message, NULL, cause);
}

/* Cuts a text that snprintf cut in the middle of a character. */
static void cut_at_character(char *text, size_t size)
{
    size_t at = size;
    while (at > 0 && at + 4 > size && ((unsigned char)text[at - 1] & 0xC0) == 0x80) {
        at--;
    }
    if (at > 0 && !kol_utf8_is_valid(text + at - 1, size - at + 1)) {
        text[at - 1] = 0;
    }
}

kol_status kol_throw(JNIEnv *env, int status, const char *format, ...)
{
    char message[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (length < 0) {
        message[0] = 0;
    } else if (length >= MESSAGE_SIZE) {
        cut_at_character(message, MESSAGE_SIZE - 1);
    }
    const char *name = mapped(status);
    if (name) {
        return throw_made(env, name, message, NULL, NULL);
    }
    return throw_made(env, "io/kolibri/KolibriException", message, &status, NULL);
}

void kol_throwable_text(JNIEnv *env, jthrowable throwable, char *buffer, size_t size)
{
    kol__String string = kol__String__null();
    struct kol_text text;
    if (size == 0) {
        return;
    }
    buffer[0] = 0;
    jthrowable pending = kol_take(env);
    if (kol__ready(env, NULL) != KOL_OK) {
        (*env)->ExceptionClear(env);
    } else if (kol__Throwable_toString(env, kol__Throwable__raw(throwable), &string) != KOL_OK) {
        (*env)->ExceptionClear(env);
        kol__Class cls = kol__Class__raw((*env)->GetObjectClass(env, throwable));
        if (kol__Class_getName(env, cls, &string) != KOL_OK) {
            (*env)->ExceptionClear(env);
        }
        kol__Class__forget(env, cls);
    }
    if (string.raw && kol_text_open(env, string.raw, &text) == KOL_OK) {
        size_t copied = text.size < size ? text.size : size - 1;
        memcpy(buffer, text.bytes, copied);
        buffer[copied] = 0;
        if (copied < text.size) {
            cut_at_character(buffer, copied);
        }
        kol_text_close(&text);
    }
    kol__String__forget(env, string);
    if (pending) {
        (*env)->Throw(env, pending);
        (*env)->DeleteLocalRef(env, pending);
    }
}
