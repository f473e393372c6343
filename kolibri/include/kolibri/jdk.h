/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Handles and members of the JDK classes that C code meets most: collections, boxes, strings,
 * throwables, buffers. Not part of kolibri.h, so that you may declare any of these yourself.
 *
 * Write KOL_JDK_DEFINE in one .c file of your program, and load the tables you use:
 *
 *     static const struct kol_members *const tables[] = {KOL_JDK_TABLES};
 *     kol_class_load(env, tables, sizeof tables / sizeof *tables, report, sizeof report);
 *
 * For going through a whole collection there is walk.h: about one JNI call an element.
 *
 * More members of one of these classes are a list of your own: KOL_MEMBERS(java_util_List,
 * MY_LIST).
 */
#ifndef KOLIBRI_JDK_H
#define KOLIBRI_JDK_H

#include <kolibri/array.h>

KOL_HANDLE(java_lang_String, "java/lang/String", java_lang_Object)
KOL_HANDLE(java_lang_Class, "java/lang/Class", java_lang_Object)
KOL_HANDLE(java_lang_Throwable, "java/lang/Throwable", java_lang_Object)
KOL_HANDLE(java_lang_Runnable, "java/lang/Runnable", java_lang_Object)
KOL_HANDLE(java_lang_Number, "java/lang/Number", java_lang_Object)
KOL_HANDLE(java_lang_Boolean, "java/lang/Boolean", java_lang_Object)
KOL_HANDLE(java_lang_Character, "java/lang/Character", java_lang_Object)
KOL_HANDLE(java_lang_Byte, "java/lang/Byte", java_lang_Number)
KOL_HANDLE(java_lang_Short, "java/lang/Short", java_lang_Number)
KOL_HANDLE(java_lang_Integer, "java/lang/Integer", java_lang_Number)
KOL_HANDLE(java_lang_Long, "java/lang/Long", java_lang_Number)
KOL_HANDLE(java_lang_Float, "java/lang/Float", java_lang_Number)
KOL_HANDLE(java_lang_Double, "java/lang/Double", java_lang_Number)
KOL_HANDLE(java_lang_Void, "java/lang/Void", java_lang_Object)
KOL_HANDLE(java_nio_ByteBuffer, "java/nio/ByteBuffer", java_lang_Object)
KOL_HANDLE(java_util_Iterator, "java/util/Iterator", java_lang_Object)
KOL_HANDLE(java_util_Collection, "java/util/Collection", java_lang_Object)
KOL_HANDLE(java_util_List, "java/util/List", java_util_Collection)
KOL_HANDLE(java_util_Set, "java/util/Set", java_util_Collection)
KOL_HANDLE(java_util_Map, "java/util/Map", java_lang_Object)
KOL_HANDLE(java_util_Map_Entry, "java/util/Map$Entry", java_lang_Object)
KOL_HANDLE(java_util_ArrayList, "java/util/ArrayList", java_util_List)
KOL_HANDLE(java_util_HashMap, "java/util/HashMap", java_util_Map)
KOL_HANDLE(java_util_HashSet, "java/util/HashSet", java_util_Set)

#define KOL_JAVA_LANG_OBJECT(X, C)                                                                 \
    X(C, F0, throws, java_lang_String, toString, "toString")                                       \
    X(C, F0, throws, jint, hashCode, "hashCode")                                                   \
    X(C, F1, throws, jboolean, equals, "equals", java_lang_Object)
#define KOL_JAVA_LANG_CLASS(X, C) X(C, F0, throws, java_lang_String, getName, "getName")
#define KOL_JAVA_LANG_THROWABLE(X, C)                                                              \
    X(C, F0, throws, java_lang_String, getMessage, "getMessage")                                   \
    X(C, F0, throws, java_lang_Throwable, getCause, "getCause")                                    \
    X(C, F1, throws, java_lang_Throwable, initCause, "initCause", java_lang_Throwable)             \
    X(C, P1, throws, addSuppressed, "addSuppressed", java_lang_Throwable)
#define KOL_JAVA_LANG_RUNNABLE(X, C) X(C, P0, throws, run, "run")
#define KOL_JAVA_LANG_NUMBER(X, C)                                                                 \
    X(C, F0, throws, jint, intValue, "intValue")                                                   \
    X(C, F0, throws, jlong, longValue, "longValue")                                                \
    X(C, F0, throws, jfloat, floatValue, "floatValue")                                             \
    X(C, F0, throws, jdouble, doubleValue, "doubleValue")
/* A box: valueOf shares small values, as Java's own boxing does. */
#define KOL_JAVA_LANG_BOOLEAN(X, C)                                                                \
    X(C, SF1, throws, C, valueOf, "valueOf", jboolean)                                             \
    X(C, F0, nothrow, jboolean, value, "booleanValue")
#define KOL_JAVA_LANG_CHARACTER(X, C)                                                              \
    X(C, SF1, throws, C, valueOf, "valueOf", jchar)                                                \
    X(C, F0, nothrow, jchar, value, "charValue")
#define KOL_JAVA_LANG_BYTE(X, C)                                                                   \
    X(C, SF1, throws, C, valueOf, "valueOf", jbyte)                                                \
    X(C, F0, nothrow, jbyte, value, "byteValue")
#define KOL_JAVA_LANG_SHORT(X, C)                                                                  \
    X(C, SF1, throws, C, valueOf, "valueOf", jshort)                                               \
    X(C, F0, nothrow, jshort, value, "shortValue")
#define KOL_JAVA_LANG_INTEGER(X, C)                                                                \
    X(C, SF1, throws, C, valueOf, "valueOf", jint)                                                 \
    X(C, F0, nothrow, jint, value, "intValue")
#define KOL_JAVA_LANG_LONG(X, C)                                                                   \
    X(C, SF1, throws, C, valueOf, "valueOf", jlong)                                                \
    X(C, F0, nothrow, jlong, value, "longValue")
#define KOL_JAVA_LANG_FLOAT(X, C)                                                                  \
    X(C, SF1, throws, C, valueOf, "valueOf", jfloat)                                               \
    X(C, F0, nothrow, jfloat, value, "floatValue")
#define KOL_JAVA_LANG_DOUBLE(X, C)                                                                 \
    X(C, SF1, throws, C, valueOf, "valueOf", jdouble)                                              \
    X(C, F0, nothrow, jdouble, value, "doubleValue")
#define KOL_JAVA_UTIL_ITERATOR(X, C)                                                               \
    X(C, F0, throws, jboolean, hasNext, "hasNext")                                                 \
    X(C, F0, throws, java_lang_Object, next, "next")
#define KOL_JAVA_UTIL_COLLECTION(X, C)                                                             \
    X(C, F0, throws, jint, size, "size")                                                           \
    X(C, F1, throws, jboolean, add, "add", java_lang_Object)                                       \
    X(C, F1, throws, jboolean, contains, "contains", java_lang_Object)                             \
    X(C, F1, throws, jboolean, remove, "remove", java_lang_Object)                                 \
    X(C, P0, throws, clear, "clear")                                                               \
    X(C, F0, throws, java_util_Iterator, iterator, "iterator")                                     \
    X(C, F0, throws, java_lang_Object__array, toArray, "toArray")
#define KOL_JAVA_UTIL_LIST(X, C)                                                                   \
    X(C, F1, throws, java_lang_Object, get, "get", jint)                                           \
    X(C, F2, throws, java_lang_Object, set, "set", jint, java_lang_Object)
#define KOL_JAVA_UTIL_MAP(X, C)                                                                    \
    X(C, F0, throws, jint, size, "size")                                                           \
    X(C, F1, throws, java_lang_Object, get, "get", java_lang_Object)                               \
    X(C, F2, throws, java_lang_Object, put, "put", java_lang_Object, java_lang_Object)             \
    X(C, F1, throws, java_lang_Object, remove, "remove", java_lang_Object)                         \
    X(C, F1, throws, jboolean, containsKey, "containsKey", java_lang_Object)                       \
    X(C, P0, throws, clear, "clear")                                                               \
    X(C, F0, throws, java_util_Set, keySet, "keySet")                                              \
    X(C, F0, throws, java_util_Collection, values, "values")                                       \
    X(C, F0, throws, java_util_Set, entrySet, "entrySet")
#define KOL_JAVA_UTIL_MAP_ENTRY(X, C)                                                              \
    X(C, F0, throws, java_lang_Object, getKey, "getKey")                                           \
    X(C, F0, throws, java_lang_Object, getValue, "getValue")
#define KOL_JAVA_UTIL_ARRAYLIST(X, C)                                                              \
    X(C, N0, throws, make, "<init>")                                                               \
    X(C, N1, throws, of_capacity, "<init>", jint)
#define KOL_JAVA_UTIL_HASHMAP(X, C)                                                                \
    X(C, N0, throws, make, "<init>")                                                               \
    X(C, N1, throws, of_capacity, "<init>", jint)
#define KOL_JAVA_UTIL_HASHSET(X, C) X(C, N0, throws, make, "<init>")

/* Every class with its list, for declaring, defining and naming the tables. */
#define KOL__JDK(Y)                                                                                \
    Y(java_lang_Object, KOL_JAVA_LANG_OBJECT)                                                      \
    Y(java_lang_Class, KOL_JAVA_LANG_CLASS)                                                        \
    Y(java_lang_Throwable, KOL_JAVA_LANG_THROWABLE)                                                \
    Y(java_lang_Runnable, KOL_JAVA_LANG_RUNNABLE)                                                  \
    Y(java_lang_Number, KOL_JAVA_LANG_NUMBER)                                                      \
    Y(java_lang_Boolean, KOL_JAVA_LANG_BOOLEAN)                                                    \
    Y(java_lang_Character, KOL_JAVA_LANG_CHARACTER)                                                \
    Y(java_lang_Byte, KOL_JAVA_LANG_BYTE)                                                          \
    Y(java_lang_Short, KOL_JAVA_LANG_SHORT)                                                        \
    Y(java_lang_Integer, KOL_JAVA_LANG_INTEGER)                                                    \
    Y(java_lang_Long, KOL_JAVA_LANG_LONG)                                                          \
    Y(java_lang_Float, KOL_JAVA_LANG_FLOAT)                                                        \
    Y(java_lang_Double, KOL_JAVA_LANG_DOUBLE)                                                      \
    Y(java_util_Iterator, KOL_JAVA_UTIL_ITERATOR)                                                  \
    Y(java_util_Collection, KOL_JAVA_UTIL_COLLECTION)                                              \
    Y(java_util_List, KOL_JAVA_UTIL_LIST)                                                          \
    Y(java_util_Map, KOL_JAVA_UTIL_MAP)                                                            \
    Y(java_util_Map_Entry, KOL_JAVA_UTIL_MAP_ENTRY)                                                \
    Y(java_util_ArrayList, KOL_JAVA_UTIL_ARRAYLIST)                                                \
    Y(java_util_HashMap, KOL_JAVA_UTIL_HASHMAP)                                                    \
    Y(java_util_HashSet, KOL_JAVA_UTIL_HASHSET)

#define KOL__JDK_TABLE(C, LIST) &LIST##__members,
KOL__JDK(KOL_MEMBERS)

/* Defines all tables above, in one .c file; and names them for kol_class_load. */
#define KOL_JDK_DEFINE KOL__JDK(KOL_MEMBERS_DEFINE)
#define KOL_JDK_TABLES KOL__JDK(KOL__JDK_TABLE)

#endif
