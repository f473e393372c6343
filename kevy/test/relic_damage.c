/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Damage to the files of a disk by chance: bits, zeros, stretches of something
 * else, cuts, files that are removed, that change places or are copied over one
 * another. See relic_kit.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "kevy/test/relic_kit.h"
#include "testing/harness.h"

static uint64_t chance(uint64_t *random, uint64_t bound)
{
    return test_random(random) % bound;
}

static void list_name(void *user, const char *name)
{
    struct relic_names *names = user;
    if (strcmp(name, "lock") != 0 && names->count < 64) {
        (void)snprintf(names->at[names->count++], sizeof names->at[0], "%s", name);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp((const char *)a, (const char *)b);
}

void relic_list(struct crash_os *crash, struct relic_names *out)
{
    const kevy_os *os = crash_os_table(crash);
    out->count = 0;
    REQUIRE_INT(os->dir_list(os->self, 0, list_name, out), 0);
    qsort(out->at, out->count, sizeof out->at[0], by_text);
}

uint64_t relic_hash(struct crash_os *crash)
{
    struct relic_names names;
    uint64_t hash = 0;
    size_t size;
    relic_list(crash, &names);
    for (size_t i = 0; i < names.count; i++) {
        hash = hash_bytes(names.at[i], strlen(names.at[i]), hash);
        const uint8_t *bytes = crash_os_file(crash, names.at[i], &size);
        hash = hash_bytes(bytes, size, hash);
    }
    return hash;
}

/* Where damage hurts: anywhere, near the start, near the end. */
static size_t place_in(uint64_t *random, size_t size)
{
    size_t part = size < 200 ? size : 200;
    switch (chance(random, 4)) {
    case 0:
        return chance(random, part);
    case 1:
        return size - 1 - chance(random, part);
    default:
        return chance(random, size);
    }
}

static void damage_bytes(struct crash_os *crash, const char *name, uint64_t *random, unsigned kind)
{
    size_t size;
    uint8_t *bytes = crash_os_file(crash, name, &size);
    if (bytes == NULL || size == 0) {
        return;
    }
    size_t at = place_in(random, size), count = 1 + chance(random, size - at);
    count = count > 6000 ? 6000 : count;
    if (kind == 0) {
        bytes[at] = (uint8_t)(bytes[at] ^ 1u << chance(random, 8));
    } else if (kind == 1) {
        memset(bytes + at, 0, count);
    } else if (kind == 2) {
        memset(bytes + at, (int)chance(random, 256), count);
    } else {
        memmove(bytes + at, bytes + chance(random, size - count + 1), count);
    }
}

/* The bytes of two files change places, as far as the shorter one reaches. */
static void damage_swap(struct crash_os *crash, const char *name, const char *other)
{
    size_t size, other_size;
    uint8_t *a = crash_os_file(crash, name, &size), *b = crash_os_file(crash, other, &other_size);
    size = size < other_size ? size : other_size;
    for (size_t i = 0; a != b && i < size; i++) {
        uint8_t byte = a[i];
        a[i] = b[i];
        b[i] = byte;
    }
}

static void damage_copy(struct crash_os *crash, const char *name, const char *other)
{
    size_t size, other_size;
    const uint8_t *from = crash_os_file(crash, name, &size);
    uint8_t *to = crash_os_file(crash, other, &other_size);
    memmove(to, from, size < other_size ? size : other_size);
}

void relic_damage(struct crash_os *crash, uint64_t *random)
{
    struct relic_names names;
    size_t size;
    relic_list(crash, &names);
    if (names.count == 0) {
        return;
    }
    const char *name = names.at[chance(random, names.count)];
    const char *other = names.at[chance(random, names.count)];
    (void)crash_os_file(crash, name, &size);
    unsigned kind = (unsigned)chance(random, 12);
    if (kind <= 7) {
        damage_bytes(crash, name, random, kind / 2);
    } else if (kind == 8) {
        crash_os_truncate(crash, name, size == 0 ? 0 : place_in(random, size));
    } else if (kind == 9) {
        crash_os_remove(crash, name);
    } else if (kind == 10) {
        damage_swap(crash, name, other);
    } else {
        damage_copy(crash, name, other);
    }
}
