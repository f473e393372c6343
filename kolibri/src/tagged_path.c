/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Paths of values, for errors: "$.users[3].name".
 *
 * Of a message that is being written the text is made from the open levels: where each stands says
 * which element it is in, keys are read back from the message. Of one that is refused the validate
 * pass has noted the steps. What is too long keeps its beginning and its end.
 */
#include "kolibri/src/tagged_check.h"
#include "kolibri/src/tagged_run.h"
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

/*
 * A key as `.name` or `["any key"]`; the middle of a very long one is left out anyway. Control
 * characters are escaped: a NUL would end the text.
 */
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
        if ((unsigned char)name[i] < 0x20) {
            char escape[8];
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)name[i]);
            add_text(path, escape);
            continue;
        }
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

static void add_field(struct path *path, unsigned block, size_t index)
{
    static const char *const names[] = {".name", ".message", ".stack", ".cause", ".data"};
    if (block == KIND_ERROR && index < ERROR_FIELDS) {
        add_text(path, names[index]);
    } else {
        add_number(path, "[", index, "]");
    }
}

static void add_map_step(struct path *path, size_t index)
{
    add_number(path, "{", index / 2, index % 2 == 0 ? "}key" : "}");
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
        add_field(path, level->block, index);
        break;
    case LEVEL_MAP:
        add_map_step(path, index);
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

/* As much of a text as fits, with a NUL. Returns its whole length. */
static size_t give_text(const char *from, char *text, size_t size)
{
    size_t length = strlen(from);
    if (size > 0) {
        size_t kept = length < size ? length : size - 1;
        memcpy(text, from, kept);
        text[kept] = '\0';
    }
    return length;
}

size_t kol_writer_path(const struct kol_writer *writer, char *text, size_t size)
{
    char made[KOL_PATH_MAX + 1];
    if (writer->status != KOL_OK) {
        return give_text(writer->path, text, size);
    }
    make_path(writer, writer->level, writer->at, made);
    return give_text(made, text, size);
}

/* The step from a container of a message into its slot number `index`. */
static void add_read_step(struct path *path, struct kol_value container, size_t index)
{
    struct run run = kol__run_of(container);
    size_t keys = run.shape ? kol_shape_count(run.shape) : 1;
    struct kol_string key;
    switch (run.kind) {
    case KIND_OBJECT: {
        struct kol_value name = {container.reader, load_u64(run.at + (index & ~(size_t)1) * 8)};
        if (index % 2 == 1 && kol_value_as_text(name, &key) == KOL_OK) {
            add_key(path, key);
        }
        break;
    }
    case KIND_MAP:
        add_map_step(path, index);
        break;
    case KIND_RECORDS:
        add_number(path, "[", index / keys, "]");
        add_key(path, kol_shape_key(run.shape, index % keys));
        break;
    case RUN_RECORD:
        add_key(path, kol_shape_key(run.shape, index));
        break;
    default:
        add_field(path, run.kind, index);
    }
}

void kol__reader_note_path(struct kol_reader *reader, const uint32_t *steps, size_t count)
{
    struct path path;
    struct kol_value value = {reader, load_u64(reader->bytes + HEADER_ROOT)};
    path.size = 0;
    add_text(&path, "$");
    for (size_t i = count - 1; i > 0; i--) {
        size_t index = steps[i - 1];
        add_read_step(&path, value, index);
        value.slot = load_u64(kol__run_of(value).at + index * 8);
    }
    finish_path(&path, reader->where);
}

size_t kol_reader_problem(const struct kol_reader *reader, char *text, size_t size)
{
    char made[KOL_PROBLEM_MAX + 1] = "";
    if (reader->what) {
        const char *at = reader->where[0] != '\0' ? " at " : "";
        snprintf(made, sizeof made, "%s%s%s", reader->what, at, reader->where);
    }
    return give_text(made, text, size);
}
