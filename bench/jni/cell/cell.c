/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench-jni, Java to native: one C object, a number in memory, and every way to reach it. The Java
 * side is in bench/jni/jmh.
 *
 * The first half is Kolibri; the second is raw JNI, and a stand-in for the two shapes of fbjni's
 * hybrids: the JNI calls that find the object, written by us, without fbjni's own work.
 */
#include <kolibri/kolibri.h>

#include <stdlib.h>

struct cell {
    jint value;
    jint *published;
    const int64_t *commands;
};

KOL_NATIVE(Cell, "bench/Cell", struct cell)
KOL_NATIVE(Guarded, "bench/Guarded", struct cell)
#define CELL(X, C)                                                                                 \
    X(C, N0, create, "create")                                                                     \
    X(C, M0, jint, get, "get")                                                                     \
    X(C, M1, jint, sum, "sum", Cell)                                                               \
    X(C, S2, jint, add, "add", jint, jint)                                                         \
    X(C, L0, jint, leaf, "leaf")                                                                   \
    X(C, L1, jint, leafSum, "leafSum", Cell)                                                       \
    X(C, M1, void, publishTo, "publishTo", java_lang_Object)                                       \
    X(C, M1, void, commandsAt, "commandsAt", java_lang_Object)                                     \
    X(C, L1, jint, run, "run", jint)                                                               \
    X(C, D, destroy)
#define GUARDED(X, C)                                                                              \
    X(C, N0, create, "create")                                                                     \
    X(C, M0, jint, get, "get")                                                                     \
    X(C, M1, jint, sum, "sum", Guarded)                                                            \
    X(C, L0, jint, leaf, "leaf")                                                                   \
    X(C, D, destroy)
KOL_NATIVES(Cell, CELL)
KOL_NATIVES(Guarded, GUARDED)

static struct cell *Cell_create(JNIEnv *env)
{
    struct cell *made = calloc(1, sizeof *made);
    (void)env;
    if (made != NULL) {
        made->value = 7;
    }
    return made;
}

static jint Cell_get(JNIEnv *env, struct cell *self)
{
    (void)env;
    return self->value;
}

static jint Cell_sum(JNIEnv *env, struct cell *self, struct cell *other)
{
    (void)env;
    return self->value + other->value;
}

static jint Cell_add(JNIEnv *env, jint a, jint b)
{
    (void)env;
    return a + b;
}

static jint Cell_leaf(struct cell *self)
{
    return self->value;
}

static jint Cell_leafSum(struct cell *self, struct cell *other)
{
    return self->value + other->value;
}

static void Cell_publishTo(JNIEnv *env, struct cell *self, java_lang_Object buffer)
{
    struct kol_view view;
    if (kol_buffer_view(env, buffer.raw, &view) == KOL_OK) {
        self->published = view.bytes;
        *self->published = self->value;
    }
}

static void Cell_commandsAt(JNIEnv *env, struct cell *self, java_lang_Object buffer)
{
    struct kol_view view;
    if (kol_buffer_view(env, buffer.raw, &view) == KOL_OK) {
        self->commands = view.bytes;
    }
}

/* Command 0 sets the value to its argument. Returns how many there were. */
static jint Cell_run(struct cell *self, jint slots)
{
    struct kol_command_reader reader = {self->commands, (size_t)slots, 0};
    const int64_t *arguments;
    uint32_t operation, count;
    jint done = 0;
    while (kol_commands_next(&reader, &operation, &arguments, &count) == KOL_OK) {
        switch (operation) {
        case 0:
            if (count == 1) {
                self->value = (jint)arguments[0];
            }
            break;
        default:
            return -1;
        }
        done++;
    }
    return done;
}

static void Cell_destroy(struct cell *self)
{
    free(self);
}

static struct cell *Guarded_create(JNIEnv *env)
{
    return Cell_create(env);
}

static jint Guarded_get(JNIEnv *env, struct cell *self)
{
    return Cell_get(env, self);
}

static jint Guarded_sum(JNIEnv *env, struct cell *self, struct cell *other)
{
    return Cell_sum(env, self, other);
}

static jint Guarded_leaf(struct cell *self)
{
    return self->value;
}

static void Guarded_destroy(struct cell *self)
{
    free(self);
}

static kol_status find_fields(JNIEnv *env);

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    JNIEnv *env;
    char report[1024] = "";
    (void)reserved;
    kol_status status = kol_load(vm, "bench/Cell", &env);
    if (status == KOL_OK) {
        status = kol_natives_register(env, &Cell__natives, report, sizeof report);
    }
    if (status == KOL_OK) {
        status = kol_natives_register(env, &Guarded__natives, report, sizeof report);
    }
    return kol_load_result(env, status == KOL_OK ? find_fields(env) : status, report);
}

/* Raw JNI: bench.Raw. */
static jfieldID raw_pointer, holder, holder_pointer;

#define RAW(R, name, ...)                                                                          \
    JNIEXPORT R JNICALL Java_bench_Raw_##name(JNIEnv *env, __VA_ARGS__);                           \
    JNIEXPORT R JNICALL Java_bench_Raw_##name(JNIEnv *env, __VA_ARGS__)
#define CELL_AT(pointer) ((struct cell *)(intptr_t)(pointer))

RAW(jint, get, jclass cls, jlong self)
{
    (void)env;
    (void)cls;
    return CELL_AT(self)->value;
}

RAW(jint, sum, jclass cls, jlong self, jlong other)
{
    (void)env;
    (void)cls;
    return CELL_AT(self)->value + CELL_AT(other)->value;
}

RAW(jint, add, jclass cls, jint a, jint b)
{
    (void)env;
    (void)cls;
    return a + b;
}

static struct cell *by_field(JNIEnv *env, jobject self)
{
    return CELL_AT((*env)->GetLongField(env, self, raw_pointer));
}

RAW(jint, fieldGet, jobject self)
{
    return by_field(env, self)->value;
}

RAW(jint, fieldSum, jobject self, jobject other)
{
    return by_field(env, self)->value + by_field(env, other)->value;
}

/* Three calls: the object's class, the field of it, and the reference given back. */
static jint base_value(JNIEnv *env, jobject self)
{
    jclass cls = (*env)->GetObjectClass(env, self);
    jint value = by_field(env, self)->value;
    (*env)->DeleteLocalRef(env, cls);
    return value;
}

RAW(jint, baseGet, jobject self)
{
    return base_value(env, self);
}

RAW(jint, baseSum, jobject self, jobject other)
{
    return base_value(env, self) + base_value(env, other);
}

/* Five: the same by way of an object that holds the pointer. */
static jint classic_value(JNIEnv *env, jobject self)
{
    jclass cls = (*env)->GetObjectClass(env, self);
    jobject held = (*env)->GetObjectField(env, self, holder);
    jint value = CELL_AT((*env)->GetLongField(env, held, holder_pointer))->value;
    (*env)->DeleteLocalRef(env, held);
    (*env)->DeleteLocalRef(env, cls);
    return value;
}

RAW(jint, classicGet, jobject self)
{
    return classic_value(env, self);
}

RAW(jint, classicSum, jobject self, jobject other)
{
    return classic_value(env, self) + classic_value(env, other);
}

/* Plain C functions, for JNA and for plain downcalls. */
JNIEXPORT jint cell_get(jlong self);
JNIEXPORT jint cell_sum(jlong self, jlong other);
JNIEXPORT jint cell_add(jint a, jint b);

JNIEXPORT jint cell_get(jlong self)
{
    return CELL_AT(self)->value;
}

JNIEXPORT jint cell_sum(jlong self, jlong other)
{
    return CELL_AT(self)->value + CELL_AT(other)->value;
}

JNIEXPORT jint cell_add(jint a, jint b)
{
    return a + b;
}

/* Their addresses, by the number of pointers they take. */
RAW(jlong, address, jclass cls, jint pointers)
{
    (void)env;
    (void)cls;
    return pointers == 0   ? (jlong)(intptr_t)cell_add
           : pointers == 1 ? (jlong)(intptr_t)cell_get
                           : (jlong)(intptr_t)cell_sum;
}

static kol_status find_fields(JNIEnv *env)
{
    jclass raw = (*env)->FindClass(env, "bench/Raw");
    jclass held = raw ? (*env)->FindClass(env, "bench/Raw$Holder") : NULL;
    if (held == NULL) {
        return KOL_EJAVA;
    }
    raw_pointer = (*env)->GetFieldID(env, raw, "pointer", "J");
    holder = (*env)->GetFieldID(env, raw, "holder", "Lbench/Raw$Holder;");
    holder_pointer = (*env)->GetFieldID(env, held, "pointer", "J");
    return holder_pointer != NULL ? KOL_OK : KOL_EJAVA;
}
