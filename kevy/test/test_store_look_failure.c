/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kevy_check and kevy_salvage while each allocation, and each call of the
 * system, fails once: a status says so, no memory is left behind, the store that
 * is read stays as it is, and a salvage that failed leaves no store.
 */
#include "kevy/test/relic_kit.h"
#include "testing/harness.h"

static struct relic_past past;

/* ---- Memory that fails once ---- */

static struct {
    size_t left; /* allocations before one fails */
    bool has_failed;
    size_t used;
} memory;

static void *failing_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    (void)self;
    if (new_size > old_size && memory.left == 0 && !memory.has_failed) {
        memory.has_failed = true;
        return NULL;
    }
    memory.left -= new_size > old_size && memory.left > 0;
    memory.used += new_size - old_size;
    return kv_mem_libc.resize(kv_mem_libc.self, ptr, old_size, new_size);
}

static const kevy_mem failing_mem = {NULL, failing_resize};

static void memory_fails_after(size_t count)
{
    memory.left = count;
    memory.has_failed = false;
    memory.used = 0;
}

/* ---- Calls ---- */

static int32_t salvage(struct crash_os *crash, struct crash_os *target)
{
    static const KevyOpenOptions options = {.fsync = KEVY_FSYNC_NO};
    struct kv_open to = {.dir = BYTES_LITERAL("store"),
                         .options = &options,
                         .os = crash_os_table(target),
                         .mem = &failing_mem,
                         .segment_size = (size_t)64 << 10,
                         .is_threadless = true};
    struct kv_view_of of = {.dir = BYTES_LITERAL("store"),
                            .os = crash_os_table(crash),
                            .mem = &failing_mem,
                            .is_salvage = true};
    return kv_salvage_run(&of, &to, NULL, NULL);
}

static int32_t check(struct crash_os *crash)
{
    struct kv_view_of of = {
        .dir = BYTES_LITERAL("store"), .os = crash_os_table(crash), .mem = &failing_mem};
    return kv_check_run(&of, NULL, NULL);
}

static size_t file_count(struct crash_os *crash)
{
    struct relic_names names;
    relic_list(crash, &names);
    return names.count;
}

TEST_LIMIT(look_without_memory, 60)
{
    struct crash_os *crash = relic_live(test_seed() + 3, false, &past);
    uint64_t before = relic_hash(crash);
    size_t failures = 0;
    for (size_t n = 0; n < 2000; n++) {
        memory_fails_after(n);
        int32_t status = check(crash);
        CHECK_INT(memory.used, 0);
        if (!memory.has_failed) {
            CHECK_INT(status, 0);
            break;
        }
        failures += CHECK_INT(status, KEVY_ENOMEM);
    }
    CHECK(failures > 5);
    for (size_t n = 0; n < 2000; n++) {
        struct crash_os *target = crash_os_new(1);
        memory_fails_after(n);
        int32_t status = salvage(crash, target);
        bool has_failed = memory.has_failed;
        CHECK_INT(memory.used, 0);
        CHECK(has_failed ? status == KEVY_ENOMEM || status == 0 : status == 0);
        CHECK(status == 0 || file_count(target) == 0);
        crash_os_free(target);
        if (!has_failed) {
            break;
        }
    }
    CHECK(relic_hash(crash) == before);
    crash_os_free(crash);
}

TEST_LIMIT(look_while_the_disk_fails, 60)
{
    struct crash_os *crash = relic_live(test_seed() + 3, false, &past);
    uint64_t before = relic_hash(crash);
    size_t refused = 0;
    memory_fails_after(SIZE_MAX);
    for (uint64_t call = 0; call < 100; call++) {
        struct crash_os *target = crash_os_new(1);
        crash_os_fault(crash, CRASH_EIO, call, 1);
        int32_t status = check(crash);
        refused += status < 0;
        crash_os_fault(crash, CRASH_EIO, call, 1);
        status = salvage(crash, target);
        CHECK(status >= 0 || file_count(target) == 0);
        crash_os_fault(crash, CRASH_NONE, 0, 0);
        crash_os_free(target);
    }
    CHECK(refused > 0);
    CHECK_INT(memory.used, 0);
    CHECK(relic_hash(crash) == before);
    crash_os_free(crash);
}
