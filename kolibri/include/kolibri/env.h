/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The VM, the current thread's env, attaching threads, and the class loader of the library.
 *
 * In JNI_OnLoad:
 *
 *     JNIEXPORT jint JNI_OnLoad(JavaVM *vm, void *reserved)
 *     {
 *         JNIEnv *env;
 *         char report[1024] = "";
 *         kol_status status = kol_load(vm, "io/example/Counter", &env);
 *         if (status == KOL_OK) {
 *             status = kol_natives_register(env, &Counter__natives, report, sizeof report);
 *         }
 *         return kol_load_result(env, status, report);
 *     }
 *
 * Env is an argument everywhere; kol_env is for the places that cannot have it.
 *
 * A thread that Kolibri attached is detached by Kolibri, at the end of the attach scope or when the
 * thread ends, and no other thread ever is. While attached it holds the library's class loader.
 */
#ifndef KOLIBRI_ENV_H
#define KOLIBRI_ENV_H

#include <jni.h>
#include <kolibri/status.h>

KOL__C_BEGIN

/*
 * Captures the VM and the class loader. `anchor` names any class that the library's own loader sees
 * ("io/example/Counter"); it is loaded but not initialised. NULL takes the system class loader.
 * `env_out` receives the current env. KOL_OK, or KOL_EJAVA when the anchor is not found. Calling it
 * again changes nothing until kol_unload. From JNI_OnLoad, or an attached thread of an embedder.
 */
kol_status kol_load(JavaVM *vm, const char *anchor, JNIEnv **env_out) KOL__MUST;

/*
 * What JNI_OnLoad returns: the JNI version for KOL_OK; otherwise JNI_ERR with an exception pending
 * that carries the status and `report`, so that System.loadLibrary throws it.
 */
jint kol_load_result(JNIEnv *env, kol_status status, const char *report);

/*
 * Gives back every reference the library holds. From JNI_OnUnload. Tables must be loaded again
 * before further use; the library may be loaded again afterwards.
 */
void kol_unload(JavaVM *vm);

/*
 * The env of this thread; NULL if the VM does not know the thread or there is no VM. Any thread.
 * About a nanosecond inside an attachment or between enter and leave below, else the VM is asked.
 */
JNIEnv *kol_env(void);

/*
 * For a native that will want kol_env often: makes `env` this thread's known env, and returns what
 * goes into kol_env_leave, on the same thread, before the native returns.
 */
JNIEnv *kol_env_enter(JNIEnv *env);
void kol_env_leave(JNIEnv *before);

/*
 * The env of this thread, attached on demand as a daemon and detached when the thread ends. NULL if
 * the VM refuses (it is shutting down, or kol_load was not called). Any thread.
 */
JNIEnv *kol_env_attached(void);

/* An attachment that ends with its block. */
struct kol_attachment {
    JNIEnv *env;
    JNIEnv *before;
    int is_ours;
    void *loader;
};

/*
 * Attaches this thread under `name` (UTF-8, may be NULL) for the time until kol_attachment_close. A
 * thread that is attached already stays as it is, and stays attached afterwards. KOL_OK,
 * KOL_EATTACH, KOL_EUNLOADED. Close on the same thread; closing a failed one is fine.
 */
kol_status kol_attachment_open(struct kol_attachment *attachment, const char *name,
                               int is_daemon) KOL__MUST;
void kol_attachment_close(struct kol_attachment *attachment);

/*
 * Finds a class through the captured class loader, on any attached thread, without initialising it.
 * `name` is a binary name with slashes ("java/util/Map$Entry"), or an array descriptor. The local
 * reference is yours. KOL_OK or KOL_EJAVA.
 */
kol_status kol_class_find(JNIEnv *env, const char *name, jclass *out) KOL__MUST;

/*
 * Opens a local frame with room for `capacity` references. KOL_EJAVA with an OutOfMemoryError when
 * there is no room; then there is no frame to close.
 */
kol_status kol_frame_open(JNIEnv *env, jint capacity) KOL__MUST;

/*
 * Closes the frame: its local references are dead, but for the survivor, which is returned as a new
 * reference of the outer frame. Use the result; the old handle is dead too. NULL survives as NULL.
 */
jobject kol_frame_close(JNIEnv *env, jobject survivor);

KOL__C_END

#endif
