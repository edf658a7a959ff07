/* kernels.h -- the hot loops as a table, and the types in their parameters; kernels_list.h says what each loop does.
 *
 * The Makefile compiles every *_vec.c once per instruction set, and each compilation fills one table. All tables give the same
 * bytes: sums are taken in 16 fixed lanes that end in a fixed tree, so they do not depend on the vector width. */
#ifndef ATOMO_KERNELS_H
#define ATOMO_KERNELS_H

#include "base/bits.h"
#include "base/coin.h"
#include "vec/ladder.h"
#include "vec/quantise.h"

enum { FEW_COLS = 32, MEDIAN_MOST = 31 };

typedef enum { ISA_BASE, ISA_AVX2, ISA_AVX512, ISA_COUNT } Isa;

/* The counts that give the exact length of a run's Elias codes: how many of its numbers have k + 1 bits or more. */
typedef struct {
    uint64_t level[17]; /* level >= 2^k */
    uint64_t next[17];  /* level + 1 >= 2^k, k >= 1 */
    uint64_t gap[17]; /* index gaps >= 2^k between non-zero levels (the first counts from the run's start) */
} Census;
/* Codes as bit planes (planes.h), each at most `most`. */
typedef struct {
    const uint8_t *planes;
    int width;
    uint32_t most;
} PlaneSet;

/* The sums of gradient_sums; from G_ABOVE on, how many |x| are above each threshold. */
enum { THRESHOLDS = 3 };
enum { G_SQUARES, G_MAGNITUDES, G_NONZERO, G_ABOVE, G_SUMS = G_ABOVE + THRESHOLDS };

/* The sums of error_sums, with d = y - x, and q = |d| / |x| where x is not 0. */
enum {
    E_SQUARES, /* d^2 */
    E_ERRORS,  /* |d| */
    E_NORM,    /* y^2 */
    E_DOT,     /* x y */
    E_SIGNED,  /* sign(x) y */
    E_NONZERO, /* y != 0 */
    E_AGREE,   /* x y > 0 */
    E_UNDER,   /* q where y < x */
    E_UNDERS,  /* how many have y < x */
    E_OVER,    /* q where y > x */
    E_OVERS,   /* how many have y > x */
    E_ABOVE,   /* q where |x| is above each threshold */
    E_SUMS = E_ABOVE + THRESHOLDS,
};

/* The sums over elements of the mean error and its squared deviations m2. spread_add gives the increments of the first
 * two for one repeat, spread_sums the others. */
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

/* The levels of a symmetric quantiser: magnitudes above above[k], up to above[k + 1], become level[k]. above[0] is not used. */
enum { LEVEL_SCALE_BITS = 7, LEVEL_SCALE_MOST = 1 << LEVEL_SCALE_BITS };
typedef struct {
    int count, bits; /* 2^bits magnitudes */
    float above[LEVEL_SCALE_MOST], level[LEVEL_SCALE_MOST];
    float step[LEVEL_SCALE_MOST]; /* level[k] - level[k - 1] */
} LevelScale;

typedef struct {
    const char *name; /* "avx512" */

#define LOOP(result, name, parameters) result(*name) parameters;
#include "vec/kernels_list.h"
#undef LOOP
} Kernels;

Isa isa_of_cpu(void); /* the best this CPU can run */
const Kernels *kernels(void);
const Kernels *kernels_of(Isa isa); /* NULL: not in this build, or not on this CPU; for tests */

#endif
