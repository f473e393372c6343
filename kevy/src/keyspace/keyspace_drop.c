/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Retiring what dropped databases held, step by step. See drop.h.
 *
 * The table of a dropped database changes only by the collector's moves, which
 * leave each entry where it is, so a cursor that goes through it once meets
 * each record once.
 */
#include "kevy/src/keyspace/drop.h"

/* Records that one step retires: some ten microseconds. */
#define DROP_STEP ((size_t)1024)

static void retire_entry(void *user, uint32_t ref)
{
    const struct kv_journal *journal = user;
    journal->retire(journal->self, ref);
}

void kv_keyspace_drop(struct kv_keyspace *ks, struct kv_database *database, uint32_t namespace_id)
{
    database->dropped_namespace = namespace_id;
    database->drop_cursor = 0;
    database->dropped_next = ks->dropped;
    ks->dropped = database;
    ks->drops++;
}

bool kv_keyspace_drop_step(struct kv_keyspace *ks, struct kv_database **empty_out)
{
    struct kv_database *database = ks->dropped;
    *empty_out = NULL;
    if (database == NULL) {
        return false;
    }
    database->drop_cursor = kv_table_scan(&database->table, database->drop_cursor, DROP_STEP,
                                          retire_entry, ks->journal);
    if (database->drop_cursor == 0) {
        ks->dropped = database->dropped_next;
        *empty_out = database;
    }
    return true;
}

void kv_keyspace_drop_all(struct kv_keyspace *ks)
{
    struct kv_database *empty;
    while (kv_keyspace_drop_step(ks, &empty)) {
        if (empty != NULL) {
            kv_database_free(ks, empty);
        }
    }
}

/* What lies before the cursor is retired, though its entry is still there. */
struct kv_database *kv_keyspace_dropped_of(const struct kv_keyspace *ks, uint32_t namespace_id,
                                           uint64_t hash)
{
    struct kv_database *database = ks->dropped;
    while (database != NULL && database->dropped_namespace != namespace_id) {
        database = database->dropped_next;
    }
    return database != NULL && kv_table_home(&database->table, hash) >= database->drop_cursor
               ? database
               : NULL;
}

size_t kv_keyspace_dropped_memory(const struct kv_keyspace *ks)
{
    size_t size = 0;
    for (const struct kv_database *at = ks->dropped; at != NULL; at = at->dropped_next) {
        size += sizeof *at + kv_table_memory(&at->table) + kv_deadlines_memory(&at->deadlines);
    }
    return size;
}
