/* text_map.h -- texts by number: each new one has the next, in the order of their first appearance. */
#ifndef ATOMO_TEXT_MAP_H
#define ATOMO_TEXT_MAP_H

#include "base/arena.h"

typedef struct {
    const char **text; /* (count), borrowed */
    size_t count;
    size_t *slot, slots; /* a text's number and 1, 0 where there is none; slots is a power of two */
} TextMap;

/* For at most so many texts. */
Status text_map_open(TextMap *m, size_t most, Arena *a, Error *err);

size_t text_map_number(TextMap *m, const char *s);     /* a new text is taken up */
size_t text_map_find(const TextMap *m, const char *s); /* count: it is none of them */

#endif
