/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What tests of change listeners share: a diary that notes changes as words,
 * and waiting for a number.
 */
#ifndef KEVY_TEST_LISTEN_KIT_H
#define KEVY_TEST_LISTEN_KIT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "kevy.h"

static inline const uint8_t *u(const char *text)
{
    return (const uint8_t *)text;
}

/* Sets a key to "v"; runs a command of one or two words that must not fail. */
void listen_set(KevyDb *db, const char *key, uint64_t ttl_ms);
void listen_cmd(KevyDb *db, const char *a, const char *b);

void listen_nap(unsigned ms);

/* Waits up to half a minute for a number. */
bool listen_reaches(_Atomic unsigned *number, unsigned want);

/* Notes each change as a word: cause letter, '*' for another handle, key. */
struct diary {
    KevyDb *db;
    char text[4096];
    size_t size;
    _Atomic unsigned count;
    bool looks;         /* notes also whether the key can be read */
    bool looks_at_ends; /* but not for a key that was set: its time may be over by then */
};

void listen_note(void *user, const KevyChange *change);

#endif
