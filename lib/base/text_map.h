/* text_map.h -- numbers texts in the order of their first appearance. */
#ifndef ATOMO_TEXT_MAP_H
#define ATOMO_TEXT_MAP_H

#include "base/arena.h"

typedef struct {
    const char **text; /* (count), borrowed */
    size_t count;
    size_t *slot, slots; /* a text's number + 1, 0: free; `slots` is a power of two */
} TextMap;

/* Room for at most `most` texts. */
Status text_map_open(TextMap *m, size_t most, Arena *a, Error *err);

size_t text_map_number(TextMap *m, const char *s);     /* a new text gets the next number */
size_t text_map_find(const TextMap *m, const char *s); /* m->count: not in the map */

#endif
