/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How a room reports a call that the contract forbids: to the hook of kol_on_misuse, by misuse.c.
 * `where` names the public function, `what` says what was wrong; both are constant. No jni.h here,
 * for the rooms that know no VM.
 */
#ifndef KOLIBRI_SRC_MISUSE_H
#define KOLIBRI_SRC_MISUSE_H

#include <kolibri/config.h>

KOL__HIDDEN void kol__misuse(const char *where, const char *what);

#endif
