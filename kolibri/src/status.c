/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The texts of the status list.
 *
 * What a status becomes in Java lives in throw.c.
 */
#include <kolibri/status.h>

const char *kol_status_text(kol_status status)
{
#define STATUS_TEXT(name, value, text)                                                             \
    case name:                                                                                     \
        return text;
    switch (status) {
        KOL_STATUSES(STATUS_TEXT)
    case KOL__STATUS_END:
    default:
        return "unknown status";
    }
#undef STATUS_TEXT
}
