/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Transcripts: files of commands and the replies they must get. The same file
 * runs through this project's doors and through a real redis-server, so that
 * the transcripts themselves are tested.
 *
 *   # a comment                      > SET k "two words" PX 100
 *   ~ 150   (wait, milliseconds)     < +OK
 *
 * A line that begins with `>kevy` or `>redis` is for that side only, with its
 * answer. A command is words; a word may be "quoted" with \n \r \t \\ \" \xHH,
 * and repeated: "ab"*100. $S and $MS are the time now in seconds and
 * milliseconds, $S+5 five seconds later.
 *
 * What an answer line says, about the bytes of the reply:
 *
 *   +OK  -ERR text  :5         this line, exactly
 *   "text"                     a bulk string; the escapes and *100 as above
 *   nil  nil-array             $-1 and *-1
 *   [a b …]                    an array of answers; a bare word is a bulk string
 *   {a b …}                    the same in any order
 *   :5..9                      an integer between the two
 *   -ERR prefix...             an error that begins so
 *   ...                        any reply
 *   :$S+5..9 :$MS+…            an integer relative to the time now: 5 to 14 later
 */
#ifndef TESTING_TRANSCRIPT_H
#define TESTING_TRANSCRIPT_H

#include "base/bytes.h"

/* A growing buffer of the test process; aborts without memory. */
struct transcript_buffer {
    uint8_t *data;
    size_t size;
    size_t capacity;
};

void transcript_append(struct transcript_buffer *buffer, const void *data, size_t size);
void transcript_free(struct transcript_buffer *buffer);

/* Something that answers commands. */
struct transcript_target {
    const char *name; /* "kevy" or "redis" */
    void *self;

    /* Appends the RESP2 reply of a command; false when there is none. */
    bool (*run)(void *self, size_t argc, const struct bytes *argv, struct transcript_buffer *reply);
};

/* Runs a file; each answer that differs is a failed check that names the line.
 * Returns how many commands were run. */
size_t transcript_run(const char *path, const struct transcript_target *target);

/* Returns the size of the first whole RESP2 reply in `bytes`, 0 if it is not
 * all there, SIZE_MAX if it is none. */
size_t transcript_reply_size(struct bytes bytes);

/* Writes bytes so that a person can read them, as a C string, into `out`. */
void transcript_show(struct bytes bytes, struct transcript_buffer *out);

/* Sorts the elements of an array reply (step 1, or pairs with step 2), so that
 * two replies without an order can be compared. Leaves others as they are. */
void transcript_sort(struct transcript_buffer *reply, size_t step);

#endif
