/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * All of Kolibri as one translation unit, in reading order: the single-file build, and the table of
 * contents.
 */
#define _GNU_SOURCE
/* clang-format off */
#include "kolibri/src/status.c"
#include "kolibri/src/counters.c"
#include "kolibri/src/misuse.c"

/* what needs no VM */
#include "kolibri/src/scope.c"
#include "kolibri/src/commands.c"

/* text and arrays */
#include "kolibri/src/utf.c"
#include "kolibri/src/text.c"
#include "kolibri/src/array.c"

/* tagged values */
#include "kolibri/src/tagged_text.c"
#include "kolibri/src/tagged_shapes.c"
#include "kolibri/src/tagged_buffer.c"
#include "kolibri/src/tagged_space.c"
#include "kolibri/src/tagged_write.c"
#include "kolibri/src/tagged_nest.c"
#include "kolibri/src/tagged_path.c"
#include "kolibri/src/tagged_finish.c"
#include "kolibri/src/tagged_check.c"
#include "kolibri/src/tagged_read.c"
#include "kolibri/src/tagged_scalar.c"
#include "kolibri/src/tagged_copy.c"

/* classes, references, exceptions */
#include "kolibri/src/loader.c"
#include "kolibri/src/class.c"
#include "kolibri/src/ref.c"
#include "kolibri/src/throw.c"

#include "kolibri/src/walk.c"

/* natives */
#include "kolibri/src/native.c"
#include "kolibri/src/native_call.c"
#include "kolibri/src/native_check.c"
#include "kolibri/src/object.c"
#include "kolibri/src/bridge_room.c"
#include "kolibri/src/bridge.c"
#include "kolibri/src/shared_buffer.c"

/* threads, load and unload */
#include "kolibri/src/env.c"
