/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The Node door: what its rooms share. One kn_door per Node environment (the
 * main thread, each worker), one kn_store per KevyNitro object.
 *
 *     node_module.c   load, table of functions, teardown
 *     node_store.c    open, close, the ids that TypeScript holds
 *     node_fail.c     exceptions
 *     node_text.c     UTF-16 <-> WTF-8, no Node-API in it
 *     node_bytes.c    strings and buffers in, buffers out
 *     node_value.c    the hot lanes: get and set
 *     node_command.c  packed commands, packArgv
 *     node_many.c     many values at once
 *     node_poll.c     subscriptions that are polled, publish
 *     node_hop.c      the one way from other threads into JavaScript
 *     node_push.c     the poller thread and what it brings
 *     node_listen.c   start, listeners and stop of the push lane
 *     node_change.c   change listeners
 *
 * TypeScript calls plain functions with a store's id as first argument: an
 * integer and a table are cheaper than unwrapping an object. The functions are
 * not public; ts/kevy.ts is.
 *
 * Rules. A function that returns false or NULL after a failure has left an
 * exception pending. No engine memory is ever given to JavaScript, and none of
 * JavaScript's is read after the call that lent it. Threads: everything here
 * runs on the environment's own thread, except the poller in node_push.c and
 * what the engine calls in node_change.c.
 */
#ifndef DOORS_NODE_SRC_NODE_DOOR_H
#define DOORS_NODE_SRC_NODE_DOOR_H

#include <kevy.h>
#include <node_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Raised when ts/ and src/ change together; ts/native.ts compares. */
#define KN_INTERFACE 2

/* The buffer that values pass through on their way into a string or a new
 * ArrayBuffer; larger values take a longer way. */
#define KN_SCRATCH_SIZE ((size_t)65536)

/* Keys up to this many UTF-16 units need no allocation. */
#define KN_UNITS 256u

typedef struct kn_push kn_push;
typedef struct kn_changes kn_changes;
typedef struct kn_door kn_door;

/* One KevyNitro. Lives until its JavaScript object is collected; what it holds
 * open goes earlier, with kn_store_close. */
typedef struct kn_store {
    kn_door *door;
    uint32_t index;      /* in door->stores, and its id in TypeScript */
    KevyDb *db;          /* NULL once disposed */
    KevySub *sub;        /* the poll lane, NULL before the first subscribe */
    kn_push *push;       /* the push lane, NULL when stopped */
    kn_changes *changes; /* the change listeners, NULL when there are none */
    bool is_ref;         /* what comes to it keeps the process alive */
    bool holds;          /* and does so now */
    uint32_t count_max;  /* of both lanes' queues; 0: the engine's default */
    size_t bytes_max;
    int32_t policy;
} kn_store;

struct kn_door {
    napi_env env;
    uint32_t refs;     /* the environment and each store */
    kn_store **stores; /* by index, NULL = free */
    uint32_t store_count;
    napi_ref check_usable;        /* throws TypeError for a detached buffer */
    napi_ref make_buffer;         /* (size) => new ArrayBuffer(size); may throw */
    napi_threadsafe_function hop; /* NULL before the first push */
    uint32_t hop_refs;            /* stores that keep the process alive */
    bool takes_shared;            /* Node-API takes a SharedArrayBuffer for an ArrayBuffer */
    uint8_t scratch[KN_SCRATCH_SIZE];
};

/* ---- node_fail.c ---- */

typedef enum { KN_ERROR, KN_TYPE_ERROR, KN_RANGE_ERROR } kn_kind;

/* Throws an exception with the property `code`. Returns false, to be
 * returned on. An exception that is already pending stays. */
bool kn_fail(napi_env env, kn_kind kind, const char *code, const char *text);

/* Throws for a Node-API status, naming what was being done. */
bool kn_fail_napi(napi_env env, napi_status status, const char *doing);

/* Throws what kevy_open_ex reported: code, errno, path and offset. */
bool kn_fail_open(napi_env env, const KevyError *error);

/* Throws for a negative result of the engine. The scalar functions do not say
 * why; so `argv`, the same thing as a command, is run for its error reply.
 * Returns true instead when the command succeeds (the cause has gone): its
 * reply is then in *reply, to be freed. */
bool kn_fail_store(kn_store *store, int32_t status, size_t argc, const uint8_t *const *argv,
                   const size_t *argv_len, KevyBuf *reply);

bool kn_fail_memory(napi_env env);

/* Makes an exception that is pending an uncaught one: it must neither be lost
 * nor keep others from what is theirs. */
void kn_exception_report(napi_env env);

/* ---- node_text.c ---- */

/* Writes UTF-16 as WTF-8: UTF-8 in which an unpaired surrogate is three bytes
 * as if it were a character, so that different strings stay different. `out`
 * has room for 3 * count bytes. Returns the bytes written. */
size_t kn_wtf8_write(const char16_t *units, size_t count, uint8_t *out);

/* Reads WTF-8 into `out`, which has room for `size` units. Bytes that are not
 * WTF-8 become U+FFFD, one for each longest prefix of a character that could
 * not be finished. Returns the units written. */
size_t kn_wtf8_read(const uint8_t *bytes, size_t size, char16_t *out);

/* True if all bytes are below 0x80. */
bool kn_is_ascii(const uint8_t *bytes, size_t size);

/* ---- node_bytes.c ---- */

/* Bytes of an argument, for the length of the call. Free with kn_bytes_done. */
typedef struct kn_bytes {
    const uint8_t *ptr;
    size_t len;
    uint8_t *heap; /* what to free, or NULL */
} kn_bytes;

/* A key, a channel or a text: its bytes, and the room for short ones. */
typedef struct kn_key {
    kn_bytes bytes;
    uint8_t small[3 * KN_UNITS];
} kn_key;

/* A string as WTF-8, or the bytes of a buffer. Free with kn_key_done. */
bool kn_key_read(kn_door *door, napi_value value, kn_key *out);

/* ArrayBuffer, SharedArrayBuffer view (copied), TypedArray, DataView, Buffer.
 * TypeError for anything else and for a detached buffer. */
bool kn_bytes_read(kn_door *door, napi_value value, kn_bytes *out);

/* As kn_key_read, but a string it must be. */
bool kn_text_read(kn_door *door, napi_value value, kn_key *out);

/* As kn_key_read, for items of which many are kept: a string is on the heap. */
bool kn_item_read(kn_door *door, napi_value value, kn_bytes *out);

/* The memory of a buffer, to be written to within this call. */
bool kn_room_read(kn_door *door, napi_value value, uint8_t **ptr_out, size_t *len_out);

/* Where they are, for functions that want an address also for nothing. */
static inline const uint8_t *kn_ptr(const kn_bytes *bytes)
{
    return bytes->len > 0 ? bytes->ptr : (const uint8_t *)"";
}

static inline void kn_bytes_done(kn_bytes *bytes)
{
    if (bytes->heap != NULL) {
        free(bytes->heap);
    }
}

static inline void kn_key_done(kn_key *key)
{
    kn_bytes_done(&key->bytes);
}

/* A new ArrayBuffer with a copy of the bytes. NULL with an exception. */
napi_value kn_buffer_copy(kn_door *door, const uint8_t *bytes, size_t size);

/* A new ArrayBuffer of `size` bytes, to be filled at *data_out. */
napi_value kn_buffer_new(kn_door *door, size_t size, uint8_t **data_out);

/* A new string; RangeError when it is longer than V8 can hold. */
napi_value kn_string_new(kn_door *door, const uint8_t *bytes, size_t size);

/* ---- node_module.c ---- */

/* Drops one reference to the door; the last one frees it. */
void kn_door_drop(kn_door *door);

/* ---- node_store.c ---- */

/* Reads the arguments: returns the door, *argc in and out as Node-API's. */
static inline kn_door *kn_arguments(napi_env env, napi_callback_info info, size_t *argc,
                                    napi_value *argv)
{
    void *door = NULL;
    (void)napi_get_cb_info(env, info, argc, argv, NULL, &door);
    return door;
}

/* The open store with that id; NULL with an exception when it was disposed. */
kn_store *kn_store_of(kn_door *door, napi_value id);

/* Both in one: the arguments, and the store that the first of them names. */
static inline kn_store *kn_store_arguments(napi_env env, napi_callback_info info, size_t *argc,
                                           napi_value *argv)
{
    kn_door *door = kn_arguments(env, info, argc, argv);
    return kn_store_of(door, argv[0]);
}

/* Stops all lanes, closes subscriptions and handle. Idempotent. */
void kn_store_close(kn_store *store);

/* Applies the store's queue limits to a new subscription. */
void kn_store_limit(const kn_store *store, KevySub *sub);

/* ---- node_many.c ---- */

/* Several keys or values of one JavaScript array. */
typedef struct kn_list {
    size_t count;
    kn_bytes *items;
    const uint8_t **ptrs; /* never NULL, also for nothing */
    size_t *lens;
} kn_list;

/* `of` is zeroed; kn_list_done frees it also after a failure. The array is one
 * that ts/ made: reading it runs no foreign code, so that the memory of the
 * buffers read first is still theirs when the last is read. */
bool kn_list_read(kn_door *door, napi_value array, kn_list *of);
void kn_list_done(kn_list *of);

/* ---- node_hop.c ---- */

/* What is sent: the first member of whoever sends it. Lands on JavaScript's
 * thread; with env NULL the environment is going. */
typedef struct kn_landing {
    void (*land)(napi_env env, struct kn_landing *self);
} kn_landing;

/* Makes the environment's hop if there is none yet. */
bool kn_hop_make(kn_door *door);

/* Any thread. False when the environment is going: it does not land. */
bool kn_hop_send(napi_threadsafe_function hop, kn_landing *landing);

/* Holds the process alive, or no longer, as the store's fields say now. */
void kn_hop_hold(kn_store *store);

/* ---- node_listen.c, node_change.c ---- */

/* Stop the lane and forget its listeners: no callback comes after it. */
void kn_push_stop(kn_store *store);
void kn_changes_stop(kn_store *store);

/* ---- the functions that TypeScript sees ---- */

/* name; each is napi_value kn_js_<name>(napi_env, napi_callback_info). */
/* clang-format off */
#define KN_FUNCTION_LIST(X)                                                                        \
    X(setup)                                                                                       \
    X(open)                                                                                        \
    X(openAt)                                                                                      \
    X(dispose)                                                                                     \
    X(shutdown)                                                                                    \
    X(sync)                                                                                        \
    X(openReport)                                                                                  \
    X(getData)                                                                                     \
    X(getInto)                                                                                     \
    X(getString)                                                                                   \
    X(setData)                                                                                     \
    X(setString)                                                                                   \
    X(setMany)                                                                                     \
    X(getMany)                                                                                     \
    X(cmd)                                                                                         \
    X(packArgv)                                                                                    \
    X(copyOf)                                                                                      \
    X(textOf)                                                                                      \
    X(subscribe)                                                                                   \
    X(unsubscribe)                                                                                 \
    X(subNext)                                                                                     \
    X(subLimit)                                                                                    \
    X(subDropped)                                                                                  \
    X(publish)                                                                                     \
    X(pushStart)                                                                                   \
    X(pushRemove)                                                                                  \
    X(pushDone)                                                                                    \
    X(pushStop)                                                                                    \
    X(listen)                                                                                      \
    X(unlisten)                                                                                    \
    X(changesDone)                                                                                 \
    X(hold)
/* clang-format on */

#define KN_FUNCTION_DECLARE(name) napi_value kn_js_##name(napi_env env, napi_callback_info info);
KN_FUNCTION_LIST(KN_FUNCTION_DECLARE)
#undef KN_FUNCTION_DECLARE

#endif
