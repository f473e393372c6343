/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Loading and unloading of the door's library.
 *
 * The classes in the jar and this library must be of one version: a method that
 * either lacks is named by registration. The engine is another library, shared
 * with other doors of the process, so its ABI is compared too.
 */
#include "doors/jvm/c/jvm_door.h"

#include <stdio.h>

static kol_status load(JNIEnv *env, char *report, size_t size)
{
    static const struct kol_members *const tables[] = {&FAILURES__members};
    if (kevy_abi() != KEVY_ABI) {
        (void)snprintf(report, size,
                       "libkevy has ABI %u, this door needs %d: two versions of kevy "
                       "meet in one process",
                       (unsigned)kevy_abi(), KEVY_ABI);
        return KOL_EMISUSE;
    }
    kol_status status = kj_store_register(env, report, size);
    if (status == KOL_OK) {
        status = kj_inbox_register(env, report, size);
    }
    if (status == KOL_OK) {
        status = kj_changes_register(env, report, size);
    }
    return status == KOL_OK ? kol_class_load(env, tables, 1, report, size) : status;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    JNIEnv *env;
    char report[1024] = "";
    (void)reserved;
    kol_status status = kol_load(vm, "io/kevy/Store", &env);
    if (status == KOL_OK) {
        status = load(env, report, sizeof report);
    }
    return kol_load_result(env, status, report);
}

JNIEXPORT void JNICALL JNI_OnUnload(JavaVM *vm, void *reserved)
{
    (void)reserved;
    kol_unload(vm);
}
