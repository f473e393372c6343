/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Text across the boundary, exact: NUL, supplementary characters and lone surrogates survive the
 * way there and back. Never JNI's modified UTF-8.
 *
 * Bytes of text are UTF-8. A Java string may hold half of a surrogate pair, which UTF-8 cannot say;
 * it is written as the three bytes of its code point (WTF-8) and read back as the same half. Bytes
 * that are neither are malformed: each maximal subpart becomes one U+FFFD, as W3C and Unicode
 * recommend, and reading never goes past the end. KOL_TEXT_STRICT gives plain UTF-8 instead: half a
 * pair becomes U+FFFD on the way out and three U+FFFD on the way in.
 *
 * Strings up to KOL_TEXT_LOCAL bytes cost no allocation. The functions on plain arrays need no VM.
 */
#ifndef KOLIBRI_TEXT_H
#define KOLIBRI_TEXT_H

#include <jni.h>
#include <kolibri/status.h>

enum { KOL_TEXT_EXACT = 0, KOL_TEXT_STRICT = 1 };
enum { KOL_TEXT_LOCAL = 192 };

/* The UTF-8 of one Java string. bytes[size] is NUL. Do not copy the struct: bytes may point in. */
struct kol_text {
    const char *bytes;
    size_t size;
    char *heap;
    char local[KOL_TEXT_LOCAL];
};

KOL__C_BEGIN

/*
 * Reads a string into `text`, exact. Yours until kol_text_close. KOL_OK; KOL_ENULL for a null
 * string; KOL_ENOMEM; KOL_EJAVA. After an error closing is allowed and needless.
 */
kol_status kol_text_open(JNIEnv *env, jstring string, struct kol_text *text) KOL__MUST;
void kol_text_close(struct kol_text *text);

/*
 * Copies a string as UTF-8 into the caller's buffer, without a NUL. `*size_out` is its size, also
 * when that is more than `size`: then KOL_ESMALL and the buffer is untouched. `flags` is
 * KOL_TEXT_EXACT or KOL_TEXT_STRICT. KOL_ENULL, KOL_EJAVA.
 */
kol_status kol_text_copy(JNIEnv *env, jstring string, int flags, char *buffer, size_t size,
                         size_t *size_out) KOL__MUST;

/* A new Java string from `size` bytes of UTF-8; KOL_OK, KOL_ENOMEM, KOL_ERANGE, KOL_EJAVA. */
kol_status kol_text_new(JNIEnv *env, const char *bytes, size_t size, jstring *out) KOL__MUST;
kol_status kol_text_new_strict(JNIEnv *env, const char *bytes, size_t size, jstring *out) KOL__MUST;

/* A new Java string from Latin-1 bytes, and from UTF-16 units as they are. */
kol_status kol_text_new_latin1(JNIEnv *env, const char *bytes, size_t size, jstring *out) KOL__MUST;
kol_status kol_text_new_utf16(JNIEnv *env, const jchar *units, size_t count,
                              jstring *out) KOL__MUST;

/*
 * Transcoding of plain arrays. Each writes at most what its first function counted and returns how
 * much it wrote. UTF-16 from UTF-8 never needs more units than there are bytes; UTF-8 from UTF-16
 * never more than three bytes a unit.
 */
size_t kol_utf16_count(const char *bytes, size_t size, int flags);
size_t kol_utf16_from_utf8(const char *bytes, size_t size, int flags, jchar *out);
size_t kol_utf8_size(const jchar *units, size_t count, int flags);
size_t kol_utf8_from_utf16(const jchar *units, size_t count, int flags, char *out);

/* True if the bytes are UTF-8 without any malformed part and without surrogates. */
int kol_utf8_is_valid(const char *bytes, size_t size);

KOL__C_END

#endif
