/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench-values: what it costs to hand a value of C to Java, as Java's objects.
 *
 * The same tree goes three ways, by turns, round by round: built through JNI as most people write
 * it (usual: ids are cached, keys are made each time, results are checked), built through JNI as an
 * expert writes it (tuned: keys are kept as global references, frames instead of deletes), and as
 * one tagged message that is encoded, pushed, validated and decoded. Runs inside one native call.
 */
#include "bench/bench.h"

#include <kolibri/kolibri.h>
#include <kolibri/shared_buffer.h>

#include <stdio.h>
#include <stdlib.h>

enum kind { NUMBER, INT, BOOL, TEXT, LIST, OBJECT };
enum { FIELDS_MAX = 12, CAPACITY = 16 };

struct item {
    enum kind kind;
    double number;
    char text[24];
    size_t count;
    struct item *items;
    const struct kol_shape *shape;
};

struct java {
    JNIEnv *env;
    jclass cls, map, list, boolean, integer, floating;
    jmethodID take_object, take_message, is_equal, map_new, put, list_new, add;
    jmethodID boolean_of, integer_of, double_of;
    jobject keys[FIELDS_MAX];
    struct kol_buffers *buffers;
    int is_tuned;
    int failures;
};

static char names[FIELDS_MAX][16];

/* Trees. Nothing of them is freed: the program ends behind the last row. */

static struct item *item_new(enum kind kind, size_t count)
{
    struct item *made = calloc(1, sizeof *made);
    if (made && count > 0) {
        made->items = calloc(count, sizeof *made->items);
    }
    if (!made || (count > 0 && !made->items)) {
        abort();
    }
    made->kind = kind;
    made->count = count;
    return made;
}

static void fill_scalar(struct item *item, size_t index)
{
    static const enum kind kinds[] = {INT, TEXT, NUMBER, BOOL};
    item->kind = kinds[index % 4];
    item->number = (double)index * (item->kind == NUMBER ? 1.5 : 1);
    snprintf(item->text, sizeof item->text, "value number %03zu", index % 1000);
}

static struct item *object_new(struct kol_shapes *shapes, size_t fields, size_t seed)
{
    struct item *object = item_new(OBJECT, fields);
    struct kol_string keys[FIELDS_MAX];
    for (size_t i = 0; i < fields; i++) {
        fill_scalar(&object->items[i], seed + i);
        keys[i] = kol_string_of(names[i], strlen(names[i]), KOL_LATIN1);
    }
    if (kol_shape_of(shapes, keys, fields, &object->shape) != KOL_OK) {
        abort();
    }
    return object;
}

static struct item *list_new(size_t count)
{
    struct item *list = item_new(LIST, count);
    for (size_t i = 0; i < count; i++) {
        fill_scalar(&list->items[i], i);
    }
    return list;
}

static struct item *numbers_new(size_t count)
{
    struct item *list = item_new(LIST, count);
    for (size_t i = 0; i < count; i++) {
        list->items[i] = (struct item){.kind = NUMBER, .number = (double)i * 0.5};
    }
    return list;
}

static struct item *objects_new(struct kol_shapes *shapes, size_t count)
{
    struct item *list = item_new(LIST, count);
    for (size_t i = 0; i < count; i++) {
        list->items[i] = *object_new(shapes, 4, i);
    }
    return list;
}

/* Through JNI. */

static jobject make(struct java *java, const struct item *item);

static void check(struct java *java)
{
    if ((*java->env)->ExceptionCheck(java->env)) {
        java->failures++;
    }
}

static jobject box(struct java *java, jclass cls, jmethodID value_of, jvalue value)
{
    jobject made = (*java->env)->CallStaticObjectMethodA(java->env, cls, value_of, &value);
    check(java);
    return made;
}

static void put(struct java *java, jobject map, size_t index, const struct item *item)
{
    JNIEnv *env = java->env;
    jvalue pair[2];
    pair[0].l = java->is_tuned ? java->keys[index] : (*env)->NewStringUTF(env, names[index]);
    pair[1].l = make(java, item);
    jobject before = (*env)->CallObjectMethodA(env, map, java->put, pair);
    check(java);
    if (!java->is_tuned) {
        (*env)->DeleteLocalRef(env, pair[0].l);
        (*env)->DeleteLocalRef(env, pair[1].l);
        (*env)->DeleteLocalRef(env, before);
    }
}

static jobject make_container(struct java *java, const struct item *item)
{
    JNIEnv *env = java->env;
    int is_map = item->kind == OBJECT;
    if (java->is_tuned && (*env)->PushLocalFrame(env, (jint)item->count + CAPACITY) != 0) {
        java->failures++;
    }
    jvalue size = {.i = (jint)(is_map ? item->count * 2 : item->count)};
    jobject made = (*env)->NewObjectA(env, is_map ? java->map : java->list,
                                      is_map ? java->map_new : java->list_new, &size);
    for (size_t i = 0; i < item->count; i++) {
        if (is_map) {
            put(java, made, i, &item->items[i]);
            continue;
        }
        jvalue element = {.l = make(java, &item->items[i])};
        (*env)->CallBooleanMethodA(env, made, java->add, &element);
        check(java);
        if (!java->is_tuned) {
            (*env)->DeleteLocalRef(env, element.l);
        }
    }
    return java->is_tuned ? (*env)->PopLocalFrame(env, made) : made;
}

static jobject make(struct java *java, const struct item *item)
{
    switch (item->kind) {
    case NUMBER:
        return box(java, java->floating, java->double_of, (jvalue){.d = item->number});
    case INT:
        return box(java, java->integer, java->integer_of, (jvalue){.i = (jint)item->number});
    case BOOL:
        return box(java, java->boolean, java->boolean_of, (jvalue){.z = item->number != 0});
    case TEXT:
        return (*java->env)->NewStringUTF(java->env, item->text);
    case LIST:
    case OBJECT:
    default:
        return make_container(java, item);
    }
}

static double by_jni(struct java *java, const struct item *item, int calls)
{
    JNIEnv *env = java->env;
    double start = bench_now();
    for (int i = 0; i < calls; i++) {
        jvalue value = {.l = make(java, item)};
        java->failures +=
            (*env)->CallStaticIntMethodA(env, java->cls, java->take_object, &value) != 0;
        (*env)->DeleteLocalRef(env, value.l);
    }
    return (bench_now() - start) / calls;
}

static double by_jni_usual(struct java *java, const struct item *item, int calls)
{
    java->is_tuned = 0;
    return by_jni(java, item, calls);
}

static double by_jni_tuned(struct java *java, const struct item *item, int calls)
{
    java->is_tuned = 1;
    return by_jni(java, item, calls);
}

/* As a message. */

static void write_item(struct kol_writer *writer, const struct item *item);

static void write_numbers(struct kol_writer *writer, const struct item *item)
{
    double numbers[1000];
    for (size_t i = 0; i < item->count; i++) {
        numbers[i] = item->items[i].number;
    }
    kol_write_doubles(writer, numbers, item->count);
}

static void write_container(struct kol_writer *writer, const struct item *item)
{
    const struct item *items = item->items;
    if (item->kind == LIST && items[0].kind == NUMBER) {
        write_numbers(writer, item);
        return;
    }
    if (item->kind == OBJECT) {
        kol_write_record(writer, item->shape);
    } else if (items[0].kind == OBJECT) {
        kol_write_records(writer, items[0].shape, item->count);
    } else {
        kol_write_list(writer, item->count);
    }
    for (size_t i = 0; i < item->count; i++) {
        if (item->kind == LIST && items[i].kind == OBJECT) {
            for (size_t j = 0; j < items[i].count; j++) {
                write_item(writer, &items[i].items[j]);
            }
        } else {
            write_item(writer, &items[i]);
        }
    }
    kol_write_end(writer);
}

static void write_item(struct kol_writer *writer, const struct item *item)
{
    switch (item->kind) {
    case NUMBER:
        kol_write_double(writer, item->number);
        break;
    case INT:
        kol_write_int(writer, (int32_t)item->number);
        break;
    case BOOL:
        kol_write_bool(writer, item->number != 0);
        break;
    case TEXT:
        kol_write_string(writer, kol_string_of(item->text, strlen(item->text), KOL_LATIN1));
        break;
    case LIST:
    case OBJECT:
    default:
        write_container(writer, item);
    }
}

static double by_message(struct java *java, const struct item *item, int calls)
{
    JNIEnv *env = java->env;
    double start = bench_now();
    for (int i = 0; i < calls; i++) {
        struct kol_writer *writer;
        jlong where;
        jobject big;
        if (kol_writer_open(java->buffers, NULL, &writer) != KOL_OK) {
            java->failures++;
            break;
        }
        write_item(writer, item);
        if (kol_writer_send(env, writer, &where, &big) == KOL_OK) {
            jvalue arguments[2] = {{.j = where}, {.l = big}};
            java->failures +=
                (*env)->CallStaticIntMethodA(env, java->cls, java->take_message, arguments) != 0;
            kol_writer_delivered(writer);
        } else {
            java->failures++;
        }
        kol_writer_close(writer);
    }
    return (bench_now() - start) / calls;
}

typedef double (*way)(struct java *, const struct item *, int);

static void row(struct java *java, const char *bench, const char *name, const struct item *item,
                int rounds, int calls)
{
    static const way ways[] = {by_message, by_jni_usual, by_jni_tuned};
    static const char *const lanes[] = {"tagged message", "JNI, usual", "JNI, tuned"};
    struct bench_row rows[3];
    for (int i = 0; i < 3; i++) {
        rows[i] = (struct bench_row){bench, name, lanes[i], "ns", 0, false, i == 0, {0}, 0};
        ways[i](java, item, i == 0 ? calls * 20 : calls); /* Java's half is compiled by then */
    }
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < 3; i++) {
            bench_add(&rows[i], ways[i](java, item, calls));
        }
    }
    for (int i = 0; i < 3; i++) {
        bench_print(&rows[i]);
    }
    /* Both ways must give the same value. */
    by_message(java, item, 1);
    jvalue built = {.l = make(java, item)};
    if (java->failures > 0 ||
        !(*java->env)->CallStaticBooleanMethodA(java->env, java->cls, java->is_equal, &built)) {
        bench_note("FAILED: the lanes disagree");
        exit(1);
    }
    (*java->env)->DeleteLocalRef(java->env, built.l);
}

static jclass class_of(JNIEnv *env, const char *name)
{
    jclass local = (*env)->FindClass(env, name);
    return local ? (jclass)(*env)->NewGlobalRef(env, local) : NULL;
}

static int java_init(struct java *java, JNIEnv *env, jclass cls)
{
    java->env = env;
    java->cls = cls;
    java->map = class_of(env, "java/util/HashMap");
    java->list = class_of(env, "java/util/ArrayList");
    java->boolean = class_of(env, "java/lang/Boolean");
    java->integer = class_of(env, "java/lang/Integer");
    java->floating = class_of(env, "java/lang/Double");
    if (!java->map || !java->list || !java->boolean || !java->integer || !java->floating) {
        return 0;
    }
    java->take_object = (*env)->GetStaticMethodID(env, cls, "takeObject", "(Ljava/lang/Object;)I");
    java->take_message =
        (*env)->GetStaticMethodID(env, cls, "takeMessage", "(JLjava/nio/ByteBuffer;)I");
    java->is_equal = (*env)->GetStaticMethodID(env, cls, "isEqualTo", "(Ljava/lang/Object;)Z");
    java->map_new = (*env)->GetMethodID(env, java->map, "<init>", "(I)V");
    java->put = (*env)->GetMethodID(env, java->map, "put",
                                    "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;");
    java->list_new = (*env)->GetMethodID(env, java->list, "<init>", "(I)V");
    java->add = (*env)->GetMethodID(env, java->list, "add", "(Ljava/lang/Object;)Z");
    java->boolean_of =
        (*env)->GetStaticMethodID(env, java->boolean, "valueOf", "(Z)Ljava/lang/Boolean;");
    java->integer_of =
        (*env)->GetStaticMethodID(env, java->integer, "valueOf", "(I)Ljava/lang/Integer;");
    java->double_of =
        (*env)->GetStaticMethodID(env, java->floating, "valueOf", "(D)Ljava/lang/Double;");
    for (int i = 0; i < FIELDS_MAX; i++) {
        snprintf(names[i], sizeof names[i], "field%d", i);
        java->keys[i] = (*env)->NewGlobalRef(env, (*env)->NewStringUTF(env, names[i]));
    }
    return !(*env)->ExceptionCheck(env);
}

static void run_rows(struct java *java, const char *bench, int rounds, int calls)
{
    struct kol_shapes *shapes = kol_buffers_sent(java->buffers);
    struct item *text = item_new(TEXT, 0), *nested = item_new(LIST, 4);
    memcpy(text->text, "sixteen letters!", 16);
    for (size_t i = 0; i < nested->count; i++) {
        nested->items[i] = *item_new(LIST, 3);
        for (size_t j = 0; j < 3; j++) {
            nested->items[i].items[j] = *object_new(shapes, 4, i * 3 + j);
        }
    }
    row(java, bench, "16-character string", text, rounds, calls);
    row(java, bench, "object, 4 fields", object_new(shapes, 4, 0), rounds, calls);
    row(java, bench, "object, 12 fields", object_new(shapes, 12, 0), rounds, calls / 2);
    row(java, bench, "nested, 48 values", nested, rounds, calls / 10);
    row(java, bench, "100 objects x 4", objects_new(shapes, 100), rounds, calls / 50);
    row(java, bench, "100 mixed", list_new(100), rounds, calls / 20);
    row(java, bench, "100 numbers", numbers_new(100), rounds, calls / 20);
    row(java, bench, "1,000 numbers", numbers_new(1000), rounds, calls / 100);
}

JNIEXPORT void JNICALL Java_bench_Values_run(JNIEnv *env, jclass cls, jstring bench, jint rounds,
                                             jint calls, jobject block, jint chunk_size,
                                             jint native_count);

JNIEXPORT void JNICALL Java_bench_Values_run(JNIEnv *env, jclass cls, jstring bench, jint rounds,
                                             jint calls, jobject block, jint chunk_size,
                                             jint native_count)
{
    struct java java = {0};
    const char *name = (*env)->GetStringUTFChars(env, bench, NULL);
    if (!name || !java_init(&java, env, cls) ||
        kol_buffers_open(env, block, chunk_size, native_count, &java.buffers) != KOL_OK) {
        exit(1);
    }
    bench_begin();
    bench_heading(name);
    run_rows(&java, name, rounds, calls);
    kol_buffers_close(java.buffers);
    (*env)->ReleaseStringUTFChars(env, bench, name);
}
