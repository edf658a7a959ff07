/* atoms_side.c -- one side of a draw, its number and its indices. */
#include "compress/atoms/atoms_side.h"

#include "base/parallel.h"

#include <math.h>

Status side_open(const Call *c, const AtomDraw *draw, size_t n, AtomSide *side)
{
    const size_t most = n < BLOCK ? n : BLOCK;
    *side = (AtomSide){.draw = draw, .n = n};
    side->room.at = NEW(c->scratch, uint32_t, most);
    side->room.value = NEW(c->scratch, float, most);
    side->index = NEW(c->scratch, size_t, most + 1);
    return side->room.at && side->room.value && side->index ? OK : arena_fail(c->scratch, c->err);
}

size_t side_count_heavy(const AtomSide *side)
{
    size_t count = 0;
    for (size_t b = 0; b < blocks_of(side->n); b++) {
        const AtomPiece p = atoms_kept(side->draw, b, side->room);
        for (size_t i = 0; i < p.count; i++)
            count += fabsf(p.value[i]) > side->draw->tau;
    }
    return count;
}

static const size_t *side_run(const Indices *set, size_t block, size_t *count)
{
    const AtomSide *s = set->data;
    const AtomPiece p = atoms_kept(s->draw, block, s->room);
    const float tau = s->draw->tau;
    size_t k = 0;
    for (size_t i = 0; i < p.count; i++) {
        s->index[k] = block * BLOCK + p.at[i];
        k += (fabsf(p.value[i]) > tau) == s->heavy;
    }
    *count = k;
    return s->index;
}

/* A list, if that takes at most a byte for each atom there is. */
Status side_put(const Call *c, AtomSide *side, bool heavy, size_t count, Buf *out)
{
    const size_t n = side->n, blocks = blocks_of(n);
    const ArenaMark mark = arena_mark(c->scratch);
    size_t *const room = side->index;
    side->heavy = heavy;
    Indices set = {.count = count, .runs = blocks, .data = side, .run = side_run};
    if (count <= n / sizeof *room) {
        size_t *list = NEW(c->scratch, size_t, count + 1), some;
        if (!list)
            return arena_fail(c->scratch, c->err);
        side->index = list;
        for (size_t b = 0; b < blocks; b++, side->index += some)
            side_run(&set, b, &some);
        side->index = room;
        set = indices_list(list, count);
    }
    indices_put(&set, n, out);
    streams_subset(c->streams, n, count);
    arena_rewind(c->scratch, mark);
    return OK;
}

Status sides_apart(const Call *c, const Places *heavy, const Places *light, size_t n)
{
    for (size_t b = 0; b < blocks_of(n) && heavy->count && light->count; b++) {
        size_t l = light->before[b];
        for (size_t h = heavy->before[b]; h < heavy->before[b + 1]; h++) {
            while (l < light->before[b + 1] && light->at[l] < heavy->at[h])
                l++;
            if (l < light->before[b + 1] && light->at[l] == heavy->at[h])
                return payload_bad(c, "atom %zu is there twice", b * BLOCK + heavy->at[h]);
        }
    }
    return OK;
}
