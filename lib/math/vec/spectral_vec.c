/* spectral_vec.c -- loops of spectral ATOMO: the projection of a matrix on a few vectors, and the sum of
 * rank-one matrices.
 *
 * Fused multiply-add is not used: it rounds differently from a multiplication followed by an addition, and
 * all instruction sets must give the same results. */
#include "math/vec/turn.h"
#include "base/bytes.h"

/* Computes elements r .. r + TURNED - 1 of u[k] = a v_k, where v_k is column k of v; `a` points to row r.
 * Every caller passes a constant `count`, so that the sums stay in registers. Columns are read four at a
 * time. The last four may overlap with the columns before them; `tail` has the rows of v for the last four,
 * with zeros for columns already added. */
INLINE void project_turned(const float *a, size_t cols, const double *v, const double *tail, const int count,
                           uint8_t *const u[4], size_t r)
{
    VecD sum[4][PER_TURN];
    for (int k = 0; k < count; k++)
        for (int part = 0; part < PER_TURN; part++)
            sum[k][part] = (VecD){0};
    for (size_t c = 0; c < cols; c += 4) {
        const bool whole = c + 4 <= cols;
        const double *times = whole ? v + 4 * c : tail;
        Turned column[4];
        turn_rows(a + (whole ? c : cols - 4), cols, column);
        for (int q = 0; q < 4; q++)
            for (int part = 0; part < PER_TURN; part++) {
                const VecD d = widen_part(column[q], part);
                for (int k = 0; k < count; k++)
                    sum[k][part] += d * times[4 * q + k];
            }
    }
    for (int k = 0; k < count; k++) {
        const Turned f = narrow_parts(sum[k]);
        float one[TURNED];
        memcpy(one, &f, sizeof one);
        floats_store(u[k] + r * sizeof(float), one, TURNED);
    }
}

/* Computes element r of u[k] = a v_k; `a` points to row r. Uses the order of operations of `project_turned`,
 * so that both functions round equally. */
static void project_one(const float *a, size_t cols, const double *v, size_t count, uint8_t *const u[4],
                        size_t r)
{
    double sum[4] = {0};
    for (size_t c = 0; c < cols; c++)
        for (size_t k = 0; k < count; k++)
            sum[k] += (double)a[c] * v[4 * c + k];
    for (size_t k = 0; k < count; k++)
        store_f32(u[k] + r * sizeof(float), (float)sum[k]);
}

void ISA_NAME(project_rows)(const float *a, size_t rows, size_t cols, const double *v, size_t count,
                            uint8_t *const u[4])
{
    double tail[16] = {0};
    const size_t left = cols % 4;
    if (cols >= 4)
        memcpy(tail + 4 * (4 - left), v + 4 * (cols - left), 4 * left * sizeof *v);
    size_t r = 0;
    for (; cols >= 4 && r + TURNED <= rows; r += TURNED) {
        WITH_4(count, project_turned(a + r * cols, cols, v, tail, N, u, r))
    }
    for (; r < rows; r++)
        project_one(a + r * cols, cols, v, count, u, r);
}

/* Sets each row r of x to the sum over k of u[k][r] v[k]; if `add`, adds the sum to row r. */
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

/* Short rows are computed in groups of LANES rows: a group fills exactly `cols` SIMD vectors, so an element
 * has the same position in every group. */
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
                    s += pattern[k][i] * pick_lanes(load_f(u[k] + r), row[i]);
                store_f(at, s);
            }
    }
    const float *rest[4];
    for (size_t k = 0; k < count; k++)
        rest[k] = u[k] + r;
    outer_long(rest, v, count, rows - r, cols, add, x + r * cols);
}
