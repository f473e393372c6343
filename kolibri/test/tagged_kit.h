/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * For the tests of tagged values: the notation of docs/tagged-format.md section 9 both ways, vector
 * files, and memory that counts and fails.
 */
#ifndef KOLIBRI_TEST_TAGGED_KIT_H
#define KOLIBRI_TEST_TAGGED_KIT_H

#include <kolibri/tagged.h>

#include <stdio.h>

/* The notation of a value, with a NUL. Yours; free it. */
char *tagged_print(struct kol_value value);

/*
 * Writes the value that a text denotes; returns where the text goes on, NULL if it is no notation.
 * With a table of shapes objects are written as records where that is possible.
 */
const char *tagged_parse(struct kol_writer *writer, const char *text, struct kol_shapes *shapes);

/* One record of a vector file. The texts point into the vector; bytes are 8-aligned. */
struct vector {
    char name[128];
    char *want; /* a value in the notation, or the name of a status */
    int is_error;
    char problem[320]; /* of an error: what is wrong, and where */
    uint8_t *bytes;
    size_t size;
};

/* The next record of a vector file; 0 at its end. */
int vector_next(FILE *file, struct vector *out);
void vector_free(struct vector *vector);
FILE *vector_file(const char *source_dir, const char *name);

/* Memory that counts what it gives out; the allocation numbered `fail_at` fails. */
struct counted {
    struct kol_memory memory;
    size_t taken;   /* allocations so far */
    size_t live;    /* blocks not freed */
    size_t fail_at; /* 0: never */
    size_t largest;
};
void counted_init(struct counted *counted, size_t fail_at);

/* An 8-aligned copy of exactly `size` bytes, so that a sanitizer sees reads past its end. */
uint8_t *exact_copy(const void *bytes, size_t size);

#endif
