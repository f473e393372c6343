/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Finds everything that the loops of to_java.c work on: Kolibri's tables, and the ids and
 * references of raw JNI. See target.h.
 */
#include "bench/jni/target.h"

KOL_MEMBERS_DEFINE(Target, TARGET)
KOL_MEMBERS_DEFINE(Upcalls, UPCALLS)
KOL_MEMBERS_DEFINE(List, LIST)
KOL_MEMBERS_DEFINE(Map, MAP)
KOL_MEMBERS_DEFINE(Int, INTEGER)

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    static const struct kol_members *const tables[] = {
        &TARGET__members, &UPCALLS__members, &LIST__members, &MAP__members, &INTEGER__members};
    JNIEnv *env;
    char report[1024] = "";
    (void)reserved;
    kol_status status = kol_load(vm, "bench/Target", &env);
    if (status == KOL_OK) {
        status = kol_class_load(env, tables, 5, report, sizeof report);
    }
    return kol_load_result(env, status, report);
}

static void find_ids(JNIEnv *env, struct target *t)
{
    jclass list = (*env)->FindClass(env, "java/util/ArrayList");
    jclass map = (*env)->FindClass(env, "java/util/HashMap");
    t->integer = (*env)->FindClass(env, "java/lang/Integer");
    t->add = (*env)->GetStaticMethodID(env, t->cls, "add", "(II)I");
    t->four = (*env)->GetMethodID(env, t->cls, "four", "(IIII)I");
    t->make = (*env)->GetMethodID(env, t->cls, "<init>", "()V");
    t->size = (*env)->GetMethodID(env, list, "size", "()I");
    t->get = (*env)->GetMethodID(env, list, "get", "(I)Ljava/lang/Object;");
    t->put = (*env)->GetMethodID(env, map, "put",
                                 "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;");
    t->value_of = (*env)->GetStaticMethodID(env, t->integer, "valueOf", "(I)Ljava/lang/Integer;");
    t->field = (*env)->GetFieldID(env, t->cls, "field", "I");
    t->shared = (*env)->GetStaticFieldID(env, t->cls, "shared", "I");
}

kol_status target_open(JNIEnv *env, jclass cls, struct target *t)
{
    t->cls = cls;
    (*env)->GetJavaVM(env, &t->vm);
    find_ids(env, t);
    t->list = Target_list(env);
    t->map = Target_map(env);
    t->key = Int__up(Target_key(env));
    t->ints = Target_ints(env);
    t->text = (*env)->NewStringUTF(env, TARGET_TEXT);
    struct kol_view view;
    kol_status status = kol_buffer_view(env, Upcalls_bytes(env).raw, &view);
    if (status == KOL_OK) {
        t->commands = (struct kol_commands){view.bytes, view.size / 8, 0};
        status = Target_make(env, &t->object);
    }
    return status;
}
