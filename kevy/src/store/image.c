/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Pieces and seals of an image; see image.h. A seal is not hashed itself, so that
 * it says the same whether or not another came before it. Nothing is read behind
 * the image's end, whatever its pieces say.
 */
#include "kevy/src/store/image.h"

#include "kevy.h"

#include "base/assert.h"
#include "base/hash.h"

int kv_image_put(struct kv_image *image, const void *bytes, size_t size)
{
    ASSERT(image->write != NULL);
    image->hash = hash_bytes(bytes, size, image->hash);
    int status = image->write(image->self, bytes, size, image->offset);
    image->offset += size;
    return status;
}

int kv_image_put_seal(struct kv_image *image)
{
    uint8_t seal[KV_IMAGE_SEAL];
    store_u64(seal, image->hash);
    int status = image->write(image->self, seal, sizeof seal, image->offset);
    image->offset += sizeof seal;
    return status;
}

bool kv_image_has(const struct kv_image *image, uint64_t count, size_t size)
{
    return count <= (image->size - image->offset) / size;
}

/* Reads bytes that are not hashed. */
static int image_take(struct kv_image *image, void *out, size_t size)
{
    ASSERT(image->read != NULL);
    if (!kv_image_has(image, size, 1)) {
        return KEVY_ECORRUPT;
    }
    int status = image->read(image->self, out, size, image->offset);
    image->offset += size;
    return status;
}

int kv_image_get(struct kv_image *image, void *out, size_t size)
{
    int status = image_take(image, out, size);
    if (status == KEVY_OK) {
        image->hash = hash_bytes(out, size, image->hash);
    }
    return status;
}

int kv_image_get_seal(struct kv_image *image)
{
    uint8_t seal[KV_IMAGE_SEAL];
    int status = image_take(image, seal, sizeof seal);
    return status == KEVY_OK && load_u64(seal) != image->hash ? KEVY_ECORRUPT : status;
}
