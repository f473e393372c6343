/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What commands may ask of the engine around them: the kv_host table of one
 * handle (command/host.h).
 */
#ifndef KEVY_SRC_ENGINE_HOST_H
#define KEVY_SRC_ENGINE_HOST_H

#include "kevy/src/command/host.h"
#include "kevy/src/engine/engine.h"

/* The table of a handle; borrowed, as long as the handle is held. */
struct kv_host kv_host_of(KevyDb *db);

#endif
