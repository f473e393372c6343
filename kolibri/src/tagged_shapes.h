/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What writers and readers use of the tables of shapes beyond tagged_shape.h: shapes by number,
 * definitions that were received, and which shapes the other side is known to have. Any thread.
 */
#ifndef KOLIBRI_SRC_TAGGED_SHAPES_H
#define KOLIBRI_SRC_TAGGED_SHAPES_H

#include <kolibri/tagged_shape.h>

enum { SHAPE_WORDS = KOL_SHAPES_MAX / 64 };

/* A set of shape numbers. */
struct shape_set {
    uint64_t words[SHAPE_WORDS];
};

static inline int shape_set_has(const struct shape_set *set, uint32_t id)
{
    return (int)(set->words[id / 64] >> (id % 64) & 1);
}

static inline void shape_set_add(struct shape_set *set, uint32_t id)
{
    set->words[id / 64] |= UINT64_C(1) << (id % 64);
}

/* The shape with a number; NULL if there is none. */
KOL__HIDDEN const struct kol_shape *kol__shapes_at(const struct kol_shapes *shapes, uint32_t id);

/*
 * Takes a definition that was received. KOL_EFORMAT: the number has other keys already, or the keys
 * are no shape; KOL_ENOMEM.
 */
KOL__HIDDEN kol_status kol__shapes_define(struct kol_shapes *shapes, uint32_t id,
                                          const struct kol_string *keys, size_t key_count);

/* Whether the receiver is known to have a shape, and that it now has those of a set. */
KOL__HIDDEN int kol__shapes_is_delivered(const struct kol_shapes *shapes, uint32_t id);
KOL__HIDDEN void kol__shapes_deliver(struct kol_shapes *shapes, const struct shape_set *set);

KOL__HIDDEN const struct kol_memory *kol__shapes_memory(const struct kol_shapes *shapes);

#endif
