/* waterfill_variance.c -- the least expected number of atoms for a variance, without the sort.
 *
 * At the level t an entry v <= t adds v (t - v) to the variance, so V(t) = t T1 - T2 over the entries up to t
 * (T1 = sum v, T2 = sum v^2): it rises with t, and in one piece between two entries. Floats order like
 * integers: a pass adds up T1 and T2 by the leading bits, a scan from the small end finds the bin in which V
 * reaches what is wanted, and the next pass looks at that bin's next bits. After three the entries up to the
 * level are known, and t = (V + T2) / T1. */
#include "waterfill.h"

#include "bytes.h"
#include "parallel.h"

#include <float.h>
#include <math.h>

enum { DIGITS = 3, BINS = 1 << 11, PIECES = 64 };
static const int digit_width[DIGITS] = {11, 10, 10}; /* 31 bits: a float without its sign */

typedef struct {
    double sum[BINS], squares[BINS];
} Bins;

typedef struct {
    const float *x;
    size_t n, pieces;
    Bins *piece;      /* (pieces) */
    uint32_t prefix;  /* the bits above the digit that an entry must have */
    int shift, width; /* of the digit */
} Count;

static void count_piece(void *data, size_t p)
{
    const Count *c = data;
    Bins *bins = &c->piece[p];
    const size_t blocks = blocks_of(c->n), from = blocks * p / c->pieces * BLOCK;
    const size_t end = blocks * (p + 1) / c->pieces * BLOCK, to = end < c->n ? end : c->n;
    const uint32_t mask = (1u << c->width) - 1, prefix = c->prefix;
    const int shift = c->shift, above = c->shift + c->width;
    const float *const x = c->x;
    memset(bins, 0, sizeof *bins);
    for (size_t i = from; i < to; i++) {
        const uint32_t u = float_bits(x[i]) & 0x7fffffffu;
        if (u >> above == prefix) {
            const double v = (double)bits_float(u);
            bins->sum[u >> shift & mask] += v;
            bins->squares[u >> shift & mask] += v * v;
        }
    }
}

/* piece[0] becomes the sum over all pieces, in their order. */
static void count_digit(Count *c, int threads)
{
    parallel_for(threads, c->pieces, count_piece, c);
    for (size_t p = 1; p < c->pieces; p++)
        for (size_t d = 0; d < BINS; d++) {
            c->piece[0].sum[d] += c->piece[p].sum[d];
            c->piece[0].squares[d] += c->piece[p].squares[d];
        }
}

/* What lies under the bin at hand. */
typedef struct {
    double sum, squares;
} Under;

/* Walks up while the variance at a bin's upper edge is within `variance`; returns the first bin where it is
 * not, or how many there are. */
static uint32_t find_bin(const Count *c, double variance, Under *under)
{
    const Bins *bins = &c->piece[0];
    uint32_t d = 0;
    for (; d < 1u << c->width; d++) {
        const uint32_t next = ((c->prefix << c->width | d) + 1) << c->shift;
        const Under with = {under->sum + bins->sum[d], under->squares + bins->squares[d]};
        if (next > float_bits(FLT_MAX) || (double)bits_float(next) * with.sum - with.squares > variance)
            break;
        *under = with;
    }
    return d;
}

double waterfill_of_variance(const float *x, size_t n, double eps, int threads, Arena *scratch)
{
    const size_t blocks = blocks_of(n);
    Count c = {.x = x, .n = n, .pieces = blocks < PIECES ? blocks : PIECES, .shift = 31};
    Under under = {0};
    double variance = 0;
    uint32_t last = 0;
    assert(eps > 0);
    if (!n)
        return 0;
    const ArenaMark mark = arena_mark(scratch);
    c.piece = NEW(scratch, Bins, c.pieces);
    if (!c.piece)
        return NAN;
    for (int digit = 0; digit < DIGITS; digit++) {
        c.width = digit_width[digit];
        c.shift -= c.width;
        count_digit(&c, threads);
        for (int d = 0; digit == 0 && d < BINS; d++)
            variance += eps * c.piece[0].squares[d];
        last = find_bin(&c, variance, &under);
        c.prefix = (c.prefix << c.width) + last; /* rounding may carry it into the next bin */
    }
    if (last < 1u << c.width) { /* the largest light entry itself */
        under.sum += c.piece[0].sum[last];
        under.squares += c.piece[0].squares[last];
    }
    arena_rewind(scratch, mark);
    return under.sum > 0 ? (variance + under.squares) / under.sum : 0;
}
