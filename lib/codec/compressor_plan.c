/* compressor_plan.c -- plans over the tensors of a step, on their way through wrappers. */
#include "codec/compressor.h"

#include <assert.h>

size_t codec_plan_size(const Codec *codec)
{
    for (; codec; codec = codec->inner)
        if (codec->ops->plan_size)
            return codec->ops->plan_size;
    return 0;
}

Status step_inner(const Step *step, size_t (*own_state)(const Call *c), Step *inner)
{
    Call *call = NEW(step->call->scratch, Call, step->count);
    if (!call)
        return arena_fail(step->call->scratch, step->call->err);
    for (size_t j = 0; j < step->count; j++)
        call[j] = call_inner(&step->call[j], own_state(&step->call[j]));
    *inner = *step;
    inner->call = call;
    return OK;
}

static size_t no_state(const Call *c)
{
    (void)c;
    return 0;
}

Status codec_plan(const Step *step, void *plan)
{
    const Call *c = step->call;
    const ArenaMark mark = arena_mark(c->scratch);
    Step inner;
    Status status;
    if (c->self->ops->plan) {
        status = c->self->ops->plan(step, plan);
    } else {
        assert(!c->self->ops->state_size); /* what it adds to x, its own hook has to add */
        status = step_inner(step, no_state, &inner);
        if (status == OK)
            status = codec_plan(&inner, plan);
    }
    arena_rewind(c->scratch, mark);
    return status;
}

Status codec_curve(const Call *c, const float *x, CurvePoint *point, size_t *count)
{
    const ArenaMark mark = arena_mark(c->scratch);
    const Status status = c->self->ops->curve(c, x, point, count);
    assert(status != OK || (*count > 0 && *count <= CURVE_MOST && point[*count - 1].level == 0));
    arena_rewind(c->scratch, mark);
    return status;
}
