/* verify.c -- lists the statements of the ATOMO paper, and checks one (verify.h). */
#include "measure/verify_parts.h"

#include <math.h>
#include <stdio.h>

/* ---- statements ---- */

static const VerifyStatement *const groups[] = {moment_statements, lemma_statements, level_statements,
                                                quantiser_statements, matrix_statements};

size_t statement_count(void)
{
    size_t count = 0;
    for (size_t g = 0; g < countof(groups); g++)
        for (const VerifyStatement *st = groups[g]; st->name; st++)
            count++;
    return count;
}

const VerifyStatement *statement_at(size_t i)
{
    for (size_t g = 0; g < countof(groups); g++)
        for (const VerifyStatement *st = groups[g]; st->name; st++)
            if (i-- == 0)
                return st;
    return NULL;
}

static bool is_matrix(const VerifySubject *s)
{
    size_t rows, cols;
    if (s->vector->joined || s->vector->shape.rank < 2)
        return false;
    matrix_view(&s->vector->shape, RESHAPE_PAPER, &rows, &cols);
    return rows > 1 && cols > 1 && s->nonzero > 0;
}

static bool may_apply(const VerifyStatement *st, const VerifySubject *s)
{
    switch (st->needs) {
    case NEEDS_NOTHING:
        return true;
    case NEEDS_NONZERO:
        return s->part.count > 0;
    case NEEDS_SEVERAL:
        return s->part.count > 1;
    case NEEDS_MATRIX:
        return is_matrix(s);
    }
    return false;
}

Status statement_check(const VerifyStatement *st, VerifySubject *s, VerifyVerdict *v)
{
    *v = (VerifyVerdict){.relation = st->relation, .left = NAN, .right = NAN};
    if (!may_apply(st, s))
        return OK;
    const Status status = st->check(s, v);
    if (status == ERR_NUMERIC) {
        *v = (VerifyVerdict){.applies = true, .relation = st->relation, .left = NAN, .right = NAN};
        snprintf(v->note, sizeof v->note, "%.127s", s->err->text);
        return OK;
    }
    return status;
}

/* ---- the library's functions that are under test ---- */

static Status draw(const Call *c, const float *x, Buf *payload, float *y)
{
    Message m;
    payload->size = 0;
    TRY(codec_send(c, x, payload, &m));
    return codec_receive(c, &m, y);
}

static bool keep(const Rng *rng, uint64_t i, double p)
{
    return rng_unit(rng, USE_ATOM, i) < p;
}

const VerifyMethods verify_methods = {
    .level = waterfill_floats,
    .level_of = waterfill_level,
    .draw = draw,
    .keep = keep,
};
