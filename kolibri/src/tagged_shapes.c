/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Tables of shapes: key lists by number, and numbers by key list.
 *
 *     by_id     [0 .. 1023] --> shape                     set once, never changed
 *     by_keys   hash of the key list --> number + 1       open addressing, 0 is empty
 *     shape     one allocation: head, keys, index of keys, characters
 *
 * Looking up takes no lock: an entry is stored with release order after the shape is complete. The
 * lock is for those who add. Nothing is ever taken out, and the limits of the format bound it all.
 */
#include "kolibri/src/tagged_shapes.h"

#include "base/assert.h"
#include "kolibri/src/tagged_memory.h"
#include "kolibri/src/tagged_text.h"

#include <pthread.h>
#include <string.h>

enum { BY_KEYS_SIZE = 2 * KOL_SHAPES_MAX };

struct kol_shape {
    uint32_t id;
    uint32_t count;
    uint32_t hash;
    uint32_t index_mask;
    uint16_t *index; /* hash of a key --> its number + 1; open addressing, 0 is empty */
    struct kol_string keys[];
};

struct kol_shapes {
    struct kol_memory memory;
    pthread_mutex_t lock;
    uint32_t count;
    size_t units;
    struct shape_set delivered;
    struct kol_shape *by_id[KOL_SHAPES_MAX];
    uint16_t by_keys[BY_KEYS_SIZE];
};

kol_status kol_shapes_new(const struct kol_memory *memory, struct kol_shapes **out)
{
    struct kol_memory taken = memory_or_libc(memory);
    struct kol_shapes *shapes = memory_take(&taken, sizeof *shapes);
    *out = NULL;
    if (!shapes) {
        return KOL_ENOMEM;
    }
    memset(shapes, 0, sizeof *shapes);
    shapes->memory = taken;
    if (pthread_mutex_init(&shapes->lock, NULL) != 0) {
        memory_free(&taken, shapes);
        return KOL_ENOMEM;
    }
    *out = shapes;
    return KOL_OK;
}

void kol_shapes_free(struct kol_shapes *shapes)
{
    if (!shapes) {
        return;
    }
    struct kol_memory memory = shapes->memory;
    for (uint32_t i = 0; i < KOL_SHAPES_MAX; i++) {
        memory_free(&memory, shapes->by_id[i]);
    }
    pthread_mutex_destroy(&shapes->lock);
    memory_free(&memory, shapes);
}

const struct kol_memory *kol__shapes_memory(const struct kol_shapes *shapes)
{
    return &shapes->memory;
}

size_t kol_shapes_count(const struct kol_shapes *shapes)
{
    return __atomic_load_n(&shapes->count, __ATOMIC_RELAXED);
}

const struct kol_shape *kol__shapes_at(const struct kol_shapes *shapes, uint32_t id)
{
    return id < KOL_SHAPES_MAX ? __atomic_load_n(&shapes->by_id[id], __ATOMIC_ACQUIRE) : NULL;
}

int kol__shapes_is_delivered(const struct kol_shapes *shapes, uint32_t id)
{
    uint64_t word = __atomic_load_n(&shapes->delivered.words[id / 64], __ATOMIC_ACQUIRE);
    return (int)(word >> (id % 64) & 1);
}

void kol__shapes_deliver(struct kol_shapes *shapes, const struct shape_set *set)
{
    for (size_t i = 0; i < SHAPE_WORDS; i++) {
        if (set->words[i] != 0) {
            (void)__atomic_fetch_or(&shapes->delivered.words[i], set->words[i], __ATOMIC_RELEASE);
        }
    }
}

static uint32_t hash_keys(const struct kol_string *keys, size_t count)
{
    uint32_t hash = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ kol__text_hash(keys[i])) * 16777619u;
    }
    return hash ^ hash >> 13;
}

static int has_keys(const struct kol_shape *shape, const struct kol_string *keys, size_t count)
{
    if (shape->count != count) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (!kol_string_equal(shape->keys[i], keys[i])) {
            return 0;
        }
    }
    return 1;
}

/* The shape with these keys, or NULL and where its number goes. */
static const struct kol_shape *find_keys(const struct kol_shapes *shapes, uint32_t hash,
                                         const struct kol_string *keys, size_t count, uint32_t *at)
{
    for (uint32_t i = hash % BY_KEYS_SIZE;; i = (i + 1) % BY_KEYS_SIZE) {
        uint16_t entry = __atomic_load_n(&shapes->by_keys[i], __ATOMIC_ACQUIRE);
        *at = i;
        if (entry == 0) {
            return NULL;
        }
        const struct kol_shape *shape = kol__shapes_at(shapes, entry - 1u);
        if (shape->hash == hash && has_keys(shape, keys, count)) {
            return shape;
        }
    }
}

/* The number of a key, or SIZE_MAX and the place in the index where it goes. */
static size_t find_key(const struct kol_shape *shape, struct kol_string key, uint32_t *at)
{
    for (uint32_t i = kol__text_hash(key) & shape->index_mask;; i = (i + 1) & shape->index_mask) {
        size_t number = shape->index[i];
        *at = i;
        if (number == 0) {
            return SIZE_MAX;
        }
        if (kol_string_equal(shape->keys[number - 1], key)) {
            return number - 1;
        }
    }
}

/* The units of all keys and the bytes their characters take; KOL_NONE beyond the limits. */
static kol_status measure_keys(const struct kol_string *keys, size_t count, size_t *units_out,
                               size_t *size_out)
{
    *units_out = 0;
    *size_out = 0;
    if (count > KOL_SHAPE_KEYS_MAX) {
        return KOL_NONE;
    }
    for (size_t i = 0; i < count; i++) {
        struct text_extent extent = kol__text_measure(keys[i]);
        if (extent.units > KOL_SHAPE_KEY_MAX) {
            return KOL_NONE;
        }
        *units_out += extent.units;
        *size_out += extent.is_narrow ? extent.units : extent.units * 2;
    }
    return KOL_OK;
}

/* Copies the keys behind the index; KOL_NONE if one is there twice. */
static kol_status fill_keys(struct kol_shape *shape, const struct kol_string *keys, uint8_t *chars)
{
    for (uint32_t i = 0; i < shape->count; i++) {
        struct text_extent extent = kol__text_measure(keys[i]);
        uint32_t at;
        if (find_key(shape, keys[i], &at) != SIZE_MAX) {
            return KOL_NONE;
        }
        if (extent.is_narrow) {
            kol__text_put8(keys[i], extent.units, chars);
            shape->keys[i] = kol_string_of(chars, extent.units, KOL_LATIN1);
            chars += extent.units;
        } else {
            kol__text_put16(keys[i], chars);
            shape->keys[i] = kol_string_of(chars, extent.units, KOL_UTF16_LE);
            chars += extent.units * 2;
        }
        shape->index[at] = (uint16_t)(i + 1);
    }
    return KOL_OK;
}

static kol_status make_shape(const struct kol_memory *memory, const struct kol_string *keys,
                             size_t count, size_t char_size, struct kol_shape **out)
{
    size_t slots = 4;
    while (slots < 2 * count) {
        slots *= 2;
    }
    size_t keys_size = count * sizeof(struct kol_string);
    size_t index_size = slots * sizeof(uint16_t);
    *out = memory_take(memory, sizeof **out + keys_size + index_size + char_size);
    if (!*out) {
        return KOL_ENOMEM;
    }
    struct kol_shape *shape = *out;
    shape->count = (uint32_t)count;
    shape->hash = hash_keys(keys, count);
    shape->index_mask = (uint32_t)slots - 1;
    shape->index = (uint16_t *)(void *)(shape->keys + count);
    memset(shape->index, 0, index_size);
    kol_status status = fill_keys(shape, keys, (uint8_t *)(shape->index + slots));
    if (status != KOL_OK) {
        memory_free(memory, shape);
        *out = NULL;
    }
    return status;
}

/* Adds a shape under a free number, with the lock held. */
static kol_status add_shape(struct kol_shapes *shapes, uint32_t id, const struct kol_string *keys,
                            size_t count, struct kol_shape **out)
{
    size_t units, char_size;
    ASSERT(id < KOL_SHAPES_MAX && !shapes->by_id[id]);
    kol_status status = measure_keys(keys, count, &units, &char_size);
    if (status == KOL_OK && units > KOL_SHAPE_UNITS_MAX - shapes->units) {
        status = KOL_NONE;
    }
    if (status == KOL_OK) {
        status = make_shape(&shapes->memory, keys, count, char_size, out);
    }
    if (status != KOL_OK) {
        return status;
    }
    (*out)->id = id;
    shapes->units += units;
    __atomic_store_n(&shapes->count, shapes->count + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&shapes->by_id[id], *out, __ATOMIC_RELEASE);
    return KOL_OK;
}

kol_status kol_shape_of(struct kol_shapes *shapes, const struct kol_string *keys, size_t key_count,
                        const struct kol_shape **out)
{
    uint32_t at, hash;
    *out = NULL;
    if (key_count > KOL_SHAPE_KEYS_MAX) {
        return KOL_NONE;
    }
    hash = hash_keys(keys, key_count);
    *out = find_keys(shapes, hash, keys, key_count, &at);
    if (*out) {
        return KOL_OK;
    }
    kol_status status = KOL_OK;
    pthread_mutex_lock(&shapes->lock);
    *out = find_keys(shapes, hash, keys, key_count, &at);
    if (!*out) {
        struct kol_shape *made = NULL;
        /* a number that a message gave out is never given to other keys */
        int has_number = shapes->count < KOL_SHAPES_MAX && !shapes->by_id[shapes->count];
        status = has_number ? add_shape(shapes, shapes->count, keys, key_count, &made) : KOL_NONE;
        if (status == KOL_OK) {
            __atomic_store_n(&shapes->by_keys[at], (uint16_t)(made->id + 1), __ATOMIC_RELEASE);
        }
        *out = made;
    }
    pthread_mutex_unlock(&shapes->lock);
    return status;
}

kol_status kol__shapes_define(struct kol_shapes *shapes, uint32_t id, const struct kol_string *keys,
                              size_t key_count)
{
    kol_status status = KOL_OK;
    if (id >= KOL_SHAPES_MAX) {
        return KOL_EFORMAT;
    }
    pthread_mutex_lock(&shapes->lock);
    struct kol_shape *shape = shapes->by_id[id];
    if (shape) {
        status = has_keys(shape, keys, key_count) ? KOL_OK : KOL_NONE;
    } else {
        status = add_shape(shapes, id, keys, key_count, &shape);
    }
    pthread_mutex_unlock(&shapes->lock);
    return status == KOL_NONE ? KOL_EFORMAT : status;
}

uint32_t kol_shape_id(const struct kol_shape *shape)
{
    return shape->id;
}

size_t kol_shape_count(const struct kol_shape *shape)
{
    return shape->count;
}

struct kol_string kol_shape_key(const struct kol_shape *shape, size_t index)
{
    return index < shape->count ? shape->keys[index] : kol_string_of(NULL, 0, KOL_LATIN1);
}

size_t kol_shape_find(const struct kol_shape *shape, struct kol_string key)
{
    uint32_t at;
    return find_key(shape, key, &at);
}
