/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Every outcome that Kolibri reports, in one list: name, value, text.
 *
 * 0 is success, a positive value an ordinary outcome, a negative one an error. KOL_EJAVA says that
 * a Java exception is pending: return to Java and it is thrown there, the same object, or take it
 * (throw.h). No other status leaves an exception pending unless its function says so.
 */
#ifndef KOLIBRI_STATUS_H
#define KOLIBRI_STATUS_H

#include <kolibri/config.h>

#define KOL_STATUSES(X)                                                                            \
    X(KOL_OK, 0, "ok")                                                                             \
    X(KOL_GONE, 1, "the object has been collected")                                                \
    X(KOL_NONE, 2, "there is none")                                                                \
    X(KOL_EJAVA, -1, "a Java exception is pending")                                                \
    X(KOL_ENULL, -2, "null where an object is needed")                                             \
    X(KOL_EABSENT, -3, "this optional member does not exist here")                                 \
    X(KOL_EMISSING, -4, "members or native methods are missing")                                   \
    X(KOL_EMISUSE, -5, "called in a way the contract forbids")                                     \
    X(KOL_ENOMEM, -6, "out of memory")                                                             \
    X(KOL_ESMALL, -7, "the buffer is too small")                                                   \
    X(KOL_ETYPE, -8, "the object is of another class")                                             \
    X(KOL_ERANGE, -9, "an index or a size is out of range")                                        \
    X(KOL_EUNLOADED, -10, "the library or its class loader is gone")                               \
    X(KOL_EATTACH, -11, "this thread cannot be attached to the VM")                                \
    X(KOL_EENDED, -12, "the scope has ended")                                                      \
    X(KOL_ERELEASED, -13, "the native object was released")                                        \
    X(KOL_EFORMAT, -14, "the message is damaged or of another version")                            \
    X(KOL_EDEPTH, -15, "the value is nested too deeply")                                           \
    X(KOL_ECYCLE, -16, "the value contains itself")

#define KOL__STATUS_VALUE(name, value, text) name = value,
typedef enum kol_status { KOL_STATUSES(KOL__STATUS_VALUE) KOL__STATUS_END = 100 } kol_status;
#undef KOL__STATUS_VALUE

KOL__C_BEGIN
/* The text of a status, for messages. Constant, never NULL. Any thread. */
const char *kol_status_text(kol_status status);

/*
 * What levels 2 and 3 call when a contract is broken: `where` names the function ("C.c"), `what`
 * says how; both constant. Without a hook it is one line on stderr. The hook may abort; it must not
 * call Java. Any thread; one hook for the library, NULL takes it away.
 */
typedef void (*kol_misuse_hook)(const char *where, const char *what, void *user);
void kol_on_misuse(kol_misuse_hook hook, void *user);
KOL__C_END

#endif
