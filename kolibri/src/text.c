/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Strings of the VM to UTF-8 and back.
 *
 * Reading copies regions of CHUNK units into the stack and transcodes from there: no second copy of
 * a long string, no critical section. A pair that a chunk's end would cut is left for the next.
 * Writing transcodes into the stack for short text and into the heap for long. utf.c transcodes.
 */
#include "kolibri/src/state.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 256, WRITE_LOCAL = 512 };

/* Walks a string; counts its bytes if out is NULL, else writes them. */
static kol_status transcode(JNIEnv *env, jstring string, jsize count, int flags, char *out,
                            size_t *size_out)
{
    jchar units[CHUNK];
    size_t size = 0;
    for (jsize at = 0; at < count;) {
        jsize part = count - at < CHUNK ? count - at : CHUNK;
        (*env)->GetStringRegion(env, string, at, part, units);
        if ((*env)->ExceptionCheck(env)) {
            return KOL_EJAVA;
        }
        if (at + part < count && (units[part - 1] & 0xFC00) == 0xD800) {
            part--;
        }
        size += out ? kol_utf8_from_utf16(units, (size_t)part, flags, out + size)
                    : kol_utf8_size(units, (size_t)part, flags);
        at += part;
    }
    *size_out = size;
    return KOL_OK;
}

kol_status kol_text_open(JNIEnv *env, jstring string, struct kol_text *text)
{
    text->bytes = text->local;
    text->size = 0;
    text->heap = NULL;
    text->local[0] = 0;
    if (!string) {
        return KOL_ENULL;
    }
    jsize count = (*env)->GetStringLength(env, string);
    size_t size = (size_t)count * 3;
    char *out = text->local;
    if (size >= sizeof text->local) {
        kol_status counted = transcode(env, string, count, KOL_TEXT_EXACT, NULL, &size);
        if (counted != KOL_OK) {
            return counted;
        }
    }
    if (size >= sizeof text->local) {
        text->heap = malloc(size + 1);
        if (!text->heap) {
            return KOL_ENOMEM;
        }
        out = text->heap;
    }
    kol_status status = transcode(env, string, count, KOL_TEXT_EXACT, out, &text->size);
    if (status != KOL_OK) {
        kol_text_close(text);
        return status;
    }
    out[text->size] = 0;
    text->bytes = out;
    return KOL_OK;
}

void kol_text_close(struct kol_text *text)
{
    free(text->heap);
    text->heap = NULL;
    text->bytes = text->local;
    text->size = 0;
    text->local[0] = 0;
}

kol_status kol_text_copy(JNIEnv *env, jstring string, int flags, char *buffer, size_t size,
                         size_t *size_out)
{
    *size_out = 0;
    if (!string) {
        return KOL_ENULL;
    }
    jsize count = (*env)->GetStringLength(env, string);
    if ((size_t)count * 3 > size) {
        kol_status status = transcode(env, string, count, flags, NULL, size_out);
        if (status != KOL_OK || *size_out > size) {
            return status != KOL_OK ? status : KOL_ESMALL;
        }
    }
    return transcode(env, string, count, flags, buffer, size_out);
}

kol_status kol_text_new_utf16(JNIEnv *env, const jchar *units, size_t count, jstring *out)
{
    static const jchar nothing[1] = {0};
    *out = NULL;
    if (count > INT32_MAX) {
        return KOL_ERANGE;
    }
    *out = (*env)->NewString(env, count ? units : nothing, (jsize)count);
    return *out ? KOL_OK : KOL_EJAVA;
}

static size_t widen(const char *bytes, size_t size, int flags, jchar *out)
{
    (void)flags;
    for (size_t i = 0; i < size; i++) {
        out[i] = (unsigned char)bytes[i];
    }
    return size;
}

typedef size_t (*decoder)(const char *bytes, size_t size, int flags, jchar *out);

/* `count_max` units are enough for the decoder's result. */
static kol_status text_new(JNIEnv *env, const char *bytes, size_t size, int flags, decoder decode,
                           size_t count_max, jstring *out)
{
    jchar local[WRITE_LOCAL];
    jchar *units = local;
    *out = NULL;
    if (count_max > INT32_MAX) {
        return KOL_ERANGE;
    }
    if (count_max > SIZE_MAX / sizeof *units) {
        return KOL_ENOMEM;
    }
    if (count_max > WRITE_LOCAL) {
        units = malloc(count_max * sizeof *units);
        if (!units) {
            return KOL_ENOMEM;
        }
    }
    size_t count = decode(bytes, size, flags, units);
    kol_status status = kol_text_new_utf16(env, units, count, out);
    if (units != local) {
        free(units);
    }
    return status;
}

static kol_status new_from_utf8(JNIEnv *env, const char *bytes, size_t size, int flags,
                                jstring *out)
{
    size_t count_max = size > WRITE_LOCAL ? kol_utf16_count(bytes, size, flags) : size;
    return text_new(env, bytes, size, flags, kol_utf16_from_utf8, count_max, out);
}

kol_status kol_text_new(JNIEnv *env, const char *bytes, size_t size, jstring *out)
{
    return new_from_utf8(env, bytes, size, KOL_TEXT_EXACT, out);
}

kol_status kol_text_new_strict(JNIEnv *env, const char *bytes, size_t size, jstring *out)
{
    return new_from_utf8(env, bytes, size, KOL_TEXT_STRICT, out);
}

kol_status kol_text_new_latin1(JNIEnv *env, const char *bytes, size_t size, jstring *out)
{
    return text_new(env, bytes, size, 0, widen, size, out);
}
