/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Leaving a public write. See write.h.
 *
 * After KEVY_EIO from the log the outcome of the write is unknown: it is in
 * memory and may or may not be durable. The call says so by failing.
 */
#include "kevy/src/engine/write.h"

int kv_write_leave(struct kv_write *write, int status)
{
    KevyDb *db = write->db;
    if (write->lsn == 0 || status < 0) {
        kv_gate_leave(write->slot);
        return status;
    }
    kv_gate_pin(db);
    kv_gate_leave(write->slot);
    int promise = kv_log_commit(db->engine->log, write->lsn);
    kv_gate_unpin(db);
    return promise < 0 ? promise : status;
}
