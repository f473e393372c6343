/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The public functions that run commands: argument lists in, RESP replies out.
 * See kevy.h; what the commands are is in command/.
 */
#include "kevy/src/command/command.h"
#include "kevy/src/engine/write.h"
#include "kevy/src/mem/buffers.h"
#include "kevy/src/text/request.h"

/* Arguments that fit on the stack. */
#define ARGS_SMALL 16u

/* Arguments that one call may have: Redis's limit of a request. */
#define ARGS_MAX ((size_t)1024 * 1024)

/* A command that may wait (a full queue, DEBUG SLEEP) keeps its handle by a
 * pin, not by the epoch that every free would have to wait for. */
static void run_waiting(struct kv_write *write, const struct kv_command *command,
                        struct kv_call *call)
{
    kv_gate_pin(write->db);
    kv_gate_leave(write->slot);
    kv_command_run(command, call);
    write->slot = kv_epoch_enter(); /* has a slot: cannot fail */
    kv_gate_unpin(write->db);
}

static void run_write(struct kv_write *write, const struct kv_command *command,
                      struct kv_call *call)
{
    int status = kv_write_lock(write);
    if (status < 0) {
        kv_command_store_error(call->reply, status);
        return;
    }
    uint64_t changes = call->keyspace->changes, drops = call->keyspace->drops;
    bool may_grow = (command->flags & KV_GROWS) != 0;
    status = may_grow ? kv_room_make(write->db->engine) : 0;
    if (status < 0) {
        kv_command_store_error(call->reply, status);
    } else {
        kv_command_run(command, call);
    }
    bool is_changed = call->keyspace->changes != changes;
    write->has_dropped = call->keyspace->drops != drops;
    kv_write_unlock(write);
    write->lsn = is_changed ? write->lsn : 0;
}

/* Most reads of a key need no lock; what they wrote counts if no table was
 * changing under them. */
static void run_read(struct kv_write *write, const struct kv_command *command, struct kv_call *call)
{
    if (kv_command_may_peek(command, call->argc)) {
        call->is_peeking = true;
        kv_command_run(command, call);
        if (!call->is_torn) {
            return;
        }
        call->is_peeking = false;
        kv_reply_rewind(call->reply, call->reply_start);
    }
    struct kv_mutex *writer = &write->db->engine->writer;
    kv_mutex_lock(writer);
    kv_command_run(command, call);
    kv_mutex_unlock(writer);
}

static void run(struct kv_write *write, const struct kv_command *command, struct kv_call *call)
{
    if ((command->flags & KV_NOLOCK) == 0) {
        ((command->flags & KV_WRITE) != 0 ? run_write : run_read)(write, command, call);
    } else if ((command->flags & (KV_PUBSUB | KV_ADMIN)) != 0) {
        run_waiting(write, command, call);
    } else {
        kv_command_run(command, call);
    }
}

/* Resolves and runs one command inside the gate, and leaves it. */
static void run_command(struct kv_write *write, struct kv_session *session, size_t argc,
                        const struct bytes *argv, struct kv_reply *reply)
{
    struct kv_engine *engine = write->db->engine;
    struct kv_call call = {.keyspace = &engine->keyspace,
                           .port = &write->db->port,
                           .session = session,
                           .reply = reply,
                           .mem = &engine->mem,
                           .host = &write->db->host,
                           .argc = argc,
                           .argv = argv};
    const struct kv_command *command = kv_command_resolve(reply, argc, argv);
    if (command != NULL) {
        run(write, command, &call);
    }
    int promise = kv_write_leave(write, 0);
    if (promise < 0) {
        kv_reply_rewind(reply, 0);
        kv_command_store_error(reply, promise);
    }
}

static int32_t run_public(KevyDb *db, struct kv_session *session, size_t argc,
                          const struct bytes *argv, KevyBuf *out)
{
    struct kv_write write;
    struct kv_reply reply;
    int status = kv_write_enter(db, &write);
    if (status < 0) {
        return kv_result(status);
    }
    kv_reply_init(&reply, &kv_mem_buffers, 2);
    reply.data = kv_buffer_new(0, &reply.capacity);
    if (reply.data == NULL) {
        return kv_result(kv_write_leave(&write, KEVY_ENOMEM));
    }
    run_command(&write, session, argc, argv, &reply);
    if (reply.refusal < 0) {
        kv_status_note(reply.refusal);
    }
    out->ptr = kv_reply_take(&reply, &out->len, &out->cap);
    return out->ptr == NULL ? kv_result(KEVY_ENOMEM) : 0;
}

static int32_t run_arguments(KevyDb *db, struct kv_session *session, size_t argc,
                             const uint8_t *const *argv, const size_t *argv_len, KevyBuf *out)
{
    struct bytes small[ARGS_SMALL];
    if (out == NULL) {
        return -1;
    }
    *out = (KevyBuf){NULL, 0, 0};
    if (db == NULL || argc == 0 || argc > ARGS_MAX || argv == NULL || argv_len == NULL) {
        return -1;
    }
    size_t size = argc * sizeof(struct bytes);
    struct bytes *args = argc <= ARGS_SMALL ? small : kv_mem_new(&kv_mem_buffers, size);
    if (args == NULL) {
        return kv_result(KEVY_ENOMEM);
    }
    bool is_valid = true;
    for (size_t i = 0; i < argc; i++) {
        args[i] = bytes_of(argv[i], argv_len[i]);
        is_valid = is_valid && (argv[i] != NULL || argv_len[i] == 0);
    }
    int32_t result = is_valid ? run_public(db, session, argc, args, out) : -1;
    if (args != small) {
        kv_mem_free(&kv_mem_buffers, args, size);
    }
    return result;
}

int32_t kevy_cmd(KevyDb *db, size_t argc, const uint8_t *const *argv, const size_t *argv_len,
                 KevyBuf *out)
{
    return run_arguments(db, NULL, argc, argv, argv_len, out);
}

/* ---- Sessions ---- */

struct KevySession {
    KevyDb *db;
    struct kv_session session;
};

KevySession *kevy_session_new(KevyDb *db)
{
    KevySession *session = db == NULL ? NULL : kv_mem_zeroed(&kv_mem_buffers, sizeof *session);
    if (session != NULL) {
        session->db = db;
    }
    return session;
}

int32_t kevy_session_cmd(KevySession *session, size_t argc, const uint8_t *const *argv,
                         const size_t *argv_len, KevyBuf *out)
{
    return session == NULL
               ? run_arguments(NULL, NULL, argc, argv, argv_len, out)
               : run_arguments(session->db, &session->session, argc, argv, argv_len, out);
}

void kevy_session_free(KevySession *session)
{
    kv_mem_free(&kv_mem_buffers, session, sizeof *session);
}

/* ---- Packed arguments ---- */

int32_t kevy_cmd_packed(KevyDb *db, const uint8_t *packed, size_t packed_len, KevyBuf *out)
{
    struct bytes small[ARGS_SMALL];
    if (out == NULL) {
        return -1;
    }
    *out = (KevyBuf){NULL, 0, 0};
    if (db == NULL || packed == NULL) {
        return -1;
    }
    size_t argc = kv_packed_count(bytes_of(packed, packed_len));
    if (argc == 0 || argc > ARGS_MAX) {
        return -1;
    }
    size_t size = argc * sizeof(struct bytes);
    struct bytes *args = argc <= ARGS_SMALL ? small : kv_mem_new(&kv_mem_buffers, size);
    if (args == NULL) {
        return kv_result(KEVY_ENOMEM);
    }
    kv_packed_parse(bytes_of(packed, packed_len), args);
    int32_t result = run_public(db, NULL, argc, args, out);
    if (args != small) {
        kv_mem_free(&kv_mem_buffers, args, size);
    }
    return result;
}
