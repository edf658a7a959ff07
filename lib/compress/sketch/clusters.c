/* clusters.c -- clusters a gradient's values by sign and magnitude, and divides buckets between the clusters
 * (clusters.h). */
#include "compress/sketch/clusters.h"
#include "math/log_series.h"
#include "math/radix.h"
#include "math/stats.h"
#include "base/parallel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- clusters of scalars: k-means++ (Arthur and Vassilvitskii 2007), then Lloyd's iteration.
 *
 * The numbers are sorted. So each cluster is a range of them, and prefix sums give its mean, which makes
 * both algorithms fast. All decisions are computed with additions, multiplications and divisions only, so
 * every machine finds the same centres. */

/* Returns how many of the n sorted numbers x are less than or equal to `value`. */
static size_t count_upto(const float *x, size_t n, double value)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if ((double)x[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- seeds (the first centres): the first is a number of x drawn uniformly, each later one is drawn with a
 * probability proportional to its squared distance to the nearest seed so far ---- */

/* Updates square[i], the squared distance of x_i to its nearest seed, for a new seed. Returns the sum of
 * square[]. */
static double seed_approach(const float *x, size_t n, double seed, double *square)
{
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        const double gap = (double)x[i] - seed, own = gap * gap;
        square[i] = own < square[i] ? own : square[i];
        total += square[i];
    }
    return total;
}

/* Returns the index at which the running sum of square[] passes `target`. The result is never the index of a
 * seed, because a seed has square[i] = 0. */
static size_t seed_draw(const double *square, size_t n, double target)
{
    size_t last = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (square[i] <= 0)
            continue;
        last = i;
        sum += square[i];
        if (sum > target)
            break;
    }
    return last;
}

static size_t seeds_choose(const float *x, size_t n, size_t k, const Rng *rng, double *seed, double *square)
{
    size_t chosen = 1;
    for (size_t i = 0; i < n; i++)
        square[i] = 0x1p1000;
    seed[0] = (double)x[(size_t)(rng_unit(rng, USE_ATOM, 0) * (double)n)];
    for (double left = seed_approach(x, n, seed[0], square); chosen < k && left > 0; chosen++) {
        seed[chosen] = (double)x[seed_draw(square, n, rng_unit(rng, USE_ATOM, chosen) * left)];
        left = seed_approach(x, n, seed[chosen], square);
    }
    return chosen;
}

/* most rounds of Lloyd's iteration; the centres usually stop moving after a few tens of rounds */
enum { KMEANS_ROUNDS = 100 };

/* Moves each centre to the mean of the numbers that are nearest to it. Returns false if no centre moved.
 * before[i] is the sum of the first i numbers. */
static bool move_centres(const float *x, size_t n, const double *before, double *centre, size_t k)
{
    bool moved = false;
    for (size_t j = 0, from = 0; j < k; j++) {
        const size_t to = j + 1 < k ? count_upto(x, n, centre[j] / 2 + centre[j + 1] / 2) : n;
        if (to > from) {
            const double mean = (before[to] - before[from]) / (double)(to - from);
            moved |= mean != centre[j];
            centre[j] = mean;
            from = to;
        }
    }
    return moved;
}

/* Finds up to k centres of the n numbers x, in rising order. x must be sorted and not negative. If x has
 * fewer than k different values, each of them is a centre. A number belongs to the nearest centre, or to the
 * lower of two equally near ones. Each centre is the mean of its numbers, unless the iteration stopped after
 * KMEANS_ROUNDS. Returns the number of centres; SIZE_MAX: out of memory. */
static size_t kmeans_line(const float *x, size_t n, size_t k, const Rng *rng, double *centre, Arena *scratch)
{
    if (n == 0 || k == 0)
        return 0;
    const ArenaMark mark = arena_mark(scratch);
    double *before = NEW(scratch, double, n + 1), *square = NEW(scratch, double, n);
    if (!before || !square)
        return SIZE_MAX;
    before[0] = 0;
    for (size_t i = 0; i < n; i++)
        before[i + 1] = before[i] + (double)x[i];
    k = seeds_choose(x, n, k, rng, centre, square);
    stats_sort(centre, k);
    for (int round = 0; round < KMEANS_ROUNDS && move_centres(x, n, before, centre, k); round++)
        ;
    arena_rewind(scratch, mark);
    return k;
}

/* ---- clustering the values of one sign ---- */

/* The magnitudes of the sample's values of one sign (x <= 0 or x > 0), in rising order, and their clusters. */
typedef struct {
    const float *value;
    size_t n, all; /* n: number of values of this sign; all: number of values in the whole sample */
    float centre[SIDE_MOST];
    size_t clusters;
} ClusterSide;

static double percentile_of(const float *value, size_t n, double percent)
{
    const double at = (double)(n - 1) * (percent / 100);
    const size_t k = (size_t)at;
    const double low = (double)value[k], high = (double)value[k + 1 < n ? k + 1 : k];
    return low + (at - (double)k) * (high - low);
}

/* Returns the entropy H in bits of a histogram of the values with `bins` equally wide bins. With c the count
 * of a bin, n H = n log2 n - sum of c log2 c. `count` (bins) is scratch memory. */
static double entropy_of(const float *value, size_t n, size_t bins, size_t *count)
{
    if (n == 0 || !(value[n - 1] > value[0]))
        return 0;
    const double low = (double)value[0], width = (double)value[n - 1] - low;
    memset(count, 0, bins * sizeof *count);
    for (size_t i = 0; i < n; i++) {
        const size_t bin = (size_t)(((double)value[i] - low) / width * (double)bins);
        count[bin < bins ? bin : bins - 1]++;
    }
    double sum = 0;
    for (size_t b = 0; b < bins; b++)
        if (count[b])
            sum += (double)count[b] * log2_whole(count[b]);
    const double h = log2_whole(n) - sum / (double)n;
    return h > 0 ? h : 0;
}

/* Two centres that are the same float32 count once. */
static void add_centre(ClusterSide *s, double centre)
{
    const float c = (float)centre;
    if (!s->clusters || c > s->centre[s->clusters - 1])
        s->centre[s->clusters++] = c;
}

/* Finds the centres of one sign's clusters. One centre is a percentile of the magnitudes; k-means finds the
 * other centres from the smaller magnitudes. If only one cluster is allowed, or no magnitude is below the
 * percentile, k-means uses all magnitudes. */
static Status find_centres(ClusterSide *s, const ClusterSpec *spec, const Rng *rng, Arena *scratch,
                           Error *err)
{
    double centre[SIDE_MOST];
    const double top = s->n ? percentile_of(s->value, s->n, spec->percentile) : 0;
    const size_t under = spec->clusters > 1 ? count_upto(s->value, s->n, nextafter(top, -INFINITY)) : 0;
    const size_t k =
        kmeans_line(s->value, under ? under : s->n, spec->clusters - (under > 0), rng, centre, scratch);
    if (k == SIZE_MAX)
        return arena_fail(scratch, err);
    s->clusters = 0;
    for (size_t j = 0; j < k; j++)
        add_centre(s, centre[j]);
    if (under || !k)
        add_centre(s, top);
    return OK;
}

/* Returns (a + b) / 2, rounded down to a float. */
static float middle_of(float a, float b)
{
    const double middle = (double)a / 2 + (double)b / 2;
    const float near = (float)middle;
    return (double)near > middle ? nextafterf(near, 0) : near;
}

/* Enters the clusters of one sign into the model: those of x <= 0 in front, from the lowest centre on. */
static void enter(const ClusterSide *s, bool below, size_t bins, size_t *count, ClusterModel *m, ClusterStats *stats)
{
    *(below ? &m->minus : &m->plus) = (uint32_t)s->clusters;
    for (size_t j = 0, from = 0; j < s->clusters; j++) {
        const size_t at = below ? s->clusters - 1 - j : m->minus + j;
        const size_t to = j + 1 < s->clusters
                              ? count_upto(s->value, s->n, (double)middle_of(s->centre[j], s->centre[j + 1]))
                              : s->n;
        m->cluster[at] = (Cluster){s->centre[j] > 0 ? below ? -s->centre[j] : s->centre[j] : 0, 0};
        stats->share[at] = (double)(to - from) / (double)s->all;
        stats->entropy[at] = entropy_of(s->value + from, to - from, bins, count);
        from = to;
    }
}

/* ---- the sample to learn from ---- */

/* Draws with replacement: each value is x[floor(n u)], where u is uniform in [0, 1). */
static void draw_sample(const float *x, size_t n, size_t sample, const Rng *rng, float *value)
{
    for (size_t from = 0; from < sample; from += BLOCK) {
        const RngKey key = rng_key(rng, USE_SAMPLE, from / BLOCK);
        const size_t to = sample - from < BLOCK ? sample : from + BLOCK;
        for (size_t i = from; i < to; i++) {
            const uint32_t at = (uint32_t)(i - from);
            const uint64_t u = (uint64_t)rng_word(&key, at) << 32 | rng_word_more(&key, at);
            value[i] = x[(size_t)((unsigned __int128)u * n >> 64)];
        }
    }
}

static Status take_sample(const ClusterSpec *spec, const float *x, size_t n, const Rng *rng, float **value,
                          size_t *count, Arena *scratch, Error *err)
{
    *count = n > spec->sample ? spec->sample : n;
    *value = NEW(scratch, float, *count);
    uint32_t *spare = NEW(scratch, uint32_t, *count);
    TRY(arena_check(*value && spare, scratch, err));
    if (n > spec->sample)
        draw_sample(x, n, *count, rng, *value);
    else if (n)
        memcpy(*value, x, n * sizeof *x);
    return radix_sort(*value, *count, *value, spare, 1, scratch, err);
}

/* Replaces the n values, which are <= 0 and rise, by their magnitudes in rising order. */
static void turn_round(float *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        value[i] = fabsf(value[i]);
    for (size_t i = 0; i < n / 2; i++) {
        const float other = value[i];
        value[i] = value[n - 1 - i];
        value[n - 1 - i] = other;
    }
}

Status clusters_train(ClusterModel *m, ClusterStats *s, const ClusterSpec *spec, const float *x, size_t n,
                      const Rng *rng, Arena *scratch, Error *err)
{
    const ArenaMark mark = arena_mark(scratch);
    float *value;
    size_t all, *count = NEW(scratch, size_t, spec->bins);
    ClusterSide side;
    TRY(arena_check(count, scratch, err));
    assert(spec->clusters >= 1 && spec->clusters <= SIDE_MOST);
    TRY(take_sample(spec, x, n, rng, &value, &all, scratch, err));
    const size_t minus = count_upto(value, all, 0);
    turn_round(value, minus);
    for (uint64_t k = 0; k < 2; k++) {
        const Rng own = rng_below(rng, k);
        side = (ClusterSide){
            .value = value + (k ? minus : 0), .n = k ? all - minus : minus, .all = all ? all : 1};
        TRY(find_centres(&side, spec, &own, scratch, err));
        enter(&side, k == 0, spec->bins, count, m, s);
    }
    arena_rewind(scratch, mark);
    return OK;
}

/* ---- buckets ---- */

/* Rounds the cumulative sums of the clusters' shares, so that the numbers of buckets add up to exactly the
 * budget. */
void clusters_share(ClusterModel *m, const double *weight, uint64_t budget)
{
    const size_t clusters = cluster_model_clusters(m);
    const uint64_t rest = budget > clusters ? budget - clusters : 0;
    double total = 0, sum = 0;
    for (size_t j = 0; j < clusters; j++)
        total += weight[j];
    uint64_t given = 0;
    for (size_t j = 0; j < clusters; j++) {
        sum += total > 0 ? weight[j] : 1;
        uint64_t upto = (uint64_t)((double)rest * (sum / (total > 0 ? total : (double)clusters)) + 0.5);
        if (j + 1 == clusters || upto > rest)
            upto = rest;
        m->cluster[j].buckets = (uint32_t)(1 + upto - given);
        given = upto;
    }
}

bool cluster_model_good(const ClusterModel *m)
{
    if (m->minus < 1 || m->minus > SIDE_MOST || m->plus < 1 || m->plus > SIDE_MOST)
        return false;
    for (size_t j = 0; j < cluster_model_clusters(m); j++) {
        const float c = m->cluster[j].centre;
        const bool below = j < m->minus, first = j == 0 || j == m->minus;
        if (!isfinite(c) || (c == 0 && signbit(c)) || (below ? c > 0 : c < 0) || !m->cluster[j].buckets ||
            (!first && m->cluster[j - 1].centre >= c))
            return false;
    }
    return true;
}

/* For x <= 0, a value halfway between two centres belongs to the upper cluster, so above[j] is the next float below that
 * value. */
void cluster_model_thresholds(const ClusterModel *m, float *above)
{
    for (size_t j = 0; j + 1 < cluster_model_clusters(m); j++) {
        const float low = m->cluster[j].centre, high = m->cluster[j + 1].centre;
        above[j] = j + 1 == m->minus  ? 0
                   : j + 1 < m->minus ? nextafterf(-middle_of(-high, -low), -INFINITY)
                                      : middle_of(low, high);
    }
}
