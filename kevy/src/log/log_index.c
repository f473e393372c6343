/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The bytes of the index, to and from; see log_index.h. Nothing is judged here but
 * magic and store id: what the numbers must be to be believed is in
 * log_index_load.c. Also the stamps of files, which are taken alike at the close
 * and at the open.
 */
#include "kevy/src/log/log_index.h"

static const uint8_t index_magic[8] = {'k', 'e', 'v', 'y', 'i', 'd', 'x', '1'};

bool kv_index_is_possible(void)
{
    static const uint8_t bytes[4] = {1, 0, 0, 0};
    uint32_t number;
    memcpy(&number, bytes, sizeof number);
    return number == 1;
}

void kv_index_header_encode(const struct kv_log *log, const struct kv_index_name *name,
                            uint8_t out[KV_INDEX_HEADER])
{
    memset(out, 0, KV_INDEX_HEADER);
    memcpy(out, index_magic, sizeof index_magic);
    memcpy(out + 8, log->files->identity.store_id, KV_STORE_ID_SIZE);
    store_u64(out + 24, name->incarnation);
    store_u64(out + 32, name->sequence);
    store_u64(out + 40, name->mark_check);
    store_u64(out + 48, name->lsn);
    store_u32(out + 56, name->segment_count);
}

bool kv_index_header_decode(const struct kv_log *log, const uint8_t from[KV_INDEX_HEADER],
                            struct kv_index_name *out)
{
    *out = (struct kv_index_name){.incarnation = load_u64(from + 24),
                                  .sequence = load_u64(from + 32),
                                  .mark_check = load_u64(from + 40),
                                  .lsn = load_u64(from + 48),
                                  .segment_count = load_u32(from + 56)};
    return memcmp(from, index_magic, sizeof index_magic) == 0 &&
           memcmp(from + 8, log->files->identity.store_id, KV_STORE_ID_SIZE) == 0;
}

void kv_index_entry_encode(const struct kv_index_entry *entry, uint8_t out[KV_INDEX_ENTRY])
{
    memset(out, 0, KV_INDEX_ENTRY);
    store_u32(out, entry->slot);
    store_u32(out + 4, entry->name_count);
    store_u64(out + 8, entry->used);
    store_u64(out + 16, entry->live);
    store_u64(out + 24, entry->last_lsn);
    store_u64(out + 32, entry->tombstone_lsn);
    store_u64(out + 40, entry->tombstone_size);
    store_u32(out + 48, entry->named_by);
    store_u32(out + 52, entry->named_in);
    store_u64(out + 56, entry->stamp.size);
    for (size_t i = 0; i < 3; i++) {
        store_u64(out + 64 + 8 * i, entry->stamp.at[i]);
    }
}

void kv_index_entry_decode(const uint8_t from[KV_INDEX_ENTRY], struct kv_index_entry *out)
{
    *out = (struct kv_index_entry){
        .slot = load_u32(from),
        .name_count = load_u32(from + 4),
        .used = load_u64(from + 8),
        .live = load_u64(from + 16),
        .last_lsn = load_u64(from + 24),
        .tombstone_lsn = load_u64(from + 32),
        .tombstone_size = load_u64(from + 40),
        .named_by = load_u32(from + 48),
        .named_in = load_u32(from + 52),
        .stamp = {load_u64(from + 56),
                  {load_u64(from + 64), load_u64(from + 72), load_u64(from + 80)}}};
}

void kv_stamp_take(const struct kv_log *log, int file, struct kv_stamp *out)
{
    const kevy_os *os = log->os;
    int64_t size = os->file_size(os->self, file);
    if (os->file_stamp != NULL && size >= 0 && os->file_stamp(os->self, file, out->at) == 0) {
        out->size = (uint64_t)size;
    } else {
        *out = kv_stamp_none();
    }
}
