/* test_verify.c -- tests the command verify. Each statement of the ATOMO paper must hold on every test vector.
 * Also tested are the verdicts that verify prints, and its statistical bounds. */
#include "measure/verify_subject.c"
#include "rig/verify_rig.h"

static const VerifyStatement *find(const char *name)
{
    for (size_t i = 0; i < statement_count(); i++)
        if (named(statement_at(i), name))
            return statement_at(i);
    check_never("there is such a statement");
    return NULL;
}

/* ---- the paper's statements, checked with the right methods ---- */

/* These statements need draws that take long, so each is checked on every third source. Those of Lemma 1, which share
 * their draws, take turns. */
static const char *const drawn[] = {"Lemma 1: mean of entries", "Lemma 1: second moment of entries"};

static bool sits_out(const VerifyStatement *st, size_t source)
{
    for (size_t d = 0; d < countof(drawn); d++)
        if (named(st, drawn[d]))
            return (source + d) % 3;
    return false;
}

TEST(every_statement_holds_on_every_source)
{
    size_t applied[64] = {0};
    for (size_t d = 0; d < countof(drawn); d++)
        find(drawn[d]);
    for (size_t k = 0; k < countof(sources); k++) {
        const Source *from = &sources[k];
        const ArenaMark mark = arena_mark(scratch);
        VerifySubject s;
        open_subject(&s, from);
        for (size_t i = 0; i < statement_count(); i++) {
            if (sits_out(statement_at(i), k))
                continue;
            const VerifyVerdict v = verdict_of(&s, statement_at(i));
            applied[i] += v.applies;
            if (v.applies && !verdict_holds(&v))
                print_error("%s on %s: %.17g %s %.17g within %g (%s)\n", statement_at(i)->name, from->name,
                            v.left, relation_names[v.relation], v.right, v.tolerance, v.note);
            check(!v.applies || verdict_holds(&v));
        }
        arena_rewind(scratch, mark);
    }
    for (size_t i = 0; i < statement_count(); i++) {
        if (applied[i] < 3)
            print_error("%s applies to %zu sources\n", statement_at(i)->name, applied[i]);
        check(applied[i] >= 3);
    }
}

TEST(another_seed_and_more_threads_change_no_closed_form)
{
    static const char *const closed[] = {"Algorithm 1", "Theorem 4: b", "Theorem 6",
                                         "Lemma 7"};
    const ArenaMark mark = arena_mark(scratch);
    VerifySubject one, two;
    open_subject(&one, source("normal-70001"));
    open_subject(&two, source("normal-70001"));
    two.threads = 3;
    for (size_t i = 0; i < statement_count(); i++)
        for (size_t k = 0; k < countof(closed); k++) {
            if (!named(statement_at(i), closed[k]))
                continue;
            const VerifyVerdict a = verdict_of(&one, statement_at(i)), b = verdict_of(&two, statement_at(i));
            check(a.applies == b.applies);
            check(!a.applies || (a.left == b.left && a.right == b.right));
        }
    arena_rewind(scratch, mark);
}

static Status beyond_range(VerifySubject *s, VerifyVerdict *v)
{
    verdict_take(v, 1, 1, 0, "a case before the one that fails");
    return FAIL(s->err, ERR_NUMERIC, "a value is beyond float32");
}

TEST(what_cannot_be_computed_fails_and_says_why)
{
    const ArenaMark mark = arena_mark(scratch);
    const VerifyStatement statement = {"a statement", "", AT_MOST, NEEDS_NOTHING, beyond_range};
    VerifySubject s;
    open_subject(&s, &sources[0]);
    const VerifyVerdict v = verdict_of(&s, &statement);
    check(v.applies && !verdict_holds(&v) && isnan(v.left) && isnan(v.right) && v.relation == AT_MOST);
    assert_string_equal(v.note, "a value is beyond float32");
    arena_rewind(scratch, mark);
}

/* ---- verdicts ---- */

static bool holds(VerifySubject *s, const char *name)
{
    const VerifyVerdict v = verdict_of(s, find(name));
    check(v.applies);
    return verdict_holds(&v);
}

TEST(wrong_norms_break_what_is_said_of_them)
{
    const ArenaMark mark = arena_mark(scratch);
    VerifySubject s;
    open_subject(&s, source("normal-64x48"));
    s.part.l1 *= 1.001;
    check(!holds(&s, "Lemma 2: equality"));
    s.l1 *= 1.001;
    check(!holds(&s, "Theorem 4: balanced"));
    check(holds(&s, "Lemma 7: left") && holds(&s, "Lemma 7: right"));
    const double nuclear = s.matrix->nuclear;
    s.matrix->nuclear = nuclear * 0.01;
    check(!holds(&s, "Lemma 7: left") && holds(&s, "Lemma 7: right") && !holds(&s, "Table 1: svd"));
    s.matrix->nuclear = nuclear * 100;
    check(holds(&s, "Lemma 7: left") && !holds(&s, "Lemma 7: right"));
    arena_rewind(scratch, mark);
}

TEST(a_missing_figure_never_holds)
{
    for (Relation r = EQUAL; r <= ABOVE; r++) {
        check(!verdict_holds(&(VerifyVerdict){true, r, NAN, 1, 1, ""}));
        check(!verdict_holds(&(VerifyVerdict){true, r, 1, NAN, 1, ""}));
        check(!verdict_holds(&(VerifyVerdict){true, r, 1, 1, NAN, ""}));
        check(!verdict_holds(&(VerifyVerdict){true, r, INFINITY, 1, 1, ""}));
    }
}

/* ---- bounds ---- */

/* Returns P(|S - n p| > t) for a binomial S, as the sum of the terms. */
static double binomial_tails(int n, double p, double t)
{
    double sum = 0;
    for (int k = 0; k <= n; k++)
        if (fabs(k - n * p) > t)
            sum += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) + k * log(p) +
                       (n - k) * log1p(-p));
    return sum;
}

TEST(binomial_tails_stay_under_the_alarm)
{
    static const double chance[] = {0.001, 0.01, 0.1, 0.5, 0.9, 0.999}, alarms[] = {0.1, 1e-3, 1e-6, 5e-10};
    for (int n = 10; n <= 10000; n *= 10)
        for (size_t i = 0; i < countof(chance); i++)
            for (size_t k = 0; k < countof(alarms); k++) {
                const double p = chance[i];
                check(binomial_tails(n, p, bernstein(n * p * (1 - p), 1, alarms[k])) <= alarms[k]);
            }
    check_rel(bernstein(3, 0, 0.01), sqrt(2 * 3 * log(200)), 1e-14);
    check_rel(bernstein(0, 3, 0.01), 2 * log(200), 1e-14);
}

CHECK_ALL_IN(scratch)
