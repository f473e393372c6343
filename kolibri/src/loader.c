/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The class loader of the library: captured once, used for every class that is found later, on any
 * thread. FindClass is not enough: on a thread that C made it asks the system loader.
 *
 * Capturing asks for an array of the anchor class, which loads the class without running its static
 * initialiser, and takes the loader from the element. Finding is Class.forName(name, false,
 * loader).
 *
 * The JDK classes that the library calls for itself are resolved here, before anything else can be.
 */
#include "kolibri/src/state.h"

#include <string.h>

KOL_MEMBERS_DEFINE(kol__Class, KOL__CLASS)
KOL_MEMBERS_DEFINE(kol__Method, KOL__METHOD)
KOL_MEMBERS_DEFINE(kol__Loader, KOL__LOADER)
KOL_MEMBERS_DEFINE(kol__Throwable, KOL__THROWABLE)

struct kol__state kol__state = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum { NAME_MAX_SIZE = 1024 };

int kol__is_absent(JNIEnv *env)
{
    jthrowable error = (*env)->ExceptionOccurred(env);
    if (!error) {
        return 1;
    }
    (*env)->ExceptionClear(env);
    int is_absent = (*env)->IsInstanceOf(env, error, kol__state.no_such_method) ||
                    (*env)->IsInstanceOf(env, error, kol__state.no_such_field);
    if (!is_absent) {
        (*env)->Throw(env, error);
    }
    (*env)->DeleteLocalRef(env, error);
    return is_absent;
}

static kol_status jdk_class(JNIEnv *env, const char *name, jclass *out)
{
    jclass local = (*env)->FindClass(env, name);
    *out = local ? (*env)->NewGlobalRef(env, local) : NULL;
    (*env)->DeleteLocalRef(env, local);
    return *out ? KOL_OK : KOL_EJAVA;
}

static kol_status jdk_table(JNIEnv *env, const char *name, const struct kol_members *table)
{
    struct kol__report report;
    jclass cls = NULL;
    kol_status status = jdk_class(env, name, &cls);
    kol__report_open(&report, NULL, 0);
    if (status == KOL_OK) {
        status = kol__resolve(env, table, cls, cls, &report);
    }
    return status == KOL_OK && report.lines ? KOL_EMISSING : status;
}

static kol_status jdk_ready(JNIEnv *env)
{
    kol_status status = jdk_class(env, "java/lang/NoSuchMethodError", &kol__state.no_such_method);
    if (status == KOL_OK) {
        status = jdk_class(env, "java/lang/NoSuchFieldError", &kol__state.no_such_field);
    }
    if (status == KOL_OK) {
        status = jdk_table(env, "java/lang/Class", &KOL__CLASS__members);
    }
    if (status == KOL_OK) {
        status = jdk_table(env, "java/lang/reflect/Method", &KOL__METHOD__members);
    }
    if (status == KOL_OK) {
        status = jdk_table(env, "java/lang/ClassLoader", &KOL__LOADER__members);
    }
    if (status == KOL_OK) {
        status = jdk_table(env, "java/lang/Throwable", &KOL__THROWABLE__members);
    }
    kol__state.has_jdk = status == KOL_OK;
    return status;
}

void kol__jdk_drop(JNIEnv *env)
{
    if (kol__state.has_jdk) {
        (*env)->DeleteGlobalRef(env, kol__s_kol__Class_forName.cls);
        (*env)->DeleteGlobalRef(env, kol__s_kol__Method_getName.cls);
        (*env)->DeleteGlobalRef(env, kol__s_kol__Loader_getSystemClassLoader.cls);
        (*env)->DeleteGlobalRef(env, kol__s_kol__Throwable_toString.cls);
        (*env)->DeleteGlobalRef(env, kol__state.no_such_method);
        (*env)->DeleteGlobalRef(env, kol__state.no_such_field);
        kol__state.has_jdk = 0;
    }
}

/*
 * The loader of the class of `descriptor`, as the calling code sees it; null for the boot loader.
 */
static kol_status loader_of(JNIEnv *env, const char *descriptor, kol__Loader *out)
{
    char name[NAME_MAX_SIZE];
    size_t size = strlen(descriptor);
    *out = kol__Loader__null();
    if (size + 2 > sizeof name) {
        return KOL_ERANGE;
    }
    name[0] = '[';
    memcpy(name + 1, descriptor, size + 1);
    kol__Class array = kol__Class__raw((*env)->FindClass(env, name));
    if (kol__Class__is_null(array)) {
        return KOL_EJAVA;
    }
    kol__Class element;
    kol_status status = kol__Class_getComponentType(env, array, &element);
    if (status == KOL_OK) {
        status = kol__Class_getClassLoader(env, element, out);
    }
    kol__Class__forget(env, array);
    kol__Class__forget(env, element);
    return status;
}

/* A class of the boot loader says nothing about ours: the system loader then stands in. */
static kol_status capture(JNIEnv *env, const char *descriptor)
{
    kol__Loader loader = kol__Loader__null();
    kol_status status = descriptor ? loader_of(env, descriptor, &loader) : KOL_OK;
    int is_certain = descriptor && !kol__Loader__is_null(loader);
    if (status == KOL_OK && kol__Loader__is_null(loader)) {
        status = kol__Loader_getSystemClassLoader(env, &loader);
    }
    if (status != KOL_OK) {
        return status;
    }
    jweak weak = (*env)->NewWeakGlobalRef(env, loader.raw);
    kol__Loader__forget(env, loader);
    if (!weak) {
        return KOL_EJAVA;
    }
    if (kol__state.loader) {
        (*env)->DeleteWeakGlobalRef(env, kol__state.loader);
    }
    kol__state.loader = weak;
    kol__state.loader_is_certain = is_certain;
    return KOL_OK;
}

kol_status kol__ready(JNIEnv *env, const char *descriptor)
{
    kol_status status = KOL_OK;
    if (__atomic_load_n(&kol__state.loader_is_certain, __ATOMIC_ACQUIRE)) {
        return KOL_OK;
    }
    pthread_mutex_lock(&kol__state.lock);
    if (!kol__state.vm && (*env)->GetJavaVM(env, &kol__state.vm) != JNI_OK) {
        status = KOL_EMISUSE;
    }
    if (status == KOL_OK && !kol__state.has_jdk) {
        status = jdk_ready(env);
    }
    if (status == KOL_OK && (!kol__state.loader || (descriptor && !kol__state.loader_is_certain))) {
        status = capture(env, descriptor);
    }
    pthread_mutex_unlock(&kol__state.lock);
    return status;
}

/*
 * "Ljava/util/Map$Entry;" to "java.util.Map$Entry", "[Ljava/lang/String;" to "[Ljava.lang.String;".
 */
static size_t binary_name(const char *descriptor, jchar *out, size_t room)
{
    char name[NAME_MAX_SIZE];
    size_t size = strlen(descriptor);
    if (size > room || size > sizeof name) {
        return 0;
    }
    memcpy(name, descriptor, size);
    char *first = name;
    if (name[0] == 'L') {
        first++;
        size -= 2;
    }
    size_t count = kol_utf16_from_utf8(first, size, KOL_TEXT_EXACT, out);
    for (size_t i = 0; i < count; i++) {
        if (out[i] == '/') {
            out[i] = '.';
        }
    }
    return count;
}

kol_status kol__find(JNIEnv *env, const char *descriptor, jclass *out)
{
    jchar name[NAME_MAX_SIZE];
    kol__Class found = kol__Class__null();
    size_t count = binary_name(descriptor, name, NAME_MAX_SIZE);
    *out = NULL;
    if (count == 0) {
        return KOL_ERANGE;
    }
    kol__String string = kol__String__raw((*env)->NewString(env, name, (jsize)count));
    if (kol__String__is_null(string)) {
        return KOL_EJAVA;
    }
    kol_status status = KOL_EUNLOADED;
    kol__Loader loader = kol__Loader__raw((*env)->NewLocalRef(env, kol__state.loader));
    if (!kol__Loader__is_null(loader)) {
        status = kol__Class_forName(env, string, JNI_FALSE, loader, &found);
        kol__Loader__forget(env, loader);
    }
    kol__String__forget(env, string);
    *out = (jclass)found.raw;
    return status;
}

kol_status kol_class_find(JNIEnv *env, const char *name, jclass *out)
{
    char descriptor[NAME_MAX_SIZE];
    size_t size = strlen(name);
    *out = NULL;
    if (size == 0 || size + 3 > sizeof descriptor) {
        return KOL_ERANGE;
    }
    kol_status status = kol__ready(env, NULL);
    if (status != KOL_OK || name[0] == '[') {
        return status == KOL_OK ? kol__find(env, name, out) : status;
    }
    descriptor[0] = 'L';
    memcpy(descriptor + 1, name, size);
    memcpy(descriptor + 1 + size, ";", 2);
    return kol__find(env, descriptor, out);
}

kol_status kol__hold_class(JNIEnv *env, jclass cls, jobject *out, int *is_weak)
{
    kol__Loader loader;
    kol_status status = kol__Class_getClassLoader(env, kol__Class__raw(cls), &loader);
    if (status != KOL_OK) {
        return status;
    }
    *is_weak = loader.raw && (*env)->IsSameObject(env, loader.raw, kol__state.loader);
    *out = *is_weak ? (*env)->NewWeakGlobalRef(env, cls) : (*env)->NewGlobalRef(env, cls);
    kol__Loader__forget(env, loader);
    return *out ? KOL_OK : KOL_EJAVA;
}
