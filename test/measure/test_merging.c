/* test_merging.c -- merges payloads, for every codec and every round whose payloads merge. A merged payload
 * must decode to the workers' sum or majority vote. It must not depend on the number of threads, or on whether
 * payloads are merged in one stage or two. It must be no larger than documented, and it must be refused if
 * damaged. */
#include "rig/every_codec.h"
#include "coder/planes.h"
#include "compress/spec.h"
#include "compress/wrapper.h"
#include "rig/share_training.h"
#include "exchange/exchange.h"
#include "exchange/states.h"

/* ---- one step of several workers, with their payloads and the merged payload of each round ---- */

enum { WORKERS = 17, APART = 1009 };

typedef struct {
    Arena *a, *scratch;
    Error err;
    const Codec *codec;
    Shape shape;
    int workers, rounds;
    CodecStates states;
    Exchange step;
    ExchangeWorker worker[WORKERS];
    const float *x[WORKERS];
    Bytes sent[ROUNDS_MAX][WORKERS];
} Crew;

/* An array of normal numbers; worker k's gradient begins at element APART * k. */
static float *pool;

static void crew_open(Crew *w, const Codec *codec, Shape shape)
{
    *w = (Crew){.a = arena_open(0), .scratch = arena_open(0), .codec = codec, .shape = shape};
    w->rounds = codec_rounds(w->codec);
    w->step = (Exchange){
        .call = {.self = codec, .shape = &w->shape, .threads = 1, .scratch = w->scratch, .err = &w->err},
        .seed = 7,
        .tensor = 3,
        .keep = true,
        .y = NEW(w->a, float, shape.n + 1),
        .payloads = w->a};
    for (int k = 0; k < WORKERS; k++) {
        w->worker[k].index = (size_t)k;
        check_ok(codec_states_find(&w->states, &w->step.call, k, "w", &w->worker[k].state), &w->err);
        w->x[k] = pool + APART * k;
    }
}

static void crew_close(Crew *w)
{
    codec_states_forget(&w->states);
    arena_close(w->a);
    arena_close(w->scratch);
}

/* True if the payloads of this round can be merged. LINEAR and MERGEABLE codecs merge in every round. Other
 * codecs with a merge function merge in every round but the last. */
static bool codec_merges(const Codec *codec, int round)
{
    return codec->ops->merge &&
           (codec_traits(codec) & (LINEAR | MERGEABLE) || round < codec_rounds(codec) - 1);
}

static bool merges(const Crew *w, int round)
{
    return codec_merges(w->codec, round);
}

static Call call_of(const Crew *w, int worker, int round)
{
    Call c = exchange_call(&w->step, &w->worker[worker]);
    c.round = round;
    return c;
}

/* Returns an empty buffer for a merged payload, larger than any codec needs. */
static Buf room_for(Crew *w, const Bytes *in, size_t count)
{
    size_t size = 8 * w->shape.n + 4096;
    for (size_t k = 0; k < count; k++)
        size += in[k].size;
    return (Buf){NEW(w->a, uint8_t, size), 0, size};
}

static Bytes merged(Crew *w, int round, const Bytes *in, size_t count)
{
    const Call c = call_of(w, 0, round);
    Buf out = room_for(w, in, count);
    check_ok(codec_merge(&c, in, count, &out), &w->err);
    return buf_bytes(&out);
}

/* Runs all rounds of one step: every worker encodes, and the round's payloads are merged if the codec allows
 * it. */
static void crew_run(Crew *w, int workers)
{
    Exchange *e = &w->step;
    w->workers = e->call.workers = workers;
    check_ok(exchange_train(e, &w->worker[0], w->x[0]), &w->err);
    for (int k = 1; k < WORKERS; k++)
        share_training(e, &w->worker[0], &w->worker[k]);
    check_ok(exchange_begin(e), &w->err);
    for (int r = 0; r < w->rounds; r++) {
        for (int k = 0; k < workers; k++) {
            check_ok(exchange_send(e, &w->worker[k], w->x[k], &w->sent[r][k]), &w->err);
            check_ok(exchange_take(e, &w->worker[k], w->sent[r][k]), &w->err);
        }
        check_ok(exchange_end_round(e), &w->err);
    }
}

static float *decoded(Crew *w, Bytes payload)
{
    const Call c = call_of(w, 0, w->rounds - 1);
    float *y = NEW(w->a, float, w->shape.n + 1);
    check_ok(codec_decode(&c, payload, y), &w->err);
    return y;
}

static bool is_codec(const Crew *w, const char *name)
{
    const Codec *c = w->codec->ops->wraps && w->codec->inner ? w->codec->inner : w->codec;
    return !strcmp(c->ops->name, name);
}

/* ---- properties of all codecs that merge ---- */

static const int counts[] = {1, 2, 3, 8, WORKERS};
static const Shape shapes[] = {{1, {0}, 0},        {1, {1}, 1},         {1, {3}, 3},
                               {1, {65}, 65},      {2, {40, 25}, 1000}, {4, {8, 4, 3, 3}, 288},
                               {2, {64, 70}, 4480}};
static const Shape large = {1, {2 * BLOCK + 777}, 2 * BLOCK + 777};

typedef void Holds(Crew *w);

static const Codec *merging[SPECS_MAX];
static size_t merging_count;

static void for_all_that_merge(Holds *holds, const Shape *shape, size_t n_shapes, const int *count,
                               size_t n_counts)
{
    for (size_t k = 0; k < merging_count; k++)
        for (size_t i = 0; i < n_shapes * n_counts; i++) {
            Crew w;
            crew_open(&w, merging[k], shape[i / n_counts]);
            crew_run(&w, count[i % n_counts]);
            holds(&w);
            crew_close(&w);
        }
}

#define CHECK_CREW(w, condition)                                                                             \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            print_error("%s, %zu elements, %d workers\n", codec_text((w)->codec, (w)->a), (w)->shape.n,      \
                        (w)->workers);                                                                       \
            check(condition);                                                                                \
        }                                                                                                    \
    } while (0)

/* ---- the vector that a merged payload decodes to ---- */

/* Checks that y[i] equals want[i] up to rounding errors. The tolerance is relative to size[i], plus a term
 * relative to the largest size, for codecs whose transform mixes elements. */
static void check_close(Crew *w, const float *y, const double *want, const double *size)
{
    double largest = 0;
    for (size_t i = 0; i < w->shape.n; i++)
        largest = fmax(largest, size[i]);
    for (size_t i = 0; i < w->shape.n; i++)
        CHECK_CREW(w, fabs((double)y[i] - want[i]) <= 4e-7 * size[i] + 1e-6 * largest);
}

static double *sizes_of_parts(Crew *w)
{
    double *size = NEW_ZERO(w->a, double, w->shape.n + 1);
    for (int k = 0; k < w->workers; k++) {
        const float *y = decoded(w, w->sent[w->rounds - 1][k]);
        for (size_t i = 0; i < w->shape.n; i++)
            size[i] += fabs((double)y[i]);
    }
    return size;
}

static void decodes_to_the_sum(Crew *w)
{
    const int last = w->rounds - 1;
    if (!(codec_traits(w->codec) & LINEAR))
        return;
    double *sum = NEW_ZERO(w->a, double, w->shape.n + 1);
    for (int k = 0; k < w->workers; k++) {
        const float *y = decoded(w, w->sent[last][k]);
        for (size_t i = 0; i < w->shape.n; i++)
            sum[i] += (double)y[i];
    }
    check_close(w, decoded(w, w->step.heard[last]), sum, sizes_of_parts(w));
}

TEST(merged_payloads_of_linear_codecs_decode_to_the_sum_of_their_parts)
{
    for_all_that_merge(decodes_to_the_sum, shapes, countof(shapes), counts, countof(counts));
}

static void is_the_vote(Crew *w)
{
    if (!is_codec(w, "sign"))
        return;
    const float *y = decoded(w, w->step.heard[0]);
    for (size_t i = 0; i < w->shape.n; i++) {
        int minus = 0;
        for (int k = 0; k < w->workers; k++)
            minus += w->x[k][i] < 0;
        const int margin = w->workers - 2 * minus;
        CHECK_CREW(w, y[i] == (float)(margin < 0 ? -w->workers : margin > 0 ? w->workers : 0));
    }
}

TEST(merged_signs_decode_to_the_vote)
{
    for_all_that_merge(is_the_vote, shapes, countof(shapes), counts, countof(counts));
}

/* Merges batches of five payloads, then the merged batches. The result must equal a merge of all payloads at
 * once; sums of floats may differ by rounding errors. */
static void is_the_same_in_two_stages(Crew *w)
{
    for (int r = 0; r < w->rounds && merges(w, r); r++) {
        Bytes batch[WORKERS];
        size_t batches = 0;
        for (int from = 0; from < w->workers; from += 5)
            batch[batches++] =
                merged(w, r, w->sent[r] + from, (size_t)(w->workers - from < 5 ? w->workers - from : 5));
        const Bytes both = merged(w, r, batch, batches), one = w->step.heard[r];
        CHECK_CREW(w, both.size == one.size);
        if (codec_traits(w->codec) & LINEAR && r == w->rounds - 1) {
            const float *first = decoded(w, one);
            double *want = NEW_ZERO(w->a, double, w->shape.n + 1);
            for (size_t i = 0; i < w->shape.n; i++)
                want[i] = (double)first[i];
            check_close(w, decoded(w, both), want, sizes_of_parts(w));
        } else if (one.size && (is_codec(w, "sign") || is_codec(w, "terngrad"))) {
            CHECK_CREW(w, !memcmp(both.data, one.data, one.size));
        }
    }
}

TEST(batches_merge_to_what_all_at_once_do)
{
    for_all_that_merge(is_the_same_in_two_stages, shapes, countof(shapes), counts, countof(counts));
}

/* ---- size ---- */

static size_t varint_bytes(size_t v)
{
    return v < 128 ? 1 : 2;
}

static int bits_of(size_t v)
{
    int bits = 0;
    while (v >> bits)
        bits++;
    return bits;
}

/* Returns the largest size of a merged payload in bytes, as documented. If no size is documented, returns the
 * sum of the sizes of the workers' payloads, plus the head of a merged payload. */
static size_t most_bytes(const Crew *w, int round)
{
    const size_t workers = (size_t)w->workers;
    /* `all`: bytes of a merged payload's head (a kind byte and the number of workers); `heads`: bytes of the
     * heads of all wrappers that write one */
    size_t all = 1 + varint_bytes(workers), heads = 0;
    for (const Codec *codec = w->codec; codec; codec = codec->inner)
        heads += codec->ops->marks ? all : 0;
    if (is_codec(w, "none"))
        return 4 * w->shape.n + heads;
    if (is_codec(w, "randk"))
        return w->sent[round][0].size + varint_bytes(workers) + heads;
    if (is_codec(w, "sign"))
        return all + planes_size(w->shape.n, bits_of(workers));
    if (is_codec(w, "terngrad"))
        return all + 4;
    for (size_t k = 0; k < workers; k++)
        all += w->sent[round][k].size;
    if (is_codec(w, "cas")) /* a merged payload may hold its sums as doubles, twice as long as floats */
        all *= 2;
    return all + heads;
}

static void is_as_small_as_stated(Crew *w)
{
    for (int r = 0; r < w->rounds && merges(w, r); r++)
        CHECK_CREW(w, w->step.heard[r].size <= most_bytes(w, r));
}

TEST(merged_payloads_grow_no_more_than_stated)
{
    for_all_that_merge(is_as_small_as_stated, shapes, countof(shapes), counts, countof(counts));
}

/* ---- damaged payloads ---- */

/* Merges a copy of `data` in a new block of memory, so that AddressSanitizer detects reads past the end. */
static Status merge_copy(Crew *w, int round, Bytes good, const uint8_t *data, size_t size)
{
    const Call c = call_of(w, 0, round);
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, data, size);
    const Bytes in[] = {good, {copy, size}};
    Buf out = room_for(w, in, 2);
    w->err.text[0] = 0;
    const Status status = codec_merge(&c, in, 2, &out);
    free(copy);
    CHECK_CREW(w, status == OK || w->err.text[0]);
    return status;
}

static Status decode_copy(Crew *w, const uint8_t *data, size_t size)
{
    const Call c = call_of(w, 0, w->rounds - 1);
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, data, size);
    w->err.text[0] = 0;
    const Status status = codec_decode(&c, (Bytes){copy, size}, NEW(w->a, float, w->shape.n + 1));
    free(copy);
    CHECK_CREW(w, status == OK || w->err.text[0]);
    return status;
}

static void refuses_lengths(Crew *w)
{
    for (int r = 0; r < w->rounds && merges(w, r); r++) {
        const Bytes whole = w->step.heard[r], good = w->sent[r][0];
        const ArenaMark mark = arena_mark(w->a);
        const size_t step = 1 + whole.size / 60, least = !good.size || !w->sent[r][1].size; /* who does not lead sends nothing */
        for (size_t size = least; size < whole.size; size += step) {
            CHECK_CREW(w, merge_copy(w, r, good, whole.data, size) == ERR_CORRUPT);
            CHECK_CREW(w, r < w->rounds - 1 || decode_copy(w, whole.data, size) == ERR_CORRUPT);
            arena_rewind(w->a, mark);
        }
        uint8_t *longer = NEW_ZERO(w->a, uint8_t, whole.size + 1);
        if (whole.size)
            memcpy(longer, whole.data, whole.size);
        CHECK_CREW(w, merge_copy(w, r, good, longer, whole.size + 1) == ERR_CORRUPT);
        CHECK_CREW(w, r < w->rounds - 1 || decode_copy(w, longer, whole.size + 1) == ERR_CORRUPT);
        arena_rewind(w->a, mark);
    }
}

TEST(prefixes_of_merged_payloads_and_appended_bytes_are_refused)
{
    static const int some[] = {3, WORKERS};
    for_all_that_merge(refuses_lengths, shapes + 3, countof(shapes) - 3, some, countof(some));
}

/* Only the tensor's shape decides whether payloads are raw. So one raw payload among others must be refused, or
 * averaged as floats. */
static void takes_no_stray_raw_payload(Crew *w)
{
    const int last = w->rounds - 1;
    if (!merges(w, last) || codec_bare(w->codec) || w->shape.n == 0)
        return;
    Buf raw = room_for(w, NULL, 0);
    buf_u8(&raw, PAYLOAD_RAW);
    buf_copy(&raw, w->x[1], 4 * w->shape.n);
    const bool all_raw = w->sent[last][0].data[0] == PAYLOAD_RAW;
    const Bytes mixed[] = {w->sent[last][0], buf_bytes(&raw)};
    const Call c = call_of(w, 0, last);
    Buf out = room_for(w, mixed, 2);
    const Status status = codec_merge(&c, mixed, 2, &out);
    CHECK_CREW(w, status == OK || (status == ERR_CORRUPT && !all_raw));
    if (status != OK || !(codec_traits(w->codec) & LINEAR))
        return;
    const float *y = decoded(w, buf_bytes(&out)), *own = decoded(w, mixed[0]);
    double *want = NEW(w->a, double, w->shape.n), *size = NEW(w->a, double, w->shape.n);
    for (size_t i = 0; i < w->shape.n; i++) {
        want[i] = (double)own[i] + (double)w->x[1][i];
        size[i] = fabs((double)own[i]) + fabs((double)w->x[1][i]);
    }
    check_close(w, y, want, size);
}

TEST(raw_and_other_payloads_merge_rightly_or_not_at_all)
{
    static const int two[] = {2};
    for_all_that_merge(takes_no_stray_raw_payload, shapes, countof(shapes), two, 1);
}

/* ---- merged payloads are the same for any number of threads ---- */

static void is_the_same_on_threads(Crew *w)
{
    for (int r = 0; r < w->rounds && merges(w, r); r++)
        for (int threads = 2; threads <= 8; threads += 6) {
            Call c = call_of(w, 0, r);
            const size_t count = (size_t)w->workers;
            Buf out = room_for(w, w->sent[r], count);
            c.threads = threads;
            check_ok(codec_merge(&c, w->sent[r], count, &out), &w->err);
            CHECK_CREW(w, out.size == w->step.heard[r].size &&
                              !memcmp(out.data, w->step.heard[r].data, out.size));
        }
}

TEST(threads_do_not_change_a_merged_byte)
{
    static const int three[] = {3};
    for_all_that_merge(is_the_same_on_threads, &large, 1, three, 1);
}

/* All workers' gradients are slices of one array, since drawing separate random numbers would take longer than
 * merging. */
static int prepare(void **state)
{
    const Rng rng = rng_open(11, 0, 0, 0, 0);
    Error err;
    collect_specs(state);
    pool = NEW(forever, float, large.n + WORKERS * APART);
    rng_normals(&rng, USE_TEST, 0, large.n + WORKERS * APART, 1, pool);
    for (size_t k = 0; k < spec_count; k++) {
        check_ok(codec_open(&merging[merging_count], specs[k], forever, &err), &err);
        merging_count += codec_merges(merging[merging_count], 0);
    }
    return 0;
}

CHECK_ALL(prepare, drop_specs)
