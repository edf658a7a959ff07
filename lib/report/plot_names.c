/* plot_names.c -- implements plot_names.h by linear probing. */
#include "report/plot_names.h"

#include "base/rng.h"

#include <string.h>

Status names_open(Names *out, size_t most, Arena *a, Error *err)
{
    *out = (Names){.slots = 2};
    while (out->slots < 2 * most)
        out->slots *= 2;
    out->name = NEW(a, const char *, most + 1);
    out->slot = NEW_ZERO(a, size_t, out->slots);
    return arena_check(out->name && out->slot, a, err);
}

size_t names_number(Names *names, const char *text)
{
    size_t at = (size_t)rng_hash(text) & (names->slots - 1);
    while (names->slot[at] && strcmp(names->name[names->slot[at] - 1], text) != 0)
        at = (at + 1) & (names->slots - 1);
    if (!names->slot[at]) {
        names->name[names->count++] = text;
        names->slot[at] = names->count;
    }
    return names->slot[at] - 1;
}
