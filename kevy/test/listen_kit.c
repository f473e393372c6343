/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The kit of the listener tests; see listen_kit.h. A diary that is full fails
 * its test by what it does not hold.
 */
#include "kevy/test/listen_kit.h"

#include <stdio.h>
#include <string.h>

#include "kevy/src/os/os_park.h"
#include "testing/harness.h"

void listen_set(KevyDb *db, const char *key, uint64_t ttl_ms)
{
    CHECK_INT(kevy_set(db, u(key), strlen(key), u("v"), 1, ttl_ms), 0);
}

void listen_cmd(KevyDb *db, const char *a, const char *b)
{
    const uint8_t *argv[2] = {u(a), u(b)};
    size_t sizes[2] = {strlen(a), b == NULL ? 0 : strlen(b)};
    KevyBuf reply;
    CHECK_INT(kevy_cmd(db, b == NULL ? 1 : 2, argv, sizes, &reply), 0);
    CHECK(reply.len > 0 && reply.ptr[0] != '-');
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
}

void listen_nap(unsigned ms)
{
    _Atomic uint32_t nobody = 0;
    uint64_t until = kv_mono_after(ms * UINT64_C(1000000));
    while (kv_mono_ns() < until) {
        (void)kv_park_wait(&nobody, 0, until);
    }
}

bool listen_reaches(_Atomic unsigned *number, unsigned want)
{
    for (unsigned i = 0; atomic_load(number) < want && i < 3000; i++) {
        listen_nap(10);
    }
    return atomic_load(number) >= want;
}

void listen_note(void *user, const KevyChange *change)
{
    struct diary *diary = user;
    char hit[4] = "";
    bool looks = diary->looks && (change->cause != KEVY_CHANGE_SET || !diary->looks_at_ends);
    if (looks && change->key != NULL) {
        KevyBuf buf;
        int32_t found = kevy_get(diary->db, change->key, change->key_len, &buf);
        (void)snprintf(hit, sizeof hit, "=%d", (int)found);
        kevy_buf_free(buf.ptr, buf.len, buf.cap);
    }
    int size = snprintf(diary->text + diary->size, sizeof diary->text - diary->size, "%c%s%.*s%s ",
                        " SDXCEL"[change->cause], change -> is_other != 0 ? "*" : "",
                        (int)change->key_len, (const char *)change->key, hit);
    diary->size += (size_t)size;
    atomic_fetch_add(&diary->count, 1);
}
