/* test_verify_faults.c -- the command verify with one faulty method at a time. Statements that depend on this
 * method must fail; statements that do not depend on it must hold. */
#include "compress/atoms/waterfill.h"
#include "compress/harness.h"

/* The functions under test, which are called in place of the library's. A NULL member stands for the right function. */
typedef struct {
    bool (*level)(const float *x, size_t n, double budget, int threads, Arena *scratch, Level *out);
    double (*level_of)(const double *lambda, size_t n, double budget, Arena *scratch);
    Status (*send)(const Call *c, const float *x, Buf *payload, Message *m);
    Status (*receive)(const Call *c, const Message *m, float *y);
} Methods;
static Methods methods;

static bool level_now(const float *x, size_t n, double budget, int threads, Arena *a, Level *out)
{
    return (methods.level ? methods.level : waterfill_floats)(x, n, budget, threads, a, out);
}

static bool levels_now(const float *x, size_t n, const double *budget, size_t count, int threads, Arena *a, Level *out)
{
    bool got = true;
    for (size_t i = 0; i < count; i++)
        got &= level_now(x, n, budget[i], threads, a, &out[i]);
    return got;
}

static double level_of_now(const double *lambda, size_t n, double budget, Arena *a)
{
    return (methods.level_of ? methods.level_of : waterfill_level)(lambda, n, budget, a);
}

static Status send_now(const Call *c, const float *x, Buf *payload, Message *m)
{
    return (methods.send ? methods.send : codec_send)(c, x, payload, m);
}

static Status receive_now(const Call *c, const Message *m, float *y)
{
    return (methods.receive ? methods.receive : codec_receive)(c, m, y);
}

#define waterfill_floats level_now
#define waterfill_budgets levels_now
#define waterfill_level  level_of_now
#define codec_send       send_now
#define codec_receive    receive_now
#include "measure/verify.c"
#include "measure/verify_subject.c"
#undef waterfill_floats
#undef waterfill_budgets
#undef waterfill_level
#undef codec_send
#undef codec_receive
#include "rig/verify_rig.h"

static bool level_too_low(const float *x, size_t n, double budget, int threads, Arena *a, Level *out)
{
    const bool got = waterfill_floats(x, n, budget, threads, a, out);
    out->tau *= 0.99;
    return got;
}

static double level_of_too_low(const double *lambda, size_t n, double budget, Arena *a)
{
    return 0.99 * waterfill_level(lambda, n, budget, a);
}

static bool level_above_all(const float *x, size_t n, double budget, int threads, Arena *a, Level *out)
{
    const bool got = waterfill_floats(x, n, budget, threads, a, out);
    out->tau *= 1000;
    return got;
}

/* A fault of the water-filling algorithm: the smallest element with probability p = 1 is treated like one with
 * p < 1. */
static bool heavy_off_by_one(const float *x, size_t n, double budget, int threads, Arena *a, Level *out)
{
    const bool got = waterfill_floats(x, n, budget, threads, a, out);
    double least = INFINITY;
    for (size_t i = 0; i < n; i++)
        if (fabs((double)x[i]) > out->tau)
            least = fmin(least, fabs((double)x[i]));
    if (out->heavy && out->tau > 0) {
        out->heavy--;
        out->tail += least;
        out->tau = out->tail / (budget - (double)out->heavy);
    }
    return got;
}

/* A fault of the water-filling algorithm: the water level is right, but the number of elements with probability
 * p = 1 is one too high. */
static bool heavy_miscounted(const float *x, size_t n, double budget, int threads, Arena *a, Level *out)
{
    const bool got = waterfill_floats(x, n, budget, threads, a, out);
    out->heavy += out->tau > 0;
    return got;
}

/* A fault of the water-filling algorithm: p = min(1, |x| s / |x|_1). Elements with p cut to 1 lose a part of
 * the budget s, and the other elements do not get it. */
static bool clipped(const float *x, size_t n, double budget, int threads, Arena *a, Level *out)
{
    (void)threads, (void)a;
    *out = (Level){0};
    for (size_t i = 0; i < n; i++)
        out->tail += fabs((double)x[i]);
    out->tau = out->tail / budget;
    return true;
}

static bool first_forgotten(const float *x, size_t n, double budget, int threads, Arena *a, Level *out)
{
    return waterfill_floats(x + (n > 1), n - (n > 1), budget, threads, a, out);
}

static Status receive_scaled(const Call *c, const Message *m, float *y, double scale)
{
    TRY(codec_receive(c, m, y));
    for (size_t i = 0; i < c->shape->n; i++)
        y[i] = (float)(scale * (double)y[i]);
    return OK;
}

static Status receive_two_per_cent_large(const Call *c, const Message *m, float *y)
{
    return receive_scaled(c, m, y, 1.02);
}

static bool is_codec(const Call *c, const char *name)
{
    return !strcmp(c->self->ops->name, name);
}

static Status receive_svd_slightly_large(const Call *c, const Message *m, float *y)
{
    return receive_scaled(c, m, y, is_codec(c, "svd") ? 1.02 : 1);
}

/* A fault: all signs are decoded as plus. */
static Status receive_magnitudes(const Call *c, const Message *m, float *y)
{
    TRY(codec_receive(c, m, y));
    for (size_t i = 0; i < c->shape->n; i++)
        y[i] = fabsf(y[i]);
    return OK;
}

static Status send_entry_elsewhere(const Call *c, const float *x, Buf *payload, Message *m)
{
    Call other = *c;
    other.rng = is_codec(c, "entry") ? rng_below(&c->rng, 1) : c->rng;
    return codec_send(&other, x, payload, m);
}

enum { MOST_NAMES = 16 };
typedef struct {
    const char *name, *source;
    Methods methods;
    const char *seen[MOST_NAMES], *unseen[MOST_NAMES];
} Fault;

static const Fault faults[] = {
    {"a level 1 % low",
     "normal-64x48",
     {.level = level_too_low},
     {"Algorithm 1: budget", "Algorithm 1: KKT", "Lemma 2: equality", "Lemma 9",
      "Theorem 4: balanced", "Theorem 4: unbalanced", "Theorem 5: probabilities", "Table 1: entries",
      "Theorem 6"},
     {"Theorem 5: qsgd", "Lemma 7"}},
    {"a level above all elements",
     "normal-64x48",
     {.level = level_above_all},
     {"Algorithm 1: budget", "Lemma 3", "Theorem 4: unbalanced"},
     {"Lemma 7"}},
    {"a spectrum's level 1 % low",
     "normal-64x48",
     {.level_of = level_of_too_low},
     {"Table 1: svd", "Theorem 6"},
     {"Algorithm 1: budget", "Theorem 4: balanced"}},
    {"a heavy set without its smallest",
     "normal-64x48",
     {.level = heavy_off_by_one},
     {"Algorithm 1: budget", "Algorithm 1: KKT", "Lemma 9", "Theorem 4: unbalanced"},
     {"Lemma 2: equality", "Theorem 4: balanced"}},
    {"a heavy set miscounted",
     "normal-64x48",
     {.level = heavy_miscounted},
     {"Algorithm 1: KKT"},
     {"Algorithm 1: budget"}},
    {"clipping instead of filling",
     "normal-64x48",
     {.level = clipped},
     {"Algorithm 1: budget", "Algorithm 1: KKT", "Lemma 9", "Theorem 4: unbalanced"},
     {"Lemma 2: equality", "Theorem 4: balanced", "Theorem 5: probabilities", "Table 1: entries"}},
    {"an element forgotten",
     "normal-64x48",
     {.level = first_forgotten},
     {"Algorithm 1: budget"},
     {0}},
    {"a decoder 2 % high",
     "normal-64x48",
     {.receive = receive_two_per_cent_large},
     {"Lemma 1: mean of entries", "Lemma 1: second moment of entries"},
     {"Table 1: entries"}},
    {"a decoder 2 % high on a heavy tail",
     "heavy-1009",
     {.receive = receive_two_per_cent_large},
     {"Lemma 1: mean of entries", "Lemma 1: second moment of entries"},
     {"Theorem 5: probabilities"}},
    {"svd 2 % high",
     "normal-64x48",
     {.receive = receive_svd_slightly_large},
     {"Lemma 1: mean of svd", "Lemma 1: second moment of svd"},
     {"Lemma 1: mean of entries"}},
    {"signs forgotten",
     "normal-64x48",
     {.receive = receive_magnitudes},
     {"Lemma 1: mean of entries"},
     {"Lemma 1: second moment of entries"}},
    {"other coins for entries",
     "normal-64x48",
     {.send = send_entry_elsewhere},
     {"Theorem 5: qsgd", "Theorem 5: terngrad", "Theorem 5: lq"},
     {"Lemma 1: mean of entries"}},
};

static void check_names(VerifySubject *s, const Fault *fault, const char *const names[], bool holds)
{
    for (size_t k = 0; k < MOST_NAMES && names[k]; k++) {
        size_t found = 0;
        for (size_t i = 0; i < statement_count(); i++) {
            const VerifyStatement *st = statement_at(i);
            /* Takes the first statement whose name begins with names[k]. Takes a later one only if a space
             * follows names[k] in its name. So names[k] = "Theorem 6" does not take "Theorem 6: codecs". */
            if (!named(st, names[k]) ||
                (found && strlen(st->name) > strlen(names[k]) && st->name[strlen(names[k])] != ' '))
                continue;
            if (found++ && !holds)
                continue;
            const VerifyVerdict v = verdict_of(s, st);
            if (verdict_holds(&v) != holds)
                print_error("%s: %s %s: %.17g %s %.17g within %g (%s)\n", fault->name, st->name,
                            holds ? "fails" : "is not seen to fail", v.left, relation_names[v.relation],
                            v.right, v.tolerance, v.note);
            check(v.applies && verdict_holds(&v) == holds);
        }
        check(found > 0);
    }
}

TEST(faults_are_seen_by_the_statements_they_break_and_no_others)
{
    for (size_t f = 0; f < countof(faults); f++) {
        const ArenaMark mark = arena_mark(scratch);
        VerifySubject s;
        methods = faults[f].methods;
        open_subject(&s, source(faults[f].source));
        check_names(&s, &faults[f], faults[f].seen, false);
        check_names(&s, &faults[f], faults[f].unseen, true);
        arena_rewind(scratch, mark);
    }
}

CHECK_ALL_IN(scratch)
