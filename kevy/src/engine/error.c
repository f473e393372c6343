/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Statuses and reasons: their texts, and how they become the few numbers of
 * ABI 1.
 */
#include "kevy/src/engine/engine.h"

const char *kevy_status_text(int32_t status)
{
    switch (status) {
#define STATUS_CASE(value, name, text)                                                             \
    case (value):                                                                                  \
        return text;
        KEVY_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
    default:
        return "unknown status";
    }
}

/* Copies as much as fits and ends it with a NUL. */
static void copy_text(char *out, size_t size, struct bytes text)
{
    size_t fits = text.size < size ? text.size : size - 1;
    if (fits != 0) {
        memcpy(out, text.data, fits);
    }
    out[fits] = '\0';
}

int kv_error_set(KevyError *error, int status, const char *text, struct bytes path)
{
    if (error != NULL) {
        *error = (KevyError){.status = status};
        copy_text(error->text, sizeof error->text, bytes_of(text, strlen(text)));
        copy_text(error->path, sizeof error->path, path);
    }
    return status;
}

/* ---- Results ---- */

static _Thread_local int32_t status_last;

int32_t kevy_last_status(void)
{
    return status_last;
}

void kv_status_note(int status)
{
    status_last = status;
}

int32_t kv_result(int status)
{
    if (status >= 0 || status == KEVY_EMISUSE) {
        return status >= 0 ? 0 : -1;
    }
    status_last = status;
    return -2;
}
