/* text_map.c -- see text_map.h: an open-addressing hash table with linear probing, at most half full. */
#include "base/text_map.h"

#include <string.h>

Status text_map_open(TextMap *m, size_t most, Arena *a, Error *err)
{
    *m = (TextMap){.slots = 2};
    while (m->slots / 2 < most)
        m->slots *= 2;
    m->text = NEW(a, const char *, most);
    m->slot = NEW_ZERO(a, size_t, m->slots);
    return m->text && m->slot ? OK : arena_fail(a, err);
}

/* 64-bit FNV-1a, with the high bits folded into the low ones. */
static uint64_t hash_of(const char *s)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
    return h ^ h >> 32;
}

/* The text's slot, or the free slot where it belongs. */
static size_t slot_of(const TextMap *m, const char *s)
{
    size_t at = hash_of(s) & (m->slots - 1);
    while (m->slot[at] && strcmp(m->text[m->slot[at] - 1], s) != 0)
        at = (at + 1) & (m->slots - 1);
    return at;
}

size_t text_map_number(TextMap *m, const char *s)
{
    const size_t at = slot_of(m, s);
    if (!m->slot[at]) {
        m->text[m->count++] = s;
        m->slot[at] = m->count;
    }
    return m->slot[at] - 1;
}

size_t text_map_find(const TextMap *m, const char *s)
{
    const size_t at = slot_of(m, s);
    return m->slot[at] ? m->slot[at] - 1 : m->count;
}
