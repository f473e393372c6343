/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The VM, the current env, threads that we attach, local frames, load and unload.
 *
 * Whether a thread is ours to detach is written in its thread-specific value (`attached_key`): only
 * threads that kol_env_attached attached have one, and its destructor detaches them when they end.
 * An attachment scope detaches at its own end, and only if it was the one that attached.
 *
 * Each attached thread of ours holds a global reference to the class loader, so that no class can
 * be collected under a call that comes from C alone.
 */
#include "kolibri/src/state.h"

#include <stdio.h>
#include <string.h>

/*
 * The env is remembered only inside our own frames, which know when it ends: nobody tells us when
 * foreign code detaches a thread. One pointer fits glibc's static TLS also in a library that is
 * loaded late; other loaders refuse that model.
 */
#ifdef __GLIBC__
static __thread JNIEnv *known_env __attribute__((tls_model("initial-exec")));
#else
static __thread JNIEnv *known_env;
#endif

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t attached_key;
static int key_is_made;

static JNIEnv *env_of(JavaVM *vm)
{
    void *env = NULL;
    if (!vm || (*vm)->GetEnv(vm, &env, JNI_VERSION_1_6) != JNI_OK) {
        return NULL;
    }
    return env;
}

static JavaVM *current_vm(void)
{
    return __atomic_load_n(&kol__state.vm, __ATOMIC_ACQUIRE);
}

JNIEnv *kol_env(void)
{
    JNIEnv *env = known_env;
    return env ? env : env_of(current_vm());
}

JNIEnv *kol__env_asked(void)
{
    return env_of(current_vm());
}

JNIEnv *kol_env_enter(JNIEnv *env)
{
    JNIEnv *before = known_env;
    known_env = env;
    return before;
}

void kol_env_leave(JNIEnv *before)
{
    known_env = before;
}

/* The loader's global reference is what the key holds; `loader` may be null before kol_load. */
static void detach(JavaVM *vm, jobject loader)
{
    JNIEnv *env = env_of(vm);
    if (env) {
        (*env)->DeleteGlobalRef(env, loader);
        (*vm)->DetachCurrentThread(vm);
        KOL__TALLY_DOWN(threads_attached);
    }
}

static void thread_ends(void *loader)
{
    detach(current_vm(), loader);
}

static void make_key(void)
{
    key_is_made = pthread_key_create(&attached_key, thread_ends) == 0;
}

static JNIEnv *attach(JavaVM *vm, const char *name, int is_daemon, jobject *loader)
{
    void *env = NULL;
    char text[128];
    JavaVMAttachArgs args = {JNI_VERSION_1_6, NULL, NULL};
    if (name) {
        snprintf(text, sizeof text, "%s", name);
        args.name = text;
    }
    jint result = is_daemon ? (*vm)->AttachCurrentThreadAsDaemon(vm, &env, &args)
                            : (*vm)->AttachCurrentThread(vm, &env, &args);
    if (result != JNI_OK) {
        return NULL;
    }
    JNIEnv *attached = env;
    KOL__TALLY_UP(attaches);
    KOL__TALLY_UP(threads_attached);
    *loader = (*attached)->NewGlobalRef(attached, kol__state.loader);
    if (!*loader) {
        KOL__TALLY_DOWN(threads_attached);
        (*vm)->DetachCurrentThread(vm);
        return NULL;
    }
    return attached;
}

JNIEnv *kol_env_attached(void)
{
    JavaVM *vm = current_vm();
    JNIEnv *env = env_of(vm);
    jobject loader = NULL;
    if (env || !vm) {
        return env;
    }
    pthread_once(&key_once, make_key);
    if (!key_is_made) {
        return NULL;
    }
    env = attach(vm, NULL, 1, &loader);
    if (env && pthread_setspecific(attached_key, loader) != 0) {
        detach(vm, loader);
        return NULL;
    }
    return env;
}

kol_status kol_attachment_open(struct kol_attachment *attachment, const char *name, int is_daemon)
{
    JavaVM *vm = current_vm();
    jobject loader = NULL;
    attachment->env = env_of(vm);
    attachment->is_ours = 0;
    attachment->loader = NULL;
    if (!vm) {
        return KOL_EUNLOADED;
    }
    if (!attachment->env) {
        attachment->env = attach(vm, name, is_daemon, &loader);
        attachment->is_ours = attachment->env != NULL;
        attachment->loader = loader;
    }
    if (!attachment->env) {
        return KOL_EATTACH;
    }
    attachment->before = kol_env_enter(attachment->env);
    return KOL_OK;
}

void kol_attachment_close(struct kol_attachment *attachment)
{
    if (attachment->env) {
        kol_env_leave(attachment->before);
    }
    if (attachment->is_ours) {
        detach(current_vm(), attachment->loader);
    }
    attachment->env = NULL;
    attachment->is_ours = 0;
}

kol_status kol_frame_open(JNIEnv *env, jint capacity)
{
    return (*env)->PushLocalFrame(env, capacity) == 0 ? KOL_OK : KOL_EJAVA;
}

jobject kol_frame_close(JNIEnv *env, jobject survivor)
{
    return (*env)->PopLocalFrame(env, survivor);
}

static kol_status anchor_descriptor(const char *anchor, char *out, size_t size)
{
    int length = snprintf(out, size, "L%s;", anchor);
    return length > 0 && (size_t)length < size ? KOL_OK : KOL_ERANGE;
}

kol_status kol_load(JavaVM *vm, const char *anchor, JNIEnv **env_out)
{
    char descriptor[1024];
    *env_out = env_of(vm);
    if (!*env_out) {
        return KOL_EATTACH;
    }
    if (anchor && anchor_descriptor(anchor, descriptor, sizeof descriptor) != KOL_OK) {
        return KOL_ERANGE;
    }
    return kol__ready(*env_out, anchor ? descriptor : NULL);
}

jint kol_load_result(JNIEnv *env, kol_status status, const char *report)
{
    if (status == KOL_OK) {
        return JNI_VERSION_1_6;
    }
    if (env && !(*env)->ExceptionCheck(env)) {
        kol_throw_new(env, "java/lang/UnsatisfiedLinkError",
                      report && report[0] ? report : kol_status_text(status));
    }
    return JNI_ERR;
}

void kol_unload(JavaVM *vm)
{
    JNIEnv *env = env_of(vm);
    if (!env) {
        return;
    }
    pthread_mutex_lock(&kol__state.lock);
    kol__tables_drop(env);
    kol__types_drop(env);
    kol__runtime_drop(env);
    kol__jdk_drop(env);
    if (kol__state.loader) {
        (*env)->DeleteWeakGlobalRef(env, kol__state.loader);
    }
    kol__state.loader = NULL;
    kol__state.loader_is_certain = 0;
    __atomic_store_n(&kol__state.vm, NULL, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&kol__state.lock);
}
