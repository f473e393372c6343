/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A doubly linked list whose links lie inside the things it holds.
 *
 *   struct list    the head: a circle of links with no owner
 *      +-> link in thing A <-> link in thing B <-+
 *      +-----------------------------------------+
 *
 * Adding and removing cost a few stores and need no memory. A link that is in
 * no list points at itself, so removing it twice is harmless.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *next;
    struct list *prev;
};

/* The thing of `type` whose field `member` is the link at `link`. */
#define LIST_OWNER(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

/* Walks the links from oldest to newest; the current one must stay in the list. */
#define LIST_EACH(link, head)                                                                      \
    for (struct list *link = (head)->next; link != (head); link = link->next)

/* Makes an empty list, or a link that is in no list. */
static inline void list_init(struct list *list)
{
    list->next = list;
    list->prev = list;
}

static inline bool list_is_empty(const struct list *list)
{
    return list->next == list;
}

/* Adds a link behind the newest. It is in no list. */
static inline void list_add(struct list *list, struct list *link)
{
    link->next = list;
    link->prev = list->prev;
    list->prev->next = link;
    list->prev = link;
}

/* Takes a link out of whatever list it is in. */
static inline void list_remove(struct list *link)
{
    link->next->prev = link->prev;
    link->prev->next = link->next;
    list_init(link);
}

#endif
