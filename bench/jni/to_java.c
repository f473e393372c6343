/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a call from C into Java costs by Kolibri and by raw JNI, in the same process, round by round
 * in turns. The claim is a ratio near 1; what is exactly equal is counted in kolibri/test/cost.
 */
#undef KOL_CHECK
#define KOL_CHECK 1
#include "bench/bench.h"

#include <kolibri/jdk.h>
#include <kolibri/kolibri.h>

#include <stdio.h>
#include <stdlib.h>

KOL_JDK_DEFINE

KOL_HANDLE(Target, "bench/Target", java_lang_Object)
#define TARGET(X, C)                                                                               \
    X(C, N1, throws, make, "<init>", jint)                                                         \
    X(C, G, jint, field, "field")                                                                  \
    X(C, SG, jint, statics, "statics")                                                             \
    X(C, SF4, nothrow, jint, fourInts, "fourInts", jint, jint, jint, jint)
KOL_MEMBERS(Target, TARGET)
KOL_MEMBERS_DEFINE(Target, TARGET)
#define LIST_SIZE(X, C) X(C, F0, nothrow, jint, size_bare, "size")
KOL_MEMBERS(java_util_ArrayList, LIST_SIZE)
KOL_MEMBERS_DEFINE(java_util_ArrayList, LIST_SIZE)

enum { CALLS = 100000, ROUNDS = 11 };

/* What both lanes work on. */
static struct {
    java_util_ArrayList list;
    java_util_HashMap map;
    java_lang_Object key;
    Target target;
    jint__array ints;
    jstring text;
} with;

/* Raw ids, as careful JNI code keeps them. */
static struct {
    jclass integer;
    jclass target;
    jmethodID size;
    jmethodID get;
    jmethodID put;
    jmethodID value_of;
    jmethodID make;
    jmethodID four_ints;
    jfieldID field;
    jfieldID statics;
} raw;

static volatile jlong sink;

#define LANE(name, body)                                                                           \
    static void name(JNIEnv *env, int i)                                                           \
    {                                                                                              \
        (void)i;                                                                                   \
        body                                                                                       \
    }

LANE(raw_size, sink += (*env)->CallIntMethodA(env, with.list.raw, raw.size, NULL);)
LANE(kol_size, sink += java_util_ArrayList_size_bare(env, with.list);)
LANE(raw_size_checked, sink += (*env)->CallIntMethodA(env, with.list.raw, raw.size, NULL);
     sink += (*env)->ExceptionCheck(env);)
LANE(kol_size_checked, jint size = 0;
     sink += java_util_Collection_size(env, java_util_Collection__raw(with.list.raw), &size);
     sink += size;)
LANE(raw_get, jvalue a; a.j = 0; a.i = 3;
     jobject o = (*env)->CallObjectMethodA(env, with.list.raw, raw.get, &a);
     sink += (*env)->ExceptionCheck(env); (*env)->DeleteLocalRef(env, o);)
LANE(kol_get, java_lang_Object o;
     sink += java_util_List_get(env, java_util_ArrayList__up(with.list), 3, &o);
     java_lang_Object__forget(env, o);)
LANE(raw_put, jvalue a[2]; a[0].l = with.key.raw; a[1].l = with.key.raw;
     jobject o = (*env)->CallObjectMethodA(env, with.map.raw, raw.put, a);
     sink += (*env)->ExceptionCheck(env); (*env)->DeleteLocalRef(env, o);)
LANE(kol_put, java_lang_Object o;
     sink += java_util_Map_put(env, java_util_HashMap__up(with.map), with.key, with.key, &o);
     java_lang_Object__forget(env, o);)
LANE(raw_value_of, jvalue a; a.j = 0; a.i = i & 127;
     jobject o = (*env)->CallStaticObjectMethodA(env, raw.integer, raw.value_of, &a);
     sink += (*env)->ExceptionCheck(env); (*env)->DeleteLocalRef(env, o);)
LANE(kol_value_of, java_lang_Integer o; sink += java_lang_Integer_valueOf(env, i & 127, &o);
     java_lang_Integer__forget(env, o);)
LANE(raw_make, jvalue a; a.j = 0; a.i = i;
     jobject o = (*env)->NewObjectA(env, raw.target, raw.make, &a);
     sink += (*env)->ExceptionCheck(env); (*env)->DeleteLocalRef(env, o);)
LANE(kol_make, Target o; sink += Target_make(env, i, &o); Target__forget(env, o);)
LANE(
    raw_four, jvalue a[4]; for (int k = 0; k < 4; k++) {
        a[k].j = 0;
        a[k].i = i + k;
    } sink += (*env)->CallStaticIntMethodA(env, raw.target, raw.four_ints, a);)
LANE(kol_four, sink += Target_fourInts(env, i, i + 1, i + 2, i + 3);)
LANE(raw_static, sink += (*env)->GetStaticIntField(env, raw.target, raw.statics);)
LANE(kol_static, sink += Target_statics(env);)
LANE(raw_read, sink += (*env)->GetIntField(env, with.target.raw, raw.field);)
LANE(kol_read, sink += Target_field(env, with.target);)
LANE(raw_write, (*env)->SetIntField(env, with.target.raw, raw.field, i);)
LANE(kol_write, Target_field__set(env, with.target, i);)
LANE(raw_global, jobject g = (*env)->NewGlobalRef(env, with.target.raw);
     (*env)->DeleteGlobalRef(env, g);)
LANE(kol_global, Target__global g = Target__keep(env, with.target); Target__drop(env, &g);)
LANE(raw_region, jint ints[256];
     (*env)->GetIntArrayRegion(env, (jintArray)with.ints.raw, 0, 256, ints);
     sink += (*env)->ExceptionCheck(env) + ints[7];)
LANE(kol_region, jint ints[256]; sink += jint__array__read(env, with.ints, 0, 256, ints) + ints[7];)
LANE(raw_env, void *found = NULL; JavaVM * vm; (*env)->GetJavaVM(env, &vm);
     (*vm)->GetEnv(vm, &found, JNI_VERSION_1_6); sink += found != NULL;)
LANE(kol_env_known, sink += kol_env() == env;)
LANE(raw_text, jint count = (*env)->GetStringUTFLength(env, with.text);
     const char *t = (*env)->GetStringUTFChars(env, with.text, NULL); sink += t[0] + count;
     (*env)->ReleaseStringUTFChars(env, with.text, t);)
LANE(kol_text_lane, struct kol_text t; sink += kol_text_open(env, with.text, &t);
     sink += t.bytes[0] + (jlong)t.size; kol_text_close(&t);)

struct question {
    const char *row;
    void (*kolibri)(JNIEnv *env, int i);
    void (*raw)(JNIEnv *env, int i);
};

static const struct question questions[] = {
    {"ArrayList.size, no check", kol_size, raw_size},
    {"ArrayList.size, checked", kol_size_checked, raw_size_checked},
    {"ArrayList.get", kol_get, raw_get},
    {"HashMap.put", kol_put, raw_put},
    {"Integer.valueOf", kol_value_of, raw_value_of},
    {"constructor", kol_make, raw_make},
    {"static, four ints", kol_four, raw_four},
    {"static field", kol_static, raw_static},
    {"field read", kol_read, raw_read},
    {"field write", kol_write, raw_write},
    {"global, made and dropped", kol_global, raw_global},
    {"int[256] into a buffer", kol_region, raw_region},
    {"current env", kol_env_known, raw_env},
    {"16 letters as UTF-8", kol_text_lane, raw_text},
};

static double time_lane(JNIEnv *env, void (*lane)(JNIEnv *env, int i))
{
    double start = bench_now();
    for (int i = 0; i < CALLS; i++) {
        lane(env, i);
    }
    return (bench_now() - start) / CALLS;
}

static void ask(JNIEnv *env, const struct question *question)
{
    struct bench_row ours = {"jni", question->row, "kolibri", "ns", .is_ours = true};
    struct bench_row peer = {"jni", question->row, "raw JNI", "ns", .is_ours = false};
    time_lane(env, question->kolibri);
    time_lane(env, question->raw);
    for (int i = 0; i < ROUNDS; i++) {
        bench_add(&ours, time_lane(env, question->kolibri));
        bench_add(&peer, time_lane(env, question->raw));
    }
    bench_print(&ours);
    bench_print(&peer);
}

static void must(JNIEnv *env, int is_right, const char *what)
{
    if (!is_right) {
        (*env)->ExceptionDescribe(env);
        fprintf(stderr, "bench-jni: %s failed\n", what);
        exit(1);
    }
}

static void prepare_raw(JNIEnv *env)
{
    jclass list = (*env)->FindClass(env, "java/util/ArrayList");
    jclass map = (*env)->FindClass(env, "java/util/HashMap");
    raw.integer = (*env)->NewGlobalRef(env, (*env)->FindClass(env, "java/lang/Integer"));
    raw.target = (*env)->NewGlobalRef(env, (*env)->FindClass(env, "bench/Target"));
    raw.size = (*env)->GetMethodID(env, list, "size", "()I");
    raw.get = (*env)->GetMethodID(env, list, "get", "(I)Ljava/lang/Object;");
    raw.put = (*env)->GetMethodID(env, map, "put",
                                  "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;");
    raw.value_of = (*env)->GetStaticMethodID(env, raw.integer, "valueOf", "(I)Ljava/lang/Integer;");
    raw.make = (*env)->GetMethodID(env, raw.target, "<init>", "(I)V");
    raw.four_ints = (*env)->GetStaticMethodID(env, raw.target, "fourInts", "(IIII)I");
    raw.field = (*env)->GetFieldID(env, raw.target, "field", "I");
    raw.statics = (*env)->GetStaticFieldID(env, raw.target, "statics", "I");
    must(env, !(*env)->ExceptionCheck(env), "finding raw ids");
}

static void prepare(JNIEnv *env)
{
    static const struct kol_members *const jdk[] = {KOL_JDK_TABLES};
    static const struct kol_members *const ours[] = {&TARGET__members, &LIST_SIZE__members};
    java_lang_Integer boxed;
    jboolean added;
    int jdk_count = (int)(sizeof jdk / sizeof *jdk);
    must(env, kol_class_load(env, jdk, jdk_count, NULL, 0) == KOL_OK, "loading the JDK's tables");
    must(env, kol_class_load(env, ours, 2, NULL, 0) == KOL_OK, "loading tables");
    must(env, java_util_ArrayList_make(env, &with.list) == KOL_OK, "a list");
    must(env, java_util_HashMap_make(env, &with.map) == KOL_OK, "a map");
    must(env, java_lang_Integer_valueOf(env, 5, &boxed) == KOL_OK, "a box");
    must(env, Target_make(env, 1, &with.target) == KOL_OK, "a target");
    must(env, jint__array__new(env, 256, &with.ints) == KOL_OK, "an array");
    must(env, kol_text_new(env, "sixteen letters!", 16, &with.text) == KOL_OK, "a text");
    with.key.raw = boxed.raw;
    for (int i = 0; i < 10; i++) {
        java_util_Collection list = java_util_Collection__raw(with.list.raw);
        must(env, java_util_Collection_add(env, list, with.key, &added) == KOL_OK, "adding");
    }
}

int main(int argc, char **argv)
{
    JavaVM *vm = NULL;
    void *made = NULL;
    JNIEnv *env = NULL;
    char path[1024];
    JavaVMOption option = {path, NULL};
    JavaVMInitArgs arguments = {JNI_VERSION_1_8, 1, &option, JNI_FALSE};
    if (argc != 2) {
        fprintf(stderr, "usage: to_java CLASSES\n");
        return 2;
    }
    bench_begin();
    snprintf(path, sizeof path, "-Djava.class.path=%s", argv[1]);
    if (JNI_CreateJavaVM(&vm, &made, &arguments) != JNI_OK) {
        return 2;
    }
    must(made, kol_load(vm, "bench/Target", &env) == KOL_OK, "kol_load");
    prepare(env);
    prepare_raw(env);
    snprintf(path, sizeof path, "C to Java, JNI version %x", (unsigned)(*env)->GetVersion(env));
    bench_heading(path);
    JNIEnv *before = kol_env_enter(env);
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        ask(env, &questions[i]);
    }
    kol_env_leave(before);
    return 0;
}
