/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * All of Kolibri as one translation unit, in reading order: the single-file build, and the table of
 * contents.
 */
#include "kolibri/src/misuse.c"
#include "kolibri/src/status.c"

/* text and arrays */
#include "kolibri/src/array.c"
#include "kolibri/src/text.c"
#include "kolibri/src/utf.c"

/* classes and references */
#include "kolibri/src/class.c"
#include "kolibri/src/loader.c"
#include "kolibri/src/ref.c"
#include "kolibri/src/throw.c"

/* natives */
#include "kolibri/src/native.c"
#include "kolibri/src/native_call.c"

/* threads, load and unload */
#include "kolibri/src/env.c"
