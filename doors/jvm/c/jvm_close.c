/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The end of a handle, and waiting for it.
 *
 * A store is closed by whichever thread leaves its last call, which need not be
 * the one that called close. So that close can promise that the files are free
 * when it returns, it takes a latch while it holds a lease, gives the lease
 * back, and waits. The latch outlives the store: it is counted, once for the
 * store and once for each who waits.
 *
 * One lock for all latches: it is taken for a few instructions at the end of a
 * store's life.
 */
#include "doors/jvm/c/jvm_door.h"

#include <pthread.h>
#include <stdlib.h>

struct kj_latch {
    pthread_cond_t has_ended;
    bool is_ended;
    int refs;
};

static pthread_mutex_t latch_lock = PTHREAD_MUTEX_INITIALIZER;

/* With the lock held. */
static void latch_drop(struct kj_latch *latch)
{
    if (--latch->refs == 0) {
        (void)pthread_cond_destroy(&latch->has_ended);
        free(latch);
    }
}

static struct kj_latch *latch_new(void)
{
    struct kj_latch *latch = calloc(1, sizeof *latch);
    if (latch != NULL && pthread_cond_init(&latch->has_ended, NULL) != 0) {
        free(latch);
        return NULL;
    }
    if (latch != NULL) {
        latch->refs = 1;
    }
    return latch;
}

struct kj_store *kj_store_new(KevyDb *db)
{
    struct kj_store *store = calloc(1, sizeof *store);
    if (store == NULL) {
        kevy_close(db);
        return NULL;
    }
    store->db = db;
    return store;
}

void kj_store_free(struct kj_store *store)
{
    kj_changes_end(store);
    kevy_close(store->db);
    (void)pthread_mutex_lock(&latch_lock);
    if (store->latch != NULL) {
        store->latch->is_ended = true;
        (void)pthread_cond_broadcast(&store->latch->has_ended);
        latch_drop(store->latch);
    }
    (void)pthread_mutex_unlock(&latch_lock);
    free(store);
}

struct kj_latch *kj_latch_of(struct kj_store *store)
{
    (void)pthread_mutex_lock(&latch_lock);
    if (store->latch == NULL) {
        store->latch = latch_new();
    }
    struct kj_latch *latch = store->latch;
    if (latch != NULL) {
        latch->refs++;
    }
    (void)pthread_mutex_unlock(&latch_lock);
    return latch;
}

void kj_latch_wait(struct kj_latch *latch)
{
    (void)pthread_mutex_lock(&latch_lock);
    while (!latch->is_ended) {
        (void)pthread_cond_wait(&latch->has_ended, &latch_lock);
    }
    latch_drop(latch);
    (void)pthread_mutex_unlock(&latch_lock);
}
