/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Kolibri: JNI at the price of raw JNI, with a net you can take off. This page is the tour.
 *
 * 1. Java classes are C types (class.h). You write a class's members once, as a list of rows, and
 *    get one typed C function a row. A wrong class, an ignored exception, a member that does not
 *    exist are compile errors, or one list when the library loads.
 * 2. Java calls C (native.h). You write the native methods of a class once, and get prototypes,
 *    trampolines and registration. A C object behind a Java one is a `struct yours *` in C and a
 *    subclass of io.kolibri.NativeObject in Java; calling a closed one is an exception, never a
 *    crash.
 * 3. Loading and threads (env.h): kol_load in JNI_OnLoad, attach scopes for C threads.
 * 4. Text is exact (text.h), arrays and buffers are typed and checked (array.h), exceptions cross
 *    in both directions without losing anything (throw.h). Going through a collection costs one
 *    JNI call an element (walk.h). JDK classes are declared in jdk.h, which this header leaves out.
 * 5. Lifetimes: globals and weak references (class.h), local frames (env.h), native objects and
 *    what keeps them (object.h), scopes of C objects (scope.h).
 * 6. Where crossings are many: static bridges and int handles (bridge.h), many operations in one
 *    crossing (commands.h), fields of a native object that Java reads without a call
 *    (NativeObject.publish).
 * 7. Whole values in one message: tagged.h builds and reads them, in memory that both sides see
 *    (shared_buffer.h).
 *
 * Every function that can fail returns a kol_status that must be used (status.h). KOL_CHECK chooses
 * how much is checked (config.h). Our own verbs begin with two underscores (T__keep), so they never
 * collide with a Java member's name.
 */
#ifndef KOLIBRI_KOLIBRI_H
#define KOLIBRI_KOLIBRI_H

#include <kolibri/array.h>
#include <kolibri/bridge.h>
#include <kolibri/class.h>
#include <kolibri/commands.h>
#include <kolibri/config.h>
#include <kolibri/env.h>
#include <kolibri/native.h>
#include <kolibri/object.h>
#include <kolibri/scope.h>
#include <kolibri/shared_buffer.h>
#include <kolibri/stats.h>
#include <kolibri/status.h>
#include <kolibri/tagged.h>
#include <kolibri/text.h>
#include <kolibri/throw.h>
#include <kolibri/walk.h>

#endif
