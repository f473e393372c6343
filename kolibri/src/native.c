/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Registering native tables.
 *
 * The class is loaded, not initialised, and asked once for its declared methods. Each row takes the
 * native method of its name that is static with pointers as J (woven), or has the declared types
 * (plain). A leaf's extra method f$critical, which the Android output has, gets the bare function
 * where ART calls it as one, and the woven one everywhere else.
 * FindClass and Get…MethodID are never probes here: they run static initialisers, which may call
 * the very natives that are not registered yet.
 *
 * What happens in a call is native_call.c.
 */
#include "kolibri/src/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODIFIER_STATIC = 0x8, MODIFIER_NATIVE = 0x100, NAME_SIZE = 256, SIGNATURE_SIZE = 1024 };

/* One declared native method of the class. */
struct declared {
    char name[NAME_SIZE];
    char signature[SIGNATURE_SIZE];
    int is_static;
};

struct registration {
    JNINativeMethod *methods;
    int count;
    int room;
    int needs_runtime;
    int has_leaf;
    int calls_bare;
};

/*
 * Whether this VM calls a method marked CriticalNative without env and class: ART does since API
 * 26; before that, and elsewhere, the mark is nothing.
 */
static int calls_bare(JNIEnv *env)
{
#ifdef __ANDROID__
    jclass version = (*env)->FindClass(env, "android/os/Build$VERSION");
    jfieldID level = (*env)->GetStaticFieldID(env, version, "SDK_INT", "I");
    jint sdk = (*env)->GetStaticIntField(env, version, level);
    (*env)->DeleteLocalRef(env, version);
    return sdk >= 26;
#else
    (void)env;
    return 0;
#endif
}

static kol_status java_name(JNIEnv *env, kol__String string, char *out, size_t size)
{
    size_t used = 0;
    kol_status status = kol_text_copy(env, string.raw, KOL_TEXT_EXACT, out, size - 1, &used);
    out[status == KOL_OK ? used : 0] = 0;
    kol__String__forget(env, string);
    return status;
}

/* Appends the descriptor of a class by its Class.getName: "int", "[I", "java.lang.String". */
static int add_descriptor(char *signature, const char *name)
{
    static const struct {
        const char *name;
        const char *descriptor;
    } primitives[] = {{"boolean", "Z"}, {"byte", "B"},   {"char", "C"},
                      {"short", "S"},   {"int", "I"},    {"long", "J"},
                      {"float", "F"},   {"double", "D"}, {"void", "V"}};
    size_t used = strlen(signature);
    size_t size = strlen(name);
    if (used + size + 3 > SIGNATURE_SIZE) {
        return 0;
    }
    for (size_t i = 0; i < sizeof primitives / sizeof primitives[0]; i++) {
        if (strcmp(primitives[i].name, name) == 0) {
            memcpy(signature + used, primitives[i].descriptor, 2);
            return 1;
        }
    }
    int is_array = name[0] == '[';
    char *at = signature + used;
    if (!is_array) {
        *at++ = 'L';
    }
    for (size_t i = 0; i < size; i++) {
        *at++ = (char)(name[i] == '.' ? '/' : name[i]);
    }
    if (!is_array) {
        *at++ = ';';
    }
    *at = 0;
    return 1;
}

static kol_status add_class(JNIEnv *env, kol__Class cls, char *signature)
{
    char name[SIGNATURE_SIZE];
    kol__String string;
    kol_status status = kol__Class_getName(env, cls, &string);
    kol__Class__forget(env, cls);
    if (status == KOL_OK) {
        status = java_name(env, string, name, sizeof name);
    }
    if (status == KOL_OK && !add_descriptor(signature, name)) {
        status = KOL_ERANGE;
    }
    return status;
}

static kol_status read_signature(JNIEnv *env, kol__Method method, char *signature)
{
    kol__Class__array parameters;
    kol__Class cls;
    kol_status status = kol__Method_getParameterTypes(env, method, &parameters);
    if (status != KOL_OK) {
        return status;
    }
    memcpy(signature, "(", 2);
    jsize count = kol__Class__array__count(env, parameters);
    for (jsize i = 0; i < count && status == KOL_OK; i++) {
        status = kol__Class__array__get(env, parameters, i, &cls);
        if (status == KOL_OK) {
            status = add_class(env, cls, signature);
        }
    }
    kol__Class__array__forget(env, parameters);
    if (status != KOL_OK) {
        return status;
    }
    size_t used = strlen(signature);
    if (used + 2 > SIGNATURE_SIZE) {
        return KOL_ERANGE;
    }
    memcpy(signature + used, ")", 2);
    status = kol__Method_getReturnType(env, method, &cls);
    return status == KOL_OK ? add_class(env, cls, signature) : status;
}

/* Reads a method if it is native and not too long to be a row's; KOL_NONE otherwise. */
static kol_status read_method(JNIEnv *env, kol__Method method, struct declared *out)
{
    kol__String name;
    jint modifiers;
    kol_status status = kol__Method_getModifiers(env, method, &modifiers);
    if (status != KOL_OK || (modifiers & MODIFIER_NATIVE) == 0) {
        return status != KOL_OK ? status : KOL_NONE;
    }
    out->is_static = (modifiers & MODIFIER_STATIC) != 0;
    status = kol__Method_getName(env, method, &name);
    if (status == KOL_OK) {
        status = java_name(env, name, out->name, sizeof out->name);
    }
    if (status == KOL_OK) {
        status = read_signature(env, method, out->signature);
    }
    return status == KOL_ERANGE || status == KOL_ESMALL ? KOL_NONE : status;
}

static kol_status declared_read(JNIEnv *env, jclass cls, struct declared **out, int *count_out)
{
    kol__Method__array methods;
    *out = NULL;
    *count_out = 0;
    kol_status status = kol__Class_getDeclaredMethods(env, kol__Class__raw(cls), &methods);
    if (status != KOL_OK) {
        return status;
    }
    jsize count = kol__Method__array__count(env, methods);
    struct declared *declared = calloc((size_t)count + 1, sizeof *declared);
    int used = 0;
    status = declared ? KOL_OK : KOL_ENOMEM;
    for (jsize i = 0; i < count && status == KOL_OK; i++) {
        kol__Method method;
        status = kol__Method__array__get(env, methods, i, &method);
        if (status == KOL_OK) {
            status = read_method(env, method, &declared[used]);
            kol__Method__forget(env, method);
            used += status == KOL_OK;
            status = status == KOL_NONE ? KOL_OK : status;
        }
    }
    kol__Method__array__forget(env, methods);
    if (status != KOL_OK) {
        free(declared);
        return status;
    }
    *out = declared;
    *count_out = used;
    return KOL_OK;
}

static struct declared *find_declared(struct declared *declared, int count, const char *name,
                                      const char *signature, int is_static)
{
    for (int i = 0; i < count; i++) {
        if (declared[i].is_static == is_static && strcmp(declared[i].name, name) == 0 &&
            strcmp(declared[i].signature, signature) == 0) {
            return &declared[i];
        }
    }
    return NULL;
}

static void add_method(struct registration *registration, struct declared *found,
                       kol__function function)
{
    JNINativeMethod *method = &registration->methods[registration->count++];
    method->name = found->name;
    method->signature = found->signature;
    memcpy(&method->fnPtr, &function, sizeof function);
}

/* Matches one row; returns whether the class has its method. `signature` holds what was wanted. */
static int match_row(struct registration *registration, struct declared *declared, int count,
                     const struct kol__native *row, char *signature)
{
    int is_method = row->kind == 'M' || row->kind == 'L';
    char critical[NAME_SIZE];
    if (!kol__signature(signature, SIGNATURE_SIZE, is_method ? "J" : "", row->woven_types,
                        row->count)) {
        return 0;
    }
    struct declared *found = find_declared(declared, count, row->name, signature, 1);
    if (found) {
        add_method(registration, found, row->woven);
        registration->has_leaf |= row->kind == 'L';
        size_t size = strlen(row->name);
        if (row->leaf && size + sizeof "$critical" <= sizeof critical) {
            memcpy(critical, row->name, size);
            memcpy(critical + size, "$critical", sizeof "$critical");
            found = find_declared(declared, count, critical, signature, 1);
            if (found) {
                add_method(registration, found, registration->calls_bare ? row->leaf : row->woven);
            }
        }
        return 1;
    }
    if (!kol__signature(signature, SIGNATURE_SIZE, "", row->plain_types, row->count)) {
        return 0;
    }
    found = find_declared(declared, count, row->name, signature, !is_method);
    if (found) {
        add_method(registration, found, row->plain);
        registration->needs_runtime = 1;
    }
    return found != NULL;
}

static void match_rows(struct registration *registration, struct declared *declared, int count,
                       const struct kol_natives *natives, struct kol__report *report)
{
    for (int i = 0; i < natives->count; i++) {
        char signature[SIGNATURE_SIZE] = "";
        const struct kol__native *row = &natives->rows[i];
        if (row->kind == 'D' || row->kind == 'E') {
            registration->needs_runtime = 1;
        } else if (!match_row(registration, declared, count, row, signature)) {
            kol__report_line(report, natives->type->descriptor, row->name, signature);
        }
    }
}

static jlong function_of(const struct kol_natives *natives, char kind)
{
    for (int i = 0; i < natives->count; i++) {
        if (natives->rows[i].kind == kind) {
            return (jlong)(intptr_t)natives->rows[i].woven;
        }
    }
    return 0;
}

/* Tells the runtime how objects of this class end. */
static kol_status bind(JNIEnv *env, const struct kol_natives *natives, jclass cls)
{
    jlong destroy = function_of(natives, 'D');
    jlong end = function_of(natives, 'E');
    if (destroy == 0 && end == 0) {
        return KOL_OK;
    }
    return kol__Native_bind(env, kol__Class__raw(cls), destroy, end);
}

static kol_status bind_leaf(JNIEnv *env, jclass cls, const struct kol__native *row)
{
    char signature[SIGNATURE_SIZE];
    jlong address = (jlong)(intptr_t)row->leaf;
    if (!kol__signature(signature, sizeof signature, "J", row->woven_types, row->count)) {
        return KOL_ERANGE;
    }
    kol__String name = kol__String__raw((*env)->NewStringUTF(env, row->name));
    if (kol__String__is_null(name)) {
        return KOL_EJAVA;
    }
    kol_status status = KOL_EJAVA;
    kol__String type = kol__String__raw((*env)->NewStringUTF(env, signature));
    if (!kol__String__is_null(type)) {
        status = kol__Native_leaf(env, kol__Class__raw(cls), name, type, address);
        kol__String__forget(env, type);
    }
    kol__String__forget(env, name);
    return status;
}

/* Tells the runtime where the bare functions are, for critical downcalls. ART was told already. */
static kol_status bind_leaves(JNIEnv *env, const struct kol_natives *natives, jclass cls,
                              const struct registration *registration)
{
    kol_status status = KOL_OK;
#ifndef __ANDROID__
    for (int i = 0; i < natives->count && registration->has_leaf && status == KOL_OK; i++) {
        if (natives->rows[i].kind == 'L') {
            status = bind_leaf(env, cls, &natives->rows[i]);
        }
    }
#else
    (void)bind_leaf;
#endif
    return status;
}

static kol_status register_class(JNIEnv *env, const struct kol_natives *natives, jclass cls,
                                 struct declared *declared, int count, struct kol__report *report)
{
    struct registration registration = {NULL, 0, 2 * natives->count, 0, 0, calls_bare(env)};
    kol_status status = KOL_OK;
    registration.methods = calloc((size_t)registration.room + 1, sizeof *registration.methods);
    if (!registration.methods) {
        return KOL_ENOMEM;
    }
    match_rows(&registration, declared, count, natives, report);
    if (report->lines) {
        status = KOL_EMISSING;
    }
    if (status == KOL_OK && (registration.needs_runtime || registration.has_leaf)) {
        status = kol__runtime_ready(env);
    }
    if (status == KOL_OK &&
        (*env)->RegisterNatives(env, cls, registration.methods, registration.count) != JNI_OK) {
        status = KOL_EJAVA;
    }
    if (status == KOL_OK) {
        KOL__TALLY(natives_registered, (uint64_t)registration.count);
        status = bind(env, natives, cls);
    }
    if (status == KOL_OK) {
        status = bind_leaves(env, natives, cls, &registration);
    }
    free(registration.methods);
    return status;
}

kol_status kol_natives_register(JNIEnv *env, const struct kol_natives *natives, char *report,
                                size_t size)
{
    struct kol__report list;
    jclass cls = NULL;
    struct declared *declared = NULL;
    int count = 0;
    kol__report_open(&list, report, size);
    kol_status status = kol__ready(env, natives->type->descriptor);
    if (status == KOL_OK) {
        status = kol__find(env, natives->type->descriptor, &cls);
    }
    if (status == KOL_OK) {
        status = declared_read(env, cls, &declared, &count);
    }
    if (status == KOL_OK) {
        status = register_class(env, natives, cls, declared, count, &list);
    }
    free(declared);
    (*env)->DeleteLocalRef(env, cls);
    return status;
}

/* One row as a line; 0 if it has none (D and E) or does not fit. */
static int write_row(const struct kol_natives *natives, const struct kol__native *row, char *out,
                     size_t size)
{
    char woven[SIGNATURE_SIZE];
    char plain[SIGNATURE_SIZE];
    const char *first = row->kind == 'M' || row->kind == 'L' ? "J" : "";
    const char *name = natives->type->descriptor + 1;
    if (row->kind == 'D' || row->kind == 'E' ||
        !kol__signature(woven, sizeof woven, first, row->woven_types, row->count) ||
        !kol__signature(plain, sizeof plain, "", row->plain_types, row->count)) {
        return 0;
    }
    return snprintf(out, size, "%.*s %c %s %s %s\n", (int)strlen(name) - 1, name, row->kind,
                    row->name, woven, plain);
}

size_t kol_natives_write(const struct kol_natives *natives, char *out, size_t size)
{
    size_t used = 0;
    if (size > 0) {
        out[0] = 0;
    }
    for (int i = 0; i < natives->count; i++) {
        size_t left = used < size ? size - used : 0;
        int written = write_row(natives, &natives->rows[i], left ? out + used : NULL, left);
        used += written > 0 ? (size_t)written : 0;
    }
    return used;
}
