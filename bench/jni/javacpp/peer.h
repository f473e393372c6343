/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench-jni: the C side for JavaCPP, whose generator reads bench.JavaCpp and includes this in the
 * C++ file that it writes. The same cell as in cell.c, found by its pointer.
 */
#ifndef BENCH_JNI_JAVACPP_PEER_H
#define BENCH_JNI_JAVACPP_PEER_H

#include <stdlib.h>

struct peer {
    int value;
};

static inline struct peer *peer_new(void)
{
    struct peer *made = (struct peer *)calloc(1, sizeof *made);
    if (made != NULL) {
        made->value = 7;
    }
    return made;
}

static inline int peer_get(struct peer *self)
{
    return self->value;
}

static inline int peer_sum(struct peer *self, struct peer *other)
{
    return self->value + other->value;
}

static inline int peer_add(int a, int b)
{
    return a + b;
}

#endif
