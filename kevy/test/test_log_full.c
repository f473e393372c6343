/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A log on a full disk: what does not fit leaves no trace, what makes room goes
 * on with the reserve, and a disk that has room again is written to again.
 */
#include "kevy/src/store/segment.h"
#include "kevy/test/log_model.h"
#include "testing/crash_os.h"
#include "testing/harness.h"

static struct crash_os *crash;
static struct model model;

TEST(fault_a_full_disk_heals)
{
    crash = model_start(&model, KEVY_FSYNC_EVERYSEC);
    REQUIRE_INT(model_put(&model, 1, 1, 100), 0);
    crash_os_capacity(crash, crash_os_size(crash) + 1000);
    uint64_t written = 1;
    int status = 0;
    while (status == 0 && written < 100) {
        status = model_put(&model, 2, ++written, 100);
    }
    CHECK_INT(status, KEVY_ENOSPC);
    CHECK_INT(model_version(&model, 2), written - 1);
    CHECK_INT(model_put(&model, 2, written, 100), KEVY_ENOSPC);
    CHECK_INT(model_put(&model, 3, 1000, 60000), KEVY_ENOSPC);
    CHECK_INT(model_version(&model, 1), 1);
    crash_os_capacity(crash, 0);
    CHECK_INT(model_put(&model, 2, 500, 100), 0);
    CHECK_INT(model_put(&model, 3, 501, 60000), 0);
    CHECK_INT(kv_log_sync(model.log), 0);
    model_reopen(&model, crash, KEVY_FSYNC_EVERYSEC);
    CHECK_INT(model_version(&model, 1), 1);
    CHECK_INT(model_version(&model, 2), 500);
    CHECK_INT(model_version(&model, 3), 501);
    model_close(&model);
    crash_os_free(crash);
}

/* Room that was given ahead of time takes what comes; then the disk is full. */
TEST(fault_a_full_disk_heals_through_a_window)
{
    crash = model_start(&model, KEVY_FSYNC_EVERYSEC);
    crash_os_windows(crash, true);
    uint64_t written = 0;
    int status = 0;
    crash_os_capacity(crash, crash_os_size(crash) + (40 << 10));
    while (status == 0 && written < 1000) {
        status = model_put(&model, 2, ++written, 100);
    }
    CHECK_INT(status, KEVY_ENOSPC);
    CHECK_INT(model_version(&model, 2), written - 1);
    crash_os_capacity(crash, 0);
    CHECK_INT(model_put(&model, 2, 5000, 100), 0);
    model_reopen(&model, crash, KEVY_FSYNC_EVERYSEC);
    CHECK_INT(model_version(&model, 2), 5000);
    model_close(&model);
    crash_os_free(crash);
}

/* The segment that was made ahead is the first to give its room back. */
TEST(fault_a_full_disk_takes_the_spare)
{
    crash = model_start(&model, KEVY_FSYNC_EVERYSEC);
    crash_os_windows(crash, true);
    model_reopen(&model, crash, KEVY_FSYNC_EVERYSEC);
    size_t spare = 0;
    REQUIRE_INT(model_put(&model, 2, 1, 100), 0);
    (void)crash_os_file(crash, "00001.seg", &spare);
    CHECK_INT(spare, KV_SEGMENT_SIZE_MIN);
    crash_os_capacity(crash, crash_os_size(crash));
    CHECK_INT(model_put(&model, 3, 2, 40000), 0);
    CHECK_INT(model_put(&model, 4, 3, 40000), KEVY_ENOSPC);
    crash_os_capacity(crash, 0);
    model_reopen(&model, crash, KEVY_FSYNC_EVERYSEC);
    CHECK_INT(model_version(&model, 2), 1);
    CHECK_INT(model_version(&model, 3), 2);
    CHECK_INT(model_version(&model, 4), 0);
    model_close(&model);
    crash_os_free(crash);
}

/* Fills the disk with values; returns how many keys hold one. */
static uint32_t fill_up(void)
{
    struct model_state state;
    uint32_t count = 0;
    uint64_t version = 0;
    crash_os_capacity(crash, crash_os_size(crash) + 100000);
    while (model_put(&model, (uint32_t)(version % MODEL_KEYS), version + 1, 3000) == 0) {
        version++;
        crash_os_pass(crash, 100);
    }
    CHECK(model_read(&model, &state));
    for (uint32_t key = 0; key < MODEL_KEYS; key++) {
        count += state.version[0][key] != 0;
    }
    return count;
}

static int delete_key(uint32_t key)
{
    bool is_appended;
    struct model_change gone = {0, key, 0, 0};
    return model_write(&model, &gone, 1, &is_appended);
}

static void a_full_disk_can_be_emptied(bool has_windows)
{
    bool is_appended;
    crash = model_start(&model, KEVY_FSYNC_EVERYSEC);
    crash_os_windows(crash, has_windows);
    CHECK_INT(fill_up(), MODEL_KEYS);
    model_reopen(&model, crash, KEVY_FSYNC_EVERYSEC);
    for (uint32_t key = 0; key < MODEL_KEYS - 2; key++) {
        CHECK_INT(delete_key(key), 0);
        CHECK_INT(model_version(&model, key), 0);
        crash_os_pass(crash, 100);
    }
    CHECK(model_version(&model, MODEL_KEYS - 1) != 0);
    CHECK_INT(model_flush(&model, 0, &is_appended), 0);
    crash_os_pass(crash, 2000);
    (void)kv_log_sync(model.log);
    kv_log_set_policy(model.log, KEVY_FSYNC_EVERYSEC);
    kv_log_set_policy(model.log, KEVY_FSYNC_EVERYSEC);
    CHECK_INT(model_put(&model, 4, 9000, 3000), 0);
    model_reopen(&model, crash, KEVY_FSYNC_EVERYSEC);
    CHECK_INT(model_version(&model, 4), 9000);
    CHECK_INT(model_version(&model, MODEL_KEYS - 1), 0);
    model_close(&model);
    crash_os_free(crash);
}

TEST(fault_a_full_disk_can_be_emptied)
{
    a_full_disk_can_be_emptied(false);
    a_full_disk_can_be_emptied(true);
}

/* Room that was given back for deletes is not for those who go on writing. */
TEST(fault_writers_do_not_take_the_reserve)
{
    crash = model_start(&model, KEVY_FSYNC_EVERYSEC);
    CHECK_INT(fill_up(), MODEL_KEYS);
    for (uint32_t key = 1; key < MODEL_KEYS; key++) {
        (void)model_put(&model, 0, 2 * key + 1000, 3000);
        (void)model_put(&model, 0, 2 * key + 1001, 1000);
        CHECK_INT(delete_key(key), 0);
    }
    model_reopen(&model, crash, KEVY_FSYNC_EVERYSEC);
    CHECK_INT(model_version(&model, 1), 0);
    model_close(&model);
    crash_os_free(crash);
}

/* Others take the room that was given back as soon as it is there. */
TEST(fault_a_full_disk_can_be_flushed_to_the_last)
{
    bool is_appended;
    int status = 0;
    crash = model_start(&model, KEVY_FSYNC_EVERYSEC);
    CHECK_INT(fill_up(), MODEL_KEYS);
    for (uint32_t key = 0; status == 0 && key < MODEL_KEYS; key++) {
        crash_os_capacity(crash, crash_os_size(crash));
        status = delete_key(key);
    }
    CHECK_INT(status, KEVY_ENOSPC);
    CHECK_INT(model_flush(&model, 0, &is_appended), 0);
    crash_os_capacity(crash, 0);
    CHECK_INT(model_put(&model, 2, 5000, 100), 0);
    model_close(&model);
    crash_os_free(crash);
}
