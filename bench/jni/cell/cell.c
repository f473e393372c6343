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
};

KOL_NATIVE(Cell, "bench/Cell", struct cell)
KOL_NATIVE(Guarded, "bench/Guarded", struct cell)
#define CELL(X, C)                                                                                 \
    X(C, N0, create, "create")                                                                     \
    X(C, M0, jint, get, "get")                                                                     \
    X(C, M1, jint, sum, "sum", Cell)                                                               \
    X(C, L0, jint, leaf, "leaf")                                                                   \
    X(C, L1, jint, leafSum, "leafSum", Cell)                                                       \
    X(C, M1, void, publishTo, "publishTo", java_lang_Object)                                       \
    X(C, M2, void, run, "run", java_lang_Object, jint)                                             \
    X(C, D, destroy)
#define GUARDED(X, C)                                                                              \
    X(C, N0, create, "create")                                                                     \
    X(C, M0, jint, get, "get")                                                                     \
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

static kol_status add(void *user, const int64_t *arguments, uint32_t count)
{
    struct cell *self = user;
    (void)count;
    self->value += (jint)arguments[0];
    return KOL_OK;
}

static void Cell_run(JNIEnv *env, struct cell *self, java_lang_Object buffer, jint slots)
{
    static const struct kol_operation operations[] = {{add, 1}};
    struct kol_view view;
    if (kol_buffer_view(env, buffer.raw, &view) != KOL_OK ||
        kol_commands_run(view.bytes, (size_t)slots, operations, 1, self, NULL) != KOL_OK) {
        kol_throw_new(env, "java/lang/IllegalStateException", "the commands do not run");
    }
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

static void Guarded_destroy(struct cell *self)
{
    free(self);
}

/* Raw JNI: bench.Raw. */
static jfieldID raw_pointer, holder, holder_pointer;

#define RAW(name) JNICALL Java_bench_Raw_##name
#define CELL_AT(pointer) ((struct cell *)(intptr_t)(pointer))

JNIEXPORT jint RAW(get)(JNIEnv *env, jclass cls, jlong self);
JNIEXPORT jint RAW(sum)(JNIEnv *env, jclass cls, jlong self, jlong other);
JNIEXPORT jint RAW(fieldGet)(JNIEnv *env, jobject self);
JNIEXPORT jint RAW(fieldSum)(JNIEnv *env, jobject self, jobject other);
JNIEXPORT jint RAW(baseGet)(JNIEnv *env, jobject self);
JNIEXPORT jint RAW(classicGet)(JNIEnv *env, jobject self);

JNIEXPORT jint RAW(get)(JNIEnv *env, jclass cls, jlong self)
{
    (void)env;
    (void)cls;
    return CELL_AT(self)->value;
}

JNIEXPORT jint RAW(sum)(JNIEnv *env, jclass cls, jlong self, jlong other)
{
    (void)env;
    (void)cls;
    return CELL_AT(self)->value + CELL_AT(other)->value;
}

static struct cell *by_field(JNIEnv *env, jobject self)
{
    return CELL_AT((*env)->GetLongField(env, self, raw_pointer));
}

JNIEXPORT jint RAW(fieldGet)(JNIEnv *env, jobject self)
{
    return by_field(env, self)->value;
}

JNIEXPORT jint RAW(fieldSum)(JNIEnv *env, jobject self, jobject other)
{
    return by_field(env, self)->value + by_field(env, other)->value;
}

/* Three calls: the object's class, the field of it, and the reference given back. */
JNIEXPORT jint RAW(baseGet)(JNIEnv *env, jobject self)
{
    jclass cls = (*env)->GetObjectClass(env, self);
    jint value = by_field(env, self)->value;
    (*env)->DeleteLocalRef(env, cls);
    return value;
}

/* Five: the same by way of an object that holds the pointer. */
JNIEXPORT jint RAW(classicGet)(JNIEnv *env, jobject self)
{
    jclass cls = (*env)->GetObjectClass(env, self);
    jobject held = (*env)->GetObjectField(env, self, holder);
    jint value = CELL_AT((*env)->GetLongField(env, held, holder_pointer))->value;
    (*env)->DeleteLocalRef(env, held);
    (*env)->DeleteLocalRef(env, cls);
    return value;
}

/* A plain C function, for JNA and for a plain downcall. */
JNIEXPORT jint cell_get(jlong self);

JNIEXPORT jint cell_get(jlong self)
{
    return CELL_AT(self)->value;
}

JNIEXPORT jlong RAW(address)(JNIEnv *env, jclass cls);

JNIEXPORT jlong RAW(address)(JNIEnv *env, jclass cls)
{
    (void)env;
    (void)cls;
    return (jlong)(intptr_t)cell_get;
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
