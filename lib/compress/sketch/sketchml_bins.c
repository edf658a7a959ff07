/* sketchml_bins.c -- computes quantiles of the magnitudes of positive elements and of negative elements. The
 * quantiles come from a sorted sample of the nonzero elements: all of them, or one of every `stride`. */
#include "compress/sketch/sketchml_bins.h"

#include "math/radix.h"

#include <math.h>

/* ---- the number of elements of each sign, and their extremes ---- */

typedef struct {
    size_t count[TWO_SIDES];
    float least[TWO_SIDES], most[TWO_SIDES]; /* least and largest magnitudes */
} SideExtent;

typedef struct {
    const float *x;
    size_t n;
    SideExtent *of; /* for each block: the numbers and extremes of its elements of each sign */
    size_t *before; /* for each block: number of non-zero elements in all previous blocks */
    size_t stride, picks;
    float *sample; /* values of the sampled elements */
} SampleJob;

static const SideExtent no_extent = {.least = {INFINITY, INFINITY}};

static void join(SideExtent *a, size_t side, size_t count, float least, float most)
{
    a->count[side] += count;
    a->least[side] = least < a->least[side] ? least : a->least[side];
    a->most[side] = most > a->most[side] ? most : a->most[side];
}

/* Compares magnitudes by their bits as integers, which have the same order; compilers vectorise integer
 * comparisons. */
static void survey_block(void *data, size_t block)
{
    const SampleJob *s = data;
    const float *const x = s->x + block * BLOCK;
    const size_t n = block_size(s->n, block);
    int32_t count[TWO_SIDES] = {0}, least[TWO_SIDES] = {INT32_MAX, INT32_MAX}, most[TWO_SIDES] = {0};
    for (size_t i = 0; i < n; i++) {
        const int32_t up = (int32_t)float_bits(x[i]), down = (int32_t)(float_bits(x[i]) ^ 0x80000000u);
        const int32_t low = up > 0 ? up : INT32_MAX, low_down = down > 0 ? down : INT32_MAX;
        count[ABOVE_ZERO] += up > 0;
        count[BELOW_ZERO] += down > 0;
        least[ABOVE_ZERO] = low < least[ABOVE_ZERO] ? low : least[ABOVE_ZERO];
        least[BELOW_ZERO] = low_down < least[BELOW_ZERO] ? low_down : least[BELOW_ZERO];
        most[ABOVE_ZERO] = up > most[ABOVE_ZERO] ? up : most[ABOVE_ZERO];
        most[BELOW_ZERO] = down > most[BELOW_ZERO] ? down : most[BELOW_ZERO];
    }
    s->of[block] = no_extent;
    for (size_t side = 0; side < TWO_SIDES; side++)
        if (count[side])
            join(&s->of[block], side, (size_t)count[side], bits_float((uint32_t)least[side]),
                 bits_float((uint32_t)most[side]));
}

/* ---- the sample of the elements that are not zero ---- */

/* Returns which of the nonzero elements, counted from 0, is element j of the sample. */
static size_t pick_of(const SampleJob *s, size_t j)
{
    return j * s->stride + rng_mix((uint32_t)j, RNG_STRIDE) % s->stride;
}

static void sample_block(void *data, size_t block)
{
    const SampleJob *s = data;
    const float *const x = s->x + block * BLOCK;
    const size_t n = block_size(s->n, block);
    size_t rank = s->before[block], j = rank / s->stride;
    if (j < s->picks && pick_of(s, j) < rank)
        j++;
    size_t next = j < s->picks ? pick_of(s, j) : SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        if (x[i] != 0 && rank == next) {
            s->sample[j++] = x[i];
            next = j < s->picks ? pick_of(s, j) : SIZE_MAX;
        }
        rank += x[i] != 0;
    }
}

/* ---- the edges of the bins ---- */

/* Sets the edges and values of the bins of one sign; `wanted` > 0 is the wished number of bins. This sign has m
 * sampled elements: upwards from sample[low] for ABOVE_ZERO, downwards from sample[low - 1] for BELOW_ZERO. The
 * caller has set all edges to infinity. */
static void set_edges(QuantileBins *b, size_t side, const float *sample, size_t low, size_t m, size_t wanted,
                      const SideExtent *all)
{
    float *const edge = b->edge[side], last = all->least[side];
    size_t inner = 0;
    for (size_t j = 1; m && j < wanted; j++) {
        const size_t r = m * j / wanted;
        const float e = fabsf(sample[side == ABOVE_ZERO ? low + r : low - 1 - r]);
        if (e > last)
            edge[inner++] = last = e;
    }
    b->bins[side] = inner + 1;
    for (size_t i = 0; i <= inner; i++) {
        const double from = (double)(i ? edge[i - 1] : all->least[side]);
        const double to = (double)(i < inner ? edge[i] : all->most[side]);
        b->value[side][i] = (float)(0.5 * (from + to));
    }
}

/* Divides the bins between the two signs in proportion to their numbers of elements; each sign that occurs gets
 * at least one bin. */
static void share_bins(QuantileBins *b, const float *sample, size_t m, size_t quantiles,
                       const SideExtent *all)
{
    const size_t above = all->count[ABOVE_ZERO], below = all->count[BELOW_ZERO];
    double want = floor((double)quantiles * (double)below / (double)(above + below) + 0.5);
    want = below ? fmax(want, 1) : 0;
    want = above ? fmin(want, (double)quantiles - 1) : want;
    size_t under = 0;
    while (under < m && sample[under] < 0)
        under++;
    for (size_t i = 0; i < BINS_MOST; i++)
        b->edge[ABOVE_ZERO][i] = b->edge[BELOW_ZERO][i] = INFINITY;
    b->bins[ABOVE_ZERO] = b->bins[BELOW_ZERO] = 0;
    if (below)
        set_edges(b, BELOW_ZERO, sample, under, under, (size_t)want, all);
    if (above)
        set_edges(b, ABOVE_ZERO, sample, under, m - under, quantiles - (size_t)want, all);
}

Status quantile_bins_find(QuantileBins *bins, const Call *c, const float *x, size_t quantiles)
{
    const size_t blocks = blocks_of(c->shape->n);
    SampleJob s = {.x = x, .n = c->shape->n};
    SideExtent all = no_extent;
    s.of = NEW(c->scratch, SideExtent, blocks);
    s.before = NEW(c->scratch, size_t, blocks);
    TRY(arena_check(s.of && s.before, c->scratch, c->err));
    parallel_for(c->threads, blocks, survey_block, &s);
    for (size_t k = 0; k < blocks; k++) {
        s.before[k] = all.count[ABOVE_ZERO] + all.count[BELOW_ZERO];
        for (size_t side = 0; side < TWO_SIDES; side++)
            join(&all, side, s.of[k].count[side], s.of[k].least[side], s.of[k].most[side]);
    }
    const size_t total = all.count[ABOVE_ZERO] + all.count[BELOW_ZERO];
    s.stride = total / BIN_SAMPLE + (total % BIN_SAMPLE != 0);
    s.picks = total ? total / s.stride : 0;
    s.sample = NEW(c->scratch, float, s.picks);
    uint32_t *spare = NEW(c->scratch, uint32_t, s.picks);
    TRY(arena_check(s.sample && spare, c->scratch, c->err));
    if (total)
        parallel_for(c->threads, blocks, sample_block, &s);
    TRY(radix_sort(s.sample, s.picks, s.sample, spare, c->threads, c->scratch, c->err));
    if (total)
        share_bins(bins, s.sample, s.picks, quantiles, &all);
    else
        *bins = (QuantileBins){.bins = {0}};
    return OK;
}

/* ---- finding the bin of each element ---- */

/* Returns the bin of magnitude a, which is the number of edges that are at most a. */
static size_t edges_upto(const float *edge, float a)
{
    size_t count = 0;
    for (size_t step = BINS_MOST / 2; step; step /= 2)
        count += edge[count + step - 1] <= a ? step : 0;
    return count;
}

void quantile_bins_index(const QuantileBins *bins, BinIndex *index)
{
    index->steps = 0;
    for (size_t side = 0; side < TWO_SIDES; side++) {
        const float *const edge = bins->edge[side];
        for (uint32_t k = 0; k < BIN_CELLS; k++) {
            const uint32_t first = k << 16, last = first | 0xffff;
            if (first >= 0x7f800000) { /* not a finite float */
                index->bin[side * BIN_CELLS + k] = 0;
                continue;
            }
            const size_t bin = edges_upto(edge, bits_float(first)),
                         more = edges_upto(edge, bits_float(last)) - bin;
            index->bin[side * BIN_CELLS + k] = (uint8_t)bin;
            index->steps = more > index->steps ? more : index->steps;
        }
    }
}

/* if more than STEPS_MOST edges may have to be passed, a bisection over all edges is faster */
enum { STEPS_MOST = 6 };

void quantile_bins_take(const QuantileBins *bins, const BinIndex *index, const float *x, size_t n,
                        uint8_t *bin)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = float_bits(x[i]);
        const float *const edge = bins->edge[bits >> 31];
        const float a = fabsf(x[i]);
        size_t b = index->bin[bits >> 16];
        if (index->steps > STEPS_MOST) {
            b = edges_upto(edge, a);
        } else {
            for (size_t k = 0; k < index->steps; k++)
                b += edge[b] <= a;
        }
        bin[i] = (uint8_t)b;
    }
}
