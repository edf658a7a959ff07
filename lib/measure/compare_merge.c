/* compare_merge.c -- one codec on one vector of many workers: every gradient is encoded, the payloads are merged
 * where they can be, and the average of what comes back is measured against the average gradient.
 *
 * Workers pass one by one and their payloads in batches, so that memory does not depend on how many they are. What a
 * round's payloads merge to is what everyone has heard in the next, for which all gradients are read once more.
 *
 * The clock runs for each worker's payload, each batch and each decoding; a small share of the usual sample each, as
 * they add up. */
#include "measure/compare_parts.h"

#include "num/radix.h"
#include "num/stats.h"
#include "measure/timing.h"
#include "codec/compressor.h"

#include <string.h>

enum { BATCH = 8 }; /* payloads beside what was merged before them */

/* What a worker has sent. */
typedef struct {
    double bytes;
    Streams streams;
} Sent;

typedef struct {
    const Trial *t;
    const Buffers *b;
    Call call;
    size_t n, workers, repeat;
    int rounds;
    bool measured; /* this repeat is */
    bool adds;     /* payloads of the last round merge */
    double least;  /* seconds that a sample lasts at least */
    Sent *sent;    /* (workers) */

    /* The round at work. */
    Buf payload;  /* of the batch, one behind another */
    size_t start; /* where the last one begins */
    Bytes batch[1 + BATCH];
    size_t held;
    Buf merged[ROUNDS_MAX][2]; /* taking turns */
    int turn;
    Bytes heard[ROUNDS_MAX];

    double encode, merge, each, decode; /* seconds, of this repeat */
} Merger;

/* ---- what is timed ---- */

void merge_address(Call *call, const Comparison *c, const Vector *v, size_t worker, uint64_t repeat)
{
    const uint64_t tensor = rng_hash(v->name);
    call->worker = (int)worker;
    call->workers = (int)c->workers;
    call->rng = rng_open(c->seed, repeat, (int64_t)worker, v->step, tensor);
    call->rng_shared = rng_open(c->seed, repeat, RNG_EVERYONE, v->step, tensor);
}

/* Over the batch's last payload; what y holds is lost. */
static Status encode(void *arg)
{
    Merger *m = arg;
    m->payload.size = m->start;
    arena_lend(m->call.scratch, m->b->y, lendable(m->n));
    const Status status = codec_encode(&m->call, m->b->g, &m->payload);
    arena_unlend(m->call.scratch);
    return status;
}

static Bytes last_payload(const Merger *m)
{
    return (Bytes){m->payload.data + m->start, m->payload.size - m->start};
}

static Status decode_last(void *arg)
{
    Merger *m = arg;
    return codec_decode(&m->call, last_payload(m), m->b->y);
}

static Status merge_batch(void *arg)
{
    Merger *m = arg;
    Buf *out = &m->merged[m->call.round][m->turn];
    out->size = 0;
    return codec_merge(&m->call, m->batch, m->held, out);
}

static Status decode_merged(void *arg)
{
    Merger *m = arg;
    return codec_decode(&m->call, m->heard[m->rounds - 1], m->b->y);
}

/* ---- one worker in one round ---- */

static void set_worker(Merger *m, size_t worker)
{
    const Trial *t = m->t;
    merge_address(&m->call, t->c, t->vector, worker, m->repeat);
    m->call.plan = t->plan ? t->plan[worker] : NULL;
}

static Status load(Merger *m, size_t worker)
{
    const Comparison *c = m->t->c;
    if (comparison_stopped(c))
        return FAIL(m->call.err, ERR_STOPPED, "stopped");
    const Status status = c->load_worker(c->data, m->t->vector, worker, m->b->g, m->call.err);
    *m->t->unread = status != OK;
    if (status == OK && m->repeat == 0 && m->call.round == 0)
        mean_add(c, m->b->g, m->b->sum_g, m->n);
    return status;
}

/* Once untimed, telling what it carries, and then under the clock. */
static Status send(Merger *m, size_t worker)
{
    double seconds;
    m->start = m->payload.size;
    if (m->measured) {
        m->call.streams = &m->sent[worker].streams;
        const Status status = encode(m);
        m->call.streams = NULL;
        TRY(status);
    }
    TRY(time_loop(encode, m, m->least / (double)m->workers, &seconds));
    m->encode += seconds;
    m->sent[worker].bytes += (double)(m->payload.size - m->start);
    return OK;
}

/* As a receiver does that knows no other way. */
static Status add_estimate(Merger *m)
{
    double seconds;
    TRY(time_loop(decode_last, m, m->least / (double)m->workers, &seconds));
    const double start = clock_now();
    mean_add(m->t->c, m->b->y, m->b->sum, m->n);
    m->each += seconds + clock_now() - start;
    return OK;
}

/* The estimates' variances add up, unless one draw is everyone's. */
static void add_expected(Merger *m, Tally *tally)
{
    const unsigned traits = codec_traits(m->t->codec);
    const double workers = (double)m->workers;
    if (m->repeat == 0 && !(traits & SHARED_DRAWS))
        tally->expected += traits & UNBIASED ? codec_variance(&m->call, m->b->g) / (workers * workers) : NAN;
}

static Status flush(Merger *m)
{
    double seconds;
    const double batches = (double)((m->workers + BATCH - 1) / BATCH);
    TRY(merge_batch(m)); /* first touches of memory are no part of merging */
    TRY(time_loop(merge_batch, m, m->least / batches, &seconds));
    m->merge += seconds;
    const Buf *out = &m->merged[m->call.round][m->turn];
    m->heard[m->call.round] = m->batch[0] = (Bytes){out->data, out->size};
    m->held = 1;
    m->turn = !m->turn;
    m->payload.size = 0;
    return OK;
}

/* ---- one round of all workers ---- */

static Status check_merge(const Merger *m)
{
    const Codec *codec = m->t->codec;
    return codec->ops->merge ? OK
                             : FAIL(m->call.err, ERR_USAGE, "%s: what its first round sends does not merge",
                                    codec->ops->name);
}

static Status run_round(Merger *m, Tally *tally)
{
    const bool last = m->call.round == m->rounds - 1, merges = !last || m->adds;
    if (!last)
        TRY(check_merge(m));
    m->held = 0;
    for (size_t w = 0; w < m->workers; w++) {
        set_worker(m, w);
        TRY(load(m, w));
        if (!merges)
            m->payload.size = 0;
        TRY(send(m, w));
        if (last) {
            TRY(add_estimate(m));
            add_expected(m, tally);
        }
        if (!merges)
            continue;
        /* what came before stays where it is: the batch's memory does not move */
        m->batch[m->held++] = last_payload(m);
        if (m->held == countof(m->batch) || w + 1 == m->workers) {
            set_worker(m, 0);
            TRY(flush(m));
        }
    }
    return OK;
}

/* ---- one repeat ---- */

/* Sums over workers; conclude divides. */
static void note_sizes(const Merger *m, Tally *tally)
{
    for (size_t w = 0; w < m->workers; w++) {
        const Sent *s = &m->sent[w];
        const bool first = m->repeat == 0 && w == 0;
        tally->bytes += s->bytes;
        tally->bytes_min = first ? s->bytes : fmin(tally->bytes_min, s->bytes);
        tally->bytes_max = fmax(tally->bytes_max, s->bytes);
        tally->entropy += s->streams.reported ? s->streams.entropy_bits : NAN;
        tally->raw += s->streams.raw;
    }
    for (int r = 0; r < m->rounds; r++)
        tally->merged += m->adds ? (double)m->heard[r].size : NAN;
    for (int r = 0; r + 1 < m->rounds; r++)
        tally->early += (double)m->heard[r].size;
}

/* The average into y: of the aggregate where there is one. */
static Status take_average(Merger *m)
{
    const Comparison *c = m->t->c;
    const double start = clock_now();
    mean_take(c, m->b->y, m->b->sum, m->n);
    m->each += clock_now() - start;
    if (!m->adds)
        return OK;
    set_worker(m, 0);
    TRY(decode_merged(m));
    TRY(time_loop(decode_merged, m, m->least, &m->decode));
    mean_take(c, m->b->y, NULL, m->n);
    return OK;
}

static Status exchange(Merger *m, Tally *tally)
{
    Arena *a = m->call.scratch;
    const size_t before = arena_used(a);
    arena_reset_peak(a);
    memset(m->sent, 0, m->workers * sizeof *m->sent);
    memset(m->b->sum, 0, m->n * sizeof *m->b->sum);
    m->encode = m->merge = m->each = 0;
    for (m->call.round = 0; m->call.round < m->rounds; m->call.round++) {
        m->payload.size = 0;
        TRY(run_round(m, tally));
        if (m->repeat == 0 && m->call.round == 0)
            mean_take(m->t->c, m->b->x, m->b->sum_g, m->n);
    }
    m->call.round = m->rounds - 1;
    TRY(take_average(m));
    tally->scratch = fmax(tally->scratch, (double)(arena_peak(a) - before));
    return OK;
}

/* The sort works in y, and where the repeats' deviations will be. */
static Status measure_first(Merger *m, const Subject *s, Tally *tally)
{
    const Buffers *b = m->b;
    const size_t size = m->n * sizeof *b->y;
    TRY(tally_gradient(tally, s));
    memcpy(b->g, b->y, size);
    if (m->t->first)
        memcpy(m->t->first, b->y, size);
    if (m->n)
        TRY(radix_wasserstein(s->x, b->y, s->n, b->work, s->threads, &tally->wasserstein, s->scratch,
                              s->err));
    return tally_repeat(tally, s, 0, b->g);
}

static Status run_repeat(Merger *m, const Subject *s, Tally *tally)
{
    const Buffers *b = m->b;
    m->measured = m->repeat < tally->decoded;
    TRY(exchange(m, tally));
    b->encode[m->repeat] = m->encode / (double)m->workers;
    b->decode[m->repeat] = m->decode;
    b->merge[m->repeat] = m->merge;
    b->each[m->repeat] = m->each;
    if (!m->measured)
        return OK;
    note_sizes(m, tally);
    return m->repeat ? tally_repeat(tally, s, m->repeat, b->y) : measure_first(m, s, tally);
}

/* ---- all of it ---- */

static double middle(double *seconds, size_t repeats, bool known)
{
    return known ? stats_median(seconds, repeats) : NAN;
}

/* Of the average nothing is known but where elements are independent, or one draw is everyone's. */
static void use_moments(Merger *m, Tally *tally)
{
    AtomMoments moments = {NAN, NAN};
    const double times = (double)tally->repeats - 1;
    if (tally->decoded < 2 || codec_moments(&m->call, m->b->x, &moments) == ELEMENTWISE)
        return;
    const bool known = codec_traits(m->t->codec) & SHARED_DRAWS;
    tally->spread[S_M2_SQUARES] = known ? times * times * moments.squares : NAN;
    tally->spread[S_M2_WEIGHTED] = known ? times * moments.weighted : NAN;
}

static void conclude(Merger *m, Tally *tally)
{
    const Buffers *b = m->b;
    const size_t repeats = tally->repeats;
    const double decoded = (double)tally->decoded, payloads = decoded * (double)m->workers;
    tally->bytes /= payloads;
    tally->entropy /= payloads;
    tally->raw /= payloads;
    tally->merged /= decoded;
    tally->early /= decoded;
    tally->encode = stats_median(b->encode, repeats);
    tally->encode_min = b->encode[0]; /* sorted by now */
    tally->each = stats_median(b->each, repeats);
    tally->merge = middle(b->merge, repeats, m->adds);
    tally->decode = middle(b->decode, repeats, m->adds);
    tally->decode_min = m->adds ? b->decode[0] : NAN;
    m->repeat = 0;
    set_worker(m, 0);
    if (codec_traits(m->t->codec) & SHARED_DRAWS)
        tally->expected = codec_variance(&m->call, b->x);
    if (isnan(tally->expected) && tally->raw == 1 && tally->largest == 0)
        tally->expected = 0; /* floats, whatever the codec */
    use_moments(m, tally);
}

static Status make_room(Merger *m, Arena *a)
{
    const size_t bound = codec_message_bound(&m->call), merged = 2 * bound + 4096;
    bool full = false;
    m->payload.cap = countof(m->batch) * bound;
    m->payload.data = NEW(a, uint8_t, m->payload.cap);
    for (int r = 0; r < m->rounds; r++)
        for (int turn = 0; turn < 2 && (r + 1 < m->rounds || m->adds); turn++) {
            m->merged[r][turn] = (Buf){.data = NEW(a, uint8_t, merged), .cap = merged};
            full = full || !m->merged[r][turn].data;
        }
    m->sent = NEW(a, Sent, m->workers);
    return m->sent && m->payload.data && !full ? OK : arena_fail(a, m->call.err);
}

/* What worker 0 learns for all. */
static Status train(Merger *m)
{
    const Trial *t = m->t;
    if (!codec_trains(t->codec) || !t->state)
        return OK;
    set_worker(m, 0);
    const Status read = t->c->load_worker(t->c->data, t->vector, 0, m->b->g, m->call.err);
    *t->unread = read != OK;
    return read == OK ? codec_train(&m->call, m->b->g, t->state) : read;
}

static Status measure(Merger *m, Tally *tally)
{
    const Trial *t = m->t;
    const Buffers *b = m->b;
    Subject s = {
        .x = b->x, .n = m->n, .threads = t->c->threads, .scratch = m->call.scratch, .err = m->call.err};
    memcpy(s.above, t->above, sizeof s.above);
    if (tally->decoded > 1) {
        s.half = b->work;
        s.root = b->work + m->n;
    }
    memset(b->sum_g, 0, m->n * sizeof *b->sum_g);
    TRY(make_room(m, b->payloads));
    TRY(train(m));
    for (m->repeat = 0; m->repeat < t->c->repeats; m->repeat++)
        TRY(run_repeat(m, &s, tally));
    TRY(tally_spread(tally, &s));
    conclude(m, tally);
    return OK;
}

Status merge_run(const Trial *t, const Buffers *b, Tally *tally, Error *err)
{
    const ArenaMark payloads = arena_mark(b->payloads), scratch = arena_mark(b->scratch);
    Merger m = {.t = t,
                .b = b,
                .call = trial_call(t->c, t->codec, t->vector, t->state, b->scratch, err),
                .n = t->vector->shape.n,
                .workers = t->c->workers,
                .rounds = codec_rounds(t->codec),
                .adds = codec_adds(t->codec),
                .least = t->c->sample};
    m.call.heard = m.heard;
    const Status status = measure(&m, tally);
    arena_rewind(b->scratch, scratch);
    arena_rewind(b->payloads, payloads);
    return status;
}
