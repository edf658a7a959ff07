/* exchange_open.c -- how a gradient is cut into parcels, and the states and memory they take. */
#include "nn/exchange_parts.h"

/* ---- parts ---- */

static bool is_small(const Exchange *x, const Slice *s)
{
    return s->shape.n < x->spec.min_elements;
}

static void add_part(Exchange *x, size_t first, size_t count, bool raw)
{
    const Slice *s = &x->slices->item[first];
    Parcel *p = &x->own.part[x->own.parts++];
    *p = (Parcel){.name = s->name, .shape = s->shape, .raw = raw, .first = first, .count = count};
    if (count == 1)
        return;
    size_t n = 0;
    for (size_t i = first; i < first + count; i++)
        n += is_small(x, &x->slices->item[i]) ? 0 : x->slices->item[i].shape.n;
    p->name = "all";
    p->shape = shape_vector(n);
}

static void make_parts(Exchange *x)
{
    const SliceList *list = x->slices;
    size_t large = 0;
    for (size_t i = 0; i < list->count; i++) {
        const bool small = is_small(x, &list->item[i]);
        large += !small;
        if (small || x->spec.grouping == GROUP_TENSOR)
            add_part(x, i, 1, small);
    }
    if (large && x->spec.grouping == GROUP_ALL)
        add_part(x, 0, list->count, false);
}

bool parcel_holds(const Exchange *x, const Parcel *p, size_t i)
{
    return p->count == 1 || !is_small(x, &x->slices->item[i]);
}

Call exchange_call(const Exchange *x, size_t part, size_t w)
{
    const Parcel *p = &x->own.part[part];
    const uint64_t tensor = rng_hash(p->name);
    return (Call){.self = p->raw ? x->none : x->spec.codec,
                  .state = exchange_state(x, part, w),
                  .plan = x->plan_size && !p->raw ? x->plan + (w * x->own.parts + part) * x->plan_size : NULL,
                  .shape = &p->shape,
                  .rng = rng_open(x->spec.seed, 0, (int64_t)w, (int64_t)x->step, tensor),
                  .rng_shared = rng_open(x->spec.seed, 0, RNG_EVERYONE, (int64_t)x->step, tensor),
                  .worker = (int)w,
                  .workers = (int)(x->senders ? x->senders : x->spec.workers),
                  .threads = x->spec.threads,
                  .heard = x->heard,
                  .scratch = x->scratch,
                  .err = x->err};
}

/* ---- opening ---- */

static Status make_states(Exchange *x)
{
    const size_t parts = x->own.parts;
    x->own.state = NEW_ZERO(x->arena, uint8_t *, x->spec.workers * parts);
    if (!x->own.state)
        return arena_fail(x->arena, x->err);
    for (size_t i = 0; i < parts; i++) {
        const Call call = exchange_call(x, i, 0);
        x->own.part[i].state = codec_keeps_state(call.self) ? codec_state_size(&call) : 0;
        for (size_t w = 0; x->own.part[i].state && w < x->spec.workers; w++)
            if (!(x->own.state[w * parts + i] =
                      NEW_ZERO(x->arena, uint8_t, state_round(x->own.part[i].state))))
                return arena_fail(x->arena, x->err);
    }
    return OK;
}

static Status make_room(Exchange *x)
{
    const size_t workers = x->spec.workers;
    size_t largest = 0;
    for (size_t i = 0; i < x->own.parts; i++)
        largest = x->own.part[i].shape.n > largest ? x->own.part[i].shape.n : largest;
    x->x = NEW(x->arena, float, largest);
    x->y = NEW(x->arena, float, largest);
    x->sum = NEW(x->arena, double, largest);
    x->seconds = NEW(x->arena, double, workers);
    x->up = NEW(x->arena, double, workers);
    x->sent = arena_zeroed(x->arena, workers, sizeof *x->sent);
    x->batch = NEW(x->arena, Bytes, workers);
    x->plan = NEW_ZERO(x->arena, char, workers * x->own.parts * x->plan_size);
    return x->x && x->y && x->sum && x->seconds && x->up && x->sent && x->batch && x->plan
               ? OK
               : arena_fail(x->arena, x->err);
}

static Status open(Exchange *x)
{
    TRY(codec_open(&x->none, "none", x->arena, x->err));
    x->own.part = NEW(x->arena, Parcel, x->slices->count + 1);
    if (!x->own.part)
        return arena_fail(x->arena, x->err);
    make_parts(x);
    x->plan_size = codec_plan_size(x->spec.codec);
    TRY(make_states(x));
    return make_room(x);
}

Status exchange_open(Exchange **out, const ExchangeSpec *spec, const SliceList *slices, Error *err)
{
    Arena *arena = arena_open(0);
    Exchange *x = NEW_ZERO(arena, Exchange, 1);
    *out = NULL;
    if (!x) {
        const Status status = arena_fail(arena, err);
        arena_close(arena);
        return status;
    }
    *x = (Exchange){.arena = arena, .spec = *spec, .slices = slices, .err = err};
    x->scratch = arena_open(0);
    x->payloads = arena_open(0);
    const Status status = open(x);
    if (status == OK)
        *out = x;
    else
        exchange_close(x);
    return status;
}

void exchange_close(Exchange *x)
{
    if (!x)
        return;
    arena_close(x->payloads);
    arena_close(x->scratch);
    arena_close(x->arena);
}

const Exchanged *exchange_parts(const Exchange *x)
{
    return &x->own;
}
