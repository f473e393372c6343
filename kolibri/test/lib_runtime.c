/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The native side of the runtime's JUnit tests: a cell behind a Java object of each kind, and
 * counters of what was created, ended and destroyed.
 *
 * A destroyed cell is poisoned and kept, not freed, so that a call on it is seen (`touched_dead`)
 * instead of crashing now and then.
 */
#define _POSIX_C_SOURCE 200809L
#include <kolibri/kolibri.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { ALIVE = 0x51EE7, DEAD = 0xDEAD };

struct cell {
    atomic_int mark;
    atomic_int ends;
    atomic_int destroys;
    jint value;
    struct cell *next;
};

static atomic_int created;
static atomic_int ended;
static atomic_int destroyed;
static atomic_int touched_dead;
static atomic_int wrong_count;
static atomic_int waiting;

static struct cell *cell_new(jint value)
{
    struct cell *made = calloc(1, sizeof *made);
    if (made) {
        made->mark = ALIVE;
        made->value = value;
        created++;
    }
    return made;
}

static void touch(struct cell *cell)
{
    if (cell->mark != ALIVE) {
        touched_dead++;
    }
}

static void cell_end(struct cell *cell)
{
    touch(cell);
    ended++;
    if (++cell->ends != 1) {
        wrong_count++;
    }
}

static void cell_destroy(struct cell *cell)
{
    touch(cell);
    destroyed++;
    if (++cell->destroys != 1 || cell->ends != 1) {
        wrong_count++;
    }
    cell->mark = DEAD;
}

static void sleep_micros(jint micros)
{
    struct timespec time = {micros / 1000000, micros % 1000000 * 1000L};
    nanosleep(&time, NULL);
}

/* Waits for Counts.letGo; half a minute at most, so that no test hangs. */
static void wait_to_be_let_go(void)
{
    waiting++;
    for (int i = 0; i < 30000 && waiting > 0; i++) {
        sleep_micros(1000);
    }
}

/* Works on a cell for a while, below 0 until it is let go, looking at it before and after. */
static jint slow(struct cell *cell, jint micros)
{
    touch(cell);
    if (micros > 0) {
        sleep_micros(micros);
    } else if (micros < 0) {
        wait_to_be_let_go();
    }
    touch(cell);
    return cell->value;
}

#define CELL_NATIVES(X, C)                                                                         \
    X(C, N1, create, "create", jint)                                                               \
    X(C, M1, jint, slow, "slow", jint)                                                             \
    X(C, M2, jint, both, "both", C, jint)                                                          \
    X(C, E, end)                                                                                   \
    X(C, D, destroy)

#define CELL(T)                                                                                    \
    KOL_NATIVES(T, CELL_NATIVES)                                                                   \
    static struct cell *T##_create(JNIEnv *env, jint value)                                        \
    {                                                                                              \
        (void)env;                                                                                 \
        return cell_new(value);                                                                    \
    }                                                                                              \
    static jint T##_slow(JNIEnv *env, struct cell *self, jint micros)                              \
    {                                                                                              \
        (void)env;                                                                                 \
        return slow(self, micros);                                                                 \
    }                                                                                              \
    static jint T##_both(JNIEnv *env, struct cell *self, struct cell *other, jint micros)          \
    {                                                                                              \
        (void)env;                                                                                 \
        return slow(self, micros) + slow(other, micros);                                           \
    }                                                                                              \
    static void T##_end(struct cell *self)                                                         \
    {                                                                                              \
        cell_end(self);                                                                            \
    }                                                                                              \
    static void T##_destroy(struct cell *self)                                                     \
    {                                                                                              \
        cell_destroy(self);                                                                        \
    }

KOL_NATIVE(SharedCell, "io/kolibri/test/SharedCell", struct cell)
CELL(SharedCell)
KOL_NATIVE(WovenCell, "io/kolibri/test/WovenCell", struct cell)
CELL(WovenCell)
KOL_NATIVE(GuardedCell, "io/kolibri/test/GuardedCell", struct cell)
CELL(GuardedCell)
KOL_NATIVE(WovenGuardedCell, "io/kolibri/test/WovenGuardedCell", struct cell)
CELL(WovenGuardedCell)

KOL_NATIVE(OwnedCell, "io/kolibri/test/OwnedCell", struct cell)
CELL(OwnedCell)
KOL_NATIVE(WovenOwnedCell, "io/kolibri/test/WovenOwnedCell", struct cell)
CELL(WovenOwnedCell)

KOL_HANDLE(java_lang_String, "java/lang/String", java_lang_Object)
KOL_HANDLE(java_lang_Class, "java/lang/Class", java_lang_Object)
KOL_HANDLE(java_lang_Runnable, "java/lang/Runnable", java_lang_Object)
#define RUNNABLE(X, C) X(C, P0, throws, run, "run")
KOL_MEMBERS(java_lang_Runnable, RUNNABLE)
KOL_MEMBERS_DEFINE(java_lang_Runnable, RUNNABLE)
KOL_HANDLE(java_nio_ByteBuffer, "java/nio/ByteBuffer", java_lang_Object)

/* A counter whose value Java reads without a call. */
struct gauge {
    jint *shown;
    jint value;
};
KOL_NATIVE(Gauge, "io/kolibri/test/Gauge", struct gauge)
#define GAUGE_NATIVES(X, C)                                                                        \
    X(C, N0, create, "create")                                                                     \
    X(C, M1, void, show, "show", java_nio_ByteBuffer)                                              \
    X(C, M1, void, add, "add", jint)                                                               \
    X(C, D, destroy)
KOL_NATIVES(Gauge, GAUGE_NATIVES)

static struct gauge *Gauge_create(JNIEnv *env)
{
    (void)env;
    return calloc(1, sizeof(struct gauge));
}

static void Gauge_show(JNIEnv *env, struct gauge *self, java_nio_ByteBuffer memory)
{
    struct kol_view view;
    kol_status status = kol_buffer_view(env, memory.raw, &view);
    if (status == KOL_OK && view.size >= sizeof *self->shown) {
        self->shown = view.bytes;
    } else {
        kol_throw(env, KOL_ESMALL, "no room to show a value");
    }
}

static void Gauge_add(JNIEnv *env, struct gauge *self, jint by)
{
    (void)env;
    self->value += by;
    *self->shown = self->value;
}

static void Gauge_destroy(struct gauge *self)
{
    if (self->shown) {
        *self->shown = -1;
    }
    free(self);
}
KOL_NATIVE(Counts, "io/kolibri/test/Counts", struct cell)
#define COUNTS_NATIVES(X, C)                                                                       \
    X(C, S0, jint, created, "created")                                                             \
    X(C, S0, jint, ended, "ended")                                                                 \
    X(C, S0, jint, destroyed, "destroyed")                                                         \
    X(C, S0, jint, touchedDead, "touchedDead")                                                     \
    X(C, S0, jint, wrongCount, "wrongCount")                                                       \
    X(C, S0, jint, waiting, "waiting")                                                             \
    X(C, S0, void, letGo, "letGo")                                                                 \
    X(C, S1, java_lang_String, echo, "echo", java_lang_String)                                     \
    X(C, S2, void, fail, "fail", jint, java_lang_String)                                           \
    X(C, S2, jlong, run_commands, "runCommands", java_nio_ByteBuffer, jint)                        \
    X(C, S1, jint, fill_commands, "fillCommands", java_nio_ByteBuffer)                             \
    X(C, S1, java_lang_Class, find_on_thread, "findOnThread", java_lang_String)                    \
    X(C, S1, jint, run_on_threads, "runOnThreads", java_lang_Runnable)
KOL_NATIVES(Counts, COUNTS_NATIVES)

#define COUNT(name, counter)                                                                       \
    static jint Counts_##name(JNIEnv *env)                                                         \
    {                                                                                              \
        (void)env;                                                                                 \
        return counter;                                                                            \
    }
COUNT(created, created)
COUNT(ended, ended)
COUNT(destroyed, destroyed)
COUNT(touchedDead, touched_dead)
COUNT(wrongCount, wrong_count)
COUNT(waiting, waiting)

static void Counts_letGo(JNIEnv *env)
{
    (void)env;
    waiting = 0;
}

static java_lang_String Counts_echo(JNIEnv *env, java_lang_String string)
{
    struct kol_text text;
    jstring made = NULL;
    kol_status status = kol_text_open(env, string.raw, &text);
    if (status == KOL_OK) {
        status = kol_text_new(env, text.bytes, text.size, &made);
    }
    kol_text_close(&text);
    if (status != KOL_OK && status != KOL_EJAVA) {
        kol_throw(env, status, "echo: %s", kol_status_text(status));
    }
    return java_lang_String__raw(made);
}

static void Counts_fail(JNIEnv *env, jint status, java_lang_String message)
{
    struct kol_text text;
    if (kol_text_open(env, message.raw, &text) == KOL_OK) {
        kol_throw(env, status, "%s", text.bytes);
        kol_text_close(&text);
    }
}

/* Operation 1 adds one argument to the sum, operation 2 two. */
static kol_status add_arguments(void *user, const int64_t *arguments, uint32_t count)
{
    jlong *sum = user;
    for (uint32_t i = 0; i < count; i++) {
        *sum += arguments[i];
    }
    return KOL_OK;
}

static jlong Counts_run_commands(JNIEnv *env, java_nio_ByteBuffer memory, jint slots)
{
    static const struct kol_operation operations[] = {
        {add_arguments, 0}, {add_arguments, 1}, {add_arguments, 2}};
    struct kol_view view;
    jlong sum = 0;
    kol_status status = kol_buffer_view(env, memory.raw, &view);
    if (status == KOL_OK && (slots < 0 || (size_t)slots * 8 > view.size)) {
        status = KOL_ERANGE;
    }
    if (status == KOL_OK) {
        status = kol_commands_run(view.bytes, (size_t)slots, operations, 3, &sum, NULL);
    }
    if (status != KOL_OK) {
        kol_throw(env, status, "commands: %s", kol_status_text(status));
    }
    return sum;
}

/* Fills the buffer with events whose arguments count up; returns the slots used. */
static jint Counts_fill_commands(JNIEnv *env, java_nio_ByteBuffer memory)
{
    struct kol_view view;
    if (kol_buffer_view(env, memory.raw, &view) != KOL_OK) {
        return 0;
    }
    struct kol_commands commands = {view.bytes, view.size / 8, 0};
    int64_t arguments[2] = {0, kol_slot_of_double(0.5)};
    while (kol_commands_add(&commands, 7, arguments, 2) == KOL_OK) {
        arguments[0]++;
    }
    return (jint)commands.used;
}

/* A lookup on a thread that C made and nobody has seen before. */
struct lookup {
    char name[256];
    java_lang_Class__global found;
};

static void *look_up(void *user)
{
    struct lookup *lookup = user;
    struct kol_attachment attachment;
    jclass cls = NULL;
    if (kol_attachment_open(&attachment, "lookup", 1) == KOL_OK) {
        if (kol_class_find(attachment.env, lookup->name, &cls) == KOL_OK) {
            lookup->found = java_lang_Class__keep(attachment.env, java_lang_Class__raw(cls));
        }
        kol_take(attachment.env);
        kol_attachment_close(&attachment);
    }
    return NULL;
}

static java_lang_Class Counts_find_on_thread(JNIEnv *env, java_lang_String name)
{
    struct lookup lookup = {"", {NULL}};
    size_t size = 0;
    pthread_t thread;
    java_lang_Class found = java_lang_Class__null();
    kol_status status =
        kol_text_copy(env, name.raw, KOL_TEXT_EXACT, lookup.name, sizeof lookup.name - 1, &size);
    if (status == KOL_OK && pthread_create(&thread, NULL, look_up, &lookup) == 0) {
        pthread_join(thread, NULL);
        found.raw = (*env)->NewLocalRef(env, lookup.found.raw);
        java_lang_Class__drop(env, &lookup.found);
    }
    return found;
}

struct runs {
    java_lang_Runnable__global runnable;
    atomic_int failed;
};

static void *run_attached(void *user)
{
    struct runs *runs = user;
    JNIEnv *env = kol_env_attached();
    for (int i = 0; i < 10 && env; i++) {
        if (java_lang_Runnable_run(env, java_lang_Runnable__of(runs->runnable)) != KOL_OK) {
            kol_take(env);
            runs->failed++;
        }
    }
    runs->failed += env == NULL;
    return NULL;
}

/* Runs it ten times on each of eight threads of C; returns how many runs failed. */
static jint Counts_run_on_threads(JNIEnv *env, java_lang_Runnable runnable)
{
    struct runs runs = {java_lang_Runnable__keep(env, runnable), 0};
    pthread_t threads[8];
    int started = 0;
    while (started < 8 && pthread_create(&threads[started], NULL, run_attached, &runs) == 0) {
        started++;
    }
    for (int i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    java_lang_Runnable__drop(env, &runs.runnable);
    return runs.failed + 8 - started;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved);
JNIEXPORT void JNICALL JNI_OnUnload(JavaVM *vm, void *reserved);

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    static const struct kol_natives *const all[] = {
        &SharedCell__natives,  &WovenCell__natives,
        &GuardedCell__natives, &WovenGuardedCell__natives,
        &OwnedCell__natives,   &WovenOwnedCell__natives,
        &Gauge__natives,       &Counts__natives};
    JNIEnv *env;
    char report[1024] = "";
    (void)reserved;
    kol_status status = kol_load(vm, "io/kolibri/test/Counts", &env);
    for (size_t i = 0; i < sizeof all / sizeof all[0] && status == KOL_OK; i++) {
        status = kol_natives_register(env, all[i], report, sizeof report);
    }
    if (status == KOL_OK) {
        static const struct kol_members *const tables[] = {&RUNNABLE__members};
        status = kol_class_load(env, tables, 1, report, sizeof report);
    }
    if (status == KOL_OK) {
        status = kol_throw_map(404, "java/util/NoSuchElementException");
    }
    return kol_load_result(env, status, report);
}

/* Tells Java through a system property, the only thing that outlives the loader. */
static void tell_unloaded(JNIEnv *env)
{
    jclass system = (*env)->FindClass(env, "java/lang/System");
    jmethodID set = (*env)->GetStaticMethodID(
        env, system, "setProperty", "(Ljava/lang/String;Ljava/lang/String;)Ljava/lang/String;");
    jvalue arguments[2];
    arguments[0].l = (*env)->NewStringUTF(env, "kolibri.test.unloaded");
    arguments[1].l = (*env)->NewStringUTF(env, "yes");
    (void)(*env)->CallStaticObjectMethodA(env, system, set, arguments);
    (*env)->ExceptionClear(env);
}

JNIEXPORT void JNICALL JNI_OnUnload(JavaVM *vm, void *reserved)
{
    JNIEnv *env = kol_env();
    (void)reserved;
    kol_unload(vm);
    if (env) {
        tell_unloaded(env);
    }
}
