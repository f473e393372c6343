/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The native side of the JUnit tests of shared buffers: reads what Java sends, writes it again as
 * it is or by way of its notation, answers into Java's room and pushes into a static bridge.
 */
#include <kolibri/kolibri.h>
#include <kolibri/shared_buffer.h>

#include "kolibri/test/tagged_kit.h"

#include <stdlib.h>

KOL_HANDLE(java_lang_String, "java/lang/String", java_lang_Object)
KOL_HANDLE(java_nio_ByteBuffer, "java/nio/ByteBuffer", java_lang_Object)
KOL_HANDLE(Natives, "io/kolibri/test/TaggedNatives", java_lang_Object)
KOL_NATIVE(Tagged, "io/kolibri/test/TaggedNatives", struct kol_buffers)

#define BRIDGES(X, C) X(C, SF3, nothrow, jint, take, "take", jint, jlong, java_nio_ByteBuffer)
KOL_MEMBERS(Natives, BRIDGES)
KOL_MEMBERS_DEFINE(Natives, BRIDGES)

#define TAGGED_NATIVES(X, C)                                                                       \
    X(C, S3, jlong, open, "open", java_nio_ByteBuffer, jint, jint)                                 \
    X(C, S1, void, close, "close", jlong)                                                          \
    X(C, S1, jlong, leases, "leases", jlong)                                                       \
    X(C, S1, jlong, one_offs, "oneOffs", jlong)                                                    \
    X(C, S4, jlong, echo, "echo", jlong, jlong, java_nio_ByteBuffer, jlong)                        \
    X(C, S3, java_lang_String, print, "print", jlong, jlong, java_nio_ByteBuffer)                  \
    X(C, S3, jlong, parse, "parse", jlong, java_lang_String, jlong)                                \
    X(C, S3, void, push, "push", jlong, java_lang_String, jint)
KOL_NATIVES(Tagged, TAGGED_NATIVES)

static struct kol_buffers *buffers_of(jlong self)
{
    return (struct kol_buffers *)(intptr_t)self;
}

/* Throws unless something is pending. */
static void fail(JNIEnv *env, kol_status status)
{
    if (!(*env)->ExceptionCheck(env)) {
        kol_throw(env, status, "%s", kol_status_text(status));
    }
}

/* The same for a message that could not be opened: says what is wrong with it, and where. */
static void fail_to_read(JNIEnv *env, kol_status status, const struct kol_reader *reader)
{
    char problem[KOL_PROBLEM_MAX + 1];
    kol_reader_problem(reader, problem, sizeof problem);
    if (!(*env)->ExceptionCheck(env)) {
        kol_throw(env, status, "%s", problem);
    }
}

/* region open */
static jlong Tagged_open(JNIEnv *env, java_nio_ByteBuffer block, jint chunk_size, jint native_count)
{
    struct kol_buffers *buffers;
    kol_status status = kol_buffers_open(env, block.raw, chunk_size, native_count, &buffers);
    if (status != KOL_OK) {
        fail(env, status);
        return 0;
    }
    return (jlong)(intptr_t)buffers;
}
/* end region */

static void Tagged_close(JNIEnv *env, jlong self)
{
    (void)env;
    kol_buffers_close(buffers_of(self));
}

static jlong Tagged_leases(JNIEnv *env, jlong self)
{
    (void)env;
    return (jlong)kol_buffers_leases(buffers_of(self));
}

static jlong Tagged_one_offs(JNIEnv *env, jlong self)
{
    (void)env;
    return (jlong)kol_buffers_one_offs(buffers_of(self));
}

/* Writes a value, or what a notation says if there is one, and answers. */
static jlong answer(JNIEnv *env, struct kol_buffers *buffers, struct kol_value value,
                    const char *notation, jlong room)
{
    struct kol_writer *writer;
    kol_status status = kol_writer_open_room(buffers, room, &writer);
    if (status != KOL_OK) {
        fail(env, status);
        return 0;
    }
    if (!notation) {
        kol_write_value(writer, value);
    } else if (!tagged_parse(writer, notation, kol_buffers_sent(buffers))) {
        kol_write_failure(writer, KOL_EMISUSE);
    }
    jlong result = kol_writer_answer(env, writer);
    /* Java reads it when this has returned, so nobody can say here that it was delivered. */
    kol_writer_close(writer);
    return result;
}

static jlong Tagged_echo(JNIEnv *env, jlong self, jlong where, java_nio_ByteBuffer big, jlong room)
{
    struct kol_reader reader;
    struct kol_buffers *buffers = buffers_of(self);
    jlong result = 0;
    kol_status status = kol_message_open(env, buffers, where, big.raw, &reader);
    if (status == KOL_OK) {
        result = answer(env, buffers, kol_reader_root(&reader), NULL, room);
        kol_reader_close(&reader);
    } else {
        fail_to_read(env, status, &reader);
    }
    return result;
}

static java_lang_String Tagged_print(JNIEnv *env, jlong self, jlong where, java_nio_ByteBuffer big)
{
    struct kol_reader reader;
    jstring made = NULL;
    kol_status status = kol_message_open(env, buffers_of(self), where, big.raw, &reader);
    if (status == KOL_OK) {
        char *notation = tagged_print(kol_reader_root(&reader));
        status = notation ? kol_text_new(env, notation, strlen(notation), &made) : KOL_ENOMEM;
        free(notation);
        kol_reader_close(&reader);
    } else {
        fail_to_read(env, status, &reader);
    }
    if (status != KOL_OK) {
        fail(env, status);
    }
    return java_lang_String__raw(made);
}

static jlong Tagged_parse(JNIEnv *env, jlong self, java_lang_String notation, jlong room)
{
    struct kol_text text;
    struct kol_value nothing = {NULL, 0};
    jlong result = 0;
    kol_status status = kol_text_open(env, notation.raw, &text);
    if (status == KOL_OK) {
        result = answer(env, buffers_of(self), nothing, text.bytes, room);
        kol_text_close(&text);
    } else {
        fail(env, status);
    }
    return result;
}

/* The whole push of one message: the bridge's result below 0 says that something is kept. */
static kol_status push_text(JNIEnv *env, struct kol_buffers *buffers, const char *notation,
                            jint handle)
{
    struct kol_writer *writer;
    jlong where;
    jobject big;
    kol_status status = kol_writer_open(buffers, NULL, &writer);
    if (status != KOL_OK) {
        return status;
    }
    if (!tagged_parse(writer, notation, kol_buffers_sent(buffers))) {
        kol_write_failure(writer, KOL_EMISUSE);
    }
    /* region send */
    status = kol_writer_send(env, writer, &where, &big);
    if (status == KOL_OK) {
        if (Natives_take(env, handle, where, java_nio_ByteBuffer__raw(big)) == 0) {
            kol_writer_delivered(writer);
        } else {
            status = kol_bridge_throw(env);
        }
        (*env)->DeleteLocalRef(env, big);
    }
    kol_writer_close(writer);
    /* end region */
    return status;
}

static void Tagged_push(JNIEnv *env, jlong self, java_lang_String notation, jint handle)
{
    struct kol_text text;
    kol_status status = kol_text_open(env, notation.raw, &text);
    if (status == KOL_OK) {
        status = push_text(env, buffers_of(self), text.bytes, handle);
        kol_text_close(&text);
    }
    if (status != KOL_OK) {
        fail(env, status);
    }
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved);
JNIEXPORT void JNICALL JNI_OnUnload(JavaVM *vm, void *reserved);

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    static const struct kol_members *const tables[] = {&BRIDGES__members};
    JNIEnv *env;
    char report[1024] = "";
    (void)reserved;
    kol_status status = kol_load(vm, "io/kolibri/test/TaggedNatives", &env);
    if (status == KOL_OK) {
        status = kol_natives_register(env, &Tagged__natives, report, sizeof report);
    }
    if (status == KOL_OK) {
        status = kol_class_load(env, tables, 1, report, sizeof report);
    }
    return kol_load_result(env, status, report);
}

JNIEXPORT void JNICALL JNI_OnUnload(JavaVM *vm, void *reserved)
{
    (void)reserved;
    kol_unload(vm);
}
