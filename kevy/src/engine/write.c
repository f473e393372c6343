/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Leaving a public write. See write.h.
 *
 * After KEVY_EIO from the log the outcome of the write is unknown: it is in
 * memory and may or may not be durable. The call says so by failing.
 */
#include "kevy/src/engine/write.h"
#include "kevy/src/keyspace/drop.h"

/* Others get the lock between the steps; the tables are freed without it. */
static void retire_dropped(struct kv_engine *engine)
{
    bool goes_on = true;
    while (goes_on) {
        struct kv_database *empty;
        struct kv_epoch_slot *slot = kv_epoch_enter(); /* has a slot: cannot fail */
        kv_mutex_lock(&engine->writer);
        goes_on = kv_keyspace_drop_step(&engine->keyspace, &empty);
        kv_mutex_give(&engine->writer);
        kv_epoch_leave(slot);
        if (empty != NULL) {
            kv_epoch_wait();
            kv_database_free(&engine->keyspace, empty);
        }
    }
}

int kv_write_leave_slow(struct kv_write *write, int status)
{
    KevyDb *db = write->db;
    bool has_promise = write->lsn != 0 && status >= 0;
    if (!has_promise && !write->has_news && !write->has_dropped) {
        kv_gate_leave(write->slot);
        return status;
    }
    kv_gate_pin(db);
    kv_gate_leave(write->slot);
    if (write->has_dropped) {
        retire_dropped(db->engine);
    }
    int promise = has_promise ? kv_log_commit(db->engine->log, write->lsn) : 0;
    if (write->has_news) {
        kv_listen_deliver(db->engine);
    }
    kv_gate_unpin(db);
    if (write->has_news) {
        kv_listen_close_put_off();
    }
    return promise < 0 ? promise : status;
}
