/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The tests of test_os_thread.c over the portable twin of parking: its own
 * copy of the two files, so that this program takes neither from the library.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#define KV_PARK_TABLE 1
#include "kevy/src/os/os_park.c"
#include "kevy/src/os/os_thread.c"
#include "kevy/test/test_os_thread.c"
