/* compare_merge.c -- measures one codec on one vector of many workers: encodes and decodes every gradient,
 * and merges payloads if the codec can. Measures the mean estimate against the mean gradient.
 *
 * Gradients are loaded one by one, again in each round, and payloads are merged in batches
 * (exchange/exchange.h). So memory does not depend on the number of workers.
 *
 * Each worker's encoding, each worker's decoding and each batch's merging is a separate timing sample. The
 * seconds of all samples are added. So with P workers (or B batches) a sample needs only 1/P (or 1/B) of the
 * usual duration. */
#include "measure/compare_parts.h"
#include "measure/timing.h"
#include "base/text.h"
#include "math/stats.h"

#include <string.h>

/* Sizes of the payloads that a worker sends in one repeat. */
typedef struct {
    double bytes; /* bytes of the payloads of all rounds */
    Streams streams;
} WorkerSent;

typedef struct {
    const Trial *t;
    const Buffers *b;
    Exchange x;
    size_t n, workers, repeat;
    bool errors;      /* false: no errors are measured (Comparison.costs_only) */
    bool measured;    /* true: sizes of this repeat, and errors, are measured; false: it is only timed */
    double sample;    /* minimum seconds of timing per sample */
    WorkerSent *sent; /* (workers) */
    bool shots;       /* true: the mean is quantised again (exchange/shots.h) */
    bool owners;      /* true: what is encoded now is the owners' means */
    double mean_bytes; /* with `shots`: bytes of the payloads of the mean */
    Sizes sizes;      /* statistics over repeats of the payload sizes, mean over the workers */
    Moments merged;   /* statistics over repeats of the bytes of the merged payloads */

    /* Seconds of this repeat. `encode`: sum over workers. `merge`: sum over batches. `each`: decoding every
     * worker's payload. `decode`: decoding the merged payload. */
    double encode, merge, each, decode;
} Merger;

/* ---- timing ---- */

static Status add_sample(Status (*work)(void *), void *arg, double least, double *total)
{
    double seconds;
    TRY(time_loop(work, arg, least, &seconds));
    *total += seconds;
    return OK;
}

/* If the repeat is measured, encodes once without timing, to record the entropy of the streams. Then times
 * encoding. y is needed only for decoding, so the codec gets its memory as scratch. */
static Status time_encode(Merger *m, size_t worker, Status (*work)(void *), void *arg)
{
    Call *call = &m->x.call;
    Status status = OK;
    if (!m->shots)
        arena_lend(call->scratch, m->b->y, lendable(m->n));
    if (!m->shots && (m->repeat == 0 || (m->measured && !m->t->c->costs_only))) {
        call->streams = &m->sent[worker].streams;
        status = work(arg);
        call->streams = NULL;
    }
    if (status == OK)
        status = add_sample(work, arg, m->sample / (double)m->workers, m->owners ? &m->merge : &m->encode);
    if (!m->shots)
        arena_unlend(call->scratch);
    return status;
}

static Status time_average(Merger *m, Status (*work)(void *), void *arg)
{
    const double start = clock_now();
    TRY(work(arg)); /* timed once: a second call would add the same payload again */
    m->each += clock_now() - start;
    return OK;
}

static Status time_phase(void *data, ExchangePhase phase, size_t worker, Status (*work)(void *), void *arg)
{
    Merger *m = data;
    const double batches = (double)((m->workers + EXCHANGE_BATCH - 1) / EXCHANGE_BATCH);
    switch (phase) {
    case EXCHANGE_ENCODE:
        return time_encode(m, worker, work, arg);
    case EXCHANGE_MERGE:
        /* not timed: the first call touches the memory, and page faults are not part of merging */
        TRY(work(arg));
        return add_sample(work, arg, m->sample / batches, &m->merge);
    case EXCHANGE_ESTIMATE:
        return add_sample(work, arg, m->sample / (double)m->workers, &m->each);
    case EXCHANGE_DECODE:
        TRY(work(arg));
        return add_sample(work, arg, m->shots ? m->sample / (double)m->workers : m->sample, &m->decode);
    case EXCHANGE_AVERAGE:
        return time_average(m, work, arg);
    default:
        return work(arg);
    }
}

/* ---- measuring one repeat ---- */

Exchange merge_exchange(const Comparison *c, const Codec *codec, const Vector *v, Arena *scratch, Error *err)
{
    Exchange x = {.call = trial_call(c, codec, v, NULL, scratch, err),
                  .seed = c->seed,
                  .tensor = rng_hash(v->name),
                  .step = v->step_address};
    x.call.workers = (int)c->workers;
    x.call.leader = exchange_leader(v->step_address, c->workers);
    return x;
}

static ExchangeWorker worker_of(const Merger *m, size_t w)
{
    return (ExchangeWorker){.index = w, .state = m->t->state, .plan = m->t->plan ? m->t->plan[w] : NULL};
}

static Status load(Merger *m, size_t worker)
{
    const Comparison *c = m->t->c;
    Error *err = m->x.call.err;
    if (comparison_stopped(c))
        return FAIL(err, ERR_STOPPED, "stopped");
    const Status status = c->load_worker(c->data, m->t->vector, worker, m->b->g, err);
    *m->t->unread = status != OK;
    return status;
}

/* Adds a worker's expected variance to the tally; variances of independent estimates add up. If all workers
 * draw the same random numbers, `conclude` computes the variance instead. */
static void add_expected(Merger *m, const ExchangeWorker *w, Tally *tally)
{
    const unsigned traits = codec_traits(m->t->codec);
    const double workers = (double)m->workers;
    const Call call = exchange_call(&m->x, w);
    if (m->errors && m->repeat == 0 && m->x.call.round == m->x.rounds - 1 &&
        !(traits & SHARED_DRAWS))
        tally->expected += traits & UNBIASED && !(traits & PART_SHARED) ? codec_variance(&call, m->b->g) / (workers * workers) : NAN;
}

static Status run_round(Merger *m, Tally *tally)
{
    for (size_t i = 0; i < m->workers; i++) {
        const ExchangeWorker w = worker_of(m, i);
        Bytes sent;
        TRY(load(m, i));
        TRY(exchange_send(&m->x, &w, m->b->g, &sent));
        m->sent[i].bytes += (double)sent.size;
        add_expected(m, &w, tally);
        TRY(exchange_take(&m->x, &w, sent));
    }
    return exchange_end_round(&m->x);
}

/* ---- exchanges that quantise again: shard s has the elements from `from` on, and worker s owns it ---- */

typedef struct {
    size_t from;
    Shape shape;
    Exchange x; /* x.y: the shard's elements of b->y */
} Shard;

static Status open_shards(Merger *m, Shard *shard)
{
    const Codec *codec = m->t->codec;
    for (size_t s = 0; s < m->workers; s++) {
        const size_t from = shots_cut(codec, m->n, m->workers, s), end = shots_cut(codec, m->n, m->workers, s + 1);
        const char *name = text_format(m->b->payloads, "%s[%zu]", m->t->vector->name, s);
        TRY(arena_check(name, m->b->payloads, m->x.call.err));
        shard[s] = (Shard){.from = from, .shape = shape_vector(end - from), .x = m->x};
        if (end - from == m->n)
            shard[s].shape = m->t->vector->shape;
        shard[s].x.call.shape = &shard[s].shape;
        shard[s].x.tensor = rng_hash(name);
        shard[s].x.y = m->b->y + from;
        shard[s].x.keep = true; /* the shards share an arena, which this file rewinds */
        if (shard[s].shape.n)
            TRY(exchange_begin(&shard[s].x));
    }
    return OK;
}

static Status send_shard(Merger *m, Shard *s, size_t worker, Bytes *sent)
{
    const ExchangeWorker w = {.index = worker};
    TRY(exchange_send(&s->x, &w, m->b->g + s->from, sent));
    m->sent[worker].bytes += (double)sent->size;
    return OK;
}

static Status two_shots(Merger *m, Shard *shard, size_t worker)
{
    const ExchangeWorker w = {.index = worker};
    for (Shard *s = shard; s < shard + m->workers; s++) {
        Bytes sent;
        if (!s->shape.n)
            continue;
        TRY(send_shard(m, s, worker, &sent));
        TRY(exchange_take(&s->x, &w, sent));
    }
    return OK;
}

/* The sum of shard s visits the workers s + 1, s + 2, ... and s. Takes the worker's part in the sums that have come to it:
 * before the workers begin again at 0, of the shards that lower ones own. x.y is the decoded sum of the workers before. */
static Status hop(Merger *m, Shard *shard, size_t worker, bool again)
{
    const ExchangeWorker w = {.index = worker};
    for (size_t i = 0; i < m->workers; i++) {
        Shard *s = &shard[i];
        float *sum = m->b->g + s->from;
        Bytes sent;
        if (!s->shape.n || (worker <= i) != again)
            continue;
        for (size_t k = 0; k < s->shape.n && worker != (i + 1) % m->workers; k++)
            sum[k] += s->x.y[k];
        if (worker == i) {
            shots_divide(s->x.y, sum, s->shape.n, (double)m->workers);
            continue;
        }
        TRY(send_shard(m, s, worker, &sent));
        TRY(exchange_decode(&s->x, EXCHANGE_ESTIMATE, &w, sent));
    }
    return OK;
}

/* Encodes the mean of each shard, and decodes it to y. */
static Status send_means(Merger *m, Shard *shard)
{
    for (size_t i = 0; i < m->workers; i++) {
        const ArenaMark mark = arena_mark(m->b->payloads);
        Shard *s = &shard[i];
        const ExchangeWorker owner = {.index = i};
        float *mean = m->b->g + s->from;
        Bytes sent;
        if (!s->shape.n)
            continue;
        if (m->t->c->shots == SHOTS_TWO)
            TRY(exchange_receive(&s->x));
        Exchange x = shots_mean(&s->x, m->t->codec);
        memcpy(mean, s->x.y, s->shape.n * sizeof *mean);
        m->owners = true;
        const Status status = exchange_send(&x, &owner, mean, &sent);
        m->owners = false;
        TRY(status);
        TRY(exchange_decode(&x, EXCHANGE_DECODE, &owner, sent));
        m->mean_bytes += (double)sent.size;
        if (m->t->c->shots == SHOTS_HOPS) /* the owner's part of its payload; the others are sums */
            m->sent[i].bytes += (double)sent.size;
        arena_rewind(m->b->payloads, mark);
    }
    return OK;
}

static Status run_shots(Merger *m)
{
    Arena *a = m->b->payloads;
    Shard *shard = NEW(a, Shard, m->workers);
    const bool hops = m->t->c->shots == SHOTS_HOPS;
    m->mean_bytes = 0;
    TRY(arena_check(shard, a, m->x.call.err));
    TRY(open_shards(m, shard));
    const ArenaMark mark = arena_mark(a);
    for (size_t i = 0; i < (hops ? 2 : 1) * m->workers; i++) {
        const size_t worker = i % m->workers;
        TRY(load(m, worker));
        TRY(hops ? hop(m, shard, worker, i >= m->workers) : two_shots(m, shard, worker));
        arena_rewind(a, mark);
    }
    return send_means(m, shard);
}

/* Runs all workers of a repeat. Writes the mean estimate to y. */
static Status run_exchange(Merger *m, Tally *tally)
{
    Arena *a = m->x.call.scratch;
    const size_t before = arena_used(a);
    arena_reset_peak(a);
    memset(m->sent, 0, m->workers * sizeof *m->sent);
    m->encode = m->merge = m->each = m->decode = 0;
    m->x.repeat = m->repeat;
    if (m->shots) {
        TRY(run_shots(m));
    } else {
        TRY(exchange_begin(&m->x));
        for (int round = 0; round < m->x.rounds; round++)
            TRY(run_round(m, tally));
        TRY(exchange_receive(&m->x));
    }
    tally->scratch = fmax(tally->scratch, (double)(arena_peak(a) - before));
    return OK;
}

/* Adds up sizes over workers and repeats; `conclude` divides the sums. */
static void note_sizes(Merger *m, Tally *tally)
{
    const int last = m->shots ? -1 : m->x.rounds - 1;
    const double bytes = tally->bytes, entropy = tally->entropy, merged = tally->merged;
    for (size_t w = 0; w < m->workers; w++) {
        const WorkerSent *s = &m->sent[w];
        const bool first = m->repeat == 0 && w == 0;
        tally->bytes += s->bytes;
        tally->bytes_min = first ? s->bytes : fmin(tally->bytes_min, s->bytes);
        tally->bytes_max = fmax(tally->bytes_max, s->bytes);
        tally->entropy += streams_bound(&s->streams, s->bytes);
        tally->raw += s->streams.raw;
    }
    sizes_add(&m->sizes, (tally->bytes - bytes) / (double)m->workers,
              (tally->entropy - entropy) / (double)m->workers);
    tally->merged += m->mean_bytes;
    for (int r = 0; r <= last; r++) {
        tally->merged += m->x.adds ? (double)m->x.heard[r].size : NAN;
        tally->early += r < last ? (double)m->x.heard[r].size : 0;
    }
    moments_add(&m->merged, tally->merged - merged);
}

/* Measures the mean estimate, which is in `b->y`. `distance_first` sorts it in place, so `tally_repeat` gets
 * a copy in `b->g`. `distance_first` comes before `tally_repeat`, because it overwrites `work`, where
 * `tally_repeat` keeps the repeats' deviations. */
static Status measure_repeat(Merger *m, const MeasuredVector *s, Tally *tally)
{
    const Buffers *b = m->b;
    if (!m->errors)
        return OK;
    const bool copied = m->repeat == 0 && b->distances && !b->sorted;
    if (m->repeat == 0)
        TRY(tally_gradient(tally, s));
    if (copied) {
        memcpy(b->g, b->y, m->n * sizeof *b->y);
        TRY(distance_first(s, b, b->y, tally));
    }
    TRY(tally_repeat(tally, s, m->repeat, copied ? b->g : b->y));
    return distance_repeat(m->t, s, b, m->repeat, copied ? b->g : b->y, tally);
}

static Status run_repeat(Merger *m, const MeasuredVector *s, Tally *tally)
{
    const Buffers *b = m->b;
    m->measured = m->repeat == 0 || codec_traits(m->t->codec) & RANDOM;
    TRY(run_exchange(m, tally));
    b->encode[m->repeat] = m->encode / (double)m->workers;
    b->decode[m->repeat] = m->decode;
    b->merge[m->repeat] = m->shots ? m->merge / (double)m->workers : m->merge;
    b->each[m->repeat] = m->shots ? m->each / (double)m->workers : m->each;
    if (!m->measured)
        return OK;
    note_sizes(m, tally);
    return measure_repeat(m, s, tally);
}

/* ---- measuring all repeats ---- */

static void conclude(Merger *m, Tally *tally)
{
    const Buffers *b = m->b;
    const size_t repeats = tally->repeats;
    const double draws = (double)m->sizes.bytes.n, payloads = draws * (double)m->workers;
    const ExchangeWorker first = worker_of(m, 0);
    sizes_spread(&m->sizes, tally);
    tally->merged_spread = draws > 1 ? moments_variance(&m->merged) : 0;
    tally->bytes /= payloads;
    tally->size = tally->bytes;
    tally->size_spread = tally->sizes;
    tally->size_third = tally->sizes_third;
    tally->entropy /= payloads;
    tally->raw /= payloads;
    tally->merged /= draws;
    tally->early /= draws;
    const bool merges = m->x.adds || m->shots;
    trial_times(tally, b, true, merges);
    tally->each = m->x.sum || m->shots ? stats_median(b->each, repeats) : NAN;
    tally->merge = merges ? stats_median(b->merge, repeats) : NAN;
    tally->each_spread = stats_median_variance(b->each, repeats);
    tally->merge_spread = merges ? stats_median_variance(b->merge, repeats) : NAN;
    m->x.repeat = 0;
    const Call call = exchange_call(&m->x, &first);
    const unsigned traits = codec_traits(m->t->codec);
    const bool shared = traits & SHARED_DRAWS; /* without them, no closed forms for the mean estimate are known */
    tally->unbiased = traits & UNBIASED;
    tally->fixed_size = tally->size_known = !(traits & RANDOM) || traits & FIXED_SIZE;
    tally->own_draws = NAN;
    if (!m->errors || m->shots || traits & GIVEN_DRAWS) /* no closed form for sums quantised again; a closed form for the draws of one repeat is not exact */
        tally->expected = NAN;
    if (!m->errors)
        return;
    if (shared && !m->shots)
        tally->expected = codec_variance(&call, b->x);
    trial_moments(&call, b->x, shared && !m->shots, tally);
}

/* Trains the state on worker 0's gradient. All workers use the same state here, so nothing is copied. */
static Status train(Merger *m)
{
    const Trial *t = m->t;
    const ExchangeWorker first = worker_of(m, 0);
    if (!codec_trains(t->codec) || !t->state)
        return OK;
    const Status read = t->c->load_worker(t->c->data, t->vector, 0, m->b->g, m->x.call.err);
    *t->unread = read != OK;
    return read == OK ? exchange_train(&m->x, &first, m->b->g) : read;
}

static Status measure(Merger *m, Tally *tally)
{
    const Trial *t = m->t;
    const Buffers *b = m->b;
    MeasuredVector s = {
        .x = b->x, .n = m->n, .threads = t->c->threads, .scratch = m->x.call.scratch, .err = m->x.call.err};
    memcpy(s.above, t->above, sizeof s.above);
    tally->n = (double)m->n;
    if (!m->errors)
        tally_one_draw(tally);
    if (tally->decoded > 1) {
        s.half = b->work;
        s.root = b->work + m->n;
    }
    m->sent = NEW(b->payloads, WorkerSent, m->workers);
    TRY(arena_check(m->sent, b->payloads, m->x.call.err));
    if (m->errors) {
        const Status read = merge_mean(t->c, t->vector, b, m->x.call.err);
        *t->unread = read != OK;
        TRY(read);
    }
    TRY(train(m));
    const ArenaMark mark = arena_mark(b->payloads);
    for (m->repeat = 0; m->repeat < t->c->repeats; m->repeat++) {
        arena_rewind(b->payloads, mark);
        TRY(run_repeat(m, &s, tally));
    }
    TRY(tally_spread(tally, &s));
    conclude(m, tally);
    return OK;
}

Status merge_run(const Trial *t, const Buffers *b, Tally *tally, Error *err)
{
    const ArenaMark payloads = arena_mark(b->payloads), scratch = arena_mark(b->scratch);
    Merger m = {.t = t,
                .b = b,
                .x = merge_exchange(t->c, t->codec, t->vector, b->scratch, err),
                .n = t->vector->shape.n,
                .workers = t->c->workers,
                .errors = !t->c->costs_only || codec_traits(t->codec) & PART_SHARED,
                .sample = t->c->sample};
    m.shots = !t->vector->raw && shots_used(t->c->shots, t->codec);
    m.x.batch = EXCHANGE_BATCH;
    m.x.each = !t->c->costs_only;
    m.x.senders = !t->vector->raw && average_over_senders(t->c->average, t->codec);
    m.x.y = b->y;
    m.x.payloads = b->payloads;
    m.x.clock = (ExchangeClock){time_phase, &m};
    Status status = m.shots ? shots_check(t->c->shots, t->codec, m.x.senders, err) : OK;
    status = status == OK ? measure(&m, tally) : status;
    arena_rewind(b->scratch, scratch);
    arena_rewind(b->payloads, payloads);
    return status;
}

/* ---- the workers' mean gradient ---- */

Status merge_mean(const Comparison *c, const Vector *v, const Buffers *b, Error *err)
{
    const size_t n = v->shape.n;
    const ArenaMark mark = arena_mark(b->payloads);
    double *sum = NEW_ZERO(b->payloads, double, n);
    TRY(arena_check(sum, b->payloads, err));
    for (size_t w = 0; w < c->workers; w++) {
        if (comparison_stopped(c))
            return FAIL(err, ERR_STOPPED, "stopped");
        TRY(c->load_worker(c->data, v, w, b->g, err));
        mean_add(sum, b->g, n, c->threads);
    }
    mean_of_sum(b->x, sum, n, (double)c->workers, c->threads);
    arena_rewind(b->payloads, mark);
    arena_trim(b->payloads); /* payloads and another sum may not fit into the chunk of this sum */
    return OK;
}
