/* verify_matrices.c -- Table 1, Theorem 6 and Lemma 7 (Appendix C's Lemma 11) on the matrix that a tensor is viewed as.
 *
 * Table 1's "Var." is the second moment: the variance is that less |X|_F^2. Appendix C's chain for the left
 * inequality ends in sqrt(nm) |X|_*; the factor is missing in print, the lemma itself is right. */
#include "verify_parts.h"

#include "spectral.h"
#include "stats.h"

#include <float.h>
#include <math.h>

/* ---- matrices ---- */

static Status take_spectrum(Subject *s, Matrix *m)
{
    Spectral spectral;
    TRY(spectral_open(&spectral, tall_of(m->x, m->rows, m->cols), SPECTRAL_GRAM, s->threads, s->a, s->err));
    m->k = spectral.k;
    m->sigma = spectral.lambda;
    m->nuclear = 0;
    stats_sort(m->sigma, m->k); /* it is in order to rounding, largest first */
    for (size_t i = 0; i < m->k; i++)
        m->nuclear += m->sigma[i];
    for (size_t i = 0; i < m->k / 2; i++) {
        const double t = m->sigma[i];
        m->sigma[i] = m->sigma[m->k - 1 - i];
        m->sigma[m->k - 1 - i] = t;
    }
    return OK;
}

/* Rows and columns drawn from equal stretches, the whole scaled by a power of two. */
static Status copy_cut(Subject *s, size_t rows, size_t cols, uint64_t purpose, Matrix *m)
{
    const Rng rng = subject_rng(s, purpose), row_rng = rng_below(&rng, 0), col_rng = rng_below(&rng, 1);
    size_t *row = NEW(s->a, size_t, m->rows), *col = NEW(s->a, size_t, m->cols);
    float *x = NEW(s->a, float, m->rows * m->cols);
    int exponent = 0;
    if (!row || !col || !x)
        return arena_fail(s->a, s->err);
    places_take(row, m->rows, rows, &row_rng);
    places_take(col, m->cols, cols, &col_rng);
    for (size_t i = 0; i < m->rows; i++)
        for (size_t k = 0; k < m->cols; k++) {
            x[i * m->cols + k] = s->x[row[i] * cols + col[k]];
            m->most = fmax(m->most, fabs((double)x[i * m->cols + k]));
        }
    frexp(m->most, &exponent);
    m->most = ldexp(m->most, -exponent);
    for (size_t i = 0; i < m->rows * m->cols; i++) {
        x[i] = ldexpf(x[i], -exponent);
        m->l1 += fabs((double)x[i]);
        m->squares += (double)x[i] * (double)x[i];
    }
    m->x = x;
    return OK;
}

Status matrix_cut(Subject *s, size_t longer, size_t shorter, uint64_t purpose, Matrix *m)
{
    size_t rows, cols;
    matrix_view(&s->vector->shape, RESHAPE_PAPER, &rows, &cols);
    const size_t most_rows = rows < cols ? shorter : longer, most_cols = rows < cols ? longer : shorter;
    *m = (Matrix){.rows = rows < most_rows ? rows : most_rows, .cols = cols < most_cols ? cols : most_cols};
    shape_make(&m->shape, 2, (size_t[]){m->rows, m->cols});
    TRY(copy_cut(s, rows, cols, purpose, m));
    return m->most > 0 ? take_spectrum(s, m) : OK;
}

Status subject_matrix(Subject *s)
{
    size_t rows, cols;
    if (s->matrix)
        return OK;
    Matrix *m = NEW_ZERO(s->a, Matrix, 1);
    if (!m)
        return arena_fail(s->a, s->err);
    matrix_view(&s->vector->shape, RESHAPE_PAPER, &rows, &cols);
    const size_t longer = rows > cols ? rows : cols, shorter = rows > cols ? cols : rows;
    if (longer > VERIFY_LONG || shorter > VERIFY_SHORT) {
        TRY(matrix_cut(s, VERIFY_LONG, VERIFY_SHORT, FOR_MATRIX, m));
    } else {
        *m = (Matrix){
            .x = s->x, .rows = rows, .cols = cols, .l1 = s->l1, .squares = s->squares, .most = s->most};
        shape_make(&m->shape, 2, (size_t[]){rows, cols});
        TRY(take_spectrum(s, m));
    }
    s->matrix = m;
    return OK;
}

Status matrix_atoms(Subject *s, const Matrix *m, AtomSet *set)
{
    const Tall tall = tall_of(m->x, m->rows, m->cols);
    size_t index[ATOMS_MOST];
    double scale[ATOMS_MOST];
    uint8_t *u[ATOMS_MOST], *v[ATOMS_MOST];
    Spectral spectral;
    assert(m->k <= ATOMS_MOST);
    TRY(atomset_take(s, set, m->k, m->rows * m->cols));
    for (size_t i = 0; i < m->k; i++) {
        index[i] = i;
        scale[i] = 1;
        u[i] = (uint8_t *)NEW(s->a, float, tall.rows);
        v[i] = (uint8_t *)NEW(s->a, float, tall.cols);
        if (!u[i] || !v[i])
            return arena_fail(s->a, s->err);
    }
    TRY(spectral_open(&spectral, tall, SPECTRAL_GRAM, s->threads, s->a, s->err));
    TRY(spectral_atoms(&spectral, index, scale, m->k, u, v, s->a, s->err));
    for (size_t i = 0; i < m->k; i++) {
        const float *left = (const float *)(const void *)(tall.turned ? v[i] : u[i]);
        const float *right = (const float *)(const void *)(tall.turned ? u[i] : v[i]);
        for (size_t r = 0; r < m->rows; r++)
            for (size_t c = 0; c < m->cols; c++)
                set->atom[(i * m->rows + r) * m->cols + c] = (double)left[r] * (double)right[c];
    }
    atomset_settle(set);
    return OK;
}

/* ---- what theory says at equal communication ---- */

/* Nearly the largest s that Theorem 6 allows. */
static double entry_budget(const Matrix *m)
{
    return 0.9 * fmin(m->l1 / m->most, (double)(m->rows + m->cols) * m->nuclear / m->sigma[0]);
}

static double svd_budget(const Matrix *m)
{
    return entry_budget(m) / (double)(m->rows + m->cols);
}

static double entry_second(const Matrix *m)
{
    return m->l1 / m->squares * m->l1 / entry_budget(m);
}

static double svd_second(const Matrix *m)
{
    return m->nuclear / m->squares * m->nuclear / svd_budget(m);
}

static double predicted(const Matrix *m)
{
    return (double)(m->rows + m->cols) * (m->nuclear / m->l1) * (m->nuclear / m->l1);
}

static const char *winner(double ratio)
{
    return ratio <= 1 ? "svd" : "entries";
}

/* ---- closed forms: what is tested gives the probabilities ---- */

static Status second_of_entries(Subject *s, const Matrix *m, double *second)
{
    const double budget = entry_budget(m);
    const ArenaMark mark = arena_mark(s->a);
    double spent = 0, sum = 0;
    Level level;
    if (!s->tested->level(m->x, m->shape.n, budget, s->threads, s->a, &level))
        return arena_fail(s->a, s->err);
    for (size_t i = 0; i < m->shape.n; i++) {
        const double v = fabs((double)m->x[i]);
        spent += chance_at(level.tau, v);
        sum += v < level.tau ? v * level.tau : v * v;
    }
    *second = fabs(spent - budget) <= 1e-9 * budget ? sum / m->squares : NAN;
    arena_rewind(s->a, mark);
    return OK;
}

static Status second_of_svd(Subject *s, const Matrix *m, double *second)
{
    const double budget = svd_budget(m), tau = s->tested->level_of(m->sigma, m->k, budget, s->a);
    size_t count = m->k;
    if (isnan(tau))
        return arena_fail(s->a, s->err);
    while (count && m->sigma[count - 1] == 0)
        count--;
    *second = spend_part(m->sigma, count, budget, tau).second / m->squares;
    return OK;
}

static Status check_entry_second(Subject *s, Verdict *v)
{
    double left;
    TRY(subject_matrix(s));
    TRY(second_of_entries(s, s->matrix, &left));
    const double right = entry_second(s->matrix);
    verdict_take(v, left, right, 1e-9 * right, "s = %.4g", entry_budget(s->matrix));
    return OK;
}

static Status check_svd_second(Subject *s, Verdict *v)
{
    double left;
    TRY(subject_matrix(s));
    TRY(second_of_svd(s, s->matrix, &left));
    const double right = svd_second(s->matrix);
    verdict_take(v, left, right, 1e-9 * right, "s = %.4g", svd_budget(s->matrix));
    return OK;
}

static Status check_winner(Subject *s, Verdict *v)
{
    double entries, svd;
    TRY(subject_matrix(s));
    const Matrix *m = s->matrix;
    TRY(second_of_entries(s, m, &entries));
    TRY(second_of_svd(s, m, &svd));
    const double right = predicted(m);
    verdict_take(v, svd / entries, right, 1e-9 * right, "%zu by %zu, s = %.4g: %s", m->rows, m->cols,
                 entry_budget(m), winner(svd / entries));
    return OK;
}

/* ---- measured: both codecs on a submatrix ---- */

typedef struct {
    double second, sent;         /* means of |estimate|^2 / |X|^2, of the numbers sent */
    double second_off, sent_off; /* what may lie between them and theory */
} Measured;

typedef struct Contest {
    Matrix m;
    size_t draws;
    Measured entry, svd;
    bool applies;
} Contest;

enum { CONTEST_LONG = 1024, CONTEST_SHORT = 24 };
#define RANK_LEAST 0.001 /* that the codec `svd` takes */

static double sent_by_entry(const Coded *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->shape.n; i++)
        count += c->y[i] != 0;
    return (double)count;
}

/* kind, a count of one byte, floats. */
static double sent_by_svd(const Coded *c)
{
    return (double)(c->payload.size - 2) / 4;
}

static Status measure(Subject *s, Contest *t, const char *spec, double (*sent)(const Coded *), Measured *out)
{
    Coded coded;
    TRY(coded_open(&coded, s, spec, &t->m.shape));
    for (size_t r = 0; r < t->draws; r++) {
        double square = 0;
        TRY(coded_draw(&coded, t->m.x, r));
        t->applies = t->applies && !coded_raw(&coded);
        if (!t->applies)
            return OK;
        for (size_t i = 0; i < coded.shape.n; i++)
            square += (double)coded.y[i] * (double)coded.y[i];
        out->second += square / (double)t->draws;
        out->sent += sent(&coded) / (double)t->draws;
    }
    out->second /= t->m.squares;
    return OK;
}

/* `spread`: sum p (1 - p). Every atom kept adds `step` to |estimate|^2 / |X|^2 and `numbers` to what is sent. */
static void allow(const Contest *t, double spread, double step, double numbers, Measured *out)
{
    const double draws = (double)t->draws, kept = bernstein(spread / draws, 1 / draws, VERIFY_ALARM);
    out->second_off = step * kept + 1e-5 * out->second;
    out->sent_off = numbers * kept;
}

static double spread_of(const double *lambda, size_t n, double share)
{
    double sum = 0;
    for (size_t i = n; i-- > 0;)
        sum += lambda[i] * share * (1 - lambda[i] * share);
    return sum;
}

static Status run_contest(Subject *s, Contest *t)
{
    const Matrix *m = &t->m;
    const double entry_share = entry_budget(m) / m->l1, svd_share = svd_budget(m) / m->nuclear;
    const double svd_spread = spread_of(m->sigma, m->k, svd_share);
    double entry_spread = 0;
    char spec[64];
    for (size_t i = 0; i < m->shape.n; i++)
        entry_spread += spread_of(&(double){fabs((double)m->x[i])}, 1, entry_share);
    t->applies = true;
    t->draws = draws_for(svd_spread / (svd_budget(m) * svd_budget(m)), 0.05, 200, 2000);
    snprintf(spec, sizeof spec, "entry:budget=%.17g", entry_budget(m));
    TRY(measure(s, t, spec, sent_by_entry, &t->entry));
    snprintf(spec, sizeof spec, "svd:rank=%.17g", svd_budget(m));
    TRY(measure(s, t, spec, sent_by_svd, &t->svd));
    allow(t, entry_spread, 1 / (entry_share * entry_share) / m->squares, 1, &t->entry);
    allow(t, svd_spread, 1 / (svd_share * svd_share) / m->squares, (double)(m->rows + m->cols), &t->svd);
    return OK;
}

static Status contest_of(Subject *s, const Contest **out)
{
    Contest *t = s->contest ? s->contest : NEW_ZERO(s->a, Contest, 1);
    if (!t)
        return arena_fail(s->a, s->err);
    *out = t;
    if (s->contest)
        return OK;
    TRY(matrix_cut(s, CONTEST_LONG, CONTEST_SHORT, FOR_CUT, &t->m));
    if (t->m.most > 0 && svd_budget(&t->m) >= RANK_LEAST)
        TRY(run_contest(s, t));
    s->contest = t;
    return OK;
}

/* Entries that are as many as the budget allows and of one magnitude travel as floats: nothing to measure then. */
static Status take_measured(Subject *s, Verdict *v, bool svd, bool sent)
{
    const Contest *t;
    TRY(contest_of(s, &t));
    if (!t->applies)
        return OK;
    const Matrix *m = &t->m;
    const Measured *got = svd ? &t->svd : &t->entry;
    const double left = sent ? got->sent : got->second;
    const double right = sent ? entry_budget(m) : svd ? svd_second(m) : entry_second(m);
    verdict_take(v, left, right, (sent ? got->sent_off : got->second_off) + 1e-6 * right,
                 "%zu by %zu, s = %.4g, %zu draws", m->rows, m->cols, svd ? svd_budget(m) : entry_budget(m),
                 t->draws);
    return OK;
}

static Status check_entry_measured(Subject *s, Verdict *v)
{
    return take_measured(s, v, false, false);
}

static Status check_entry_sent(Subject *s, Verdict *v)
{
    return take_measured(s, v, false, true);
}

static Status check_svd_measured(Subject *s, Verdict *v)
{
    return take_measured(s, v, true, false);
}

static Status check_svd_sent(Subject *s, Verdict *v)
{
    return take_measured(s, v, true, true);
}

static Status check_winner_measured(Subject *s, Verdict *v)
{
    const Contest *t;
    TRY(contest_of(s, &t));
    if (!t->applies)
        return OK;
    const Matrix *m = &t->m;
    const double right = predicted(m);
    const double most =
        (svd_second(m) + t->svd.second_off) / fmax(entry_second(m) - t->entry.second_off, 1e-300);
    verdict_take(v, t->svd.second / t->entry.second, right, most - right,
                 "%zu by %zu, s = %.4g, %zu draws: %s", m->rows, m->cols, entry_budget(m), t->draws,
                 winner(t->svd.second / t->entry.second));
    return OK;
}

/* ---- the codecs by what they say of themselves, on the whole ---- */

static Status closed_second(Subject *s, const Matrix *m, const char *spec, double *second)
{
    const ArenaMark mark = arena_mark(s->a);
    Coded coded;
    TRY(coded_open(&coded, s, spec, &m->shape));
    coded.call.shape = &coded.shape;
    const double variance = codec_variance(&coded.call, m->x);
    *second = variance > 0 ? variance / m->squares + 1 : 0; /* none: it would travel as floats */
    arena_rewind(s->a, mark);
    return OK;
}

static Status check_winner_codecs(Subject *s, Verdict *v)
{
    double entries, svd;
    char spec[64];
    TRY(subject_matrix(s));
    const Matrix *m = s->matrix;
    if (svd_budget(m) < RANK_LEAST)
        return OK;
    snprintf(spec, sizeof spec, "entry:budget=%.17g", entry_budget(m));
    TRY(closed_second(s, m, spec, &entries));
    snprintf(spec, sizeof spec, "svd:rank=%.17g", svd_budget(m));
    TRY(closed_second(s, m, spec, &svd));
    const double right = predicted(m), level = m->l1 / entry_budget(m); /* it travels as float32 */
    const double rounding = 1e-5 + (double)FLT_TRUE_MIN / level;
    if (entries > 0 && svd > 0)
        verdict_take(v, svd / entries, right, rounding * right, "%zu by %zu, s = %.4g: %s", m->rows, m->cols,
                     entry_budget(m), winner(svd / entries));
    return OK;
}

/* ---- Lemma 7 ---- */

static Status check_left(Subject *s, Verdict *v)
{
    TRY(subject_matrix(s));
    const Matrix *m = s->matrix;
    const double unit = sqrt(m->squares), right = m->nuclear / unit;
    verdict_take(v, m->l1 / sqrt((double)m->shape.n) / unit, right, 1e-6 * right, "%zu by %zu", m->rows,
                 m->cols);
    return OK;
}

static Status check_right(Subject *s, Verdict *v)
{
    TRY(subject_matrix(s));
    const Matrix *m = s->matrix;
    const double unit = sqrt(m->squares), right = m->l1 / unit;
    verdict_take(v, m->nuclear / unit, right, 1e-6 * right, "%zu by %zu", m->rows, m->cols);
    return OK;
}

const Statement matrix_statements[] = {
    {"Table 1: entries",
     "Algorithm 1 on the entries: E|Xhat|^2 = |X|_{1,1}^2 / s (Var. is the second moment)", EQUAL,
     NEEDS_MATRIX, check_entry_second},
    {"Table 1: entries measured", "the same drawn by the codec entry, on at most 1024 rows and 24 columns",
     EQUAL, NEEDS_MATRIX, check_entry_measured},
    {"Table 1: entries sent", "numbers sent in these draws, on average: s", EQUAL, NEEDS_MATRIX,
     check_entry_sent},
    {"Table 1: svd", "Algorithm 1 on the singular values: E|Xhat|^2 = |X|_*^2 / s'", EQUAL, NEEDS_MATRIX,
     check_svd_second},
    {"Table 1: svd measured", "the same drawn by the codec svd, on that submatrix", EQUAL, NEEDS_MATRIX,
     check_svd_measured},
    {"Table 1: svd sent", "numbers sent in these draws, on average: s' (n + m)", EQUAL, NEEDS_MATRIX,
     check_svd_sent},
    {"Theorem 6", "s' = s / (n + m): E|Xhat|^2 of svd over that of entries = (n + m) |X|_*^2 / |X|_{1,1}^2",
     EQUAL, NEEDS_MATRIX, check_winner},
    {"Theorem 6: codecs", "the same by the closed forms of the codecs svd and entry", EQUAL, NEEDS_MATRIX,
     check_winner_codecs},
    {"Theorem 6: measured", "the same in the draws of Table 1", EQUAL, NEEDS_MATRIX, check_winner_measured},
    {"Lemma 7: left", "|X|_{1,1} / sqrt(nm) <= |X|_* (Lemma 11's proof lacks the factor sqrt(nm) in print)",
     AT_MOST, NEEDS_MATRIX, check_left},
    {"Lemma 7: right", "|X|_* <= |X|_{1,1}", AT_MOST, NEEDS_MATRIX, check_right},
    {0},
};
