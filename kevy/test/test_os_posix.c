/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The real system behind the kevy_os table: each function does what kevy/os.h
 * says, and says no by a negative errno.
 */
#include <errno.h>
#include <string.h>

#include "kevy/src/os/os_posix.h"
#include "testing/harness.h"

static const kevy_os *os = &kv_os_posix;

static int folder(void)
{
    int dir = os->dir_open(os->self, test_dir());
    REQUIRE(dir >= 0);
    return dir;
}

static int file_in(int dir, const char *name)
{
    int file = os->file_open(os->self, dir, name, KEVY_OS_WRITE | KEVY_OS_CREATE);
    REQUIRE(file >= 0);
    return file;
}

TEST(os_folders)
{
    uint64_t first[2], second[2];
    CHECK_INT(os->dir_open(os->self, test_path("none")), -ENOENT);
    CHECK_INT(os->dir_make(os->self, test_path("a/b")), -ENOENT);
    CHECK_INT(os->dir_make(os->self, test_path("a")), 0);
    CHECK_INT(os->dir_make(os->self, test_path("a")), -EEXIST);
    int dir = os->dir_open(os->self, test_path("a"));
    int same = os->dir_open(os->self, test_path("a/../a"));
    int other = folder();
    REQUIRE(dir >= 0 && same >= 0);
    CHECK_INT(os->dir_identity(os->self, dir, first), 0);
    CHECK_INT(os->dir_identity(os->self, same, second), 0);
    CHECK(memcmp(first, second, sizeof first) == 0);
    CHECK_INT(os->dir_identity(os->self, other, second), 0);
    CHECK(memcmp(first, second, sizeof first) != 0);
    CHECK_INT(os->dir_flush(os->self, dir), 0);
    os->dir_close(os->self, dir);
    os->dir_close(os->self, same);
    os->dir_close(os->self, other);
}

static void count_name(void *user, const char *name)
{
    unsigned *seen = (unsigned *)user;
    *seen += strcmp(name, "one") == 0 ? 1 : strcmp(name, "two") == 0 ? 10 : 100;
}

TEST(os_names)
{
    int dir = folder();
    unsigned seen = 0;
    os->file_close(os->self, file_in(dir, "one"));
    os->file_close(os->self, file_in(dir, "three"));
    CHECK_INT(
        os->file_open(os->self, dir, "one", KEVY_OS_WRITE | KEVY_OS_CREATE | KEVY_OS_EXCLUSIVE),
        -EEXIST);
    CHECK_INT(os->file_open(os->self, dir, "none", KEVY_OS_READ), -ENOENT);
    CHECK_INT(os->file_rename(os->self, dir, "three", "two"), 0);
    CHECK_INT(os->file_rename(os->self, dir, "three", "two"), -ENOENT);
    CHECK_INT(os->dir_list(os->self, dir, count_name, &seen), 0);
    CHECK_INT(seen, 11);
    CHECK_INT(os->file_remove(os->self, dir, "two"), 0);
    CHECK_INT(os->file_remove(os->self, dir, "two"), -ENOENT);
    os->dir_close(os->self, dir);
}

TEST(os_bytes)
{
    int dir = folder(), file = file_in(dir, "file");
    char bytes[16] = {0};
    void *map = NULL;
    CHECK_INT(os->file_write(os->self, file, "hello", 5, 3), 5);
    CHECK_INT(os->file_size(os->self, file), 8);
    CHECK_INT(os->file_read(os->self, file, bytes, sizeof bytes, 2), 6);
    CHECK_BYTES(bytes, 6, "\0hello", 6);
    CHECK_INT(os->file_read(os->self, file, bytes, sizeof bytes, 8), 0);
    REQUIRE_INT(os->map(os->self, file, 1 << 20, 0, &map), 0);
    CHECK_BYTES((const char *)map + 3, 5, "hello", 5);
    CHECK_INT(os->file_write(os->self, file, "HELLO there", 11, 3), 11);
    CHECK_BYTES((const char *)map + 3, 11, "HELLO there", 11);
    CHECK_INT(os->file_flush(os->self, file), 0);
    CHECK_INT(os->file_resize(os->self, file, 4), 0);
    CHECK_INT(os->file_size(os->self, file), 4);
    os->file_close(os->self, file);
    CHECK_INT(os->file_remove(os->self, dir, "file"), 0);
    CHECK_BYTES((const char *)map + 3, 1, "H", 1);
    os->unmap(os->self, map, 1 << 20);
    os->dir_close(os->self, dir);
}

TEST(os_locks)
{
    int dir = folder(), first = file_in(dir, "lock"), second = file_in(dir, "lock");
    CHECK_INT(os->file_lock(os->self, first), 0);
    CHECK_INT(os->file_lock(os->self, second), -EWOULDBLOCK);
    os->file_close(os->self, second);
    second = file_in(dir, "lock");
    CHECK_INT(os->file_lock(os->self, second), -EWOULDBLOCK);
    os->file_close(os->self, first);
    CHECK_INT(os->file_lock(os->self, second), 0);
    os->file_close(os->self, second);
    os->dir_close(os->self, dir);
}

TEST(os_memory_clocks_and_chance)
{
    uint8_t first[32] = {0}, second[32] = {0};
    void *map = NULL;
    REQUIRE_INT(os->map(os->self, -1, 1 << 20, 1, &map), 0);
    CHECK_INT(((uint8_t *)map)[70000], 0);
    ((uint8_t *)map)[70000] = 1;
    os->unmap(os->self, map, 1 << 20);
    CHECK_INT(os->random(os->self, first, sizeof first), 0);
    CHECK_INT(os->random(os->self, second, sizeof second), 0);
    CHECK(memcmp(first, second, sizeof first) != 0);
    uint64_t boot = os->boot_ns(os->self);
    CHECK(os->boot_ns(os->self) >= boot);
    CHECK(os->wall_ms(os->self) > UINT64_C(1600000000000));
}
