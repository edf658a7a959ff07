/* verify_contest.c -- checks Table 1 and Theorem 6 of the ATOMO paper by measurement: encodes one submatrix
 * many times with the codecs `entry` and `svd`. */
#include "verify/verify_parts.h"

#include <stdio.h>
#include <math.h>

typedef struct {
    double budget, expected; /* `expected`: theoretical second moment, E |estimate|^2 / |X|^2 */
    /* means over the draws: `second`, of |estimate|^2 / |X|^2; `sent`, of how many numbers a draw sends */
    double second, sent;
    double second_off, sent_off; /* tolerances of second and sent */
} Measured;

typedef struct Contest {
    VerifyMatrix m;
    MatrixTheory theory;
    size_t draws;
    Measured entry, svd;
    bool applies; /* svd accepts the rank, and no draw was sent as raw floats */
} Contest;

enum { CONTEST_LONG = 1024, CONTEST_SHORT = 24 };

static double sent_by_entry(const Coded *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->shape.n; i++)
        count += c->y[i] != 0;
    return (double)count;
}

/* An svd payload is a kind byte, a count byte, and floats. */
static double sent_by_svd(const Coded *c)
{
    return (double)(c->payload.size - 2) / 4;
}

static Status measure(VerifySubject *s, Contest *t, const char *spec, double (*sent)(const Coded *),
                      Measured *out)
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

/* Sets the tolerances. `spread` is sum p (1 - p), the variance of the number of kept atoms. A kept atom adds
 * `step` to |estimate|^2 / |X|^2, and `numbers` to the count of sent numbers. */
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

static Status run_contest(VerifySubject *s, Contest *t)
{
    const VerifyMatrix *m = &t->m;
    const double entry_share = t->theory.entry_budget / m->l1, svd_share = t->theory.svd_budget / m->nuclear;
    const double svd_spread = spread_of(m->sigma, m->k, svd_share);
    double entry_spread = 0;
    char spec[64];
    for (size_t i = 0; i < m->shape.n; i++)
        entry_spread += spread_of(&(double){fabs((double)m->x[i])}, 1, entry_share);
    t->applies = true;
    t->entry = (Measured){.budget = t->theory.entry_budget, .expected = t->theory.entry_second};
    t->svd = (Measured){.budget = t->theory.svd_budget, .expected = t->theory.svd_second};
    t->draws = draws_for(svd_spread / (t->theory.svd_budget * t->theory.svd_budget), 0.05, 200, 2000);
    snprintf(spec, sizeof spec, "entry:budget=%.17g", t->theory.entry_budget);
    TRY(measure(s, t, spec, sent_by_entry, &t->entry));
    snprintf(spec, sizeof spec, "svd:rank=%.17g", t->theory.svd_budget);
    TRY(measure(s, t, spec, sent_by_svd, &t->svd));
    allow(t, entry_spread, 1 / (entry_share * entry_share) / m->squares, 1, &t->entry);
    allow(t, svd_spread, 1 / (svd_share * svd_share) / m->squares, (double)(m->rows + m->cols), &t->svd);
    return OK;
}

static Status contest_of(VerifySubject *s, const Contest **out)
{
    Contest *t = s->contest ? s->contest : NEW_ZERO(s->a, Contest, 1);
    TRY(arena_check(t, s->a, s->err));
    *out = t;
    if (s->contest)
        return OK;
    TRY(matrix_cut(s, CONTEST_LONG, CONTEST_SHORT, FOR_CUT, &t->m));
    t->theory = t->m.most > 0 ? matrix_theory(&t->m) : (MatrixTheory){0};
    if (t->theory.svd_budget >= RANK_LEAST)
        TRY(run_contest(s, t));
    s->contest = t;
    return OK;
}

typedef void Take(const Contest *t, const Measured *got, VerifyVerdict *v);

static void take_second(const Contest *t, const Measured *got, VerifyVerdict *v)
{
    verdict_take(v, got->second, got->expected, got->second_off, "%zu by %zu, s = %.4g, %zu draws", t->m.rows,
                 t->m.cols, got->budget, t->draws);
}

static void take_sent(const Contest *t, const Measured *got, VerifyVerdict *v)
{
    const double right = t->theory.entry_budget;
    verdict_take(v, got->sent, right, got->sent_off + 1e-6 * right, "%zu by %zu, s = %.4g, %zu draws",
                 t->m.rows, t->m.cols, got->budget, t->draws);
}

enum { ENTRY, SVD };

static Status check(VerifySubject *s, VerifyVerdict *v, int codec, Take *take)
{
    const Contest *t = NULL;
    TRY(contest_of(s, &t));
    if (t->applies)
        take(t, codec == ENTRY ? &t->entry : &t->svd, v);
    return OK;
}

static Status check_entry_second(VerifySubject *s, VerifyVerdict *v)
{
    return check(s, v, ENTRY, take_second);
}

static Status check_entry_sent(VerifySubject *s, VerifyVerdict *v)
{
    return check(s, v, ENTRY, take_sent);
}

static Status check_svd_second(VerifySubject *s, VerifyVerdict *v)
{
    return check(s, v, SVD, take_second);
}

static Status check_svd_sent(VerifySubject *s, VerifyVerdict *v)
{
    return check(s, v, SVD, take_sent);
}

static Status check_winner_measured(VerifySubject *s, VerifyVerdict *v)
{
    const Contest *t = NULL;
    TRY(contest_of(s, &t));
    if (!t->applies)
        return OK;
    const VerifyMatrix *m = &t->m;
    const double right = t->theory.ratio;
    const double most = (t->theory.svd_second + t->svd.second_off) /
                        fmax(t->theory.entry_second - t->entry.second_off, 1e-300);
    verdict_take(v, t->svd.second / t->entry.second, right, most - right,
                 "%zu by %zu, s = %.4g, %zu draws: %s", m->rows, m->cols, t->theory.entry_budget, t->draws,
                 theory_winner(t->svd.second / t->entry.second));
    return OK;
}

const VerifyStatement contest_statements[] = {
    {"Table 1: entries measured",
     "as Table 1: entries, drawn by the codec entry on at most 1024 rows and 24 columns", EQUAL, NEEDS_MATRIX,
     check_entry_second},
    {"Table 1: entries sent", "numbers sent in these draws, on average: s", EQUAL, NEEDS_MATRIX,
     check_entry_sent},
    {"Table 1: svd measured", "as Table 1: svd, drawn by the codec svd on that submatrix", EQUAL,
     NEEDS_MATRIX, check_svd_second},
    {"Table 1: svd sent", "numbers sent in these draws, on average: s' (n + m)", EQUAL, NEEDS_MATRIX,
     check_svd_sent},
    {"Theorem 6: measured", "as Theorem 6, in these draws", EQUAL, NEEDS_MATRIX, check_winner_measured},
    {0},
};
