/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Parking: a thread sleeps in the kernel while a 32-bit word holds a value,
 * and another thread, which changed the word first, wakes it. Locks,
 * conditions (os_thread.h) and the waiters of the bus stand on these two
 * calls. Also here: the monotonic clock in which deadlines are given, and the
 * pause of a spinning processor.
 *
 * The word is the truth, a wake is only a hint: kv_park_wait may return early,
 * so its caller looks again. The atomics of the word carry all ordering; the
 * kernel adds none. Linux and Android use the futex call; every other system,
 * and a build with KV_PARK_TABLE, a small table of pthread conditions chosen
 * by the word's address.
 *
 * Nothing here allocates or fails. Any thread.
 */
#ifndef KEVY_SRC_OS_OS_PARK_H
#define KEVY_SRC_OS_OS_PARK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* No deadline. */
#define KV_FOREVER UINT64_MAX

/* Wakes every thread parked on the word. */
#define KV_PARK_ALL UINT32_MAX

/* Returns the monotonic clock, in nanoseconds from an unnamed start. */
uint64_t kv_mono_ns(void);

/* Returns the moment `timeout_ns` from now, KV_FOREVER when that is past the end of the clock. */
uint64_t kv_mono_after(uint64_t timeout_ns);

/* Sleeps if *word still holds `expected`, until a wake on this word or until the monotonic clock
 * passes deadline_ns. Returns false only when the deadline has passed; true says nothing about
 * the word. */
bool kv_park_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns);

/* Wakes up to `count` threads parked on the word. The word may already be freed memory: it is
 * not read, and a thread that parks on a new word at the same address wakes early at worst. */
void kv_park_wake(_Atomic uint32_t *word, uint32_t count);

/* Asks for the cache line at `address`, to be written soon. Any address will do. */
static inline void kv_cpu_fetch(const void *address)
{
#if defined(__GNUC__)
    __builtin_prefetch(address, 1);
#else
    (void)address;
#endif
}

/* Tells the processor that this thread spins. */
static inline void kv_cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#elif defined(__arm__) && defined(__ARM_ARCH) && __ARM_ARCH >= 7
    __asm__ volatile("yield" ::: "memory");
#endif
}

#endif
