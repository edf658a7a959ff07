/* rate.c -- finds, reads and replaces the rate of a spec, the parameter that trades size for error (rate.h). */
#include "compress/rate.h"
#include "compress/spec.h"

#include <math.h>
#include <string.h>

/* ---- finding the rate key of a spec ---- */

/* returns the key marked `fine`; if there is none, the rate key */
static const Param *param_fine(const Param *schema)
{
    for (const Param *p = schema; p && p->key; p++)
        if (p->fine)
            return p;
    return param_rate(schema);
}

bool rate_find(Rate *r, const Codec *codec, bool fine)
{
    for (; codec; codec = codec->inner) {
        *r = (Rate){codec, fine ? param_fine(codec->ops->params) : param_rate(codec->ops->params)};
        if (r->key)
            return true;
    }
    return false;
}

/* True if p is `key` or belongs to the same group of keys. A spec can set only one key of a group. */
static bool stands_for(const Param *p, const Param *key)
{
    return p == key || (key->group && p->group == key->group);
}

bool rate_named(const Rate *r)
{
    const Param *schema = r->stage->ops->params;
    for (const Param *p = schema; p->key; p++)
        if (stands_for(p, r->key) && r->stage->named >> (p - schema) & 1)
            return true;
    return false;
}

double rate_value(const Rate *r)
{
    double value = NAN;
    for (const Param *p = r->stage->ops->params; p->key; p++)
        if (stands_for(p, r->key) && (p->type == PARAM_INT || p->type == PARAM_REAL) &&
            !isnan(param_number(p, r->stage->params)))
            value = param_number(p, r->stage->params);
    return value;
}

void rate_range(const Rate *r, double *low, double *high, double *start)
{
    const double least = r->key->type == PARAM_INT ? 1 : 1e-12;
    *low = fmax(r->key->low, least);
    *high = r->key->high;
    if (!r->key->fallback || !text_to_real(r->key->fallback, start))
        *start = r->key->type == PARAM_INT ? 16 : 0.01;
    *start = fmin(fmax(*start, *low), *high);
}

/* ---- replacing the rate ---- */

/* Copies a chain of wrappers from `codec` inwards to `stage`. `stage` and its copy share the codecs inside
 * `stage`. */
static Codec *copy_down_to(const Codec *codec, const Codec *stage, Codec **copied, Arena *a)
{
    Codec *first = NEW(a, Codec, 1);
    if (!first)
        return NULL;
    *first = *codec;
    if (codec == stage)
        *copied = first;
    else
        first->inner = copy_down_to(codec->inner, stage, copied, a);
    return codec == stage || first->inner ? first : NULL;
}

Status rate_set(const Codec **out, const Codec *codec, const Rate *r, double value, Arena *a, Error *err)
{
    const Compressor *ops = r->stage->ops;
    char text[32];
    Codec *stage = NULL, *first = copy_down_to(codec, r->stage, &stage, a);
    void *params = NEW(a, char, params_size(ops->params));
    TRY(arena_check(first && params, a, err));
    memcpy(params, r->stage->params, params_size(ops->params));
    stage->params = params;
    first->typed = first->alias = NULL;
    for (const Param *p = ops->params; p->key; p++)
        if (stands_for(p, r->key))
            stage->named &= ~(UINT64_C(1) << (p - ops->params));
    stage->named |= UINT64_C(1) << (r->key - ops->params);
    const bool whole = r->key->type == PARAM_INT && value == floor(value) && fabs(value) < 1e15;
    if (whole)
        snprintf(text, sizeof text, "%.0f", value); /* integer keys accept no exponent */
    else
        text_double(text, value);
    TRY(param_set(ops->params, params, ops->name, r->key->key, text, err));
    for (const Codec *c = first; c; c = c->inner)
        if (c->ops->check)
            TRY(c->ops->check(c, err));
    first->typed = codec_typed(first, a);
    *out = first;
    return arena_check(first->typed, a, err);
}

/* ---- a spec at several rates ---- */

/* Typical values of a rate parameter, taken from the first row that fits the parameter. The rows are for bits
 * or ranks, numbers of levels, shares of the elements, and real-valued bits or ranks. */
static const struct {
    ParamType type;
    /* a row fits if the parameter's default is at most `usual`, and the upper end of its range is at most
     * `high` */
    double usual, high;
    const char *values;
} grids[] = {
    {PARAM_INT, 8, INFINITY, "1,2,3,4,6,8"},
    {PARAM_INT, INFINITY, INFINITY, "2,4,8,16,32,64,128,256"},
    {PARAM_REAL, INFINITY, 1, "0.001,0.003,0.01,0.03,0.1,0.3"},
    {PARAM_REAL, INFINITY, INFINITY, "0.25,0.5,1,2,3,4,6,8"},
};

/* Returns typical values of the key in rising order, separated by commas; NULL: the key has no default, so no
 * values are known. Some values may be outside the key's range. */
static const char *rate_grid(const Rate *r)
{
    double usual;
    if (!r->key->fallback || !text_to_real(r->key->fallback, &usual))
        return NULL;
    for (size_t i = 0; i < countof(grids); i++)
        if (r->key->type == grids[i].type && usual <= grids[i].usual && r->key->high <= grids[i].high)
            return grids[i].values;
    return NULL;
}

static Status add(CodecSet *set, const Codec *codec, Error *err)
{
    if (set->count == set->cap)
        return FAIL(err, ERR_USAGE, "the rates come to more than %zu codecs", set->cap);
    set->codec[set->count++] = codec;
    return OK;
}

Status rate_spread(CodecSet *set, const Codec *codec, const char *values, size_t *left_out, Arena *a,
                   Error *err)
{
    Rate r;
    char range[96];
    const size_t before = set->count;
    *left_out = 0;
    if (!rate_find(&r, codec, false) || rate_named(&r))
        return add(set, codec, err);
    const char *grid = values ? values : rate_grid(&r);
    if (!grid)
        return add(set, codec, err);
    for (const char *at = grid, *end; at; at = *end ? end + 1 : NULL) {
        Error why;
        double value;
        const Codec *one;
        end = at + strcspn(at, ",");
        const char *text = text_slice(a, at, (size_t)(end - at));
        TRY(arena_check(text, a, err));
        if (!text_to_real(text, &value)) {
            FAIL(err, ERR_USAGE, "--rates: \"%s\" is no number", text);
            return error_hint(err, "--rates takes numbers with commas between them, such as %s",
                              rate_grid(&r));
        }
        const Status status = rate_set(&one, codec, &r, value, a, &why);
        if (status == ERR_MEMORY)
            return arena_fail(a, err);
        if (status == OK)
            TRY(add(set, one, err));
        else
            ++*left_out;
    }
    if (set->count == before && !values)
        return add(set, codec, err);
    if (set->count == before)
        return FAIL(err, ERR_USAGE, "--rates: none is a %s of %s: want %s", r.key->key, codec_typed(codec, a),
                    param_range(r.key, range));
    return OK;
}
