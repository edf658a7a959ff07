/* exchange.c -- see exchange.h: one step. */
#include "nn/exchange_parts.h"

#include "measure/timing.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- a parcel of a gradient, and back ---- */

/* Worker w's values, weighted so that the plain mean over the senders is the mean over their images. */
static const float *gather(Exchange *x, const Parcel *p, size_t w)
{
    const double gain = x->weight[w] * (double)x->senders;
    float *to = x->x;
    for (size_t i = p->first; i < p->first + p->count; i++) {
        const Slice *s = &x->slices->item[i];
        if (!parcel_holds(x, p, i))
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
        if (!parcel_holds(x, p, i))
            continue;
        memcpy(x->agreed + s->offset, from, s->shape.n * sizeof *from);
        from += s->shape.n;
    }
}

/* ---- who is at work ---- */

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
    const Call call = exchange_call(x, part, w);
    Call inner = call;
    if (!size || !call.self->ops->train)
        return OK;
    const double start = clock_now();
    TRY(codec_train(&call, gather(x, &x->own.part[part], w), exchange_state(x, part, w)));
    x->seconds[w] += clock_now() - start;
    while (inner.self->inner)
        inner.self = inner.self->inner;
    const size_t learned = codec_state_size(&inner);
    for (size_t other = 0; other < x->spec.workers; other++)
        if (other != w)
            memcpy(exchange_state(x, part, other) + size - learned,
                   exchange_state(x, part, w) + size - learned, learned);
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
            call[step.count] = exchange_call(x, i, w);
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
    Call call = exchange_call(x, part, w);
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
    Call call = exchange_call(x, part, first_sender(x));
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
    if (round + 1 < codec_rounds(call.self))
        x->cost->bytes_early += (double)out.size;
    return OK;
}

/* The aggregate, over the number of those in it. */
static Status decode_merged(Exchange *x, size_t part, int last)
{
    Call call = exchange_call(x, part, first_sender(x));
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
        Call call = exchange_call(x, part, w);
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
    Call call = exchange_call(x, part, w);
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
    const Call call = exchange_call(x, part, w);
    if (!x->own.part[part].state)
        return OK;
    if (!x->is_heard[w])
        TRY(send_nothing(x, part, w, rounds));
    return codec_settle(&call, gather(x, &x->own.part[part], w), x->sent[w], x->y,
                        exchange_state(x, part, w));
}

static Status run_part(Exchange *x, size_t part)
{
    const Codec *codec = x->own.part[part].raw ? x->none : x->spec.codec;
    const int rounds = codec_rounds(codec), last = rounds - 1;
    const bool adds = codec_adds(codec);
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
