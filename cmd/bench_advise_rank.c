/* bench_advise_rank.c -- implements bench_advise_rank.h. */
#include "bench_advise_rank.h"

#include "base/text.h"
#include "math/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const feedback_names[] = {"no", "in the spec", "needed"};

/* Returns half the 95 % interval of the total time, by Student's t; NaN: unknown. */
static double half_interval(const Candidate *c)
{
    return c->repeats > 1 ? c->time_se.total * t_quantile(0.05, c->repeats - 1) : c->time_se.total;
}

static double both_halves(const Candidate *a, const Candidate *b)
{
    return half_interval(a) + half_interval(b);
}

/* True if the 95 % intervals of both total times overlap, or one of them is unknown: nothing tells the two apart. */
static bool equal(const Candidate *a, const Candidate *b)
{
    return !(fabs(a->time.total - b->time.total) > both_halves(a, b));
}

/* ---- limits ---- */

/* Returns the number with three significant digits, or as an integer. */
static const char *three(double v, Arena *a)
{
    return text_format(a, fabs(v) < 999.5 ? "%.3g" : "%.0f", v);
}

static const char *ms(double seconds, Arena *a)
{
    return three(1e3 * seconds, a);
}

/* Returns the lower end of the error's 95 % interval: two draws of screening can put a codec over a limit that it meets. */
static double least_error(const Candidate *c)
{
    return c->repeats > 1 && c->error_se > 0 ? c->error - c->error_se * t_quantile(0.05, c->repeats - 1) : c->error;
}

static const char *broken_limit(const Candidate *c, const AdviseLimits *l, Arena *a)
{
    return l->unbiased && !c->unbiased && !c->plain ? "biased"
           : l->undecoded && !c->adds               ? "its payloads do not add"
           : least_error(c) > l->error
               ? text_format(a, "error of the mean %s, above %s", three(c->error, a), three(l->error, a))
               : NULL;
}

/* ---- reasons ---- */

/* Names the part of the iteration (encoding, sending or decoding) that exceeds the same part of `first` by the most
 * time. */
static const char *slow_part(const Candidate *c, const Candidate *first, Arena *a)
{
    const double encode = c->time.encode - first->time.encode, comm = c->time.comm - first->time.comm,
                 decode = c->time.decode - first->time.decode;
    if (encode >= comm && encode >= decode)
        return text_format(a, "encoding takes %s ms", ms(c->time.encode, a));
    return comm >= decode ? text_format(a, "sending takes %s ms", ms(c->time.comm, a))
                          : text_format(a, "decoding takes %s ms", ms(c->time.decode, a));
}

static const char *reason(const Candidate *c, const Candidate *first, Arena *a)
{
    const double times = c->time.total / first->time.total;
    const char *more = c->screened ? " or more" : "", *part = slow_part(c, first, a);
    if (c->failure)
        return c->failure;
    if (c->limit)
        return c->limit;
    if (c->rank == 1)
        return isnan(both_halves(c, first)) ? "not told from the first: too few repeats or steps for an interval"
                                            : "not told from the first: the intervals overlap";
    if (!part)
        return NULL;
    if (c->screened && times < 1)
        return text_format(a, "not measured: its time is %s ms at least", ms(c->time.total, a));
    return times < 2 ? text_format(a, "%.0f %% slower%s: %s", 100 * (times - 1), more, part)
                     : text_format(a, "%.1f times as long%s: %s", times, more, part);
}

/* ---- ranking ---- */

static bool ranked(const Candidate *c)
{
    return !c->failure && !c->limit && !c->screened;
}

static int by_time(const void *left, const void *right)
{
    const Candidate *a = left, *b = right;
    if (ranked(a) != ranked(b))
        return ranked(a) ? -1 : 1;
    if (!a->failure != !b->failure)
        return a->failure ? 1 : -1;
    if ((a->rank == 1) != (b->rank == 1))
        return a->rank == 1 ? -1 : 1;
    const int order = (a->time.total > b->time.total) - (a->time.total < b->time.total);
    return order ? order : strcmp(a->name, b->name);
}

Status advise_rank(Candidate *list, size_t count, const AdviseLimits *limits, Arena *a, Error *err)
{
    for (size_t i = 0; i < count; i++) {
        list[i].limit = list[i].failure ? NULL : broken_limit(&list[i], limits, a);
        list[i].rank = 0;
    }
    qsort(list, count, sizeof *list, by_time);
    for (size_t i = 0; i < count; i++)
        list[i].rank = ranked(&list[i]) && equal(&list[i], list);
    qsort(list, count, sizeof *list, by_time); /* those equal to the first, then the others */
    for (size_t i = 0; i < count; i++) {
        Candidate *c = &list[i];
        c->rank = !ranked(c) ? 0 : c->rank ? 1 : i + 1;
        c->why = i || !ranked(c) ? reason(c, list, a) : NULL;
        TRY(arena_check(c->why || c->rank == 1, a, err));
    }
    return OK;
}

/* Adds the names of the candidates of rank 1 behind the first. */
static void add_equals(TextBuf *text, const Candidate *list, size_t count)
{
    for (size_t i = 1; i < count && list[i].rank == 1; i++)
        text_addf(text, "%s %s", i == 1 ? "; not told from it:" : ",", list[i].name);
}

static const char *plain_name(const Candidate *c)
{
    return !strcmp(c->name, "none") ? "float32" : c->name;
}

/* Adds how many times as fast the first is as bf16, and as each plain codec that is faster than bf16. */
static void add_speedups(TextBuf *text, const Candidate *list, size_t count, const Candidate *baseline,
                         Arena *a)
{
    text_addf(text, "%s: %s times as fast as %s", list->name,
              three(baseline->time.total / list->time.total, a), baseline->name);
    for (const Candidate *c = list; c < list + count; c++)
        if (c->plain && ranked(c) && c->time.total < baseline->time.total)
            text_addf(text, ", %s times as fast as %s", three(c->time.total / list->time.total, a), plain_name(c));
}

char *advise_verdict(const Candidate *list, size_t count, const Candidate *baseline, Arena *a)
{
    TextBuf text = {.arena = a};
    const Candidate *plain = NULL; /* the fastest plain codec */
    if (!count || !ranked(list))
        return text_format(a, "no codec meets the limits");
    for (size_t i = 0; i < count; i++)
        if (list[i].plain && ranked(&list[i]) && (!plain || list[i].time.total < plain->time.total))
            plain = &list[i];
    if (plain && plain->rank == 1)
        text_addf(&text, "send %s: no codec within the limits is faster for certain", plain_name(plain));
    else {
        add_speedups(&text, list, count, baseline, a);
        add_equals(&text, list, count);
    }
    return text_done(&text);
}

void advise_shown(const Candidate *list, size_t count, size_t more, bool *shown)
{
    for (size_t i = 0; i < count; i++) {
        bool further = more && list[i].error < 1;
        for (size_t k = 0; k < i; k++)
            further = further && !(shown[k] && !strcmp(list[k].family, list[i].family));
        shown[i] = (i < 3 && list[i].rank) || (list[i].plain && strcmp(list[i].name, "none") != 0);
        more -= !shown[i] && further;
        shown[i] = shown[i] || further;
    }
}
