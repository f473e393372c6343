/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a container or an array is, however it was encoded: where its elements lie, how many there
 * are, and of what kind. Readers' rooms only; writers have levels (tagged_writer.h).
 */
#ifndef KOLIBRI_SRC_TAGGED_RUN_H
#define KOLIBRI_SRC_TAGGED_RUN_H

#include "kolibri/src/tagged_format.h"

#include <kolibri/tagged_read.h>

enum { RUN_RECORD = KIND_END };

struct run {
    const uint8_t *at;
    size_t count;
    unsigned kind; /* block_kind or RUN_RECORD; 0: no container, and count is 0 */
    const struct kol_shape *shape;
};

KOL__HIDDEN struct run kol__run_of(struct kol_value value);

/* An element of an array of numbers as a slot. */
KOL__HIDDEN uint64_t kol__element_slot(const struct kol_reader *reader, const struct run *run,
                                       size_t index);

#endif
