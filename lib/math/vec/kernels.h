/* kernels.h -- the hot loops (kernels) as a table of functions, and the types of their parameters.
 * kernels_list.h has their contracts.
 *
 * The Makefile compiles kernels_vec.c, which includes every other *_vec.c, once per instruction set; each compilation
 * fills one table. All tables give the same bytes: a sum has a fixed number of lanes for every vector width, most often 16, which are
 * added in a fixed order. */
#ifndef ATOMO_KERNELS_H
#define ATOMO_KERNELS_H

#include "base/bits.h"
#include "base/coin.h"
#include "math/vec/minifloat.h"
#include "math/vec/quantise.h"

enum { FEW_COLS = 32, MEDIAN_MOST = 31, SORT_LEAST = 128, SORT_MOST = 4096 };

typedef enum { ISA_BASE, ISA_AVX2, ISA_AVX512, ISA_COUNT } Isa;

/* For each k, how many numbers of a run of codes (consecutive codes that share a norm) are at least 2^k. They
 * give the exact length of the run's Elias codes. */
typedef struct {
    uint64_t level[17]; /* level >= 2^k */
    uint64_t next[17];  /* level + 1 >= 2^k, for k >= 1 */
    /* index gap >= 2^k; a gap is from one non-zero level to the next, the first from the start of the run */
    uint64_t gap[17];
} Census;
/* Codes of `width` bits, each at most `most`, as bit planes (planes.h). */
typedef struct {
    const uint8_t *planes;
    int width;
    uint32_t most;
} PlaneSet;

/* Indices into the sums of `gradient_sums`: of x^2 and of |x|, the number of x != 0, and from G_ABOVE on the
 * number of |x| above each threshold. */
enum { THRESHOLDS = 3 };
enum { G_SQUARES, G_MAGNITUDES, G_NONZERO, G_ABOVE, G_SUMS = G_ABOVE + THRESHOLDS };

/* Indices into the sums of `error_sums` over all elements. x is an element of the gradient, y its estimate, d
 * = y - x. */
enum {
    E_SQUARES, /* d^2 */
    E_ERRORS,  /* |d| */
    E_NORM,    /* y^2 */
    E_DOT,     /* x y */
    E_SIGNED,  /* sign(x) y */
    E_NONZERO, /* y != 0 */
    E_AGREE,   /* number of elements with x y > 0 */
    E_UNDER,   /* sum of |d| / |x| where y < x */
    E_UNDERS,  /* number of elements with y < x and x != 0 */
    E_OVER,    /* sum of |d| / |x| where y > x */
    E_OVERS,   /* number of elements with y > x and x != 0 */
    E_ABOVE,   /* sums of |d| / |x| where |x| is above each threshold */
    E_SUMS = E_ABOVE + THRESHOLDS,
};

/* Indices into sums over elements. `mean` is an element's mean error over all repeats, m2 its sum of squared
 * deviations from `mean`. `spread_add` returns by how much the sums before S_STEPS grow with a repeat;
 * `spread_sums` returns the others at the end. */
enum {
    S_M2,
    S_M2_WEIGHTED, /* m2 x^2 */
    S_STEPS,
    S_M2_SQUARES = S_STEPS,
    S_M2_WEIGHTED_SQUARES, /* (m2 x^2)^2 */
    S_BIAS,     /* mean^2 */
    S_BIAS_DOT, /* mean x */
    S_SUMS,
};

enum { ROOM_BEHIND = 16, ENTRY_SHIFT = 8, HADAMARD_RUN = 256, HADAMARD_TILE = 1 << 14 };

/* The low-pass (`smooth`) and high-pass (`detail`) filter of an orthogonal wavelet, with 2, 4 or 8 taps
 * (coefficients). */
enum { WAVELET_TAPS = 8 };
typedef struct {
    int taps;
    double smooth[WAVELET_TAPS], detail[WAVELET_TAPS];
} WaveletFilter;

/* The levels of a quantiser that is symmetric around 0: magnitudes in (above[k], above[k + 1]] become
 * level[k]. Level 0 begins at 0, so above[0] is not used. */
enum { LEVEL_SCALE_BITS = 7, LEVEL_SCALE_MOST = 1 << LEVEL_SCALE_BITS };
typedef struct {
    int count, bits; /* count: number of levels, 2^bits; bits: bits of a level's index */
    float above[LEVEL_SCALE_MOST], level[LEVEL_SCALE_MOST];
    float step[LEVEL_SCALE_MOST]; /* level[k] - level[k - 1] */
} LevelScale;

/* Returns the levels, 2^bits with those below 0, with the least mean squared error for standard normal numbers (Lloyd 1957,
 * Max 1960), and thresholds for normal numbers with standard deviation `unit`. 1 <= bits <= LLOYD_BITS_MAX. */
enum { LLOYD_BITS_MAX = LEVEL_SCALE_BITS + 1 };
LevelScale lloyd_scale(int bits, float unit);

/* Blocks of `size` elements (the last may be shorter), each with a scale by which elements or values are multiplied,
 * or divided. */
typedef struct {
    size_t size;
    const float *scale; /* (blocks) */
    bool divide;
} ScaledBlocks;

/* A stream that rans_get reads: words from `at` to `end`, symbols to `byte`. slot[low `precision` bits of a state] has the
 * bits symbol:8 frequency:12 offset:12. For rans_get_fine, `slot` has bytes, the symbols, and three unused bytes at its
 * end, and slice[symbol] has the bits frequency:16 start:16. */
enum { RANS_RUNS = 2 };
typedef struct {
    const void *slot;
    const uint32_t *slice;
    int precision;
    uint8_t *byte;
    uint32_t *state; /* (16) */
    const uint8_t *at, *end;
} RansRun;

typedef struct {
    const char *name; /* of the instruction set: "avx512", "avx2", "sse2", "neon"; "base": of another CPU */

#define LOOP(result, name, parameters) result(*name) parameters;
#include "math/vec/kernels_list.h"
#undef LOOP
} Kernels;

Isa isa_of_cpu(void); /* the widest of this CPU */
const Kernels *kernels(void);
/* for tests: the table of one instruction set; NULL: not in this build, or not on this CPU */
const Kernels *kernels_of(Isa isa);

#endif
