/* test_excess.c -- what encoders report of a random payload: its excess (size minus expected size, in bits) and
 * the entropy of its indices. */
#include "rig/check.h"

#include "compress/compressor.h"
#include "compress/spec.h"
#include "math/stats.h"

#include <math.h>

enum { ROWS = 20, COLS = 12, N = ROWS * COLS, DRAWS = 4000 };

typedef struct {
    Arena *a;
    Error err;
    Shape shape;
    Call call;
    float x[N];
    Buf payload;
} Draws;

static void open_draws(Draws *d, const char *spec, float scale)
{
    const Rng rng = rng_open(1, 0, 0, 0, 1);
    const Codec *codec;
    *d = (Draws){.a = arena_open(0)};
    check(shape_make(&d->shape, 2, (const size_t[]){ROWS, COLS}));
    check_ok(codec_open(&codec, spec, d->a, &d->err), &d->err);
    d->call = (Call){
        .self = codec, .shape = &d->shape, .workers = 1, .threads = 1, .scratch = d->a, .err = &d->err};
    for (size_t i = 0; i < N; i++)
        d->x[i] = scale * (float)rng_normal(&rng, USE_DATA, i);
    d->payload.cap = codec_message_bound(&d->call);
    d->payload.data = NEW(d->a, uint8_t, d->payload.cap);
}

static Streams draw(Draws *d, uint64_t repeat)
{
    Streams streams = {0};
    Message message;
    d->call.rng = rng_open(3, repeat, 0, 0, 1);
    d->call.rng_shared = rng_open(3, repeat, RNG_EVERYONE, 0, 1);
    d->call.streams = &streams;
    d->payload.size = 0;
    check_ok(codec_send(&d->call, d->x, &d->payload, &message), &d->err);
    return streams;
}

/* The mean excess must be 0; the false-alarm probability is 6e-7 per spec. If `exact` (all atoms have the same
 * size), payload size minus excess must be equal in all draws. An `outlier` other than 0 becomes the first
 * element, an atom that is always kept. */
static void excess_has_mean_zero(const char *spec, float outlier, bool exact)
{
    Draws d;
    Moments excess = {0}, size = {0}, bytes = {0};
    open_draws(&d, spec, 1);
    if (outlier != 0)
        d.x[0] = outlier;
    for (uint64_t r = 0; r < DRAWS; r++) {
        const Streams s = draw(&d, r);
        moments_add(&excess, s.excess);
        moments_add(&bytes, (double)d.payload.size);
        moments_add(&size, (double)d.payload.size - s.excess / 8);
    }
    check(moments_variance(&excess) > 0);
    check(fabs(excess.mean) <= 5 * sqrt(moments_variance(&excess) / DRAWS));
    check(exact ? sqrt(moments_variance(&size)) <= 1e-12 * size.mean
                : moments_variance(&size) < 0.5 * moments_variance(&bytes));
    arena_close(d.a);
}

TEST(draws_know_their_excess)
{
    excess_has_mean_zero("svd:rank=1", 0, true);
    /* many draws would be longer than the raw floats, so the raw floats are sent */
    excess_has_mean_zero("svd:rank=5", 0, true);
    excess_has_mean_zero("svd:rank=2,vectors=bf16", 0, true);
    excess_has_mean_zero("svd:rank=0.6,draw=systematic", 0, true);
    excess_has_mean_zero("svd:rank=0.4,empty=resample", 0, true);
    excess_has_mean_zero("entry:ratio=0.1", 0, false);
    excess_has_mean_zero("entry:ratio=0.1", 100, false);
    excess_has_mean_zero("wavelet:ratio=0.1", 0, false);
}

/* The gap 4 occurs three times, 1 twice and 9000 once: 6 log2 6 - 3 log2 3 - 2 log2 2 bits in all. */
TEST(index_sets_count_the_entropy_of_gaps)
{
    static const size_t index[] = {4, 9, 11, 16, 18, 9019};
    Draws d;
    Streams s = {0};
    Shape shape = shape_vector(10000);
    const Indices set = indices_list(index, countof(index));
    open_draws(&d, "entry", 1);
    d.call.streams = &s;
    d.call.shape = &shape;
    streams_gaps(&d.call, &set);
    check_rel(s.entropy_bits, 6 * log2(6) - 3 * log2(3) - 2, 1e-12);
    check(s.reported);
    arena_close(d.a);
}

/* The elements are so small that estimates are rounded to multiples of 2^-149, so the variance has no closed
 * form. */
TEST(no_closed_form_where_floats_end)
{
    Draws d;
    open_draws(&d, "qsgd", 1);
    check(codec_variance(&d.call, d.x) > 0);
    for (size_t i = 0; i < N; i++)
        d.x[i] = 0x1p-149F * (float)(1 + i % 3);
    check(isnan(codec_variance(&d.call, d.x)));
    arena_close(d.a);
}

CHECK_ALL(NULL, NULL)
