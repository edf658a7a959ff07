/* exchange.c -- see exchange.h. */
#include "nn/exchange.h"

#include "timing.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct Exchange {
    Arena *arena, *scratch, *payloads;
    ExchangeSpec spec;
    const Codec *none;
    const SliceList *slices;
    Exchanged own;
    size_t plan_size;
    char *plan;                /* (workers x parts x plan_size) */
    float *x, *y;              /* room for the largest part */
    double *sum;               /* the same */
    double *seconds;           /* (workers) that encoding took */
    double *up;                /* (workers) bytes */
    Bytes (*sent)[ROUNDS_MAX]; /* (workers), of the part at work */
    Bytes heard[ROUNDS_MAX];
    Bytes *batch; /* (workers) */

    /* the step at work */
    size_t step, senders;
    float *const *gradient;
    const double *weight;
    const bool *is_heard;
    float *agreed;
    ExchangeCost *cost;
    Error *err;
};

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

/* Whether slice i travels with part p. */
static bool holds(const Exchange *x, const Parcel *p, size_t i)
{
    return p->count == 1 || !is_small(x, &x->slices->item[i]);
}

/* Worker w's values, weighted so that the plain mean over the senders is the mean over their images. */
static const float *gather(Exchange *x, const Parcel *p, size_t w)
{
    const double gain = x->weight[w] * (double)x->senders;
    float *to = x->x;
    for (size_t i = p->first; i < p->first + p->count; i++) {
        const Slice *s = &x->slices->item[i];
        if (!holds(x, p, i))
            continue;
        const float *from = x->gradient[w] + s->offset;
        if (gain == 1)
            memcpy(to, from, s->shape.n * sizeof *to);
        else
            for (size_t j = 0; j < s->shape.n; j++)
                to[j] = (float)(gain * (double)from[j]);
        to += s->shape.n;
    }
    return x->x;
}

static void scatter(Exchange *x, const Parcel *p)
{
    const float *from = x->y;
    for (size_t i = p->first; i < p->first + p->count; i++) {
        const Slice *s = &x->slices->item[i];
        if (!holds(x, p, i))
            continue;
        memcpy(x->agreed + s->offset, from, s->shape.n * sizeof *from);
        from += s->shape.n;
    }
}

/* ---- calls ---- */

static uint8_t *state_of(const Exchange *x, size_t part, size_t w)
{
    return x->own.state[w * x->own.parts + part];
}

static Call call_of(const Exchange *x, size_t part, size_t w)
{
    const Parcel *p = &x->own.part[part];
    const uint64_t tensor = rng_hash(p->name);
    return (Call){.self = p->raw ? x->none : x->spec.codec,
                  .state = state_of(x, part, w),
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

static size_t first_sender(const Exchange *x)
{
    size_t w = 0;
    while (!x->is_heard[w])
        w++;
    return w;
}

static Status blame(Exchange *x, const Parcel *p, size_t w, Status status)
{
    return status == OK ? OK : error_at(x->err, "step %zu: worker %zu: %s", x->step, w, p->name);
}

/* ---- before the step: what one learns for all, and what each plans ---- */

/* What is trained is the innermost codec's, and stands at the end of the state. */
static Status train(Exchange *x, size_t part)
{
    const size_t w = first_sender(x), size = x->own.part[part].state;
    const Call call = call_of(x, part, w);
    Call inner = call;
    if (!size || !call.self->ops->train)
        return OK;
    const double start = clock_now();
    TRY(codec_train(&call, gather(x, &x->own.part[part], w), state_of(x, part, w)));
    x->seconds[w] += clock_now() - start;
    while (inner.self->inner)
        inner.self = inner.self->inner;
    const size_t learned = codec_state_size(&inner);
    for (size_t other = 0; other < x->spec.workers; other++)
        if (other != w)
            memcpy(state_of(x, part, other) + size - learned, state_of(x, part, w) + size - learned, learned);
    return OK;
}

typedef struct {
    Exchange *x;
    size_t worker;
    const size_t *part;
} Planned;

static const float *load_planned(void *data, size_t j, Error *err)
{
    const Planned *p = data;
    (void)err;
    return gather(p->x, &p->x->own.part[p->part[j]], p->worker);
}

static Status plan(Exchange *x, size_t w)
{
    const ArenaMark mark = arena_mark(x->scratch);
    const size_t parts = x->own.parts;
    Call *call = NEW(x->scratch, Call, parts);
    size_t *part = NEW(x->scratch, size_t, parts);
    char *record = NEW(x->scratch, char, parts * x->plan_size);
    if (!call || !part || !record)
        return arena_fail(x->scratch, x->err);
    Planned data = {x, w, part};
    Step step = {.call = call, .load = load_planned, .data = &data};
    for (size_t i = 0; i < parts; i++)
        if (!x->own.part[i].raw) {
            part[step.count] = i;
            call[step.count] = call_of(x, i, w);
            call[step.count++].plan = NULL;
        }
    const double start = clock_now();
    if (step.count)
        TRY(codec_plan(&step, record));
    x->seconds[w] += clock_now() - start;
    for (size_t j = 0; j < step.count; j++)
        memcpy(x->plan + (w * parts + part[j]) * x->plan_size, record + j * x->plan_size, x->plan_size);
    arena_rewind(x->scratch, mark);
    return OK;
}

/* ---- one part ---- */

static Status encode(Exchange *x, size_t part, size_t w, int round)
{
    Call call = call_of(x, part, w);
    call.round = round;
    const float *values = gather(x, &x->own.part[part], w);
    const double start = clock_now();
    Buf out = {.cap = codec_bound(&call)};
    out.data = NEW(x->payloads, uint8_t, out.cap);
    if (!out.data)
        return arena_fail(x->payloads, x->err);
    TRY(codec_encode(&call, values, &out));
    x->seconds[w] += clock_now() - start;
    x->up[w] += (double)out.size;
    x->sent[w][round] = buf_bytes(&out);
    return OK;
}

static Status merge(Exchange *x, size_t part, int round)
{
    Call call = call_of(x, part, first_sender(x));
    size_t count = 0, size = 0;
    call.round = round;
    if (!call.self->ops->merge)
        return FAIL(x->err, ERR_USAGE, "%s: what its first round sends does not merge", call.self->ops->name);
    for (size_t w = 0; w < x->spec.workers; w++)
        if (x->is_heard[w]) {
            x->batch[count] = x->sent[w][round];
            size += x->batch[count++].size;
        }
    Buf out = {.cap = size + 2 * codec_bound(&call) + 4096};
    out.data = NEW(x->payloads, uint8_t, out.cap);
    if (!out.data)
        return arena_fail(x->payloads, x->err);
    TRY(codec_merge(&call, x->batch, count, &out));
    x->heard[round] = buf_bytes(&out);
    x->cost->bytes_agreed += (double)out.size;
    return OK;
}

/* The aggregate, over the number of those in it. */
static Status decode_merged(Exchange *x, size_t part, int last)
{
    Call call = call_of(x, part, first_sender(x));
    call.round = last;
    TRY(codec_decode(&call, x->heard[last], x->y));
    for (size_t i = 0; i < call.shape->n; i++)
        x->y[i] = (float)((double)x->y[i] / (double)x->senders);
    return OK;
}

/* Every payload, with its worker's state where decoding reads one. */
static Status decode_each(Exchange *x, size_t part, int last)
{
    const size_t n = x->own.part[part].shape.n;
    memset(x->sum, 0, n * sizeof *x->sum);
    for (size_t w = 0; w < x->spec.workers; w++) {
        if (!x->is_heard[w])
            continue;
        Call call = call_of(x, part, w);
        call.round = last;
        TRY(blame(x, &x->own.part[part], w, codec_decode(&call, x->sent[w][last], x->y)));
        for (size_t i = 0; i < n; i++)
            x->sum[i] += (double)x->y[i];
        x->cost->bytes_agreed += (double)x->sent[w][last].size;
    }
    for (size_t i = 0; i < n; i++)
        x->y[i] = (float)(x->sum[i] / (double)x->senders);
    return OK;
}

/* What receivers take of a worker of whom they hear nothing: zeros, as floats. */
static Status send_zeros(Exchange *x, const Call *c, Bytes *out)
{
    const size_t size = 4 * c->shape->n + !codec_bare(c->self);
    const uint8_t *zeros = NEW_ZERO(x->payloads, uint8_t, size);
    float *y = NEW(x->scratch, float, c->shape->n);
    Error refused = {0};
    Call quiet = *c;
    if (!zeros || !y)
        return arena_fail(zeros ? x->scratch : x->payloads, x->err);
    *out = (Bytes){zeros, size};
    quiet.err = &refused;
    return codec_decode(&quiet, *out, y);
}

/* Where a codec takes no floats: what a gradient of zeros is sent as from a state of zeros. */
static Status send_nothing(Exchange *x, size_t part, size_t w, int rounds)
{
    Call call = call_of(x, part, w);
    if (rounds == 1 && send_zeros(x, &call, &x->sent[w][0]) == OK)
        return OK;
    float *zeros = NEW_ZERO(x->scratch, float, call.shape->n);
    call.state = NEW_ZERO(x->scratch, uint8_t, state_round(x->own.part[part].state));
    call.plan = NULL;
    if (!zeros || !call.state)
        return arena_fail(x->scratch, x->err);
    for (call.round = 0; call.round < rounds; call.round++) {
        Buf out = {.cap = codec_bound(&call)};
        out.data = NEW(x->payloads, uint8_t, out.cap);
        if (!out.data)
            return arena_fail(x->payloads, x->err);
        TRY(codec_encode(&call, zeros, &out));
        x->sent[w][call.round] = buf_bytes(&out);
    }
    return OK;
}

static Status settle(Exchange *x, size_t part, size_t w, int rounds)
{
    const Call call = call_of(x, part, w);
    if (!x->own.part[part].state)
        return OK;
    if (!x->is_heard[w])
        TRY(send_nothing(x, part, w, rounds));
    return codec_settle(&call, gather(x, &x->own.part[part], w), x->sent[w], x->y, state_of(x, part, w));
}

static Status run_part(Exchange *x, size_t part)
{
    const Codec *codec = x->own.part[part].raw ? x->none : x->spec.codec;
    const int rounds = codec_rounds(codec), last = rounds - 1;
    const bool adds = codec_traits(codec) & (LINEAR | MERGEABLE) && codec->ops->merge;
    double decode = 0;
    memset(x->heard, 0, sizeof x->heard);
    for (int r = 0; r < rounds; r++) {
        for (size_t w = 0; w < x->spec.workers; w++)
            if (x->is_heard[w])
                TRY(blame(x, &x->own.part[part], w, encode(x, part, w, r)));
        const double start = clock_now();
        if (r < last || adds)
            TRY(merge(x, part, r));
        decode += clock_now() - start;
    }
    const double start = clock_now();
    TRY(adds ? decode_merged(x, part, last) : decode_each(x, part, last));
    x->cost->decode += decode + clock_now() - start;
    for (size_t w = 0; w < x->spec.workers; w++)
        TRY(blame(x, &x->own.part[part], w, settle(x, part, w, rounds)));
    scatter(x, &x->own.part[part]);
    return OK;
}

/* ---- one step ---- */

static Status run_step(Exchange *x)
{
    memset(x->seconds, 0, x->spec.workers * sizeof *x->seconds);
    memset(x->up, 0, x->spec.workers * sizeof *x->up);
    for (size_t i = 0; i < x->own.parts; i++)
        TRY(blame(x, &x->own.part[i], first_sender(x), train(x, i)));
    for (size_t w = 0; w < x->spec.workers && x->plan_size; w++)
        if (x->is_heard[w])
            TRY(plan(x, w));
    for (size_t i = 0; i < x->own.parts; i++) {
        const ArenaMark mark = arena_mark(x->payloads), scratch = arena_mark(x->scratch);
        TRY(run_part(x, i));
        arena_rewind(x->scratch, scratch);
        arena_rewind(x->payloads, mark);
    }
    for (size_t w = 0; w < x->spec.workers; w++) {
        x->cost->encode = fmax(x->cost->encode, x->seconds[w]);
        x->cost->most_up = fmax(x->cost->most_up, x->up[w]);
        x->cost->bytes_up += x->up[w];
    }
    x->cost->bytes_up /= (double)x->senders;
    return OK;
}

Status exchange_step(Exchange *x, size_t step, float *const *gradient, const double *weight,
                     const bool *heard, float *agreed, ExchangeCost *cost, Error *err)
{
    *cost = (ExchangeCost){0};
    x->step = step;
    x->gradient = gradient;
    x->weight = weight;
    x->is_heard = heard;
    x->agreed = agreed;
    x->cost = cost;
    x->err = err;
    x->senders = 0;
    for (size_t w = 0; w < x->spec.workers; w++)
        x->senders += heard[w];
    assert(x->senders);
    return run_step(x);
}

/* ---- opening ---- */

static Status make_states(Exchange *x)
{
    const size_t parts = x->own.parts;
    x->own.state = NEW_ZERO(x->arena, uint8_t *, x->spec.workers * parts);
    if (!x->own.state)
        return arena_fail(x->arena, x->err);
    for (size_t i = 0; i < parts; i++) {
        const Call call = call_of(x, i, 0);
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
