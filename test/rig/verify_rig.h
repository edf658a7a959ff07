/* verify_rig.h -- makes an input of the command `verify` (a VerifySubject) from a test vector. */
#ifndef ATOMO_VERIFY_RIG_H
#define ATOMO_VERIFY_RIG_H

#include "rig/check.h"
#include "rig/sources.h"
#include "measure/verify_parts.h"

static Arena *scratch;
static Error err;

static inline const Source *source(const char *name)
{
    for (size_t i = 0; i < countof(sources); i++)
        if (!strcmp(sources[i].name, name))
            return &sources[i];
    check_never("there is such a source");
    return NULL;
}

static inline void open_subject(VerifySubject *s, const Source *from)
{
    Vector *v = NEW_ZERO(scratch, Vector, 1);
    v->name = from->name;
    v->shape = source_shape(from);
    float *x = NEW(scratch, float, v->shape.n + 1);
    source_fill(from, x);
    check_ok(subject_open(s, v, x, 1, 1, scratch, &err), &err);
}

static inline VerifyVerdict verdict_of(VerifySubject *s, const VerifyStatement *st)
{
    VerifyVerdict v;
    check_ok(statement_check(st, s, &v), &err);
    return v;
}

static inline bool named(const VerifyStatement *st, const char *name)
{
    return !strncmp(st->name, name, strlen(name));
}

#endif
