/* exchange.c -- implements exchange.h: encodes, merges, decodes and averages the payloads of one tensor. */
#include "exchange/exchange.h"

#include "base/parallel.h"
#include "compress/compressor.h"
#include "compress/spec.h"
#include "compress/wrapper.h"
#include "math/vec/kernels.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- means: sums are doubles, added in the order of the calls, so a mean does not depend on the number of threads ---- */

typedef struct {
    const float *x;
    const double *total;
    float *mean;
    double *sum, count;
    const uint32_t *senders;
    uint32_t *counted;
    size_t n;
} MeanJob;

static void add_block(void *data, size_t b)
{
    const MeanJob *job = data;
    const float *x = job->x + b * BLOCK;
    double *sum = job->sum + b * BLOCK;
    for (size_t i = 0, n = block_size(job->n, b); i < n; i++)
        sum[i] += (double)x[i];
}

static void divide_block(void *data, size_t b)
{
    const MeanJob *job = data;
    const double *total = job->total + b * BLOCK;
    float *mean = job->mean + b * BLOCK;
    for (size_t i = 0, n = block_size(job->n, b); i < n; i++)
        mean[i] = (float)(total[i] / job->count);
}

static void scale_block(void *data, size_t b)
{
    const MeanJob *job = data;
    float *mean = job->mean + b * BLOCK;
    for (size_t i = 0, n = block_size(job->n, b); i < n; i++)
        mean[i] = (float)((double)mean[i] / job->count);
}

void mean_add(double *sum, const float *x, size_t n, int threads)
{
    MeanJob job = {.x = x, .sum = sum, .n = n};
    parallel_for(threads, blocks_of(n), add_block, &job);
}

void mean_of_sum(float *mean, const double *sum, size_t n, double count, int threads)
{
    MeanJob job = {.total = sum, .mean = mean, .n = n, .count = count};
    parallel_for(threads, blocks_of(n), divide_block, &job);
}

static void count_block(void *data, size_t b)
{
    const MeanJob *job = data;
    const float *x = job->x + b * BLOCK;
    uint32_t *counted = job->counted + b * BLOCK;
    for (size_t i = 0, n = block_size(job->n, b); i < n; i++)
        counted[i] += x[i] != 0;
}

static void mean_count(uint32_t *count, const float *x, size_t n, int threads)
{
    MeanJob job = {.x = x, .counted = count, .n = n};
    parallel_for(threads, blocks_of(n), count_block, &job);
}

static void divide_by_senders(void *data, size_t b)
{
    const MeanJob *job = data;
    const double *total = job->total + b * BLOCK;
    const uint32_t *senders = job->senders + b * BLOCK;
    float *mean = job->mean + b * BLOCK;
    for (size_t i = 0, n = block_size(job->n, b); i < n; i++)
        mean[i] = senders[i] ? (float)(total[i] / senders[i]) : 0;
}

static void mean_of_senders(float *mean, const double *sum, const uint32_t *count, size_t n, int threads)
{
    MeanJob job = {.total = sum, .mean = mean, .senders = count, .n = n};
    parallel_for(threads, blocks_of(n), divide_by_senders, &job);
}

/* Divides by a power of two: multiplying by its inverse, which is exact in float32, gives the same rounded
 * result. */
static void halve_block(void *data, size_t b)
{
    const MeanJob *job = data;
    float *mean = job->mean + b * BLOCK;
    kernels()->scale(mean, (float)(1 / job->count), block_size(job->n, b), mean);
}

static void mean_scale(float *x, size_t n, double count, int threads)
{
    MeanJob job = {.mean = x, .n = n, .count = count};
    int exponent;
    const bool power_of_two = frexp(count, &exponent) == 0.5;
    parallel_for(threads, blocks_of(n), power_of_two ? halve_block : scale_block, &job);
}

const char *const average_names[] = {"auto", "all", "senders", NULL};
const char average_help[] =
    "senders: divide each element by the number of workers that sent it, for codecs that leave elements out; all: by "
    "that of all workers; auto: senders for chunktopk, else all";

Status average_check(Average average, const Codec *codec, Error *err)
{
    if (average != AVERAGE_SENDERS || codec_traits(codec) & LEAVES_OUT)
        return OK;
    return FAIL(err, ERR_USAGE,
                "--average senders: %s does not send some elements and leave the others out, as topk does",
                codec->typed);
}

bool average_over_senders(Average average, const Codec *codec)
{
    const unsigned both = LEAVES_OUT | SENDERS_MEAN;
    return average == AVERAGE_SENDERS || (average == AVERAGE_AUTO && (codec_traits(codec) & both) == both);
}

/* ---- a worker's arguments for the codec's functions ---- */

Call exchange_call(const Exchange *x, const ExchangeWorker *w)
{
    Call call = x->call;
    call.worker = (int)w->index;
    call.state = w->state;
    call.plan = w->plan;
    call.kept = w->kept;
    const int64_t own = x->again ? RNG_OWNER : (int64_t)w->index, all = x->again ? RNG_OWNERS : RNG_EVERYONE;
    call.rng = rng_open(x->seed, x->repeat, own, x->step, x->tensor);
    call.rng_shared = rng_open(x->seed, x->repeat, all, x->step, x->tensor);
    call.heard = x->heard;
    return call;
}

static Status run(Exchange *x, ExchangePhase phase, const ExchangeWorker *w, Status (*work)(void *))
{
    x->call = exchange_call(x, w);
    return x->clock.run ? x->clock.run(x->clock.data, phase, w->index, work, x) : work(x);
}

/* ---- phases ---- */

static Status train(void *arg)
{
    Exchange *x = arg;
    x->call.kept = NULL; /* the step has not begun, so no vector may be stored for it */
    return codec_train(&x->call, x->gradient, x->receiver.state);
}

static Status encode(void *arg)
{
    Exchange *x = arg;
    x->payload.size = 0;
    return codec_encode(&x->call, x->gradient, &x->payload);
}

static Status merge(void *arg)
{
    Exchange *x = arg;
    Buf *out = &x->merged[x->turn];
    out->size = 0;
    return codec_merge(&x->call, x->waiting, x->held, out);
}

static Status estimate(void *arg)
{
    Exchange *x = arg;
    Call call = x->call;
    call.terms = x->senders;
    return codec_decode(&call, x->last, x->y);
}

static Status add_estimate(void *arg)
{
    Exchange *x = arg;
    const size_t n = x->call.shape->n;
    mean_add(x->sum, x->y, n, x->call.threads);
    if (x->senders)
        mean_count(x->sent, x->y, n, x->call.threads);
    return OK;
}

static Status divide_sum(void *arg)
{
    Exchange *x = arg;
    if (x->senders)
        mean_of_senders(x->y, x->sum, x->sent, x->call.shape->n, x->call.threads);
    else
        mean_of_sum(x->y, x->sum, x->call.shape->n, x->call.workers, x->call.threads);
    return OK;
}

static Status end_terms(void *arg)
{
    Exchange *x = arg;
    return codec_from_terms(&x->call, x->y);
}

static Status decode(void *arg)
{
    Exchange *x = arg;
    return codec_decode(&x->call, x->heard[x->rounds - 1], x->y);
}

static Status scale(void *arg)
{
    Exchange *x = arg;
    mean_scale(x->y, x->call.shape->n, x->call.workers, x->call.threads);
    return OK;
}

/* ---- rounds ---- */

static bool is_last(const Exchange *x)
{
    return x->call.round == x->rounds - 1;
}

static bool merges(const Exchange *x)
{
    return !is_last(x) || x->adds;
}

static Status begin_round(Exchange *x)
{
    const bool streams = x->room <= (size_t)x->call.workers;
    Arena *a = x->payloads;
    x->held = x->merged_before = x->taken = 0;
    x->turn = 0;
    if (merges(x) && !x->call.self->ops->merge)
        return FAIL(x->call.err, ERR_USAGE, "%s: what its first round sends does not merge",
                    x->call.self->ops->name);
    for (int i = 0; i < 2 && merges(x); i++) {
        const size_t cap = i == 0 || streams ? 2 * codec_message_bound(&x->call) + 4096 : 0;
        x->merged[i] = (Buf){.data = NEW(a, uint8_t, cap), .cap = cap};
        TRY(arena_check(x->merged[i].data, a, x->call.err));
    }
    x->round_start = arena_mark(a);
    return OK;
}

Status exchange_begin(Exchange *x)
{
    const size_t senders = (size_t)x->call.workers;
    Arena *a = x->payloads;
    assert(senders);
    x->rounds = codec_rounds(x->call.self);
    x->adds = codec_adds(x->call.self);
    x->room = x->batch ? x->batch + 1 : senders + 1;
    x->waiting = NEW(a, Bytes, x->room);
    x->sum = NULL;
    x->call.round = 0;
    memset(x->heard, 0, sizeof x->heard);
    TRY(arena_check(x->waiting, a, x->call.err));
    if (x->each || !x->adds) {
        x->sum = NEW_ZERO(a, double, x->call.shape->n);
        TRY(arena_check(x->sum, a, x->call.err));
    }
    assert(!x->senders || (x->sum && !x->adds));
    if (x->senders && !(x->sent = NEW_ZERO(a, uint32_t, x->call.shape->n)))
        return arena_fail(a, x->call.err);
    return begin_round(x);
}

/* Merges the waiting payloads, among them the result of the previous merge if there was one. */
static Status merge_waiting(Exchange *x)
{
    TRY(run(x, EXCHANGE_MERGE, &x->receiver, merge));
    x->heard[x->call.round] = x->waiting[0] = buf_bytes(&x->merged[x->turn]);
    x->held = x->merged_before = 1;
    x->turn = !x->turn;
    if (!x->keep)
        arena_rewind(x->payloads, x->round_start);
    return OK;
}

Status exchange_send(Exchange *x, const ExchangeWorker *w, const float *gradient, Bytes *sent)
{
    const Call call = exchange_call(x, w);
    const size_t cap = codec_bound(&call);
    x->gradient = gradient;
    x->payload = (Buf){.data = NEW(x->payloads, uint8_t, cap), .cap = cap};
    TRY(arena_check(x->payload.data, x->payloads, x->call.err));
    TRY(run(x, EXCHANGE_ENCODE, w, encode));
    *sent = buf_bytes(&x->payload);
    return OK;
}

Status exchange_take(Exchange *x, const ExchangeWorker *w, Bytes payload)
{
    if (x->taken == 0)
        x->receiver = *w;
    if (is_last(x) && x->sum) {
        x->last = payload;
        TRY(run(x, EXCHANGE_ESTIMATE, w, estimate));
        TRY(run(x, EXCHANGE_AVERAGE, w, add_estimate));
    }
    x->taken++; /* a payload that was refused does not count, so another may be taken in its place */
    if (!merges(x)) {
        if (!x->keep)
            arena_rewind(x->payloads, x->round_start);
        return OK;
    }
    x->waiting[x->held++] = payload;
    return x->held == x->room ? merge_waiting(x) : OK;
}

static Status next_round(Exchange *x)
{
    if (is_last(x))
        return OK;
    x->call.round++;
    return begin_round(x);
}

Status exchange_end_round(Exchange *x)
{
    if (x->held > x->merged_before)
        TRY(merge_waiting(x));
    return next_round(x);
}

Status exchange_hear(Exchange *x, const ExchangeWorker *first, Bytes merged)
{
    x->receiver = *first;
    x->heard[x->call.round] = merged;
    return next_round(x);
}

static Status average(Exchange *x)
{
    TRY(run(x, EXCHANGE_AVERAGE, &x->receiver, divide_sum));
    return x->senders ? run(x, EXCHANGE_AVERAGE, &x->receiver, end_terms) : OK;
}

Status exchange_receive(Exchange *x)
{
    if (x->sum)
        TRY(average(x));
    if (!x->adds)
        return OK;
    TRY(run(x, EXCHANGE_DECODE, &x->receiver, decode));
    return run(x, EXCHANGE_SCALE, &x->receiver, scale);
}

static Status decode_last(void *arg)
{
    Exchange *x = arg;
    return codec_decode(&x->call, x->last, x->y);
}

Status exchange_decode(Exchange *x, ExchangePhase phase, const ExchangeWorker *w, Bytes payload)
{
    x->last = payload;
    return run(x, phase, w, decode_last);
}

/* ---- states ---- */

Status exchange_train(Exchange *x, const ExchangeWorker *w, const float *gradient)
{
    if (!w->state || !codec_trains(x->call.self))
        return OK;
    x->receiver = *w;
    x->gradient = gradient;
    return run(x, EXCHANGE_TRAIN, w, train);
}

/* The learned part is the state of the innermost codec, which is at the end of a worker's state. Wrappers do
 * not learn. */
void *exchange_learned(const Exchange *x, const ExchangeWorker *w, size_t *size)
{
    Call inner = exchange_call(x, w);
    const size_t all = codec_state_size(&inner);
    *size = 0;
    if (!codec_trains(inner.self))
        return NULL;
    while (inner.self->inner)
        inner.self = inner.self->inner;
    *size = codec_state_size(&inner);
    return w->state ? (char *)w->state + all - *size : NULL;
}

Status exchange_settle(Exchange *x, const ExchangeWorker *w, const float *gradient, const Bytes *sent)
{
    const Call call = exchange_call(x, w);
    return w->state ? codec_settle(&call, gradient, sent, x->y, w->state) : OK;
}

/* Sets `*out` to a payload of zeros as raw floats. Fails if the codec refuses raw floats for this shape. */
static Status zero_floats(Exchange *x, const Call *c, Bytes *out)
{
    const size_t size = 4 * c->shape->n + !codec_bare(c->self);
    const uint8_t *zeros = NEW_ZERO(x->payloads, uint8_t, size);
    float *y = NEW(c->scratch, float, c->shape->n);
    Error refused = {0};
    Call quiet = *c;
    TRY(arena_check(zeros && y, zeros ? c->scratch : x->payloads, c->err));
    *out = (Bytes){zeros, size};
    quiet.err = &refused;
    return codec_decode(&quiet, *out, y);
}

static Status encode_zeros(Exchange *x, Call c, Bytes *sent)
{
    const float *zeros = NEW_ZERO(c.scratch, float, c.shape->n);
    c.state = NEW_ZERO(c.scratch, uint8_t, state_round(codec_state_size(&c)));
    c.plan = NULL;
    c.kept = NULL;
    TRY(arena_check(zeros && c.state, c.scratch, c.err));
    for (c.round = 0; c.round < x->rounds; c.round++) {
        Buf out = {.cap = codec_bound(&c)};
        out.data = NEW(x->payloads, uint8_t, out.cap);
        TRY(arena_check(out.data, x->payloads, c.err));
        TRY(codec_encode(&c, zeros, &out));
        sent[c.round] = buf_bytes(&out);
    }
    return OK;
}

Status exchange_settle_dropped(Exchange *x, const ExchangeWorker *w, const float *gradient)
{
    const Call call = exchange_call(x, w);
    const ArenaMark mark = arena_mark(call.scratch);
    Bytes sent[ROUNDS_MAX] = {{0}};
    if (!w->state)
        return OK;
    if (x->rounds > 1 || zero_floats(x, &call, &sent[0]) != OK)
        TRY(encode_zeros(x, call, sent));
    arena_rewind(call.scratch, mark);
    return exchange_settle(x, w, gradient, sent);
}
