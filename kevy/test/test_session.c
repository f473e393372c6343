/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Sessions: SELECT holds for the commands of one session, and for no other; the
 * functions that know none stay in database 0. What is no session is misuse, and
 * leaves the reply empty.
 */
#include <string.h>

#include "kevy.h"
#include "testing/harness.h"

/* Runs words that are separated by blanks; whether the reply is `want`. */
static bool says(KevySession *session, const char *words, const char *want)
{
    const uint8_t *argv[8];
    size_t lens[8], argc = 0;
    KevyBuf reply;
    for (const char *at = words; *at != '\0'; argc++) {
        argv[argc] = (const uint8_t *)at;
        lens[argc] = strcspn(at, " ");
        at += lens[argc] + (at[lens[argc]] == ' ');
    }
    REQUIRE_INT(kevy_session_cmd(session, argc, argv, lens, &reply), 0);
    bool answer = CHECK_BYTES(reply.ptr, reply.len, want, strlen(want));
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
    return answer;
}

TEST(session_select)
{
    KevyDb *db = kevy_open_mem();
    KevySession *one = kevy_session_new(db), *two = kevy_session_new(db);
    REQUIRE(one != NULL && two != NULL);
    says(one, "SELECT 3", "+OK\r\n");
    says(one, "SET k three", "+OK\r\n");
    says(two, "GET k", "$-1\r\n");
    says(two, "SET k zero", "+OK\r\n");
    says(one, "GET k", "$5\r\nthree\r\n");
    says(one, "SELECT 16", "-ERR DB index is out of range\r\n");
    says(one, "GET k", "$5\r\nthree\r\n");
    kevy_session_free(one);
    KevyBuf value;
    CHECK_INT(kevy_get(db, (const uint8_t *)"k", 1, &value), 1);
    CHECK_BYTES(value.ptr, value.len, "zero", 4);
    kevy_buf_free(value.ptr, value.len, value.cap);
    kevy_session_free(two);
    kevy_close(db);
}

TEST(session_misuse)
{
    KevyDb *db = kevy_open_mem();
    KevyBuf reply = {NULL, 1, 1};
    KevySession *session = kevy_session_new(db);
    CHECK(kevy_session_new(NULL) == NULL);
    CHECK_INT(kevy_session_cmd(NULL, 1, (const uint8_t *const[]){(const uint8_t *)"PING"},
                               (const size_t[]){4}, &reply),
              -1);
    CHECK(reply.ptr == NULL && reply.len == 0);
    CHECK_INT(kevy_session_cmd(session, 0, NULL, NULL, &reply), -1);
    CHECK_INT(kevy_session_cmd(session, 1, (const uint8_t *const[]){(const uint8_t *)"PING"},
                               (const size_t[]){4}, NULL),
              -1);
    kevy_session_free(session);
    kevy_session_free(NULL);
    kevy_close(db);
}
