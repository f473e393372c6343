/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What os_posix.c has from os_window.c: the part of its table that gives files
 * room and writes into them through mappings (kevy/os.h), and the limit that a
 * process has for the size of a file.
 *
 * Any thread.
 */
#ifndef KEVY_SRC_OS_OS_WINDOW_H
#define KEVY_SRC_OS_OS_WINDOW_H

#include <stdbool.h>

#include "kevy/os.h"

/* How large a file may become. Past that the kernel sends SIGXFSZ, which would end
 * a host that does not expect it, so whatever may pass it asks before. */
uint64_t kv_posix_size_limit(void);

/* Says whether a file may be as large as that; one that is already, may. */
bool kv_posix_can_be_of_size(int file, uint64_t size);

int kv_posix_window_open(void *self, int file, size_t size, void **out);
int kv_posix_window_back(void *self, int file, uint64_t size);
void kv_posix_window_touch(void *self, int file, void *window, uint64_t from, uint64_t to);
int kv_posix_window_write(void *self, int file, void *window, uint64_t offset, const void *buf,
                          size_t size);

#endif
