/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The namespace map: which namespace each database is. A record carries the
 * number of its namespace; numbers are never used twice, so emptying a
 * database is giving it a fresh one, and records of a namespace that no
 * database has are dead.
 *
 *   offset  size   the value of a NAMESPACES record, and a field of the mark
 *        0    64   16 x u32   the namespace of database i
 *       64     4   u32        the number that the next flush takes
 */
#ifndef KEVY_SRC_STORE_NAMESPACES_H
#define KEVY_SRC_STORE_NAMESPACES_H

#include "base/bytes.h"

#define KV_NAMESPACE_DATABASES 16u
#define KV_NAMESPACES_SIZE 68u

/* Never assigned: a flush that would need it fails. */
#define KV_NAMESPACE_LAST UINT32_MAX

struct kv_namespaces {
    uint32_t database[KV_NAMESPACE_DATABASES];
    uint32_t next;
};

/* Database i is namespace i, the next is 16. */
void kv_namespaces_first(struct kv_namespaces *map);

void kv_namespaces_encode(const struct kv_namespaces *map, uint8_t out[KV_NAMESPACES_SIZE]);

/* Returns false when the bytes are no map: wrong size, or a number that two
 * databases have or that is not below `next`. */
bool kv_namespaces_decode(struct bytes from, struct kv_namespaces *out);

/* Says whether a database has this namespace. */
bool kv_namespaces_has(const struct kv_namespaces *map, uint32_t namespace_id);

#endif
