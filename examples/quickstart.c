/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The shortest program with kevy: a store in the folder "greetings", one
 * value. README quotes the marked region; tools/install-test builds it
 * against an installed library, runs it twice and compares what it prints.
 *
 * Prints: hello
 */
/* region quickstart */
#include <kevy.h>
#include <stdio.h>
#include <string.h>

#define TEXT(s) (const uint8_t *)(s), strlen(s)

int main(void)
{
    KevyBuf value;
    KevyDb *db = kevy_open(TEXT("greetings"));
    kevy_set(db, TEXT("en"), TEXT("hello"), 0);
    if (kevy_get(db, TEXT("en"), &value) == 1) {
        printf("%.*s\n", (int)value.len, (const char *)value.ptr);
        kevy_buf_free(value.ptr, value.len, value.cap);
    }
    kevy_close(db);
    return 0;
}
/* end region */
