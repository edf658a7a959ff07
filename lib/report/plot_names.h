/* plot_names.h -- numbers texts from 0 in the order of their first appearance, through a hash table. */
#ifndef ATOMO_PLOT_NAMES_H
#define ATOMO_PLOT_NAMES_H

#include "base/arena.h"

typedef struct {
    size_t count;
    const char **name; /* (count) the texts, not copied */
    size_t *slot;      /* (slots) number of the text + 1; 0: free */
    size_t slots;      /* a power of two, at least twice `most` */
} Names;

/* Opens a table for at most `most` different texts. */
Status names_open(Names *out, size_t most, Arena *a, Error *err);

/* Returns the number of a text, which is names->count - 1 after its first call. The text must live as long as
 * the table. */
size_t names_number(Names *names, const char *text);

#endif
