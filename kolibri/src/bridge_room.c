/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How much stack a bridge finds.
 *
 * An upcall of java.lang.foreign in which the stack overflows before the bridge's own handler is
 * entered ends the process; a JNI call that finds too little throws. So a bridge wants so much room
 * that the overflow can only come from deeper inside: the guard zones that HotSpot keeps at the end
 * (16 KB, or four pages where pages are larger), what it wants to be free below every Java frame
 * (80 KB, by an option up to 200), the stub, and the handler.
 *
 * The bounds of a thread's stack are asked once and remembered by the thread. Of the first thread
 * of a process HotSpot uses less than the system grants, and nobody tells how much: not known. The
 * same holds for a stack that is not the thread's own.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "kolibri/src/state.h"

#include <unistd.h>

enum { ROOM_SIZE = 256 * 1024, GUARD_PAGES = 4 };

/* `low` is where too little begins; both are 1 where nothing is known, and 0 until asked. */
struct stack {
    uintptr_t low;
    uintptr_t high;
};

#ifdef __GLIBC__
static __thread struct stack own_stack __attribute__((tls_model("initial-exec")));
#else
static __thread struct stack own_stack;
#endif

#if defined(__linux__) && !defined(__ANDROID__)
static int bounds(uintptr_t *start, uintptr_t *end)
{
    pthread_attr_t attributes;
    void *address = NULL;
    size_t size = 0;
    if (gettid() == getpid() || pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return 0;
    }
    int is_known = pthread_attr_getstack(&attributes, &address, &size) == 0;
    pthread_attr_destroy(&attributes);
    *start = (uintptr_t)address;
    *end = *start + size;
    return is_known;
}
#elif defined(__APPLE__)
static int bounds(uintptr_t *start, uintptr_t *end)
{
    *end = (uintptr_t)pthread_get_stackaddr_np(pthread_self());
    *start = *end - pthread_get_stacksize_np(pthread_self());
    return !pthread_main_np();
}
#else
static int bounds(uintptr_t *start, uintptr_t *end)
{
    *start = *end = 0;
    return 0;
}
#endif

static struct stack ask_stack(void)
{
    struct stack stack = {1, 1};
    uintptr_t start, end;
    long page = sysconf(_SC_PAGESIZE);
    if (bounds(&start, &end) && page > 0) {
        stack.low = start + ROOM_SIZE + GUARD_PAGES * (uintptr_t)page;
        stack.high = end;
    }
    own_stack = stack;
    return stack;
}

int kol__bridge_room(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    struct stack stack = own_stack;
    if (stack.low == 0) {
        stack = ask_stack();
    }
    if (here >= stack.high) {
        return 0;
    }
    return here >= stack.low ? 1 : -1;
}
