/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What levels 1 to 3 do when a caller breaks the contract.
 *
 * A null receiver is an exception, like in Java. Misuse that only C can commit (level 2 and up)
 * goes to the misuse hook with the name of the function and what was wrong; without a hook it is
 * one line on stderr. The call then does not happen.
 */
#include "kolibri/src/state.h"

#include <stdio.h>

static kol_misuse_hook hook;
static void *hook_user;

void kol_on_misuse(kol_misuse_hook called, void *user)
{
    pthread_mutex_lock(&kol__state.lock);
    hook = called;
    hook_user = user;
    pthread_mutex_unlock(&kol__state.lock);
}

void kol__misuse(const char *where, const char *what)
{
    pthread_mutex_lock(&kol__state.lock);
    kol_misuse_hook called = hook;
    void *user = hook_user;
    pthread_mutex_unlock(&kol__state.lock);
    KOL__TALLY_UP(misuses);
    if (called) {
        called(where, what, user);
    } else {
        fprintf(stderr, "kolibri: misuse in %s: %s\n", where, what);
    }
}

void kol__refuse_null(JNIEnv *env, const char *where)
{
    char message[256];
    if ((*env)->ExceptionCheck(env)) {
        return;
    }
    snprintf(message, sizeof message, "null receiver of %s", where);
    kol_throw_new(env, "java/lang/NullPointerException", message);
}

void kol__broken_promise(JNIEnv *env, const char *where)
{
    (void)env;
    kol__misuse(where, "declared nothrow, but an exception is pending after it");
}

int kol__enter(JNIEnv *env, const char *where)
{
    if (kol__is_in_leaf()) {
        kol__misuse(where, "a leaf called into Java");
        return 1;
    }
    if (kol__env_asked() != env) {
        kol__misuse(where, "the env belongs to another thread");
        return 1;
    }
    if ((*env)->ExceptionCheck(env)) {
        kol__misuse(where, "called with an exception pending");
        return 1;
    }
    return 0;
}
