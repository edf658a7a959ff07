/* kernels.h -- the hot loops, each compiled for several instruction sets that give the same bytes.
 *
 * The sources stand in lib/vec/; the Makefile compiles them once per instruction set and each compilation
 * fills one table. kernels() gives the best table this CPU can run. Sums are taken in 16 fixed lanes that end
 * in a fixed tree, so they do not depend on the vector width. */
#ifndef ATOMO_KERNELS_H
#define ATOMO_KERNELS_H

#include "base/bits.h"
#include "base/coin.h"
#include "vec/ladder.h"
#include "vec/quantise.h"

enum { FEW_COLS = 32, MEDIAN_MOST = 31 };

typedef enum { ISA_BASE, ISA_AVX2, ISA_AVX512, ISA_COUNT } Isa;

/* What the exact length of a run's universal codes depends on: how many numbers have k + 1 bits or more. */
typedef struct {
    uint64_t level[17]; /* level >= 2^k */
    uint64_t next[17];  /* level + 1 >= 2^k, k >= 1 */
    uint64_t gap[17];   /* non-zero levels at least 2^k behind the one before (or the run's start) */
} Census;
/* Codes as bit planes (planes.h), each at most `most`. */
typedef struct {
    const uint8_t *planes;
    int width;
    uint32_t most;
} PlaneSet;

/* What gradient_sums adds up; ABOVE stands for one sum per threshold. */
enum { THRESHOLDS = 3 };
enum { G_SQUARES, G_MAGNITUDES, G_NONZERO, G_ABOVE, G_SUMS = G_ABOVE + THRESHOLDS };

/* What error_sums adds up, d = y - x, q = |d| / |x| where x is not 0. */
enum {
    E_SQUARES, /* d^2 */
    E_ERRORS,  /* |d| */
    E_NORM,    /* y^2 */
    E_DOT,     /* x y */
    E_NONZERO, /* y != 0 */
    E_AGREE,   /* x y > 0 */
    E_UNDER,   /* q where y < x */
    E_UNDERS,  /* how many those are */
    E_OVER,    /* q where y > x */
    E_OVERS,
    E_ABOVE, /* q where |x| is above each threshold */
    E_SUMS = E_ABOVE + THRESHOLDS,
};

/* What is added up of mean and squared deviations m2 per element: the first two repeat by repeat. */
enum {
    S_M2,
    S_M2_WEIGHTED, /* m2 x^2 */
    S_STEPS,
    S_M2_SQUARES = S_STEPS,
    S_BIAS,     /* mean^2 */
    S_BIAS_DOT, /* mean x */
    S_SUMS,
};

enum { ROOM_BEHIND = 16, ENTRY_SHIFT = 8, HADAMARD_RUN = 256, HADAMARD_TILE = 1 << 14 };

/* The two filters of an orthogonal wavelet; 2, 4 or 8 taps. */
enum { WAVELET_TAPS = 8 };
typedef struct {
    int taps;
    double smooth[WAVELET_TAPS], detail[WAVELET_TAPS];
} WaveletFilter;

/* Magnitude k of a symmetric scale stands for magnitudes above `above[k]` and up to the next; above[0] is nothing. */
enum { LEVEL_SCALE_BITS = 7, LEVEL_SCALE_MOST = 1 << LEVEL_SCALE_BITS };
typedef struct {
    int count, bits; /* 2^bits magnitudes */
    float above[LEVEL_SCALE_MOST], level[LEVEL_SCALE_MOST];
    float step[LEVEL_SCALE_MOST]; /* level[k] - level[k - 1] */
} LevelScale;

typedef struct {
    const char *name; /* "avx512" */

    /* Sum of x_i^2, exact products added in double. */
    double (*sum_squares)(const float *x, size_t n);
    float (*abs_max)(const float *x, size_t n); /* 0 for n = 0 */
    void (*moments)(const float *x, size_t n, double *sum, double *squares);

    /* Codes of x[0..n), whose random words are those of elements first, first + 1, ... of the key's block. */
    void (*quantise8)(const float *x, size_t n, Quantiser q, RngKey key, uint32_t first, uint8_t *code);
    void (*quantise32)(const float *x, size_t n, Quantiser q, RngKey key, uint32_t first, uint32_t *code);
    void (*toss8)(const float *x, size_t n, Coin coin, RngKey key, uint32_t first, uint8_t *code);

    /* Values of codes; false when one has a level above s or a sign without a level. */
    bool (*dequantise8)(const uint8_t *code, size_t n, Dequantiser d, float *x);
    bool (*dequantise32)(const uint32_t *code, size_t n, Dequantiser d, float *x);

    /* Bit planes of groups of 64 codes (planes.h): word k of a group has bit k of each code. Bits of a
     * code from `width` on are left out; width <= 8 for bytes. */
    void (*pack8)(const uint8_t *code, size_t groups, int width, uint8_t *plane);
    void (*pack32)(const uint32_t *code, size_t groups, int width, uint8_t *plane);
    void (*unpack8)(const uint8_t *plane, size_t groups, int width, uint8_t *code);
    void (*unpack32)(const uint8_t *plane, size_t groups, int width, uint32_t *code);

    /* Trits of groups of 320 codes 0, 1, 3 in 64 bytes each (planes.h); false when a byte is above 242. */
    void (*pack_trits)(const uint8_t *code, size_t groups, uint8_t *byte);
    bool (*unpack_trits)(const uint8_t *byte, size_t groups, uint8_t *code);

    /* 16-bit floats, little-endian; magnitudes beyond the largest finite one become it. The stochastic ones
     * take a neighbour with the probability that keeps the mean. Back: false when one is infinite or no number. */
    void (*fp16_nearest)(const float *x, size_t n, uint8_t *out);
    void (*fp16_random)(const float *x, size_t n, RngKey key, uint32_t first, uint8_t *out);
    bool (*fp16_floats)(const uint8_t *in, size_t n, float *x);
    void (*bf16_nearest)(const float *x, size_t n, uint8_t *out);
    void (*bf16_random)(const float *x, size_t n, RngKey key, uint32_t first, uint8_t *out);
    bool (*bf16_floats)(const uint8_t *in, size_t n, float *x);

    /* A power of two on either side of |x|, with the probability that keeps the mean: its exponent field, 0 for
     * what became zero, and 1 for a sign of what did not. n <= BLOCK; false when an |x| is beyond 2^127. Back:
     * false when a field is 255 or zero has a sign. */
    bool (*powers)(const float *x, size_t n, RngKey key, uint8_t *power, uint8_t *sign);
    bool (*power_floats)(const uint8_t *power, const uint8_t *sign, size_t n, float *x);

    /* The smallest and the largest element, n > 0; zeros are +0. */
    void (*range)(const float *x, size_t n, float *low, float *high);
    /* Levels of x - low, which is not negative, as quantise.h has them but without signs; without a key, the
     * nearest ones. Back: low + level unit drop, at most high. */
    void (*grade8)(const float *x, size_t n, float low, Quantiser q, const RngKey *key, uint32_t first,
                   uint8_t *code);
    void (*grade32)(const float *x, size_t n, float low, Quantiser q, const RngKey *key, uint32_t first,
                    uint32_t *code);
    void (*graded8)(const uint8_t *code, size_t n, float low, float high, Dequantiser d, float *x);
    void (*graded32)(const uint32_t *code, size_t n, float low, float high, Dequantiser d, float *x);

    /* Codes of levels that double (ladder.h); back: false when one has a sign without a level. */
    void (*climb)(const float *x, size_t n, Ladder l, RngKey key, uint32_t first, uint8_t *code);
    bool (*descend)(const uint8_t *code, size_t n, Ladder l, float *x);

    /* Where codes are not 0; n <= BLOCK. Returns how many there are; `at` and `entry` have room for n + ROOM_BEHIND. */
    size_t (*places32)(const uint32_t *code, size_t n, uint16_t *at);
    /* With the code itself: (place + 1) << ENTRY_SHIFT | code. */
    size_t (*entries8)(const uint8_t *code, size_t n, uint32_t *entry);
    /* Puts the codes of some of a run's entries, of which there may be none, and returns how many: as many as it is
     * quick with. Gaps count from entry[-1]. */
    size_t (*put_entries)(const uint32_t *entry, size_t count, int bits, BitWriter *w);

    /* Adds what the lengths of one run's codes depend on (levels.h). */
    void (*census8)(const uint8_t *code, size_t n, int bits, Census *census);
    void (*census32)(const uint32_t *code, size_t n, int bits, Census *census);

    /* Sum of |x_i - y_i|. */
    double (*sum_gaps)(const float *x, const float *y, size_t n);

    /* Measuring a decoded y against x, all in double. `above`: thresholds on |x|, none negative. */
    void (*gradient_sums)(const float *x, size_t n, const double above[THRESHOLDS], double sum[G_SUMS]);
    void (*error_sums)(const float *x, const float *y, size_t n, const double above[THRESHOLDS],
                       double sum[E_SUMS], double *largest /* |d| */);

    /* Welford's recurrence on d = y - x, the count-th (from 1). Kept per element: half the mean and the root
     * of m2, so that neither leaves float32's range where d does not; the steps' sums are exact. */
    void (*spread_add)(const float *x, const float *y, size_t n, double count, float *half, float *root,
                       double sum[S_STEPS]);
    void (*spread_sums)(const float *x, const float *half, const float *root, size_t n, double sum[S_SUMS]);

    /* Matrices, row-major. gram_rows takes at most FEW_COLS columns.
     * g (cols, cols) = a' a, exact products added in double. */
    void (*gram_rows)(const float *a, size_t rows, size_t cols, double *g);
    /* u[k], rows floats at any address: a v[k] for count <= 4 vectors that lie interleaved: v is (cols, 4).
     * Summed in double. */
    void (*project_rows)(const float *a, size_t rows, size_t cols, const double *v, size_t count,
                         uint8_t *const u[4]);
    /* x (rows, cols) = sum over k < count <= 4 of u[k] v[k]', onto what is there when `add`. */
    void (*outer_rows)(const float *const u[4], const float *const v[4], size_t count, size_t rows,
                       size_t cols, bool add, float *x);
    /* With count <= 4 vectors of floats: p[k][r] = row r of a . q[k], and sum[k] += a' p[k], where rows of a are
     * `stride` apart. Exact products added in double. */
    void (*rows_dot)(const float *a, size_t rows, size_t cols, const float *const q[4], size_t count,
                     float *const p[4]);
    void (*rows_add)(const float *a, size_t stride, size_t rows, size_t cols, const float *const p[4],
                     size_t count, double *const sum[4]);

    /* Sums of codes, `width` planes of them, groups of 64 codes from .. where it stops, which is returned: less than a
     * vector before `to`. *above becomes true where a code is above its most. */
    size_t (*add_planes)(const PlaneSet *in, size_t count, size_t from, size_t to, int width, uint8_t *out,
                         bool *above);

    /* out[i] = sum over `count` workers of in[w][i], from <= i < to, little-endian float32 at any address, added in
     * double in order. False when a part is not within part_most, or a sum not within most. */
    bool (*add_up)(const uint8_t *const *in, size_t count, size_t from, size_t to, float part_most,
                   double most, uint8_t *out);

    /* Sum of |x_i| in double, and the candidates of a coin: every element that coin_keep(coin, x, key, i)
     * would keep, with coin's scale or a larger one, and about one in 2^30 of the others. n <= BLOCK. Writes
     * each one's place i and value in order, and returns their number; `at` and `value` have room for n + 16. */
    size_t (*coin_sift)(const float *x, size_t n, Coin coin, const RngKey *key, uint32_t *at, float *value,
                        double *sum);

    double (*sum_magnitudes)(const float *x, size_t n); /* the same sum alone */

    /* Signs of groups of 64 elements, a bit each from the low end: set where x < 0, so that both zeros are
     * plus. Back: `minus` where it is set, else `plus`. The sums of |x| over x >= 0 and over x < 0. */
    void (*sign_bits)(const float *x, size_t groups, uint8_t *bit);
    void (*sign_values)(const uint8_t *bit, size_t groups, float plus, float minus, float *x);
    void (*sign_sums)(const float *x, size_t n, double sum[2]);
    /* Bit i % 64 of bits[i / 64]: |x_i| >= least; those behind n are 0. Returns how many are set. */
    size_t (*mark_from)(const float *x, size_t n, float least, uint64_t *bits);

    /* What lies on either side of a range of magnitudes: sum[0] and sum[1] are those of |x| and x^2 where |x| <
     * low, sum[2] that of all x^2. The |x| from low on and under high go to `between` in order, which has room
     * for n + 16; returns how many they are. 0 < low. */
    size_t (*sums_around)(const float *x, size_t n, float low, float high, float *between, double sum[3]);

    /* Walsh-Hadamard butterflies in place, by rising stride. Of runs of HADAMARD_RUN elements, unscaled; of
     * 2^log_rows rows that are `stride` apart and `cols` long, whole vectors, in all HADAMARD_TILE at most:
     * between rows, times `scale`. */
    void (*hadamard_runs)(float *x, size_t runs);
    void (*hadamard_rows)(float *x, size_t stride, int log_rows, size_t cols, float scale);

    /* y_i = x_i scale, its sign changed where bit i % 32 of the key's word first + i / 32 is set; y may be x. */
    void (*flip_signs)(const float *x, size_t n, float scale, RngKey key, uint32_t first, float *y);
    /* Codes of x: the number of its magnitude's level, and the sign in bit s->bits. Returns the sum of x times
     * what it is rounded to. */
    double (*nearest_levels)(const float *x, size_t n, const LevelScale *s, uint8_t *code);

    /* One level of a wavelet transform: smooth_k = sum over t of w->smooth[t] x_(2k + t), detail_k alike, from
     * 2 pairs + taps - 2 elements of x; and its transpose, pair k of x from smooths and details k, k - 1, ...,
     * k - taps / 2 + 1, those before the first included. Summed in double. */
    void (*wavelet_split)(const WaveletFilter *w, const float *x, size_t pairs, float *smooth, float *detail);
    void (*wavelet_join)(const WaveletFilter *w, const float *smooth, const float *detail, size_t pairs,
                         float *x);

    /* Which of `buckets` each of n elements falls into: floor(word buckets / 2^32), from element first on. */
    void (*hash_buckets)(RngKey key, uint32_t first, size_t n, uint32_t buckets, uint32_t *bucket);
    /* The same of the elements at n given places of the block. */
    void (*hash_places)(RngKey key, const uint32_t *at, size_t n, uint32_t buckets, uint32_t *bucket);
    /* Of `rows` <= MEDIAN_MOST vectors that are `stride` >= n apart, column by column, the median: half the sum
     * of the two in the middle where there are two; zeros are +0. Reads up to 15 elements behind each vector. */
    void (*medians)(const float *x, size_t stride, size_t rows, size_t n, float *median);
    /* How many of `above` (count < 256) each element is above. */
    void (*stretches)(const float *x, size_t n, const float *above, size_t count, uint8_t *code);
    /* from[c] + floor(word size[c] / 2^32) for the words of elements first, first + 1, ... of the key's block, whose codes
     * are c < clusters. `from` and `size` have room for ROOM_BEHIND at least. */
    void (*cluster_slots)(RngKey key, uint32_t first, size_t n, const uint8_t *code, size_t clusters,
                          const uint32_t *from, const uint32_t *size, uint32_t *slot);
    /* One layer of the dynamic program of knots.h: for from <= j < to, next[j] = min over low <= i <= high, i < j of a[i] +
     * (b[i] x[j] - x[i] b[j]), and back[j] the first i that has it, which must not fall as j rises; low < from. All arrays
     * have ROOM_BEHIND places to spare, and `next` and `back` lose theirs; next may be a where high < from. to <= 2^16. */
    void (*knot_layer)(const double *x, const double *b, const double *a, size_t low, size_t high,
                       size_t from, size_t to, double *next, uint16_t *back);
    /* Rows of 16 symbols of 16 lanes (rans.h): `slice` by byte is frequency:16 | start:16, `slot` by the low
     * `precision` bits of a state byte:8 | frequency:12 | offset:12. Words are written in front of `at`, two
     * bytes of room before the first of them to spare, and the new front is returned; they are read from *at
     * on while 32 bytes are left, and the rows read are returned. */
    uint8_t *(*rans_put)(const uint32_t *slice, int precision, const uint8_t *byte, size_t rows,
                         uint32_t state[16], uint8_t *at);
    size_t (*rans_get)(const uint32_t *slot, int precision, uint8_t *byte, size_t rows, uint32_t state[16],
                       const uint8_t **at, const uint8_t *end);
    /* The same where `slot` holds the byte alone, and three bytes more, and `slice` by byte says the rest. */
    size_t (*rans_get_fine)(const uint8_t *slot, const uint32_t *slice, int precision, uint8_t *byte,
                            size_t rows, uint32_t state[16], const uint8_t **at, const uint8_t *end);
} Kernels;

Isa isa_of_cpu(void); /* the best this CPU can run */
const Kernels *kernels(void);
const Kernels *kernels_of(Isa isa); /* NULL: not in this build, or not on this CPU; for tests */

#endif
