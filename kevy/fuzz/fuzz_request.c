/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Property: where a stream of requests is cut makes no difference. The input,
 * parsed whole and parsed in pieces (its first byte says how long they are),
 * gives the same requests, or the same error at the same place; every argument
 * lies inside the input or the parser's own line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "kevy/src/text/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A digest of all requests of a stream, and how it ended. */
struct outcome {
    uint64_t digest;
    size_t used;
    enum kv_request_result result;
};

static void note(struct outcome *outcome, const struct kv_request *request)
{
    for (size_t i = 0; i < request->argc; i++) {
        struct bytes arg = request->argv[i];
        outcome->digest = hash_bytes(arg.data, arg.size, outcome->digest + arg.size);
    }
    outcome->digest = hash_fold(outcome->digest + request->argc, HASH_K1);
}

static struct outcome parse(const uint8_t *data, size_t size, size_t step)
{
    struct outcome outcome = {1, 0, KV_REQUEST_MORE};
    struct kv_mem mem;
    struct kv_request request;
    size_t end = 0, used;
    kv_mem_init(&mem, &kv_mem_libc);
    kv_request_init(&request, &mem);
    while (end < size && outcome.result != KV_REQUEST_ERROR) {
        end = size - end < step ? size : end + step;
        do {
            outcome.result = kv_request_parse(
                &request, bytes_of(data + outcome.used, end - outcome.used), &used);
            if (outcome.result == KV_REQUEST_READY) {
                note(&outcome, &request);
            } else if (outcome.result == KV_REQUEST_ERROR) {
                outcome.digest = hash_bytes(request.error, strlen(request.error), outcome.digest);
            }
            outcome.used += used;
        } while (outcome.result == KV_REQUEST_READY || outcome.result == KV_REQUEST_NOTHING);
    }
    kv_request_done(&request);
    if (mem.used != 0) {
        abort();
    }
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    size_t step = 1 + data[0] % 16;
    struct outcome whole = parse(data + 1, size - 1, size);
    struct outcome pieces = parse(data + 1, size - 1, step);
    if (whole.digest != pieces.digest || whole.used != pieces.used ||
        whole.result != pieces.result) {
        abort();
    }
    return 0;
}
