/* zipml.c -- quantises each bucket to the levels for which stochastic rounding of its elements has the least
 * variance (Zhang et al. 2017), or to the means of bins (solver=statistical). The payload has the format
 * of buckets.h with symbols (symbols.h); the head of a bucket is
 *
 *     { level:32 } x levels         rising; a bucket with fewer different values repeats the highest level */
#include "compress/levels/buckets.h"
#include "math/radix.h"
#include "math/stats.h"
#include "math/vec/kernels.h"

#include <math.h>

enum { KNOTS_MOST = 256, KNOTS_OF = 1 << 16 }; /* KNOTS_MOST: the most levels; KNOTS_OF: the most numbers */

typedef struct {
    int64_t levels, bucket;
    int solver;
} Zipml;

enum { EXACT, STATISTICAL };
static const char *const solvers[] = {"exact", "statistical", NULL};

static const Param schema[] = {
    PARAM(Zipml, levels, "16", 2, KNOTS_MOST,
          "levels of a bucket; solver=exact: its smallest and largest number are among them", .rate = true),
    PARAM(Zipml, bucket, "512", 0, KNOTS_OF, "elements that share levels; 0: a row, or 65536 elements where a row is longer"),
    PARAM_OF(Zipml, solver, "exact", solvers, "the best levels for random rounding, or means of bins by standard deviation"),
    {0},
};

/* ---- the best levels ----
 *
 * Finds the best levels for stochastic rounding of n numbers. Each number is rounded at random,
 * without bias, to one of its two neighbouring levels. The levels are chosen among the numbers themselves,
 * so that the variance of rounding is least.
 *
 * Rounding the numbers between two levels x_i < x_j has the variance V(i, j) = sum over x_i < x_t < x_j of
 * (x_j - x_t)(x_t - x_i). An optimal set of levels includes the smallest and the largest number. All its
 * levels are at numbers: as a level moves between two neighbouring numbers, the variance is a concave
 * function of its position. So an optimal set of m levels is a shortest path in m - 1 steps from the
 * smallest to the largest number, where a step from x_i to x_j costs V(i, j). The least cost of a path to
 * x_j in q steps is T(q, j) = min over i < j of T(q - 1, i) + V(i, j).
 *
 * To compute V quickly, let B(y) be the sum over t of max(y - x_t, 0), plus any linear function of y, and
 * let b_i = B(x_i). Then there are numbers f_i, one for each x_i, with
 *
 *     V(i, j) = b_i x_j - x_i b_j + f_j - f_i
 *
 * The terms f_j - f_i have the same sum along every path, so f is left out. V has the quadrangle inequality,
 * so the best i does not fall as j rises.
 *
 * x_i is stored minus the median, and the linear function in B is chosen so that b is 0 at the median. So x_i and
 * b_i are small where most numbers are, and their rounding errors are small too. Rounding errors may lead to
 * levels of more variance than the least. The excess is at most 2^-50 n (max - min)^2, where max and min are the
 * largest and the smallest number. Usually the excess is 2^-50 of the variance. */

/* Memory for one search at a time, reused by the next search. */
typedef struct {
    size_t most, count;    /* `most`: capacity in numbers; `count`: number of levels */
    uint32_t *key, *spare; /* (most) */
    uint32_t *rank;        /* for each different number y: how many of the numbers are <= y */
    /* `x` and `b`: x_i and b_i of the comment above; `cost`: T(q - 1, j) and T(q, j). All arrays have an
     * entry for each different number. */
    double *x, *b, *cost[2];
    /* (count, most) the best previous level of each number, for each number of steps q */
    uint16_t *back;
} KnotsRoom;

enum { DIGIT = 8, VALUES = 1 << DIGIT };

/* ---- memory ---- */

/* Returns the bytes that `knots_open` takes from the arena. Needs 2 <= count <= KNOTS_MOST and n <=
 * KNOTS_OF. */
static size_t knots_size(size_t n, size_t count)
{
    const size_t wide = n + ROOM_BEHIND;
    return wide * (3 * sizeof(uint32_t) + 4 * sizeof(double) + count * sizeof(uint16_t));
}

/* False: no memory. */
static bool knots_open(KnotsRoom *room, size_t n, size_t count, Arena *scratch)
{
    const size_t wide = n + ROOM_BEHIND;
    *room = (KnotsRoom){.most = n, .count = count};
    room->key = NEW(scratch, uint32_t, wide);
    room->spare = NEW(scratch, uint32_t, wide);
    room->rank = NEW(scratch, uint32_t, wide);
    room->x = NEW_ZERO(scratch, double, wide);
    room->b = NEW_ZERO(scratch, double, wide);
    room->cost[0] = NEW_ZERO(scratch, double, wide);
    room->cost[1] = NEW_ZERO(scratch, double, wide);
    room->back = NEW(scratch, uint16_t, count * wide);
    return room->key && room->spare && room->rank && room->x && room->b && room->cost[0] && room->cost[1] &&
           room->back;
}

/* ---- sorting the numbers and dropping repetitions ---- */

/* Sorts the keys of n <= SORT_MOST numbers x. Infinities fill the array up to a power of two. */
static void sort_some(KnotsRoom *room, const float *x, size_t n)
{
    float work[SORT_MOST], sorted[SORT_MOST];
    size_t all = SORT_LEAST;
    while (all < n)
        all *= 2;
    for (size_t i = 0; i < all; i++)
        work[i] = i < n ? x[i] + 0.0f : INFINITY;
    kernels()->sort_floats(work, all, sorted);
    for (size_t i = 0; i < n; i++)
        room->key[i] = radix_key(sorted[i]);
}

/* Sorts the keys of the n numbers x by radix sort, least significant digit first. A digit that is equal in
 * all keys is skipped. */
static void sort_many(KnotsRoom *room, const float *x, size_t n)
{
    uint32_t count[4][VALUES] = {{0}};
    for (size_t i = 0; i < n; i++) {
        const uint32_t key = room->key[i] = radix_key(x[i] + 0.0f);
        for (int d = 0; d < 4; d++)
            count[d][key >> DIGIT * d & (VALUES - 1)]++;
    }
    for (int d = 0; d < 4; d++) {
        uint32_t at = 0;
        if (count[d][room->key[0] >> DIGIT * d & (VALUES - 1)] == n)
            continue;
        for (size_t v = 0; v < VALUES; v++) {
            const uint32_t these = count[d][v];
            count[d][v] = at;
            at += these;
        }
        for (size_t i = 0; i < n; i++)
            room->spare[count[d][room->key[i] >> DIGIT * d & (VALUES - 1)]++] = room->key[i];
        uint32_t *const sorted = room->spare;
        room->spare = room->key;
        room->key = sorted;
    }
}

/* Sorts x and keeps one key of each different number in `room->key`. Sets `room->rank` for each different
 * number y to the number of elements of x that are <= y. Returns the number of different numbers. */
static size_t sort_different(KnotsRoom *room, const float *x, size_t n)
{
    size_t differ = 0;
    (n <= SORT_MOST ? sort_some : sort_many)(room, x, n);
    for (size_t i = 0; i < n; i++) {
        differ += i == 0 || room->key[i] != room->key[differ - 1];
        room->key[differ - 1] = room->key[i];
        room->rank[differ - 1] = (uint32_t)i + 1;
    }
    return differ;
}

/* Sets `room->x` to the different numbers minus the median, and `room->b` to B at these numbers.
 * The slope of B between two neighbouring numbers is the count of numbers up to the left neighbour, minus
 * the count up to the median. */
static void measure(KnotsRoom *room, size_t n, size_t differ)
{
    size_t mid = 0;
    while (2 * (size_t)room->rank[mid] < n)
        mid++;
    const double middle = (double)radix_float(room->key[mid]), below = room->rank[mid];
    for (size_t i = 0; i < differ; i++)
        room->x[i] = (double)radix_float(room->key[i]) - middle;
    room->b[mid] = 0;
    for (size_t i = mid; i + 1 < differ; i++)
        room->b[i + 1] = room->b[i] + ((double)room->rank[i] - below) * (room->x[i + 1] - room->x[i]);
    for (size_t i = mid; i > 0; i--)
        room->b[i - 1] = room->b[i] - ((double)room->rank[i - 1] - below) * (room->x[i] - room->x[i - 1]);
}

/* `room->key` has the distinct numbers in rising order, as radix keys. Sets level[k] to the number with index
 * place[k], for k < `levels`, and the levels from `levels` to `room->count` - 1 to the last of these numbers. */
static void zipml_fill(const KnotsRoom *room, const uint16_t *place, size_t levels, float *level)
{
    for (size_t k = 0; k < room->count; k++)
        level[k] = radix_float(room->key[place[k < levels ? k : levels - 1]]);
}

/* True if a number is NaN or infinite, for which nothing below holds. Its levels tell. */
static bool beyond(const KnotsRoom *room, size_t differ)
{
    bool bad = false;
    for (size_t i = 0; i < differ; i++)
        bad |= !isfinite(radix_float(room->key[i]));
    return bad;
}

/* ---- the best levels, first step: a cheapest path if each step also costs a toll ----
 *
 * The best levels are the cheapest path from the smallest number to the largest in a given number s of
 * steps. To find it fast, an easier problem is solved first. Suppose that each step also costs a constant,
 * the toll, and that a path may have any number of steps. One pass over the numbers finds the cheapest of
 * all these paths. Let k be its number of steps. All paths of k steps pay the same toll, so it is also the
 * cheapest path of k steps without the toll.
 *
 * After q steps, let this path be at the number with index p_q, and a cheapest path of s steps at the number
 * with index r_q. Some cheapest path of s steps satisfies
 *
 *     p_(q - s + k) <= r_q <= p_q  for s >= k,      p_q <= r_q <= p_(q + k - s)  for s <= k.
 *
 * This follows from the quadrangle inequality of the cost of a step: where two paths cross, exchanging their
 * tails costs no more (Aggarwal, Schieber, Tokuyama 1994). The range of r_q is called a window below. If k
 * is close to s, the windows are narrow, and the dynamic program searches only the windows. The levels found
 * are best for every toll; a bad toll only makes the windows wide. A good toll follows from the best density
 * of many levels, which is proportional to the cube root of the density of the numbers (Panter, Dite 1951). */

enum { BATCH = ROOM_BEHIND, NEAR = 1, TRIES = 3 };

static inline double cost_of(const KnotsRoom *room, const double *cost, size_t i, size_t j)
{
    return cost[i] + (room->b[i] * room->x[j] - room->x[i] * room->b[j]);
}

/* Considers the paths to number j whose last step begins at one of the numbers `from` .. j - 1. Each step
 * costs `toll` extra. Lowers cost[j] to the least cost of these paths. Returns true if cost[j] fell. */
static bool lower(const KnotsRoom *room, double toll, size_t from, size_t j, double *cost, uint16_t *back)
{
    const double was = cost[j];
    for (size_t i = from; i < j; i++) {
        const double here = cost_of(room, cost, i, j) + toll;
        if (here < cost[j]) {
            cost[j] = here;
            back[j] = (uint16_t)i;
        }
    }
    return cost[j] < was;
}

/* Finds the cheapest path to the last number when each step costs `toll` extra. Writes the path to
 * `room->spare` and returns the number of its steps.
 *
 * The numbers j at which a step may end are handled in batches. First only steps that begin before the batch
 * are tried. If a step that begins inside the batch lowers the cost of the batch's last number, such steps
 * are tried for all numbers of the batch. */
static size_t way_under(const KnotsRoom *room, size_t differ, double toll)
{
    double *cost = room->cost[0];
    uint16_t *back = room->back;
    size_t low = 0, steps = 0;
    cost[0] = 0;
    for (size_t j = 1; j < differ; j += BATCH) {
        const size_t end = differ - j < BATCH ? differ : j + BATCH;
        kernels()->knot_layer(room->x, room->b, cost, low, j - 1, j, end, cost, back);
        for (size_t r = j; r < end; r++)
            cost[r] += toll;
        if (lower(room, toll, j, end - 1, cost, back))
            for (size_t r = j + 1; r < end; r++)
                lower(room, toll, j, r, cost, back);
        low = back[end - 1];
    }
    for (size_t j = differ - 1; j; j = back[j])
        room->spare[steps++] = (uint32_t)j;
    room->spare[steps] = 0;
    /* reverses the path, which was followed from its last number to its first */
    for (size_t q = 0; 2 * q < steps; q++) {
        const uint32_t one = room->spare[q];
        room->spare[q] = room->spare[steps - q];
        room->spare[steps - q] = one;
    }
    return steps;
}

/* ---- a good toll (the constant extra cost of a step) ---- */

/* Returns the cube root of v within 6 %: the bits of v, read as an integer, are divided by 3, and a constant
 * is added. So all machines give the same result. */
static double rough_cube_root(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    bits = bits / 3 + UINT64_C(0x2a9f8a8000000000);
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Returns a toll (the constant extra cost of a step) at which the cheapest path has about `steps` steps.
 *
 * A step of width w over m numbers has a variance of about m w^2 / 6. Where the numbers are evenly dense,
 * the cube root of m w^2 adds up: its value for a range is the sum of its values for the parts of the range.
 * So if all steps have the same variance, each step has an equal share of the sum for the whole range. One
 * more step saves about twice the variance of a step. The toll is set to this saving. */
static double good_toll(const KnotsRoom *room, size_t differ, size_t steps)
{
    const size_t piece = differ / (2 * steps) + 1;
    double sum = 0;
    for (size_t i = 0, j; i + 1 < differ; i = j) {
        j = differ - 1 - i < piece ? differ - 1 : i + piece;
        const double width = room->x[j] - room->x[i];
        sum += rough_cube_root((double)(room->rank[j] - room->rank[i]) * width * width);
    }
    const double one = sum / (double)steps;
    return one * one * one / 3;
}

/* Finds a cheapest path of about `steps` steps by adjusting the toll (the constant extra cost of a step).
 * Returns the number k of its steps. The variance of a path of k steps is about proportional to 1 / k^2. So
 * one more step saves an amount proportional to 1 / k^3, and the toll is scaled likewise. */
static size_t way_in_about(const KnotsRoom *room, size_t differ, size_t steps)
{
    double toll = good_toll(room, differ, steps);
    size_t k = way_under(room, differ, toll);
    for (int tries = 1; tries < TRIES && (k > steps + NEAR || k + NEAR < steps); tries++) {
        const double off = (double)k / (double)steps;
        toll *= off * off * off;
        k = way_under(room, differ, toll);
    }
    return k;
}

/* ---- the best levels: a path with a given number of steps ---- */

typedef struct {
    /* least and greatest r_q, the index of the number at which step q of the best path ends */
    size_t low[KNOTS_MOST], high[KNOTS_MOST];
} Windows;

/* Sets the range (window) in which each step of the cheapest path of `steps` steps ends, from the cheapest
 * path of k steps in `room->spare`. */
static void windows_open(Windows *w, const KnotsRoom *room, size_t k, size_t steps, size_t last)
{
    const uint32_t *way = room->spare;
    const size_t fewer = steps > k ? steps - k : 0, more = k > steps ? k - steps : 0;
    for (size_t q = 0; q <= steps; q++) {
        const size_t low = q > fewer ? way[q - fewer] : 0, high = q + more < k ? way[q + more] : last;
        w->low[q] = low > q ? low : q;
        w->high[q] = high < last - (steps - q) ? high : last - (steps - q);
    }
    w->high[0] = 0; /* each path begins at the smallest number and ends at the largest */
    w->low[steps] = last;
}

/* Runs the dynamic program, step by step from the smallest number on. Step q may end only at numbers
 * w->low[q] .. w->high[q]. Writes the cheapest path to `place`. */
static void cheapest_within(KnotsRoom *room, const Windows *w, size_t steps, uint16_t *place)
{
    const size_t wide = room->most + ROOM_BEHIND;
    room->cost[0][0] = 0;
    for (size_t q = 1; q <= steps; q++)
        kernels()->knot_layer(room->x, room->b, room->cost[(q + 1) % 2], w->low[q - 1], w->high[q - 1],
                              w->low[q], w->high[q] + 1, room->cost[q % 2], room->back + (q - 1) * wide);
    place[steps] = (uint16_t)w->low[steps];
    for (size_t q = steps; q > 0; q--)
        place[q - 1] = room->back[(q - 1) * wide + place[q]];
}

/* Finds the levels with the least variance for x (n > 0 finite numbers), and writes them to level[] in rising order.
 * Returns the number of different levels: `count`, or fewer if x has fewer different numbers; then the last level is
 * repeated. -0 counts as +0. */
static size_t knots_best(KnotsRoom *room, const float *x, size_t n, float *level)
{
    uint16_t place[KNOTS_MOST];
    Windows w;
    const size_t differ = sort_different(room, x, n), levels = differ < room->count ? differ : room->count;
    for (size_t k = 0; k < levels; k++)
        place[k] = (uint16_t)k;
    if (differ > room->count && !beyond(room, differ)) {
        measure(room, n, differ);
        windows_open(&w, room, way_in_about(room, differ, levels - 1), levels - 1, differ - 1);
        cheapest_within(room, &w, levels - 1, place);
    }
    zipml_fill(room, place, levels, level);
    return levels;
}

/* ---- the variance of rounding to given levels ---- */

/* Returns the variance of rounding the n numbers x at random, without bias, to `count` rising levels: the
 * sum over x_i of (up - x_i)(x_i - low), where `low` and `up` are the two levels around x_i. */
static double knots_variance(const float *x, size_t n, const float *level, size_t count)
{
    uint8_t up[KNOTS_OF];
    double sum = 0;
    kernels()->stretches(x, n, level, count - 1, up);
    for (size_t i = 0; i < n; i++)
        if (up[i])
            sum += ((double)level[up[i]] - (double)x[i]) * ((double)x[i] - (double)level[up[i] - 1]);
    return sum;
}

/* ---- the levels of a bucket ---- */

typedef struct {
    size_t count, differ; /* count: number of levels; differ: number of different levels */
    float level[KNOTS_MOST];
} ZipmlHead;

static const Zipml *params_of(const Buckets *b)
{
    return b->c->self->params;
}

static ZipmlHead head_load(const Buckets *b, const uint8_t *at)
{
    ZipmlHead h = {.count = (size_t)params_of(b)->levels, .differ = 1};
    for (size_t k = 0; k < h.count; k++)
        h.level[k] = load_f32(at + 4 * k);
    while (h.differ < h.count && h.level[h.differ] > h.level[h.differ - 1])
        h.differ++;
    return h;
}

static bool good(const Buckets *b, const uint8_t *head)
{
    const ZipmlHead h = head_load(b, head);
    bool all = isfinite(h.level[0]) && isfinite((float)((double)h.level[h.differ - 1] - (double)h.level[0]));
    for (size_t k = 0; k < h.count; k++)
        all = all && isfinite(h.level[k]) && !(h.level[k] == 0 && signbit(h.level[k])) &&
              (k < h.differ || h.level[k] == h.level[h.differ - 1]);
    return all;
}

/* ---- levels of solver=statistical (MuLoCo, arXiv 2505.23725): the means of the elements in bins, as many as levels ---- */

typedef struct {
    EqualBins bins;
    uint8_t code[KNOTS_MOST]; /* of each bin: number of bins below it that have elements */
    float level[KNOTS_MOST];
} Means;

static void means_make(Means *s, const float *x, size_t n, size_t count)
{
    size_t used = 0;
    bins_open(&s->bins, x, n, count);
    for (size_t k = 0; k < count; k++) {
        s->code[k] = (uint8_t)used;
        if (s->bins.members[k] > 0)
            s->level[used++] = (float)(s->bins.total[k] / s->bins.members[k]) + 0.0f;
    }
    for (size_t k = used; k < count; k++)
        s->level[k] = s->level[used - 1];
}

static bool is_statistical(const Codec *codec)
{
    return ((const Zipml *)codec->params)->solver == STATISTICAL;
}

static unsigned traits(const Codec *codec)
{
    return is_statistical(codec) ? 0 : UNBIASED | RANDOM;
}

/* Makes the levels of the bucket in which x begins. */
static void means_around(Means *s, const Buckets *b, const float *x)
{
    const size_t start = (size_t)(x - b->x) / b->bucket * b->bucket;
    means_make(s, b->x + start, codes_run_end(&b->codes, start, b->n) - start, (size_t)params_of(b)->levels);
}

/* The buckets are divided into at most PIECES_MOST groups, searched in parallel. The memory for all searches is
 * limited to about ROOM_MOST bytes. */
enum { PIECES_MOST = 16, ROOM_MOST = 1 << 26 };

typedef struct {
    const Buckets *b;
    uint8_t *head;
    KnotsRoom *room;
    size_t pieces;
} ZipmlSearch;

static void find_piece(void *data, size_t piece)
{
    const ZipmlSearch *s = data;
    const Buckets *b = s->b;
    Means means;
    for (size_t i = piece; i < b->buckets; i += s->pieces) {
        const float *x = b->x + i * b->bucket;
        if (is_statistical(b->c->self))
            means_around(&means, b, x);
        else
            knots_best(&s->room[piece], x, codes_run_end(&b->codes, i * b->bucket, b->n) - i * b->bucket, means.level);
        floats_store(s->head + b->head_size * i, means.level, (size_t)params_of(b)->levels);
    }
}

static Status find_all(const Buckets *b, uint8_t *head)
{
    const Call *c = b->c;
    const size_t longest = b->bucket < b->n ? b->bucket : b->n, count = (size_t)params_of(b)->levels;
    const size_t rooms = ROOM_MOST / knots_size(longest, count) + 1;
    size_t pieces = b->buckets < PIECES_MOST ? b->buckets : PIECES_MOST;
    pieces = pieces < rooms ? pieces : rooms;
    ZipmlSearch s = {b, head, NEW(c->scratch, KnotsRoom, pieces), pieces};
    for (size_t i = 0; i < pieces && !is_statistical(c->self); i++)
        TRY(arena_check(s.room && knots_open(&s.room[i], longest, count, c->scratch), c->scratch, c->err));
    parallel_for(c->threads, pieces, find_piece, &s);
    return OK;
}

/* ---- quantising and dequantising ---- */

/* Rounds each x up with probability (x - low) / (up - low), else down. `low` and `up` are the levels next below
 * and above x. coin.h makes the random decision. A bin's elements become its mean. */
static void quantise(const Buckets *b, const uint8_t *head, const float *x, size_t n, const RngKey *key,
                     uint32_t first, void *code)
{
    const ZipmlHead h = head_load(b, head);
    uint8_t *up = code;
    Coin coin[KNOTS_MOST];
    memset(code, 0, n);
    if (!good(b, head))
        return;
    if (is_statistical(b->c->self)) {
        Means means;
        means_around(&means, b, x);
        for (size_t i = 0; i < n; i++)
            up[i] = means.code[bins_find(&means.bins, x[i])];
        return;
    }
    for (size_t k = 1; k < h.differ; k++)
        coin[k] = coin_make((float)((double)h.level[k] - (double)h.level[k - 1]));
    kernels()->stretches(x, n, h.level, h.differ - 1, up);
    for (size_t i = 0; i < n; i++) {
        const unsigned k = up[i];
        if (k && x[i] != h.level[k])
            up[i] = (uint8_t)(k - !coin_keep(coin[k], x[i] - h.level[k - 1], key, first + (uint32_t)i));
    }
}

static const char *dequantise(const Buckets *b, const uint8_t *head, const void *code, size_t n, float *x)
{
    const ZipmlHead h = head_load(b, head);
    const uint8_t *at = code;
    unsigned most = 0;
    for (size_t i = 0; i < n; i++) {
        most = at[i] > most ? at[i] : most;
        x[i] = h.level[at[i] < h.count ? at[i] : 0];
    }
    return most < h.differ ? NULL : "a level that the bucket does not have";
}

static double bucket_variance(const Buckets *b, const uint8_t *head, const float *x, size_t n)
{
    const ZipmlHead h = head_load(b, head);
    return is_statistical(b->c->self) ? (double)NAN : knots_variance(x, n, h.level, h.differ);
}

static void open(Buckets *b, const Call *c)
{
    const Zipml *p = c->self->params;
    const size_t row = c->shape->rank > 1 && c->shape->n ? c->shape->n / c->shape->dim[0] : c->shape->n;
    buckets_open(b, c, p->bucket ? p->bucket : row < KNOTS_OF ? (int64_t)row : KNOTS_OF, (uint32_t)p->levels - 1, true, CODE_RANS);
    b->head_size = 4 * (size_t)p->levels;
}

static const BucketLaw zipml_law = {
    .open = open,
    .name = "level range",
    .find_all = find_all,
    .good = good,
    .quantise = quantise,
    .dequantise = dequantise,
    .variance = bucket_variance,
};

const Compressor compressor_zipml = {
    .name = "zipml",
    .brief = "the levels that leave each bucket the least variance",
    .plain = "Chooses levels that fit the elements of each run, so that random rounding has the least "
             "variance. Finding them takes more time than even spacing does.",
    .use_when = "few levels must serve an uneven distribution, and encoding time matters little. "
                "ef:decay=0.9+zipml:levels=4,bucket=0,solver=statistical is MuLoCo's two bits.",
    .example = "atomo-bench synth -o g.h5 --force --law laplace --shape 64x64\n"
               "atomo-bench compare g.h5 -c zipml:levels=4 -c qsgd:bits=2",
    .formula =
        "Each bucket of consecutive elements has its own levels l_1 < ... < l_K, K = levels at most, all of "
        "them\n"
        "elements, l_1 = min x and l_K = max x. For l_k <= x_i <= l_(k+1): x^_i = l_(k+1) with probability\n"
        "(x_i - l_k) / (l_(k+1) - l_k), else l_k.\n"
        "E x^ = x;  E |x^ - x|^2 = sum (l_(k+1) - x_i)(x_i - l_k).\n"
        "No K numbers leave less, by a dynamic program over the sorted bucket within bounds from the "
        "best\n"
        "levels where each costs a toll: about n log n steps, K n log n at worst.\n"
        "solver=statistical: mu, sigma = mean and standard deviation (n - 1) of the bucket,\n"
        "bin = min(max(round((x_i - mu) K / (6 sigma) + K/2), 0), K - 1), decoded as the mean of its elements.\n"
        "32 levels bits a bucket and about log2 levels an element: rANS, or planes where these are shorter. "
        "Raw where\n"
        "planes would not be smaller.",
    .paper = "Zhang, Li, Kara, Alistarh, Liu, Zhang: ZipML: Training Linear Models with End-to-End Low\n"
             "Precision, and a Little Bit of Deep Learning, ICML 2017;\n"
             "Thérien, Huang, Rish, Belilovsky: MuLoCo: Muon is a Practical Inner Optimizer for DiLoCo,\n"
             "arXiv 2505.23725, 2025",
    .look = {HUE_LEVELS, 2, 4},
    .params = schema,
    .promises = EXACT_BYTES,
    .traits = traits,
    .family = &zipml_law,
    BUCKET_HOOKS,
};
