/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Collection in memory: while more than half of what the segments hold is
 * dead, each append also moves a few live records out of the emptiest segment,
 * which then is dead as a whole and given back.
 *
 * No thread, no pause: the work of one append is bounded by a small multiple
 * of its own size. Collection never fails an append; without memory for a
 * move it waits for the next one. The bound: live bytes twice, and SWEEP_SLACK.
 *
 * A record that was retired carries a mark (kv_memory_is_dead), so that a dead
 * record costs one look.
 *
 * Threads: under the writer lock.
 */
#include "kevy/src/log/log_inside.h"

/* Dead bytes that are left alone. */
#define SWEEP_SLACK (2 * KV_SLOT_SIZE)

/* What an appended byte earns for the sweep, what an append earns at least, and
 * what it may save up. Moving a live record costs its size, passing a dead one
 * little. The emptiest segment is at least half dead, so what is earned frees
 * more than was appended. */
enum { SWEEP_RATIO = 4, SWEEP_STEP_MIN = 1024, SWEEP_DEAD_COST = 64 };
#define SWEEP_SAVED_MAX (2 * KV_SLOT_SIZE / KV_EXTENT_SHARE)

static bool is_over_bound(const struct kv_log *log)
{
    return log->used_size - log->live_size > log->live_size + SWEEP_SLACK;
}

/* Returns the sealed segment with the most dead bytes, NULL: none. */
static struct kv_segment *choose_victim(const struct kv_log *log)
{
    struct kv_segment *segment, *best = NULL;
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        if (segment->kind == KV_SEGMENT_LOG && segment->is_sealed && segment->live != 0 &&
            (best == NULL || segment->used - segment->live > best->used - best->live)) {
            best = segment;
        }
    }
    return best;
}

/* Moves a live record. False: no memory now. */
static bool sweep_move(struct kv_log *log, const uint8_t *record, size_t size)
{
    uint32_t old_ref = kv_ref_of(log->victim->slot, log->victim_offset), new_ref;
    uint8_t *copy = kv_memory_take(log, size, &new_ref);
    if (copy == NULL) {
        return false;
    }
    memcpy(copy, record, size);
    int is_moved = log->move(log->move_user, old_ref, new_ref);
    ASSERT(is_moved == 1);
    kv_memory_kill(log, is_moved == 1 ? old_ref : new_ref);
    return true;
}

/* Deals with one record of the victim; false: enough for now. */
static bool sweep_one(struct kv_log *log)
{
    struct kv_segment *victim = log->victim;
    const uint8_t *record = victim->base + log->victim_offset;
    size_t size = kv_record_size(record);
    bool is_dead = kv_memory_is_dead(victim, log->victim_offset);
    size_t cost = is_dead ? SWEEP_DEAD_COST : size;
    if (cost > log->sweep_saved || (!is_dead && !sweep_move(log, record, size))) {
        return false;
    }
    log->sweep_saved -= cost;
    log->victim_offset += size;
    return true;
}

static bool has_victim_left(const struct kv_log *log)
{
    const struct kv_segment *victim = log->victim;
    return victim != NULL && victim->live != 0 && log->victim_offset < victim->used;
}

static void victim_begin(struct kv_log *log, struct kv_segment *victim)
{
    log->victim = victim;
    log->victim_offset = KV_SEGMENT_HEADER;
}

/* Makes sure that there is a victim with something left to look at. */
static bool has_victim(struct kv_log *log)
{
    if (!has_victim_left(log)) {
        victim_begin(log, is_over_bound(log) ? choose_victim(log) : NULL);
    }
    return log->victim != NULL;
}

/* The same for a store that is to be as small as it can: any segment is worth
 * it of which an eighth is dead. */
static bool has_any_victim(struct kv_log *log)
{
    if (!has_victim_left(log)) {
        struct kv_segment *victim = choose_victim(log);
        bool is_worth_it = victim != NULL && victim->used - victim->live >= victim->used / 8;
        victim_begin(log, is_worth_it ? victim : NULL);
    }
    return log->victim != NULL;
}

void kv_memory_sweep(struct kv_log *log, size_t appended)
{
    if (log->move == NULL || (log->victim == NULL && !is_over_bound(log))) {
        return;
    }
    size_t earned = appended * SWEEP_RATIO + SWEEP_STEP_MIN;
    log->sweep_saved += earned;
    if (log->sweep_saved > SWEEP_SAVED_MAX && log->sweep_saved > earned) {
        log->sweep_saved = earned > SWEEP_SAVED_MAX ? earned : SWEEP_SAVED_MAX;
    }
    while (has_victim(log) && sweep_one(log)) {
    }
}

int kv_memory_compact(struct kv_log *log)
{
    size_t saved = log->sweep_saved;
    if (log->move == NULL) {
        return 0;
    }
    log->sweep_saved = SWEEP_SAVED_MAX;
    while (has_any_victim(log) && sweep_one(log)) {
    }
    bool has_moved = log->sweep_saved < SWEEP_SAVED_MAX;
    log->sweep_saved = saved;
    return log->victim == NULL ? 0 : has_moved ? 1 : KEVY_ENOMEM;
}
