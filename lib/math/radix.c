/* radix.c -- sorts floats by their bits: a first pass by the most significant digit, then a radix sort of each
 * bucket in the cache.
 *
 * The first pass distributes the keys to 2048 buckets by their top 11 bits (sign, exponent, two bits of
 * fraction). A bucket then usually fits the cache, and is sorted by its other bits in two or three passes, least
 * significant digit first. A digit that is equal in all keys of the bucket is skipped. In the first pass threads
 * work on different pieces of the input, afterwards on different buckets. The result does not depend on the
 * number of threads. */
#include "math/radix.h"

#include "base/bytes.h"
#include "math/vec/kernels.h"
#include "base/parallel.h"

#include <math.h>
#include <stdatomic.h>

enum {
    TOP = 11,
    BUCKETS = 1 << TOP,
    LOW = 32 - TOP,  /* bits of a key that remain to be sorted inside a bucket */
    PIECE = 1 << 20, /* elements in a piece, unless that gives more than PIECES_MAX pieces */
    PIECES_MAX = 64,
    FEW = 48, /* the most keys for which insertion sort is fastest */
    SHARES = 128, /* of the buckets, for threads */
};

/* ---- distributing the keys to buckets by their top 11 bits ---- */

typedef struct {
    const float *x;
    size_t n, pieces, piece; /* `piece`: elements per piece; the last piece has up to `pieces` - 1 more */
    /* For each piece of the input and each bucket: first the number of the piece's keys in the bucket, later
     * the index in the output for the next of these keys. */
    size_t (*place)[BUCKETS];
    size_t start[BUCKETS + 1];
    float *out;
    uint32_t *spare;
} Sort;

static size_t piece_end(const Sort *s, size_t p)
{
    return p + 1 == s->pieces ? s->n : (p + 1) * s->piece;
}

/* +0 is the most frequent element of most decoded vectors, so runs of RUN elements that are all +0 are passed at once. */
enum { RUN = 8, ZERO = 1 << (TOP - 1) }; /* ZERO: the bucket of +0 */

static inline bool run_of_zeros(const float *x, size_t n)
{
    uint32_t bits = n < RUN;
    for (size_t k = 0; k < RUN && n >= RUN; k++)
        bits |= float_bits(x[k]);
    return !bits;
}

static void count_piece(void *data, size_t p)
{
    Sort *s = data;
    size_t *count = s->place[p];
    memset(count, 0, sizeof s->place[p]);
    for (size_t i = p * s->piece, end = piece_end(s, p), run; i < end; i += run) {
        run = end - i < RUN ? end - i : RUN;
        if (run_of_zeros(s->x + i, run))
            count[ZERO] += run;
        else
            for (size_t k = 0; k < run; k++)
                count[radix_key(s->x[i + k]) >> LOW]++;
    }
}

/* Replaces the counts in `place` by output indices, in order of buckets, and within a bucket in order of
 * pieces. */
static void lay_out(Sort *s)
{
    size_t at = 0;
    for (size_t b = 0; b < BUCKETS; b++) {
        s->start[b] = at;
        for (size_t p = 0; p < s->pieces; p++) {
            const size_t count = s->place[p][b];
            s->place[p][b] = at;
            at += count;
        }
    }
    s->start[BUCKETS] = at;
}

static void deal_piece(void *data, size_t p)
{
    Sort *s = data;
    size_t *place = s->place[p];
    uint32_t *spare = s->spare;
    for (size_t i = p * s->piece, end = piece_end(s, p), run; i < end; i += run) {
        run = end - i < RUN ? end - i : RUN;
        if (run_of_zeros(s->x + i, run)) {
            for (size_t k = 0; k < run; k++)
                spare[place[ZERO] + k] = radix_key(0);
            place[ZERO] += run;
        } else {
            for (size_t k = 0; k < run; k++) {
                const uint32_t key = radix_key(s->x[i + k]);
                spare[place[key >> LOW]++] = key;
            }
        }
    }
}

/* ---- sorting a bucket by its low digits ---- */

/* Sorts keys by insertion, which is fast for a few keys. */
static void sort_few(uint32_t *key, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const uint32_t k = key[i];
        size_t j = i;
        for (; j && key[j - 1] > k; j--)
            key[j] = key[j - 1];
        key[j] = k;
    }
}

/* `get` and `put` copy bytes because the memory may be an array of floats. */
static inline uint32_t get(const void *keys, size_t i)
{
    uint32_t key;
    memcpy(&key, (const uint8_t *)keys + 4 * i, sizeof key);
    return key;
}
static inline void put(void *keys, size_t i, uint32_t key)
{
    memcpy((uint8_t *)keys + 4 * i, &key, sizeof key);
}

typedef struct {
    int digits, bits[3]; /* the digits of a key's LOW bits, least significant first */
} Digits;

/* Fewer digits take fewer passes, but a bucket must be large against the number of a digit's values. */
static const Digits narrow = {3, {7, 7, 7}}, wide = {2, {11, 10}};
enum { MANY = 1 << 11, VALUES = 1 << 11 }; /* the least keys for `wide`; the most values of a digit */

static inline uint32_t digit_of(uint32_t key, int shift, int bits)
{
    return key >> shift & ((1u << bits) - 1);
}

static inline void count_digits(const uint32_t *key, size_t n, const Digits d, size_t count[3][VALUES])
{
    for (size_t i = 0; i < n; i++)
        for (int k = 0, shift = 0; k < d.digits; shift += d.bits[k++])
            count[k][digit_of(key[i], shift, d.bits[k])]++;
}

static inline void deal_digit(const void *from, void *to, size_t n, int shift, int bits, size_t *place)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t key = get(from, i);
        put(to, place[digit_of(key, shift, bits)]++, key);
    }
}

/* Replaces each count of keys (by digit value) by the index of the first such key. Returns false if all n
 * keys have the same digit. */
static bool digit_varies(size_t *count, int values, size_t n)
{
    size_t at = 0;
    for (int v = 0; v < values; v++) {
        const size_t c = count[v];
        if (c == n)
            return false;
        count[v] = at;
        at += c;
    }
    return true;
}

/* Sorts the keys in `key` or in `out`, and returns the array where they are sorted. */
static inline void *sort_digits(uint32_t *key, size_t n, const Digits d, void *out)
{
    void *from = key, *to = out;
    size_t count[3][VALUES];
    for (int k = 0; k < d.digits; k++)
        memset(count[k], 0, sizeof **count << d.bits[k]);
    count_digits(key, n, d, count);
    for (int k = 0, shift = 0; k < d.digits; shift += d.bits[k++])
        if (digit_varies(count[k], 1 << d.bits[k], n)) {
            deal_digit(from, to, n, shift, d.bits[k], count[k]);
            void *swap = from;
            from = to;
            to = swap;
        }
    return from;
}

/* Whether all keys are equal: a level of a quantiser often has a bucket of its own. */
static bool all_equal(const uint32_t *key, size_t n)
{
    uint32_t differ = 0;
    for (size_t i = 0; i < n && !differ; i += RUN)
        for (size_t k = i; k < n && k < i + RUN; k++)
            differ |= key[k] ^ *key;
    return !differ;
}

/* Writes to `out` the floats whose keys are the n entries of `key`, sorted. The keys agree in their top 11 bits.
 * Overwrites `key`. */
static void sort_keys(uint32_t *key, size_t n, float *out)
{
    const void *sorted = key;
    if (n <= FEW)
        sort_few(key, n);
    else if (all_equal(key, n))
        ; /* sorted */
    else if (n < MANY)
        sorted = sort_digits(key, n, narrow, out);
    else
        sorted = sort_digits(key, n, wide, out);
    for (size_t i = 0; i < n; i++)
        out[i] = radix_float(get(sorted, i));
}

/* Sorts every SHARES-th bucket. Most keys are in a few neighbours. */
static void sort_share(void *data, size_t share)
{
    Sort *s = data;
    for (size_t b = share; b < BUCKETS; b += SHARES)
        if (s->start[b] < s->start[b + 1])
            sort_keys(s->spare + s->start[b], s->start[b + 1] - s->start[b], s->out + s->start[b]);
}

Status radix_sort(const float *x, size_t n, float *out, uint32_t *spare, int threads, Arena *scratch,
                  Error *err)
{
    const ArenaMark mark = arena_mark(scratch);
    size_t pieces = n / PIECE + 1;
    if (pieces > PIECES_MAX)
        pieces = PIECES_MAX;
    Sort s = {.x = x, .n = n, .pieces = pieces, .piece = n / pieces, .out = out, .spare = spare};
    s.place = arena_take(scratch, pieces, sizeof *s.place);
    TRY(arena_check(s.place, scratch, err));
    parallel_for(threads, pieces, count_piece, &s);
    lay_out(&s);
    parallel_for(threads, pieces, deal_piece, &s);
    parallel_for(n > PIECE ? threads : 1, SHARES, sort_share, &s);
    arena_rewind(scratch, mark);
    return OK;
}

/* ---- the Wasserstein distance W1 ---- */

typedef struct {
    const float *x, *y;
    size_t n;
    double *part;
} Gap;

static void gap_block(void *data, size_t b)
{
    const Gap *g = data;
    g->part[b] = kernels()->sum_gaps(g->x + b * BLOCK, g->y + b * BLOCK, block_size(g->n, b));
}

Status radix_mean_gap(const float *x, const float *y, size_t n, int threads, double *gap, Arena *scratch,
                      Error *err)
{
    const ArenaMark mark = arena_mark(scratch);
    Gap g = {x, y, n, NEW(scratch, double, blocks_of(n))};
    TRY(arena_check(g.part, scratch, err));
    parallel_for(threads, blocks_of(n), gap_block, &g);
    double sum = 0;
    for (size_t b = 0; b < blocks_of(n); b++)
        sum += g.part[b];
    *gap = sum / (double)n;
    arena_rewind(scratch, mark);
    return OK;
}

Status radix_wasserstein(const float *x, float *y, size_t n, float *work, int threads, double *w1,
                         Arena *scratch, Error *err)
{
    *w1 = 0;
    if (!memcmp(x, y, n * sizeof *x))
        return OK;
    uint32_t *spare = (uint32_t *)(void *)(work + n);
    TRY(radix_sort(x, n, work, spare, threads, scratch, err));
    TRY(radix_sort(y, n, y, spare, threads, scratch, err));
    return radix_mean_gap(work, y, n, threads, w1, scratch, err);
}

/* ---- quantiles of |x| ---- */

static inline uint32_t magnitude_bits(float x)
{
    return float_bits(x) & 0x7fffffffu;
}

/* A digit of the magnitudes whose bits under `mask` are `known`. */
typedef struct {
    uint32_t known, mask, digit;
    int shift;
} MagnitudeDigit;

static void count_magnitudes(const MagnitudeDigit *d, const float *x, size_t n, size_t *count)
{
    const uint32_t known = d->known, mask = d->mask, digit = d->digit;
    const int shift = d->shift;
    for (size_t i = 0; i < n; i++) {
        const uint32_t m = magnitude_bits(x[i]);
        if ((m & mask) == known)
            count[m >> shift & digit]++;
    }
}

enum { SHARE = 1 << 17 }; /* magnitudes that one of several threads counts at a time */

typedef struct {
    const MagnitudeDigit *digit;
    const float *x;
    size_t n;
    atomic_size_t count[BUCKETS];
} SharedCount;

static void count_share(void *data, size_t share)
{
    SharedCount *s = data;
    size_t count[BUCKETS] = {0};
    const size_t from = share * SHARE;
    count_magnitudes(s->digit, s->x + from, s->n - from < SHARE ? s->n - from : SHARE, count);
    for (size_t v = 0; v < BUCKETS; v++)
        if (count[v])
            atomic_fetch_add_explicit(&s->count[v], count[v], memory_order_relaxed);
}

static void count_shares(const MagnitudeDigit *d, const float *x, size_t n, int threads, size_t *count)
{
    SharedCount s = {.digit = d, .x = x, .n = n};
    parallel_for(threads, (n - 1) / SHARE + 1, count_share, &s);
    for (size_t v = 0; v < BUCKETS; v++)
        count[v] = s.count[v];
}

/* Finds the bits of the k-th smallest magnitude (k from 0), digit by digit from the top. Sets `*upto` to the
 * number of magnitudes that are at most this magnitude. */
static uint32_t select_magnitude(const float *x, size_t n, size_t k, int threads, size_t *upto)
{
    static const int shifts[] = {20, 10, 0}; /* the lowest bits of digits of 11, 10 and 10 bits */
    MagnitudeDigit d = {0};
    size_t below = 0;
    for (size_t i = 0; i < countof(shifts); i++) {
        size_t count[BUCKETS] = {0};
        d.shift = shifts[i];
        d.digit = i ? 1023 : BUCKETS - 1;
        if (threads > 1 && n > SHARE)
            count_shares(&d, x, n, threads, count);
        else
            count_magnitudes(&d, x, n, count);
        uint32_t v = 0;
        for (; below + count[v] <= k; v++)
            below += count[v];
        d.known |= v << d.shift;
        d.mask |= d.digit << d.shift;
        *upto = below + count[v];
    }
    return d.known;
}

float radix_magnitude(const float *x, size_t n, size_t k, int threads, size_t *upto)
{
    return bits_float(select_magnitude(x, n, k, threads, upto));
}

double radix_magnitude_quantile(const float *x, size_t n, double q, int threads)
{
    const double at = q * (double)(n - 1);
    const size_t k = (size_t)at;
    size_t upto;
    const uint32_t low = select_magnitude(x, n, k, threads, &upto);
    uint32_t high = low;
    if (k + 1 < n && k + 1 >= upto) { /* the magnitude of rank k + 1 is the least magnitude above `low` */
        high = UINT32_MAX;
        for (size_t i = 0; i < n; i++) {
            const uint32_t m = magnitude_bits(x[i]);
            if (m > low && m < high)
                high = m;
        }
    }
    const double a = (double)bits_float(low), b = (double)bits_float(high);
    return a + (at - (double)k) * (b - a);
}
