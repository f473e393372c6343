/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Shapes: lists of keys that are sent once and then go by a number.
 *
 * A table holds the shapes of one direction of a connection. A sender puts shapes in, a receiver
 * gets them from messages; both only ever add. A shape is borrowed from its table and lives as long
 * as that. All functions but new and free: any thread.
 */
#ifndef KOLIBRI_TAGGED_SHAPE_H
#define KOLIBRI_TAGGED_SHAPE_H

#include <kolibri/tagged_value.h>

struct kol_shapes;
struct kol_shape;

KOL__C_BEGIN

/*
 * A table without shapes. memory NULL is malloc; otherwise it is copied. Yours; free with
 * kol_shapes_free, when nobody uses it or its shapes any more. KOL_ENOMEM.
 */
kol_status kol_shapes_new(const struct kol_memory *memory, struct kol_shapes **out) KOL__MUST;
void kol_shapes_free(struct kol_shapes *shapes);

/* How many shapes there are. */
size_t kol_shapes_count(const struct kol_shapes *shapes);

/*
 * The shape with these keys in this order, made if it is new; for a sender's table. KOL_NONE: the
 * table has no room for it, or it can be no shape (too many or too long keys, a key twice); write
 * an object with inline keys then. KOL_ENOMEM.
 */
kol_status kol_shape_of(struct kol_shapes *shapes, const struct kol_string *keys, size_t key_count,
                        const struct kol_shape **out) KOL__MUST;

/* Its number, its keys. A key's index is below the count. */
uint32_t kol_shape_id(const struct kol_shape *shape);
size_t kol_shape_count(const struct kol_shape *shape);
struct kol_string kol_shape_key(const struct kol_shape *shape, size_t index);

/* The index of a key; SIZE_MAX if the shape has no such key. */
size_t kol_shape_find(const struct kol_shape *shape, struct kol_string key);

KOL__C_END

#endif
