/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Leaving a public write. See write.h.
 *
 * After KEVY_EIO from the log the outcome of the write is unknown: it is in
 * memory and may or may not be durable. The call says so by failing.
 */
#include "kevy/src/engine/write.h"

int kv_write_leave_slow(struct kv_write *write, int status)
{
    KevyDb *db = write->db;
    bool has_promise = write->lsn != 0 && status >= 0;
    if (!has_promise && !write->has_news) {
        kv_gate_leave(write->slot);
        return status;
    }
    kv_gate_pin(db);
    kv_gate_leave(write->slot);
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
