/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Exceptions. Each has the property `code`: KEVY_ and the name of a status in
 * kevy.h (KEVY_EINUSE, KEVY_ECLOSED, …), also KEVY_ETOOSMALL (getInto) and
 * KEVY_ERANGE. Arguments of a wrong kind are TypeError, of a wrong size
 * RangeError, what the world did Error.
 *
 * The engine's scalar functions say only that they failed. Their commands say
 * why, in an error reply; that is the text of the exception. Its code is what
 * kevy_last_status says.
 */
#include "node_door.h"

#include <stdio.h>
#include <string.h>

static bool is_pending(napi_env env)
{
    bool pending = false;
    return napi_is_exception_pending(env, &pending) != napi_ok || pending;
}

bool kn_fail(napi_env env, kn_kind kind, const char *code, const char *text)
{
    if (is_pending(env)) {
        return false;
    }
    if (kind == KN_TYPE_ERROR) {
        (void)napi_throw_type_error(env, code, text);
    } else if (kind == KN_RANGE_ERROR) {
        (void)napi_throw_range_error(env, code, text);
    } else {
        (void)napi_throw_error(env, code, text);
    }
    return false;
}

bool kn_fail_memory(napi_env env)
{
    return kn_fail(env, KN_ERROR, "KEVY_ENOMEM", "out of memory");
}

bool kn_fail_napi(napi_env env, napi_status status, const char *doing)
{
    char text[160];
    (void)snprintf(text, sizeof text, "%s: Node-API status %d", doing, (int)status);
    return kn_fail(env, KN_ERROR, "KEVY_ENODE", text);
}

static const char *code_of(int32_t status)
{
    switch (status) {
#define CODE_CASE(value, name, text)                                                               \
    case value:                                                                                    \
        return "KEVY_" #name;
        KEVY_STATUS_LIST(CODE_CASE)
#undef CODE_CASE
    default:
        return "KEVY_EIO";
    }
}

static void property_set(napi_env env, napi_value object, const char *name, napi_value value)
{
    (void)napi_set_named_property(env, object, name, value);
}

bool kn_fail_open(napi_env env, const KevyError *error)
{
    napi_value code, text, exception, value;
    char line[sizeof error->text + sizeof error->path + 8];
    const char *what = error->text[0] != '\0' ? error->text : kevy_status_text(error->status);
    bool named = error->path[0] == '\0' || strstr(what, error->path) != NULL;
    (void)snprintf(line, sizeof line, "%s%s%s", what, named ? "" : ": ", named ? "" : error->path);
    if (napi_create_string_utf8(env, code_of(error->status), NAPI_AUTO_LENGTH, &code) != napi_ok ||
        napi_create_string_utf8(env, line, NAPI_AUTO_LENGTH, &text) != napi_ok ||
        napi_create_error(env, code, text, &exception) != napi_ok) {
        return kn_fail(env, KN_ERROR, code_of(error->status), line);
    }
    if (napi_create_int32(env, error->sys_errno, &value) == napi_ok) {
        property_set(env, exception, "errno", value);
    }
    if (napi_create_string_utf8(env, error->path, NAPI_AUTO_LENGTH, &value) == napi_ok) {
        property_set(env, exception, "path", value);
    }
    if (napi_create_double(env, (double)error->offset, &value) == napi_ok) {
        property_set(env, exception, "offset", value);
    }
    (void)napi_throw(env, exception);
    return false;
}

/* Throws for an error reply, "-CODE text\r\n". */
static bool reply_fail(napi_env env, const KevyBuf *reply)
{
    char text[512];
    size_t size = reply->len - 1 < sizeof text ? reply->len - 1 : sizeof text - 1;
    memcpy(text, reply->ptr + 1, size);
    while (size > 0 && (text[size - 1] == '\r' || text[size - 1] == '\n')) {
        size--;
    }
    text[size] = '\0';
    int32_t status = kevy_last_status();
    kn_kind kind = status == KEVY_ETYPE    ? KN_TYPE_ERROR
                   : status == KEVY_ELIMIT ? KN_RANGE_ERROR
                                           : KN_ERROR;
    return kn_fail(env, kind, code_of(status), text);
}

bool kn_fail_store(kn_store *store, int32_t status, size_t argc, const uint8_t *const *argv,
                   const size_t *argv_len, KevyBuf *reply)
{
    napi_env env = store->door->env;
    if (status == KEVY_EMISUSE) {
        return kn_fail(env, KN_ERROR, "KEVY_EMISUSE", kevy_status_text(status));
    }
    for (size_t i = 0; i < argc; i++) {
        if (argv_len[i] > KEVY_SIZE_MAX) {
            return kn_fail(env, KN_RANGE_ERROR, "KEVY_ELIMIT",
                           "keys and values are at most 536870912 bytes");
        }
    }
    if (kevy_cmd(store->db, argc, argv, argv_len, reply) != 0 || reply->ptr == NULL) {
        return kn_fail_memory(env);
    }
    if (reply->len == 0 || reply->ptr[0] != '-') {
        return true;
    }
    (void)reply_fail(env, reply);
    kevy_buf_free(reply->ptr, reply->len, reply->cap);
    return false;
}
