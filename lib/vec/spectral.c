/* spectral.c -- the three loops of spectral ATOMO on tall matrices of few columns: Gram matrix, projection,
 * and the sum of rank-one terms.
 *
 * Products of floats are exact in double, so a fused multiply-add rounds once just as a multiplication and an
 * addition do, and each entry of the Gram matrix is summed row by row: same bytes from every instruction set.
 * The other two keep multiplication and addition apart for that reason. */
#include "vec.h"

void ISA_NAME(gram_rows)(const float *a, size_t rows, size_t cols, double *g);
void ISA_NAME(project_rows)(const float *a, size_t rows, size_t cols, const double *v, float *const u[4]);
void ISA_NAME(outer_rows)(const float *const u[4], const float *const v[4], size_t count, size_t rows,
                          size_t cols, bool add, float *x);

enum { DLANES = VEC_BYTES / 8, PANEL = 64, TILE = 12 };

typedef double Padded[FEW_COLS];

INLINE VecD add_product(VecD sum, VecD a, double b)
{
#if VEC_BYTES == 64
    return _mm512_fmadd_pd(a, _mm512_set1_pd(b), sum);
#else
    return sum + a * b;
#endif
}

/* g[j][i] += sum over rows of p[j] p[i], for DLANES columns i from `i` and `count` columns j from `j`. */
INLINE void tile(const Padded *p, size_t rows, size_t i, size_t j, const int count, Padded *g)
{
    const double *pi = &p[0][i], *pj = &p[0][j];
    double *out = &g[j][i];
    VecD acc[TILE];
    for (int q = 0; q < count; q++)
        memcpy(&acc[q], out + q * FEW_COLS, sizeof acc[q]);
    for (size_t r = 0; r < rows; r++, pi += FEW_COLS, pj += FEW_COLS) {
        VecD a;
        memcpy(&a, pi, sizeof a);
        for (int q = 0; q < count; q++)
            acc[q] = add_product(acc[q], a, pj[q]);
    }
    for (int q = 0; q < count; q++)
        memcpy(out + q * FEW_COLS, &acc[q], sizeof acc[q]);
}

/* `count` is a constant in each case, so that the sums live in registers. */
static void tile_of(const Padded *p, size_t rows, size_t i, size_t j, size_t count, Padded *g)
{
    switch (count) {
    case 1:
        tile(p, rows, i, j, 1, g);
        break;
    case 2:
        tile(p, rows, i, j, 2, g);
        break;
    case 3:
        tile(p, rows, i, j, 3, g);
        break;
    case 4:
        tile(p, rows, i, j, 4, g);
        break;
    case 5:
        tile(p, rows, i, j, 5, g);
        break;
    case 6:
        tile(p, rows, i, j, 6, g);
        break;
    case 7:
        tile(p, rows, i, j, 7, g);
        break;
    case 8:
        tile(p, rows, i, j, 8, g);
        break;
    case 9:
        tile(p, rows, i, j, 9, g);
        break;
    case 10:
        tile(p, rows, i, j, 10, g);
        break;
    case 11:
        tile(p, rows, i, j, 11, g);
        break;
    default:
        tile(p, rows, i, j, TILE, g);
        break;
    }
}

/* The part of the triangle that each block of columns owns, in equal tiles. */
static void add_panel(const Padded *p, size_t rows, size_t cols, Padded *g)
{
    for (size_t i = 0; i < cols; i += DLANES) {
        const size_t tiles = (cols - i + TILE - 1) / TILE;
        for (size_t t = 0; t < tiles; t++) {
            const size_t from = i + (cols - i) * t / tiles, to = i + (cols - i) * (t + 1) / tiles;
            tile_of(p, rows, i, from, to - from, g);
        }
    }
}

/* One row to double; what lies beyond `cols` in the panel stays zero. */
INLINE void widen_row(const float *a, size_t cols, double *p)
{
    size_t j = 0;
    for (; j + DLANES <= cols; j += DLANES) {
        const VecD d = load_d(a + j);
        memcpy(p + j, &d, sizeof d);
    }
    for (; j < cols; j++)
        p[j] = (double)a[j];
}

void ISA_NAME(gram_rows)(const float *a, size_t rows, size_t cols, double *g)
{
    _Alignas(64) Padded panel[PANEL], sum[FEW_COLS];
    memset(panel, 0, sizeof panel);
    memset(sum, 0, sizeof sum);
    for (size_t r = 0; r < rows; r += PANEL) {
        const size_t some = rows - r < PANEL ? rows - r : PANEL;
        for (size_t q = 0; q < some; q++)
            widen_row(a + (r + q) * cols, cols, panel[q]);
        add_panel((const Padded *)panel, some, cols, sum);
    }
    for (size_t i = 0; i < cols; i++)
        for (size_t j = i; j < cols; j++)
            g[i * cols + j] = g[j * cols + i] = sum[j][i];
}

typedef double Four __attribute__((vector_size(32))); /* one row against four vectors */
typedef float FourF __attribute__((vector_size(16)));
typedef int32_t FourI __attribute__((vector_size(16)));

/* u[k][q] = s[q][k] for q < some <= 4. */
INLINE void turn_four(const Four s[4], size_t some, float *const u[4], size_t r)
{
    FourF f[4];
    for (int q = 0; q < 4; q++)
        f[q] = __builtin_convertvector(s[q], FourF);
    const FourI low = {0, 4, 1, 5}, high = {2, 6, 3, 7}, front = {0, 1, 4, 5}, back = {2, 3, 6, 7};
    const FourF a = __builtin_shuffle(f[0], f[1], low), b = __builtin_shuffle(f[2], f[3], low),
                c = __builtin_shuffle(f[0], f[1], high), d = __builtin_shuffle(f[2], f[3], high);
    const FourF column[4] = {__builtin_shuffle(a, b, front), __builtin_shuffle(a, b, back),
                             __builtin_shuffle(c, d, front), __builtin_shuffle(c, d, back)};
    for (int k = 0; k < 4; k++)
        if (some == 4)
            memcpy(u[k] + r, &column[k], 4 * sizeof(float));
        else
            for (size_t q = 0; q < some; q++)
                u[k][r + q] = column[k][q];
}

enum { GROUP = 8 }; /* rows at a time: as many sums in flight */

/* sum[q] += row q against the four vectors, over a few columns in double. */
INLINE void add_columns(const double *wide, size_t cols, const double *v, Four sum[GROUP])
{
    Four s[GROUP];
    for (int q = 0; q < GROUP; q++)
        s[q] = sum[q];
    for (size_t c = 0; c < cols; c++) {
        Four f;
        memcpy(&f, v + 4 * c, sizeof f);
        for (size_t q = 0; q < GROUP; q++)
            s[q] += f * wide[q * cols + c];
    }
    for (int q = 0; q < GROUP; q++)
        sum[q] = s[q];
}

/* u[k][r] = a[r] . v[][k]; v is (cols, 4). */
void ISA_NAME(project_rows)(const float *a, size_t rows, size_t cols, const double *v, float *const u[4])
{
    _Alignas(64) double wide[GROUP * FEW_COLS]; /* (GROUP, few) */
    memset(wide, 0, sizeof wide);
    for (size_t r = 0; r < rows; r += GROUP) {
        const size_t some = rows - r < GROUP ? rows - r : GROUP;
        Four s[GROUP];
        memset(s, 0, sizeof s);
        for (size_t from = 0; from < cols; from += FEW_COLS) {
            const size_t few = cols - from < FEW_COLS ? cols - from : FEW_COLS;
            if (few == cols)
                widen_row(a + r * cols, some * cols, wide);
            else
                for (size_t q = 0; q < some; q++)
                    widen_row(a + (r + q) * cols + from, few, wide + q * few);
            add_columns(wide, few, v + 4 * from, s);
        }
        turn_four(s, some < 4 ? some : 4, u, r);
        if (some > 4)
            turn_four(s + 4, some - 4, u, r + 4);
    }
}

/* Rows of at least a vector: x[r] (+)= sum over k of u[k][r] v[k], along the row. */
static void outer_long(const float *const u[4], const float *const v[4], size_t count, size_t rows,
                       size_t cols, bool add, float *x)
{
    for (size_t r = 0; r < rows; r++, x += cols) {
        size_t c = 0;
        for (; c + LANES <= cols; c += LANES) {
            VecF s = add ? load_f(x + c) : (VecF){0};
            for (size_t k = 0; k < count; k++)
                s += load_f(v[k] + c) * u[k][r];
            store_f(x + c, s);
        }
        for (; c < cols; c++) {
            float s = add ? x[c] : 0;
            for (size_t k = 0; k < count; k++)
                s += v[k][c] * u[k][r];
            x[c] = s;
        }
    }
}

/* Short rows: LANES of them are `cols` whole vectors, each with the same pattern of rows and columns every
 * time. */
void ISA_NAME(outer_rows)(const float *const u[4], const float *const v[4], size_t count, size_t rows,
                          size_t cols, bool add, float *x)
{
    VecF pattern[4][FEW_COLS];
    VecI row[FEW_COLS];
    size_t r = 0;
    if (cols <= FEW_COLS && rows >= LANES) {
        for (size_t e = 0; e < LANES * cols; e++) {
            row[e / LANES][e % LANES] = (int32_t)(e / cols);
            for (size_t k = 0; k < count; k++)
                pattern[k][e / LANES][e % LANES] = v[k][e % cols];
        }
        for (; r + LANES <= rows; r += LANES)
            for (size_t i = 0; i < cols; i++) {
                float *at = x + r * cols + i * LANES;
                VecF s = add ? load_f(at) : (VecF){0};
                for (size_t k = 0; k < count; k++)
                    s += pattern[k][i] * __builtin_shuffle(load_f(u[k] + r), row[i]);
                store_f(at, s);
            }
    }
    const float *rest[4];
    for (size_t k = 0; k < count; k++)
        rest[k] = u[k] + r;
    outer_long(rest, v, count, rows - r, cols, add, x + r * cols);
}
