/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The small world of cmd_world.h: a keyspace, a bus and a host with nothing
 * behind them, and one command run in it.
 */
#include "kevy/test/cmd_world.h"

#include <stdio.h>
#include <string.h>

#include "kevy/src/os/os_posix.h"
#include "testing/harness.h"

static uint64_t world_wall(void *self)
{
    return ((struct cmd_world *)self)->now_ms;
}

static uint64_t world_boot(void *self)
{
    return ((struct cmd_world *)self)->now_ms * 1000000;
}

static int world_random(void *self, void *buf, size_t size)
{
    (void)self;
    memset(buf, 7, size);
    return 0;
}

static void *world_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    struct cmd_world *world = self;
    if (new_size > 0 && world->allocations_left == 0) {
        return NULL;
    }
    world->allocations_left -= new_size > 0;
    return kv_mem_libc.resize(NULL, ptr, old_size, new_size);
}

void cmd_world_init(struct cmd_world *world)
{
    memset(world, 0, sizeof *world);
    fake_journal_init(&world->journal);
    world->os = kv_os_posix;
    world->os.self = world;
    world->os.wall_ms = world_wall;
    world->os.boot_ns = world_boot;
    world->os.random = world_random;
    world->now_ms = 1000000;
    world->allocations_left = SIZE_MAX;
    kv_mem_init(&world->mem, &(kevy_mem){world, world_resize});
    kv_clock_init(&world->clock, &world->os);
    kv_keyspace_init(&world->ks, &world->mem, &world->journal.space, &world->journal.table,
                     &world->clock, test_seed());
    world->bus = kv_bus_new(&kv_mem_libc, &world->journal.mem, 1);
    kv_port_open(&world->port, world->bus);
}

void cmd_world_done(struct cmd_world *world)
{
    CHECK(kv_keyspace_verify(&world->ks));
    kv_keyspace_done(&world->ks);
    CHECK_INT(world->mem.used, 0);
    kv_port_close(&world->port);
    kv_bus_drop(world->bus);
    fake_journal_done(&world->journal);
}

void cmd_world_run(struct cmd_world *world, const char *words, struct kv_session *session)
{
    struct bytes argv[64];
    size_t argc = 0;
    for (const char *p = words + strspn(words, " "); *p != '\0' && argc < 64;) {
        size_t size = strcspn(p, " ");
        argv[argc++] = bytes_of(p, size);
        p += size;
        p += strspn(p, " ");
    }
    struct kv_call call = {.keyspace = &world->ks,
                           .port = &world->port,
                           .session = session,
                           .reply = &world->reply,
                           .mem = &world->mem,
                           .host = &world->host,
                           .argc = argc,
                           .argv = argv};
    kv_reply_init(&world->reply, &world->mem, 2);
    const struct kv_command *command = kv_command_resolve(&world->reply, argc, argv);
    if (command != NULL) {
        kv_command_run(command, &call);
    }
}

const char *cmd_say_as(struct cmd_world *world, const char *words, struct kv_session *session)
{
    static char text[4][4096];
    static unsigned turn;
    char *out = text[turn++ % 4];
    cmd_world_run(world, words, session);
    CHECK(!world->reply.failed);
    snprintf(out, sizeof text[0], "%.*s", (int)world->reply.size - 2, (char *)world->reply.data);
    kv_reply_done(&world->reply);
    return out;
}

const char *cmd_say_in(struct cmd_world *world, const char *words)
{
    return cmd_say_as(world, words, NULL);
}
