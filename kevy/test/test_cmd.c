/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Commands from the inside: the table and its lookup, sessions, and time by a
 * clock that is set. What fails is in test_cmd_failure.c, what Redis says in
 * test_cmd_transcripts.c and test_cmd_random.c.
 */
#include <stdio.h>
#include <string.h>

#include "kevy.h"
#include "kevy/test/cmd_world.h"
#include "testing/harness.h"

/* ---- The table ---- */

TEST(every_name_is_found_in_any_case)
{
    for (size_t i = 0; i < kv_command_count(); i++) {
        const struct kv_command *command = &kv_commands[i];
        char upper[32];
        size_t size = strlen(command->name);
        for (size_t j = 0; j <= size; j++) {
            char c = command->name[j];
            CHECK(c == '\0' || c == '_' || (c >= 'a' && c <= 'z'));
            upper[j] = (char)(c >= 'a' && c <= 'z' ? c - 32 : c);
        }
        CHECK(kv_command_find(bytes_of(command->name, size)) == command);
        CHECK(kv_command_find(bytes_of(upper, size)) == command);
        CHECK(kv_command_find(bytes_of(upper, size - 1)) != command);
        CHECK(kv_command_find(bytes_of(upper, size + 1)) == NULL);
    }
}

TEST(other_bytes_are_no_letters)
{
    static const char *const names[] = {"",
                                        "g",
                                        "ge",
                                        "gets",
                                        "GET ",
                                        " GET",
                                        "G\x65\xf4",
                                        "'et",
                                        "G%T",
                                        "[et",
                                        "\xe7"
                                        "et",
                                        "g\x05t",
                                        "@et",
                                        "`et",
                                        "bitfield\x7fro",
                                        "bitfield?ro",
                                        "averyveryverylongname"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!CHECK(kv_command_find(bytes_of(names[i], strlen(names[i]))) == NULL)) {
            printf("    %s\n", names[i]);
        }
    }
    for (unsigned c = 0; c < 256; c++) {
        uint8_t name[3] = {'g', 'e', (uint8_t)c};
        CHECK_INT(kv_command_find(bytes_of(name, 3)) != NULL, c == 't' || c == 'T');
    }
}

TEST(the_table_makes_sense)
{
    for (size_t i = 0; i < kv_command_count(); i++) {
        const struct kv_command *command = &kv_commands[i];
        bool touches_keys = (command->flags & (KV_READ | KV_WRITE)) != 0;
        bool is_free = (command->flags & KV_NOLOCK) != 0;
        bool held = CHECK(command->arity != 0) && CHECK(touches_keys != is_free) &&
                    CHECK(command->first_key == 0 || touches_keys) &&
                    CHECK((command->flags & KV_GROWS) == 0 || (command->flags & KV_WRITE) != 0) &&
                    CHECK(command->summary[0] != '\0' && command->run != NULL) &&
                    CHECK(strchr(command->summary, '.') != NULL);
        for (size_t j = 0; j < i; j++) {
            held = CHECK(strcmp(command->name, kv_commands[j].name) != 0) && held;
        }
        if (!held) {
            printf("    %s\n", command->name);
        }
    }
}

TEST(sessions)
{
    struct cmd_world world;
    struct kv_session session = {0};
    cmd_world_init(&world);
    CHECK_STR(cmd_say_as(&world, "SELECT 1", &session), "+OK");
    CHECK_STR(cmd_say_as(&world, "SET k one", &session), "+OK");
    CHECK_STR(cmd_say_in(&world, "GET k"), "$-1");
    CHECK_STR(cmd_say_as(&world, "GET k", &session), "$3\r\none");
    CHECK_STR(cmd_say_as(&world, "SELECT 16", &session), "-ERR DB index is out of range");
    CHECK_STR(cmd_say_as(&world, "SELECT a", &session),
              "-ERR value is not an integer or out of range");
    CHECK_STR(cmd_say_as(&world, "MOVE k 0", &session), ":1");
    CHECK_STR(cmd_say_in(&world, "GET k"), "$3\r\none");
    CHECK_STR(cmd_say_as(&world, "COPY x k DB 0", &session), ":0");
    CHECK_STR(cmd_say_in(&world, "SELECT 1"),
              "-ERR 'select' needs a connection of its own; this call has none");
    cmd_world_done(&world);
}

/* ---- Time ---- */

TEST(expiry_is_exact)
{
    struct cmd_world world;
    cmd_world_init(&world);
    CHECK_STR(cmd_say_in(&world, "SET k v PX 100"), "+OK");
    CHECK_STR(cmd_say_in(&world, "PTTL k"), ":100");
    world.now_ms += 99;
    CHECK_STR(cmd_say_in(&world, "PTTL k"), ":1");
    CHECK_STR(cmd_say_in(&world, "GET k"), "$1\r\nv");
    world.now_ms += 1;
    CHECK_STR(cmd_say_in(&world, "GET k"), "$-1");
    CHECK_STR(cmd_say_in(&world, "PTTL k"), ":-2");
    CHECK_STR(cmd_say_in(&world, "SET k v EX 1"), "+OK");
    CHECK_STR(cmd_say_in(&world, "EXPIRETIME k"), ":1001");
    CHECK_STR(cmd_say_in(&world, "EXPIRE k 2 GT"), ":1");
    CHECK_STR(cmd_say_in(&world, "EXPIRE k 2 GT"), ":0");
    CHECK_STR(cmd_say_in(&world, "EXPIRE k 2 LT"), ":0");
    CHECK_STR(cmd_say_in(&world, "TTL k"), ":2");
    world.now_ms += 501;
    CHECK_STR(cmd_say_in(&world, "TTL k"), ":1");
    CHECK_STR(cmd_say_in(&world, "TIME"), "*2\r\n$4\r\n1000\r\n$6\r\n601000");
    cmd_world_done(&world);
}

/* The one rule of times, near its bounds: what overflows is refused by every
 * command, and the key is as it was. */
TEST(times_near_the_bounds)
{
    static const char *const refused[] = {
        "SET k w EX 9223372036854775",    "SET k w EX 9223372036854776",
        "SET k w PX 9223372036854775807", "SET k w PX 9223372036853775808",
        "SET k w EXAT 9223372036854776",  "SETEX k 9223372036854775 w",
        "PSETEX k 9223372036854775807 w", "GETEX k EX 9223372036854775",
        "GETEX k PX 9223372036854775807", "EXPIRE k 9223372036854775",
        "PEXPIRE k 9223372036854775807",  "PEXPIRE k 9223372036853775808",
        "EXPIREAT k 9223372036854776",    "EXPIRE k -9223372036854776"};
    struct cmd_world world;
    cmd_world_init(&world);
    CHECK_STR(cmd_say_in(&world, "SET k v PX 5000"), "+OK");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (!CHECK(strncmp(cmd_say_in(&world, refused[i]), "-ERR invalid expire time in '", 29) ==
                   0)) {
            printf("    %s\n", refused[i]);
        }
        CHECK_STR(cmd_say_in(&world, "PTTL k"), ":5000");
        CHECK_STR(cmd_say_in(&world, "GET k"), "$1\r\nv");
    }
    CHECK_STR(cmd_say_in(&world, "PEXPIRE k 9223372036853775807"), ":1");
    CHECK_STR(cmd_say_in(&world, "PEXPIRETIME k"), ":9223372036854775807");
    CHECK_STR(cmd_say_in(&world, "GET k"), "$1\r\nv");
    CHECK_STR(cmd_say_in(&world, "EXPIRE k -9223372036854775"), ":1");
    CHECK_STR(cmd_say_in(&world, "EXISTS k"), ":0");
    cmd_world_done(&world);
}

TEST(an_argument_that_is_too_long)
{
    struct cmd_world world;
    uint8_t byte = 'x';
    struct bytes argv[] = {BYTES_LITERAL("GET"), {&byte, KEVY_SIZE_MAX + 1}};
    cmd_world_init(&world);
    kv_reply_init(&world.reply, &world.mem, 2);
    CHECK(kv_command_resolve(&world.reply, 2, argv) == NULL);
    CHECK(kv_reply_is_error(&world.reply));
    kv_reply_done(&world.reply);
    argv[1].size = KEVY_SIZE_MAX;
    CHECK(kv_command_resolve(&world.reply, 2, argv) != NULL);
    cmd_world_done(&world);
}
