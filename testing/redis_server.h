/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A real redis-server of the test's own: in the test's folder, on a Unix
 * socket, without persistence; gone when the test's process is gone.
 */
#ifndef TESTING_REDIS_SERVER_H
#define TESTING_REDIS_SERVER_H

#include "testing/transcript.h"

/* Starts a server and connects. Where none is installed the test is skipped,
 * except in CI (the environment variable CI is set), where it fails. */
void redis_start(struct transcript_target *out);

/* Stops it. */
void redis_stop(void);

/* Sends bytes as they are and appends what comes back: until `replies` whole
 * replies are there, the server closes, or it says nothing for half a minute. */
bool redis_raw(struct bytes request, size_t replies, struct transcript_buffer *out);

#endif
