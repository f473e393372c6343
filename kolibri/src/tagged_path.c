/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Paths of values in a message that is being written, for errors: "$.users[3].name".
 *
 * The text is made from the open levels: where each stands says which element it is in, keys are
 * read back from the message. What is too long keeps its beginning and its end.
 */
#include "kolibri/src/tagged_writer.h"

#include <kolibri/tagged_write.h>

#include <stdio.h>

enum { PATH_HEAD = 98, PATH_TAIL = 99 };

/* The first characters as they came, and the last ones in a ring. */
struct path {
    char head[PATH_HEAD];
    char tail[PATH_TAIL];
    size_t size;
};

static void add(struct path *path, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++, path->size++) {
        if (path->size < PATH_HEAD) {
            path->head[path->size] = text[i];
        } else {
            path->tail[(path->size - PATH_HEAD) % PATH_TAIL] = text[i];
        }
    }
}

static void add_text(struct path *path, const char *text)
{
    add(path, text, strlen(text));
}

static void add_number(struct path *path, const char *before, size_t number, const char *behind)
{
    char text[32];
    snprintf(text, sizeof text, "%s%zu%s", before, number, behind);
    add_text(path, text);
}

static int is_identifier(const char *name, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        char c = name[i];
        int is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
        if (!is_letter && !(i > 0 && c >= '0' && c <= '9')) {
            return 0;
        }
    }
    return size > 0;
}

/* A key as `.name` or `["any key"]`; the middle of a very long one is left out anyway. */
static void add_key(struct path *path, struct kol_string key)
{
    char name[4 * KOL_SHAPE_KEY_MAX];
    if (key.count > KOL_SHAPE_KEY_MAX) {
        key.count = KOL_SHAPE_KEY_MAX;
    }
    size_t size = kol_string_copy(key, name, sizeof name);
    if (is_identifier(name, size)) {
        add_text(path, ".");
        add(path, name, size);
        return;
    }
    add_text(path, "[\"");
    for (size_t i = 0; i < size; i++) {
        if (name[i] == '"' || name[i] == '\\') {
            add_text(path, "\\");
        }
        add(path, name + i, 1);
    }
    add_text(path, "\"]");
}

/* The key that a slot of the message holds. */
static struct kol_string key_of(const struct kol_writer *writer, uint64_t slot)
{
    uint32_t count = slot_count(slot), offset = slot_offset(slot);
    switch (slot_tag_of(slot)) {
    case TAG_TEXT8:
        return kol_string_of(writer->text + offset, count, KOL_LATIN1);
    case TAG_TEXT16:
        return kol_string_of(kol__writer_memory_of(writer, offset), count, KOL_UTF16_LE);
    default: {
        const uint8_t *block = kol__writer_memory_of(writer, offset);
        kol_text_form form = count == KIND_TEXT8 ? KOL_LATIN1 : KOL_UTF16_LE;
        return kol_string_of(block + 8, (size_t)load_u64(block), form);
    }
    }
}

static void add_field(struct path *path, const struct level *level, size_t index)
{
    static const char *const names[] = {".name", ".message", ".stack", ".cause", ".data"};
    if (level->block == KIND_ERROR && index < ERROR_FIELDS) {
        add_text(path, names[index]);
    } else {
        add_number(path, "[", index, "]");
    }
}

/* The step into the element at `at`. */
static void add_step(struct path *path, const struct kol_writer *writer, const struct level *level,
                     const uint8_t *at)
{
    size_t index = (size_t)(at - level->start) / 8;
    size_t keys = level->shape ? kol_shape_count(level->shape) : 1;
    switch ((enum level_kind)level->kind) {
    case LEVEL_LIST:
        add_number(path, "[", index, "]");
        break;
    case LEVEL_FIELDS:
        add_field(path, level, index);
        break;
    case LEVEL_MAP:
        add_number(path, "{", index / 2, index % 2 == 0 ? "}key" : "}");
        break;
    case LEVEL_PAIRS:
        if (index % 2 == 1) {
            add_key(path, key_of(writer, load_u64(at - 8)));
        }
        break;
    case LEVEL_RECORDS:
        add_number(path, "[", index / keys, "]");
        add_key(path, kol_shape_key(level->shape, index % keys));
        break;
    case LEVEL_RECORD:
        if (index < keys) {
            add_key(path, kol_shape_key(level->shape, index));
        }
        break;
    case LEVEL_ROOT:
    default:
        add_text(path, "$");
    }
}

static size_t finish_path(const struct path *path, char *out)
{
    size_t head = path->size < PATH_HEAD ? path->size : PATH_HEAD;
    size_t rest = path->size - head;
    size_t size = head;
    memcpy(out, path->head, head);
    if (rest > PATH_TAIL) {
        memcpy(out + size, "...", 3);
        size += 3;
    }
    for (size_t i = rest > PATH_TAIL ? rest - PATH_TAIL : 0; i < rest; i++) {
        out[size++] = path->tail[i % PATH_TAIL];
    }
    out[size] = '\0';
    return size;
}

static size_t make_path(const struct kol_writer *writer, const struct level *last,
                        const uint8_t *at, char *out)
{
    struct path path;
    path.size = 0;
    for (const struct level *level = writer->levels; level < last; level++) {
        add_step(&path, writer, level, level->at - 8);
    }
    add_step(&path, writer, last, at);
    return finish_path(&path, out);
}

void kol__writer_note_path(struct kol_writer *writer, const struct level *last, const uint8_t *at)
{
    make_path(writer, last, at, writer->path);
}

size_t kol_writer_path(const struct kol_writer *writer, char *text, size_t size)
{
    char made[KOL_PATH_MAX + 1];
    const char *path = writer->path;
    if (writer->status == KOL_OK) {
        make_path(writer, writer->level, writer->at, made);
        path = made;
    }
    size_t length = strlen(path);
    if (size > 0) {
        size_t kept = length < size ? length : size - 1;
        memcpy(text, path, kept);
        text[kept] = '\0';
    }
    return length;
}
