/* compare_trial.c -- measures one codec on one vector: in every repeat it encodes and decodes the vector,
 * and measures both times and the error.
 *
 * Each repeat first encodes once untimed, and the codec reports its streams (entropy and excess bits). Then
 * encoding and decoding are timed, without reports. Both encodings give the same payload. If a codec is not
 * random, all repeats have the same estimate. Then only repeat 0 measures the error, and later repeats only
 * measure times.
 *
 * Memory limits how large tensors can be. So `y` is lent to the codec as scratch memory while it does not hold an
 * estimate. */
#include "measure/compare_parts.h"
#include "math/stats.h"
#include "measure/timing.h"
#include "compress/spec.h"
#include "math/radix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const Trial *t;
    const Buffers *b;
    Call call;
    Buf payload;
    Message message;
    Streams streams; /* of the last encoding that reported them */
    Sizes sizes;
    /* Statistics over the repeats of the payload's bytes minus an excess (harness.h). The excess is the part
     * of the size that is due to the repeat's random draw. */
    Moments expected;
    Kept kept; /* for calls that are neither timed nor measured in memory */
} Run;

static Status send(void *arg)
{
    Run *run = arg;
    run->payload.size = 0;
    arena_lend(run->call.scratch, run->b->y, lendable(run->t->vector->shape.n));
    const Status status = codec_send(&run->call, run->b->x, &run->payload, &run->message);
    arena_unlend(run->call.scratch);
    return status;
}

static Status receive(void *arg)
{
    Run *run = arg;
    return codec_receive(&run->call, &run->message, run->b->y);
}

Call trial_call(const Comparison *c, const Codec *codec, const Vector *v, const void *state, Arena *scratch,
                Error *err)
{
    Call call = {.self = codec,
                 .state = state,
                 .shape = &v->shape,
                 .workers = 1,
                 .threads = c->threads,
                 .scratch = scratch,
                 .err = err};
    vector_rng(v, c->seed, 0, &call.rng, &call.rng_shared);
    return call;
}

static void set_address(Run *run, uint64_t repeat)
{
    vector_rng(run->t->vector, run->t->c->seed, repeat, &run->call.rng, &run->call.rng_shared);
}

static Status check_stop(const Run *run)
{
    return comparison_stopped(run->t->c) ? FAIL(run->call.err, ERR_STOPPED, "stopped") : OK;
}

/* Tells the codec whether it may keep what it finds for later repeats. A codec with a state keeps nothing, as its kept vector
 * would take as much memory as the tensor. */
static void keep(Run *run, bool kept)
{
    run->call.kept = kept && !run->t->state ? &run->kept : NULL;
}

/* The samples of all repeats of a small vector take as long together as one of a larger vector. */
static Status clock_repeat(Run *run, size_t r)
{
    const Comparison *c = run->t->c;
    const double least = c->sample / (run->t->vector->shape.n < 10000 ? (double)c->repeats : 1);
    keep(run, false);
    TRY(time_loop(send, run, least, &run->b->encode[r]));
    return time_loop(receive, run, least, &run->b->decode[r]);
}

void sizes_add(Sizes *s, double bytes, double entropy)
{
    moments_add(&s->bytes, bytes);
    moments_add(&s->entropy, entropy);
    moments_add(&s->both, bytes + entropy);
}

static double third_moment(const Moments *m)
{
    const double variance = moments_variance(m);
    return moments_skewness(m) * variance * sqrt(variance);
}

void sizes_spread(const Sizes *s, Tally *tally)
{
    if (s->bytes.n < 2)
        return;
    tally->sizes = moments_variance(&s->bytes);
    tally->sizes_third = third_moment(&s->bytes);
    tally->entropies = moments_variance(&s->entropy);
    tally->entropies_third = third_moment(&s->entropy);
    tally->entropy_sizes = (moments_variance(&s->both) - tally->sizes - tally->entropies) / 2;
}

static void note_size(Run *run, size_t r, Tally *tally)
{
    const double bytes = (double)run->payload.size;
    const Streams *streams = &run->streams;
    for (int i = 0; i + 1 < run->message.rounds; i++)
        tally->early += (double)run->message.round[i].size;
    sizes_add(&run->sizes, bytes, streams_bound(streams, bytes));
    moments_add(&run->expected, bytes - streams->excess / 8);
    tally->size_known = tally->size_known && (tally->fixed_size || streams->mean_known);
    tally->bytes += bytes;
    if (r < tally->decoded)
        tally->sent[r] = bytes;
    tally->bytes_min = r == 0 ? bytes : fmin(tally->bytes_min, bytes);
    tally->bytes_max = fmax(tally->bytes_max, bytes);
    tally->entropy += streams_bound(streams, bytes);
    tally->raw += streams->raw;
}

/* Measures the estimate y of repeat r. `distance_first` sorts y in place, so y is decoded again after it.
 * `distance_repeat` sorts y too, so it comes last. */
static Status measure_repeat(Run *run, const MeasuredVector *s, size_t r, Tally *tally)
{
    const Buffers *b = run->b;
    if (r == 0 && b->distances && !b->sorted) {
        TRY(distance_first(s, b, b->y, tally));
        TRY(receive(run));
    }
    TRY(tally_repeat(tally, s, r, b->y));
    return distance_repeat(run->t, s, b, r, b->y, tally);
}

/* Returns the number of repeats that draw random numbers of their own. */
static size_t draws_of(const Trial *t)
{
    return codec_traits(t->codec) & RANDOM ? t->c->repeats : 1;
}

static Status report_streams(Run *run)
{
    run->streams = (Streams){0};
    run->call.streams = &run->streams;
    const Status sent = send(run);
    run->call.streams = NULL;
    return sent;
}

static Status size_repeat(Run *run, size_t r, Tally *tally)
{
    TRY(check_stop(run));
    set_address(run, r);
    TRY(report_streams(run));
    note_size(run, r, tally);
    return OK;
}

static Status repeat(Run *run, const MeasuredVector *s, size_t r, Tally *tally)
{
    Arena *a = run->call.scratch;
    const size_t before = arena_used(a);
    const bool timed = !run->t->c->untimed;
    TRY(check_stop(run));
    set_address(run, r);
    arena_reset_peak(a);
    keep(run, timed || r);
    if (r == 0 || (r < tally->decoded && !run->t->c->costs_only)) {
        TRY(report_streams(run));
        if (r == 0 || !timed) /* the first decoding is a warm-up for the timed ones */
            TRY(receive(run));
    }
    if (timed)
        TRY(clock_repeat(run, r));
    if (r < (timed ? draws_of(run->t) : tally->decoded))
        note_size(run, r, tally);
    if (r >= tally->decoded)
        return OK;
    tally->scratch = fmax(tally->scratch, (double)(arena_peak(a) - before));
    return measure_repeat(run, s, r, tally);
}

static Status settle(Run *run, Tally *tally)
{
    const Trial *t = run->t;
    TRY(codec_settle(&run->call, run->b->x, run->message.round, run->b->y, t->state));
    const double residual = codec_residual(&run->call);
    tally->residual2 = residual * residual;
    return OK;
}

void trial_moments(const Call *call, const float *x, bool known, Tally *tally)
{
    AtomMoments m = {.squares = NAN, .weighted = NAN};
    const double times = (double)tally->repeats - 1;
    if (isnan(tally->expected) && tally->raw == 1 && tally->largest == 0 && tally->size_known)
        tally->expected = 0;
    if (tally->expected == 0) /* nothing is left to a draw */
        tally->fixed_size = tally->size_known = true;
    if (tally->decoded < 2)
        return;
    const ErrorLaw law = codec_moments(call, x, &m);
    /* a codec without a closed form may have no hook `moments` and dependent errors */
    const bool elements = law == ELEMENTWISE && known && tally->unbiased && !isnan(tally->expected) &&
                          !(codec_traits(call->self) & GIVEN_DRAWS);
    tally->along_known = elements || (law == ATOMWISE && known && m.weighted > 0);
    tally->signs_known = elements || (law == ATOMWISE && known && m.elements && !isnan(tally->expected));
    tally->none = known && law == ATOMWISE ? m.none : 0;
    if (law == ROTATED)
        tally->spread[S_M2_WEIGHTED] = NAN;
    if (law == ELEMENTWISE || law == ROTATED)
        return;
    if (!known)
        m = (AtomMoments){.squares = NAN, .weighted = NAN};
    tally->fourths = m.fourths;
    tally->squares = m.squares;
    tally->weighted_squares = 0;
    tally->weighted = m.weighted > 0 ? m.weighted : 0;
    tally->spread[S_M2_SQUARES] = times * times * m.squares;
    tally->spread[S_M2_WEIGHTED] = times * m.weighted;
}

/* Computes the codec's closed-form variance. If it depends on random draws (GIVEN_DRAWS), this is a mean over the
 * repeats. */
static void expected_variance(Run *run, Tally *tally)
{
    const bool given = codec_traits(run->t->codec) & GIVEN_DRAWS;
    Moments m = {0};
    for (size_t r = given ? run->t->c->repeats : 1; r-- > 0;) {
        set_address(run, r);
        moments_add(&m, codec_variance(&run->call, run->b->x));
    }
    tally->expected = m.mean;
    tally->expected_spread = !given || isnan(m.mean) ? 0 : m.n > 1 ? moments_variance(&m) : NAN;
}

static double own_draws(const Codec *codec)
{
    const unsigned traits = codec_traits(codec);
    return traits & SHARED_DRAWS ? 0 : traits & PART_SHARED ? NAN : 1;
}

/* Computes what the codec knows of its errors, in closed form. While it runs, `y` is scratch memory. */
static void know_errors(Run *run, Tally *tally, void (*compute)(Run *run, Tally *tally))
{
    Arena *a = run->call.scratch;
    arena_trim(a); /* encoding may have left chunks that are too small for the codec's next needs */
    arena_lend(a, run->b->y, lendable(run->t->vector->shape.n));
    compute(run, tally);
    arena_unlend(a);
    arena_trim(a);
}

static void expect(Run *run, Tally *tally)
{
    const unsigned traits = codec_traits(run->t->codec);
    expected_variance(run, tally);
    tally->unbiased = traits & UNBIASED;
    tally->fixed_size = !(traits & RANDOM) || traits & FIXED_SIZE;
    tally->own_draws = own_draws(run->t->codec);
    if (run->t->c->costs_only && tally->unbiased && !isnan(tally->expected))
        tally_one_draw(tally);
}

static void add_moments(Run *run, Tally *tally)
{
    set_address(run, 0);
    trial_moments(&run->call, run->b->x, true, tally);
}

/* Computes the codec's next state from the payload and the estimate of repeat 0. The payload is encoded again if
 * later repeats have overwritten it. */
static Status conclude(Run *run, Tally *tally)
{
    keep(run, true);
    if (!sizes_only(run->t->c))
        know_errors(run, tally, add_moments);
    if (!run->t->state || !run->t->settles)
        return OK;
    set_address(run, 0);
    if (draws_of(run->t) > 1)
        TRY(send(run));
    TRY(receive(run));
    return settle(run, tally);
}

void trial_times(Tally *tally, const Buffers *b, bool encoded, bool decoded)
{
    const size_t repeats = tally->repeats;
    tally->encode = encoded ? stats_median(b->encode, repeats) : NAN;
    tally->decode = decoded ? stats_median(b->decode, repeats) : NAN;
    tally->encode_min = encoded ? b->encode[0] : NAN; /* stats_median has sorted the seconds */
    tally->decode_min = decoded ? b->decode[0] : NAN;
    tally->encode_spread = encoded ? stats_median_variance(b->encode, repeats) : NAN;
    tally->decode_spread = decoded ? stats_median_variance(b->decode, repeats) : NAN;
}

static Status prepare(Run *run, MeasuredVector *s, Tally *tally)
{
    const Trial *t = run->t;
    const size_t n = t->vector->shape.n;
    keep(run, true);
    run->payload.cap = codec_message_bound(&run->call);
    run->payload.data = NEW(run->b->payloads, uint8_t, run->payload.cap);
    TRY(arena_check(run->payload.data, run->b->payloads, run->call.err));
    if (t->state)
        TRY(codec_train(&run->call, run->b->x, t->state)); /* with the random numbers of repeat 0 */
    tally->n = (double)n;
    if (sizes_only(t->c))
        return OK;
    know_errors(run, tally, expect);
    *s = (MeasuredVector){
        .x = run->b->x, .n = n, .threads = t->c->threads, .scratch = run->call.scratch, .err = run->call.err};
    memcpy(s->above, t->above, sizeof s->above);
    if (tally->decoded > 1) {
        s->half = run->b->work;
        s->root = run->b->work + n;
    }
    return tally_gradient(tally, s);
}

/* Computes what follows from all repeats. */
static Status finish(Run *run, const MeasuredVector *s, Tally *tally)
{
    const Trial *t = run->t;
    if (!sizes_only(t->c))
        TRY(tally_spread(tally, s));
    const double draws = (double)run->sizes.bytes.n;
    sizes_spread(&run->sizes, tally);
    tally->size = run->expected.mean;
    tally->size_spread = draws > 1 ? moments_variance(&run->expected) : 0;
    tally->size_third = draws > 1 ? third_moment(&run->expected) : 0;
    tally->bytes /= draws;
    tally->early /= draws;
    tally->entropy /= draws;
    tally->raw /= draws;
    trial_times(tally, run->b, !t->c->untimed, !t->c->untimed);
    return conclude(run, tally);
}

Status trial_run(const Trial *t, const Buffers *b, Tally *tally, Error *err)
{
    const ArenaMark mark = arena_mark(b->payloads), scratch = arena_mark(b->scratch);
    Run run = {.t = t,
               .b = b,
               .call = trial_call(t->c, t->codec, t->vector, t->state, b->scratch, err),
               .kept = {.arena = b->payloads}};
    MeasuredVector s;
    run.call.plan = t->plan ? t->plan[0] : NULL;
    Status status = prepare(&run, &s, tally);
    for (size_t r = 0; r < (sizes_only(t->c) ? draws_of(t) : t->c->repeats) && status == OK; r++)
        status = sizes_only(t->c) ? size_repeat(&run, r, tally) : repeat(&run, &s, r, tally);
    if (status == OK)
        status = finish(&run, &s, tally);
    arena_rewind(b->scratch, scratch);
    arena_rewind(b->payloads, mark);
    return status;
}

/* ---- Wasserstein distances ---- */

/* Wasserstein distances between gradient and estimate, of one vector and of several
 * vectors joined. Only the first repeats are measured, to save time and memory (compare_parts.h). */

enum {
    SORTED_MOST = 1 << 22
}; /* in elements; for a longer vector, a sorted copy would take too much memory */
/* Sorting takes most of the time of a comparison. So only so many repeats are sorted that they have ELEMENTS
 * elements together, but at least DISTANCES_LEAST. Distances of many elements vary little between repeats. */
enum { ELEMENTS = 1 << 22, DISTANCES_LEAST = 2 };
/* limits the memory for estimates: for a thousand repeats they would take gigabytes even for a small dump */
enum { PLANES_MOST = 100 };

/* Returns the number of repeats for which the distance over n elements is measured. */
static size_t distances_of(size_t n, size_t repeats)
{
    const size_t wanted = n <= ELEMENTS / DISTANCES_LEAST ? ELEMENTS / (n ? n : 1) : DISTANCES_LEAST;
    return wanted < repeats ? wanted : repeats;
}

/* Allocates the buffers for Wasserstein distances of single vectors, and of `held` elements joined from
 * several vectors. They serve as many repeats as `memory` allows, at most max(2, 2^22 / held), and at most
 * 100. */
static Status distances_make(Buffers *b, const Comparison *c, size_t held, Arena *a, Error *err)
{
    const size_t largest = c->vectors->largest;
    uint64_t left = c->memory / sizeof(float);
    b->held = held;
    b->planes = 1;
    b->distances = measures_distances(c);
    if (b->distances && c->repeats > 1 && left / 2 >= largest && largest <= SORTED_MOST) {
        b->sorted = NEW(a, float, largest);
        left -= 2 * largest;
        TRY(arena_check(b->sorted, a, err));
    }
    if (!held)
        return OK;
    const uint64_t wanted = distances_of(held, c->repeats),
                   most = wanted < PLANES_MOST ? wanted : PLANES_MOST;
    /* `pool_x`, the sort's buffer and each plane (the estimates of one repeat) take `held` floats each */
    if (b->sorted && left / held > 3)
        b->planes = (size_t)(left / held - 2 < most ? left / held - 2 : most);
    b->pool_x = NEW(a, float, held);
    if (b->distances)
        b->pool_y = arena_take(a, b->planes, held * sizeof *b->pool_y);
    return arena_check(b->pool_x && (b->pool_y || !b->distances), a, err);
}

static void add(Tally *t, double w1)
{
    t->wasserstein = t->distances.n ? t->wasserstein : w1;
    t->distance[t->distances.n] = w1;
    moments_add(&t->distances, w1);
}

Status distance_first(const MeasuredVector *s, const Buffers *b, float *y, Tally *t)
{
    double w1;
    if (s->n == 0 || b->sorted || !b->distances)
        return OK;
    TRY(radix_wasserstein(s->x, y, s->n, b->work, s->threads, &w1, s->scratch, s->err));
    add(t, w1);
    return OK;
}

/* Copies repeat r's estimate to plane r of `b->pool_y`. If all repeats have the same estimate, copies it to
 * every plane. */
static void distance_pool(const Trial *t, const Buffers *b, const Tally *tally, size_t r, const float *y)
{
    const size_t to = tally->decoded == 1 ? b->planes : r + 1;
    for (size_t plane = r; t->pooled && plane < to && plane < b->planes; plane++)
        memcpy(t->pooled + plane * b->held, y, t->vector->shape.n * sizeof *y);
}

/* ---- errors of single elements by their size ---- */

enum { SAMPLE = 1 << 14 }; /* elements, for speed: of each tenth, a percentile of these is within 2 % of that of all */

typedef struct {
    double size, error;
} Sampled;

static int by_size(const void *v, const void *w)
{
    const double a = ((const Sampled *)v)->size, b = ((const Sampled *)w)->size;
    return (a > b) - (a < b);
}

/* Sets the tally's deciles; of fewer than ten elements for each there are none. */
static Status decile_errors(const float *x, const float *y, size_t n, Tally *t, Arena *a, Error *err)
{
    static const double at[DECILE_PARTS] = {0.1, 0.5, 0.9};
    const ArenaMark mark = arena_mark(a);
    const size_t step = n / SAMPLE + 1;
    Sampled *s = NEW(a, Sampled, n / step + 1);
    double *error = NEW(a, double, n / step + 1);
    size_t count = 0;
    TRY(arena_check(s && error, a, err));
    for (size_t i = 0; i < n; i += step)
        if (x[i] != 0)
            s[count++] = (Sampled){fabs((double)x[i]), fabs(((double)y[i] - (double)x[i]) / (double)x[i])};
    qsort(s, count, sizeof *s, by_size);
    for (size_t d = 0; d < DECILES && count >= DECILES * 10; d++) {
        const size_t from = d * count / DECILES, of = (d + 1) * count / DECILES - from;
        for (size_t i = 0; i < of; i++)
            error[i] = s[from + i].error;
        stats_sort(error, of);
        for (size_t k = 0; k < DECILE_PARTS; k++)
            t->decile[d][k] = stats_quantile(error, of, at[k]);
    }
    arena_rewind(a, mark);
    return OK;
}

Status distance_repeat(const Trial *trial, const MeasuredVector *s, const Buffers *b, size_t r, float *y, Tally *t)
{
    double w1;
    distance_pool(trial, b, t, r, y);
    if (r == 0 && b->distances && !trial->c->without_deciles)
        TRY(decile_errors(s->x, y, s->n, t, s->scratch, s->err));
    if (s->n == 0 || !b->sorted || r >= distances_of(s->n, t->decoded))
        return OK;
    const ArenaMark mark = arena_mark(s->scratch);
    uint32_t *spare = NEW(s->scratch, uint32_t, s->n);
    TRY(arena_check(spare, s->scratch, s->err));
    if (r == 0)
        TRY(radix_sort(s->x, s->n, b->sorted, spare, s->threads, s->scratch, s->err));
    TRY(radix_sort(y, s->n, y, spare, s->threads, s->scratch, s->err));
    TRY(radix_mean_gap(b->sorted, y, s->n, s->threads, &w1, s->scratch, s->err));
    arena_rewind(s->scratch, mark);
    add(t, w1);
    return OK;
}

Status distance_pooled(const Buffers *b, size_t begin, size_t n, bool deciles, int threads, Tally *t, Error *err)
{
    Arena *a = b->scratch;
    if (deciles)
        TRY(decile_errors(b->pool_x + begin, b->pool_y + begin, n, t, a, err));
    const ArenaMark mark = arena_mark(a);
    const size_t planes = t->decoded < b->planes ? t->decoded : b->planes;
    uint32_t *spare = NEW(a, uint32_t, n);
    TRY(arena_check(spare, a, err));
    t->distances = (Moments){0};
    TRY(radix_sort(b->pool_x + begin, n, b->pool_x + begin, spare, threads, a, err));
    for (size_t plane = 0; plane < planes; plane++) {
        float *y = b->pool_y + plane * b->held + begin;
        double w1;
        TRY(radix_sort(y, n, y, spare, threads, a, err));
        TRY(radix_mean_gap(b->pool_x + begin, y, n, threads, &w1, a, err));
        add(t, w1);
    }
    arena_rewind(a, mark);
    return OK;
}

/* ---- buffers ---- */

Status buffers_make(Buffers *b, const Comparison *c, const Layout *l, Arena *a, Error *err)
{
    const size_t n = c->vectors->largest, held = layout_held(l, c->vectors);
    *b = (Buffers){.x = NEW(a, float, n),
                   .y = arena_take(a, 1, lendable(n)),
                   .work = NEW(a, float, 2 * n),
                   .encode = NEW(a, double, c->repeats),
                   .decode = NEW(a, double, c->repeats)};
    TRY(arena_check(b->x && b->y && b->work && b->encode && b->decode, a, err));
    TRY(distances_make(b, c, held, a, err));
    if (c->workers) {
        b->g = NEW(a, float, n);
        b->merge = NEW(a, double, c->repeats);
        b->each = NEW(a, double, c->repeats);
        TRY(arena_check(b->g && b->merge && b->each, a, err));
    }
    TRY(codec_open(&b->none, "none", a, err));
    b->payloads = arena_open(0);
    b->scratch = arena_open(0);
    return OK;
}
