/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench-jni, native to Java: what each kind of call costs from C, raw JNI against Kolibri.
 *
 * A row is two loops that do the same, one in raw JNI as an expert writes it (ids cached, the A
 * form, an ExceptionCheck where the callee may throw), one through Kolibri's typed functions. The
 * loops take turns, round by round, and the goal is on the median of the rounds' ratios, so a
 * machine that drifts moves both. The library is built once for each KOL_CHECK; target.h has the
 * Java side. Runs inside one native call, on the thread of Java's main.
 */
#include "bench/bench.h"
#include "bench/jni/target.h"

static volatile jlong sink; /* so that no loop is empty */
static volatile int failures;
static struct target t;

#define LOOP(name, ...)                                                                            \
    static double name(JNIEnv *env, int calls)                                                     \
    {                                                                                              \
        double start = bench_now();                                                                \
        for (int i = 0; i < calls; i++) {                                                          \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
        return (bench_now() - start) / calls;                                                      \
    }
#define CHECKED                                                                                    \
    if ((*env)->ExceptionCheck(env)) {                                                             \
        failures++;                                                                                \
    }
#define OK(call)                                                                                   \
    if ((call) != KOL_OK) {                                                                        \
        failures++;                                                                                \
    }
#define INTS(...) ((const jvalue[]){__VA_ARGS__})

LOOP(raw_add, sink = (*env)->CallStaticIntMethodA(env, t.cls, t.add, INTS({.i = i}, {.i = 2})))
LOOP(our_add, sink = Target_add(env, i, 2))
LOOP(our_bridge, sink = Target_bridge(env, i, 2))
LOOP(our_upcall, sink = Upcalls_bridge(env, i, 2))
LOOP(
    our_batch, int64_t number = i; OK(kol_commands_add(&t.commands, 0, &number, 1));
    if (t.commands.used == 128) {
        failures += Upcalls_drain(env, (jint)t.commands.used) != 0;
        t.commands.used = 0;
    })
LOOP(raw_size, sink = (*env)->CallIntMethodA(env, t.list.raw, t.size, NULL))
LOOP(our_size, sink = List_size(env, t.list))
LOOP(raw_size_checked, sink = (*env)->CallIntMethodA(env, t.list.raw, t.size, NULL); CHECKED)
LOOP(our_size_checked, jint size; OK(List_size_checked(env, t.list, &size)); sink = size)
LOOP(raw_get, jobject o = (*env)->CallObjectMethodA(env, t.list.raw, t.get, INTS({.i = i & 63}));
     CHECKED(*env)->DeleteLocalRef(env, o))
LOOP(our_get, java_lang_Object o; OK(List_get(env, t.list, i & 63, &o));
     java_lang_Object__forget(env, o))
LOOP(raw_put, jobject o = (*env)->CallObjectMethodA(env, t.map.raw, t.put,
                                                    INTS({.l = t.key.raw}, {.l = t.key.raw}));
     CHECKED(*env)->DeleteLocalRef(env, o))
LOOP(our_put, java_lang_Object o; OK(Map_put(env, t.map, t.key, t.key, &o));
     java_lang_Object__forget(env, o))
LOOP(raw_value_of,
     jobject o = (*env)->CallStaticObjectMethodA(env, t.integer, t.value_of, INTS({.i = 1000}));
     CHECKED(*env)->DeleteLocalRef(env, o))
LOOP(our_value_of, Int o; OK(Int_valueOf(env, 1000, &o)); Int__forget(env, o))
LOOP(raw_new, jobject o = (*env)->NewObjectA(env, t.cls, t.make, NULL);
     CHECKED(*env)->DeleteLocalRef(env, o))
LOOP(our_new, Target o; OK(Target_make(env, &o)); Target__forget(env, o))
LOOP(raw_four, sink = (*env)->CallIntMethodA(env, t.object.raw, t.four,
                                             INTS({.i = i}, {.i = 2}, {.i = 3}, {.i = 4}));
     CHECKED)
LOOP(our_four, jint sum; OK(Target_four(env, t.object, i, 2, 3, 4, &sum)); sink = sum)
LOOP(raw_static_read, sink = (*env)->GetStaticIntField(env, t.cls, t.shared))
LOOP(our_static_read, sink = Target_shared(env))
LOOP(raw_read, sink = (*env)->GetIntField(env, t.object.raw, t.field))
LOOP(our_read, sink = Target_field(env, t.object))
LOOP(raw_write, (*env)->SetIntField(env, t.object.raw, t.field, i))
LOOP(our_write, Target_field__set(env, t.object, i))
LOOP(raw_local, (*env)->DeleteLocalRef(env, (*env)->NewLocalRef(env, t.object.raw)))
LOOP(our_local, Target__forget(env, Target__local(env, t.object)))
LOOP(raw_global, (*env)->DeleteGlobalRef(env, (*env)->NewGlobalRef(env, t.object.raw)))
LOOP(our_global, Target__global g = Target__keep(env, t.object); Target__drop(env, &g))
LOOP(raw_ints, jint to[256]; (*env)->GetIntArrayRegion(env, (jintArray)t.ints.raw, 0, 256, to);
     CHECKED sink = to[i & 255])
LOOP(our_ints, jint to[256]; OK(jint__array__read(env, t.ints, 0, 256, to)); sink = to[i & 255])
LOOP(raw_pin, sink = (*env)->GetArrayLength(env, (jarray)t.ints.raw); /* a pin knows it too */
     jint *to = (*env)->GetIntArrayElements(env, (jintArray)t.ints.raw, NULL); sink = to[i & 255];
     (*env)->ReleaseIntArrayElements(env, (jintArray)t.ints.raw, to, JNI_ABORT))
LOOP(our_pin, jint__pin pin; OK(jint__array__pin(env, t.ints, &pin)); sink = pin.elements[i & 255];
     jint__array__unpin(env, &pin, KOL_ABORT))
LOOP(raw_env, void *found; (void)env; (*t.vm)->GetEnv(t.vm, &found, JNI_VERSION_1_6);
     sink = found != NULL)
LOOP(our_env, (void)env; sink = kol_env() != NULL)
LOOP(raw_text_out, const char *text = (*env)->GetStringUTFChars(env, t.text, NULL);
     sink = text[i & 15]; (*env)->ReleaseStringUTFChars(env, t.text, text))
LOOP(our_text_out, struct kol_text text; OK(kol_text_open(env, t.text, &text));
     sink = text.bytes[i & 15]; kol_text_close(&text))
LOOP(raw_text_in, jstring made = (*env)->NewStringUTF(env, TARGET_TEXT);
     CHECKED(*env)->DeleteLocalRef(env, made))
LOOP(our_text_in, jstring made; OK(kol_text_new(env, TARGET_TEXT, sizeof TARGET_TEXT - 1, &made));
     (*env)->DeleteLocalRef(env, made))

static const struct pair {
    const char *row;
    double (*ours)(JNIEnv *env, int calls);
    double (*raw)(JNIEnv *env, int calls);
    double goal; /* on ours divided by raw, up to KOL_CHECK 1; 0: none */
} pairs[] = {
    {"static two ints", our_add, raw_add, 1.02},
    {"static bridge", our_bridge, raw_add, 1.05},
    {"FFM upcall", our_upcall, raw_add, 0.5},
    {"64 upcalls a crossing, each", our_batch, raw_add, 0.07},
    {"ArrayList.size no check", our_size, raw_size, 1.02},
    {"ArrayList.size ExceptionCheck", our_size_checked, raw_size_checked, 1.02},
    {"ArrayList.get", our_get, raw_get, 1.02},
    {"HashMap.put", our_put, raw_put, 1.02},
    {"valueOf", our_value_of, raw_value_of, 1.02},
    {"constructor", our_new, raw_new, 1.02},
    {"four ints", our_four, raw_four, 1.02},
    {"static field read", our_static_read, raw_static_read, 1.02},
    {"field read", our_read, raw_read, 1.02},
    {"field write", our_write, raw_write, 1.02},
    {"local ref create + delete", our_local, raw_local, 1.02},
    {"global ref create + delete", our_global, raw_global, 1.02},
    {"int[256] into a caller's buffer", our_ints, raw_ints, 1.02},
    {"int[256] into a new one", our_pin, raw_pin, 1.02},
    {"current env", our_env, raw_env, 0},
    {"string to C", our_text_out, raw_text_out, 0},
    {"string to Java", our_text_in, raw_text_in, 0},
};

/* The loops take turns, and which one begins. */
static void run_pair(JNIEnv *env, const char *bench, const struct pair *pair, int rounds, int calls)
{
    if (pair->ours == our_upcall && Upcalls_bridge__mode() != KOL_BRIDGE_FFM) {
        bench_absent(pair->row, "this JDK has none, the call is the static bridge's");
        return;
    }
    struct bench_row ours = {.bench = bench, .row = pair->row, .lane = "kolibri", .unit = "ns"};
    struct bench_row raw = ours, ratio = ours;
    ours.is_ours = true;
    ours.goal = pair->ours == our_env && KOL_CHECK <= 1 ? 1.5 : 0;
    raw.lane = "raw JNI";
    ratio.lane = "kolibri / raw JNI";
    ratio.is_ours = true;
    ratio.unit = "x";
    ratio.goal = KOL_CHECK > 1 ? 0 : pair->goal;
    for (int i = -1; i < rounds; i++) {
        double first = (i & 1 ? pair->raw : pair->ours)(env, calls);
        double second = (i & 1 ? pair->ours : pair->raw)(env, calls);
        if (i >= 0) { /* the round before warms up */
            bench_add(&ours, i & 1 ? second : first);
            bench_add(&raw, i & 1 ? first : second);
            bench_add(&ratio, i & 1 ? second / first : first / second);
        }
    }
    bench_print(&ours);
    bench_print(&raw);
    if (pair->goal > 0) {
        bench_print(&ratio);
    }
}

/* bench.Target.run: everything, and a line that names a failed call. */
JNIEXPORT void JNICALL Java_bench_Target_run(JNIEnv *env, jclass cls, jstring bench, jint rounds,
                                             jint calls);

JNIEXPORT void JNICALL Java_bench_Target_run(JNIEnv *env, jclass cls, jstring bench, jint rounds,
                                             jint calls)
{
    struct kol_text name;
    JNIEnv *before = kol_env_enter(env);
    if (target_open(env, cls, &t) != KOL_OK || kol_text_open(env, bench, &name) != KOL_OK) {
        return;
    }
    bench_begin();
    bench_heading(name.bytes);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        run_pair(env, name.bytes, &pairs[i], rounds, calls);
    }
    kol_text_close(&name);
    kol_env_leave(before);
    if (failures != 0) {
        kol_throw(env, KOL_EJAVA, "%d calls failed", failures);
    }
}
