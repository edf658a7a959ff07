/* compare_distance.c -- Wasserstein distances between gradient and estimate, of one vector and of several
 * vectors joined. Only the first repeats are measured, to save time and memory (compare_parts.h). */
#include "measure/compare_parts.h"

#include "math/radix.h"

#include <string.h>

enum {
    SORTED_MOST = 1 << 22
}; /* in elements; for a longer vector, a sorted copy would take too much memory */
/* Sorting takes most of the time of a comparison. So only so many repeats are sorted that they have ELEMENTS
 * elements together, but at least DISTANCES_LEAST. Distances of many elements vary little between repeats. */
enum { ELEMENTS = 1 << 23, DISTANCES_LEAST = 5 };
/* limits the memory for estimates: for a thousand repeats they would take gigabytes even for a small dump */
enum { PLANES_MOST = 100 };

/* Returns the number of repeats for which the distance over n elements is measured. */
static size_t distances_of(size_t n, size_t repeats)
{
    const size_t wanted = n <= ELEMENTS / DISTANCES_LEAST ? ELEMENTS / (n ? n : 1) : DISTANCES_LEAST;
    return wanted < repeats ? wanted : repeats;
}

Status distances_make(Buffers *b, const Comparison *c, size_t held, Arena *a, Error *err)
{
    const size_t largest = c->vectors->largest;
    uint64_t left = c->memory / sizeof(float);
    b->held = held;
    b->planes = 1;
    b->distances = measures_distances(c);
    if (b->distances && c->repeats > 1 && left / 2 >= largest && largest <= SORTED_MOST) {
        b->sorted = NEW(a, float, largest);
        left -= 2 * largest;
        TRY(arena_check(b->sorted, a, err));
    }
    if (!held)
        return OK;
    const uint64_t wanted = distances_of(held, c->repeats),
                   most = wanted < PLANES_MOST ? wanted : PLANES_MOST;
    /* `pool_x`, the sort's buffer and each plane (the estimates of one repeat) take `held` floats each */
    if (b->sorted && left / held > 3)
        b->planes = (size_t)(left / held - 2 < most ? left / held - 2 : most);
    b->pool_x = NEW(a, float, held);
    if (b->distances)
        b->pool_y = arena_take(a, b->planes, held * sizeof *b->pool_y);
    return arena_check(b->pool_x && (b->pool_y || !b->distances), a, err);
}

static void add(Tally *t, double w1)
{
    t->wasserstein = t->distances.n ? t->wasserstein : w1;
    t->distance[t->distances.n] = w1;
    moments_add(&t->distances, w1);
}

Status distance_first(const MeasuredVector *s, const Buffers *b, float *y, Tally *t)
{
    double w1;
    if (s->n == 0 || b->sorted || !b->distances)
        return OK;
    TRY(radix_wasserstein(s->x, y, s->n, b->work, s->threads, &w1, s->scratch, s->err));
    add(t, w1);
    return OK;
}

Status distance_repeat(const MeasuredVector *s, const Buffers *b, size_t r, float *y, Tally *t)
{
    double w1;
    if (s->n == 0 || !b->sorted || r >= distances_of(s->n, t->decoded))
        return OK;
    const ArenaMark mark = arena_mark(s->scratch);
    uint32_t *spare = NEW(s->scratch, uint32_t, s->n);
    TRY(arena_check(spare, s->scratch, s->err));
    if (r == 0)
        TRY(radix_sort(s->x, s->n, b->sorted, spare, s->threads, s->scratch, s->err));
    TRY(radix_sort(y, s->n, y, spare, s->threads, s->scratch, s->err));
    TRY(radix_mean_gap(b->sorted, y, s->n, s->threads, &w1, s->scratch, s->err));
    arena_rewind(s->scratch, mark);
    add(t, w1);
    return OK;
}

void distance_pool(const Trial *t, const Buffers *b, const Tally *tally, size_t r, const float *y)
{
    const size_t to = tally->decoded == 1 ? b->planes : r + 1;
    for (size_t plane = r; t->pooled && plane < to && plane < b->planes; plane++)
        memcpy(t->pooled + plane * b->held, y, t->vector->shape.n * sizeof *y);
}

Status distance_pooled(const Buffers *b, size_t begin, size_t n, int threads, Tally *t, Error *err)
{
    Arena *a = b->scratch;
    const ArenaMark mark = arena_mark(a);
    const size_t planes = t->decoded < b->planes ? t->decoded : b->planes;
    uint32_t *spare = NEW(a, uint32_t, n);
    TRY(arena_check(spare, a, err));
    t->distances = (Moments){0};
    TRY(radix_sort(b->pool_x + begin, n, b->pool_x + begin, spare, threads, a, err));
    for (size_t plane = 0; plane < planes; plane++) {
        float *y = b->pool_y + plane * b->held + begin;
        double w1;
        TRY(radix_sort(y, n, y, spare, threads, a, err));
        TRY(radix_mean_gap(b->pool_x + begin, y, n, threads, &w1, a, err));
        add(t, w1);
    }
    arena_rewind(a, mark);
    return OK;
}
