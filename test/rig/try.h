/* try.h -- tests a codec on one vector: encodes and decodes it, checks that damaged payloads are refused, and
 * tests mean and variance. */
#ifndef ATOMO_TRY_H
#define ATOMO_TRY_H

#include "rig/check.h"

#include "compress/spec.h"
#include "num/finite.h"

typedef struct {
    Arena *arena, *scratch;
    const Codec *codec;
    Shape shape;
    Call call;
    Error err;
    Buf out;
    Message sent;
    float *x, *y;
} Try;

/* Opens a codec and a vector of n elements, all zero. */
static inline Try *try_open(const char *spec, size_t n)
{
    Arena *arena = arena_open(0);
    Try *t = NEW_ZERO(arena, Try, 1);
    t->arena = arena;
    t->scratch = arena_open(0);
    check_ok(codec_open(&t->codec, spec, arena, &t->err), &t->err);
    t->shape = shape_vector(n);
    t->call = (Call){.self = t->codec,
                     .shape = &t->shape,
                     .rng = rng_open(1, 0, 0, 0, 0),
                     .workers = 1,
                     .threads = 1,
                     .scratch = t->scratch,
                     .err = &t->err};
    t->out.cap = codec_message_bound(&t->call);
    t->out.data = NEW(arena, uint8_t, t->out.cap);
    t->x = NEW_ZERO(arena, float, n + 1);
    t->y = NEW_ZERO(arena, float, n + 1);
    return t;
}

static inline void try_close(Try *t)
{
    arena_close(t->scratch);
    arena_close(t->arena);
}

static inline Status try_send(Try *t)
{
    t->out.size = 0;
    return codec_send(&t->call, t->x, &t->out, &t->sent);
}

/* Encodes and decodes the vector. Afterwards, t->sent.round[rounds - 1] is the payload of the last round. */
static inline void try_both(Try *t)
{
    check_ok(try_send(t), &t->err);
    check_ok(codec_receive(&t->call, &t->sent, t->y), &t->err);
}

static inline Status try_payload(Try *t, Bytes payload)
{
    Message m = t->sent;
    m.round[m.rounds - 1] = payload;
    return codec_receive(&t->call, &m, t->y);
}

static inline void try_normal(Try *t, uint64_t seed)
{
    const Rng rng = rng_open(seed, 0, 0, 0, 7);
    rng_normals(&rng, USE_TEST, 0, t->shape.n, 1, t->x);
}

static inline void try_laplace(Try *t, uint64_t seed)
{
    const Rng rng = rng_open(seed, 0, 0, 0, 8);
    RngKey key = {0};
    for (size_t i = 0; i < t->shape.n; i++) {
        if (i % BLOCK == 0)
            key = rng_key(&rng, USE_TEST, i / BLOCK);
        const double u = 0x1p-31 * (rng_word(&key, (uint32_t)(i % BLOCK)) + 0.5) - 1;
        t->x[i] = (float)(u < 0 ? log1p(u) : -log1p(-u));
    }
}

static inline void try_repeat(Try *t, uint64_t repeat)
{
    t->call.rng = rng_open(1, repeat, 0, 0, 0);
}

/* Checks that the decoder refuses up to 600 prefixes of the payload, and the payload with one more byte. */
static inline void try_refuses_other_lengths(Try *t)
{
    const Bytes whole = t->sent.round[t->sent.rounds - 1];
    const size_t step = whole.size / 600 + 1;
    for (size_t size = 0; size < whole.size; size += step) {
        /* copied to a block of its exact size, so that AddressSanitizer detects reads past the end */
        uint8_t *cut = NEW(t->scratch, uint8_t, size);
        memcpy(cut, whole.data, size);
        check(try_payload(t, (Bytes){cut, size}) == ERR_CORRUPT);
    }
    for (unsigned v = 0; v < 256; v += 51) {
        uint8_t *more = NEW(t->scratch, uint8_t, whole.size + 1);
        memcpy(more, whole.data, whole.size);
        more[whole.size] = (uint8_t)v;
        check(try_payload(t, (Bytes){more, whole.size + 1}) == ERR_CORRUPT);
    }
}

/* Flips every `step`-th bit of the payload, one bit at a time. Each changed payload must be refused or decode
 * to finite numbers. Returns how many were refused. */
static inline size_t try_survives_flips(Try *t, size_t step)
{
    const Bytes whole = t->sent.round[t->sent.rounds - 1];
    uint8_t *copy = NEW(t->scratch, uint8_t, whole.size);
    memcpy(copy, whole.data, whole.size);
    size_t refused = 0;
    for (size_t bit = 0; bit < 8 * whole.size; bit += step) {
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
        const Status status = try_payload(t, (Bytes){copy, whole.size});
        check(status == OK || status == ERR_CORRUPT);
        if (status == OK)
            check(first_nonfinite(t->y, t->shape.n, NULL) == t->shape.n);
        refused += status != OK;
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    return refused;
}

/* Checks that 1, 2 and 8 threads give the same payload and the same estimate. */
static inline void try_any_threads(Try *t)
{
    t->call.threads = 1;
    try_both(t);
    const size_t size = t->out.size, bytes = t->shape.n * sizeof *t->y;
    uint8_t *first = NEW(t->scratch, uint8_t, size);
    float *first_y = NEW(t->scratch, float, t->shape.n);
    memcpy(first, t->out.data, size);
    memcpy(first_y, t->y, bytes);
    for (int threads = 2; threads <= 8; threads += 6) {
        t->call.threads = threads;
        memset(t->y, 0xff, bytes);
        try_both(t);
        assert_int_equal(t->out.size, size);
        assert_memory_equal(t->out.data, first, size);
        assert_memory_equal(t->y, first_y, bytes);
    }
    t->call.threads = 1;
}

/* ---- tests of mean and variance ---- */

/* The distribution of one element's error: `high` with probability p, otherwise `low`. */
typedef struct {
    double high, low, p;
} TwoPoint;

typedef struct {
    /* mean gain minus 1, and its limit, which an unbiased codec exceeds with probability below 1e-8 */
    double gain, gain_allowed;
    /* measured squared error divided by its expectation, minus 1; and its limit */
    double ratio, ratio_allowed;
} Verdict;

/* Encodes and decodes `repeats` times. Returns the mean gain, <x, y> / |x|^2 for the estimate y, and the
 * ratio of the squared error to its expectation, both minus 1, with their limits. The caller ensures that
 * the errors of the elements are independent and have the distributions `law`. Estimates are multiplied by
 * `faked`: if it is not 1, `verdict_good` must return false. */
static inline Verdict try_statistics(Try *t, const TwoPoint *law, size_t repeats, double faked)
{
    const size_t n = t->shape.n;
    const double r = (double)repeats;
    double g2 = 0, v = 0, v1 = 0, kappa = 0, most = 0, most_e2 = 0, dot = 0, mse = 0;
    for (size_t i = 0; i < n; i++) {
        const double x = (double)t->x[i], p = law[i].p, h2 = law[i].high * law[i].high,
                     l2 = law[i].low * law[i].low;
        const double vi = p * h2 + (1 - p) * l2;
        g2 += x * x;
        v += vi;
        v1 += vi * x * x;
        kappa += p * h2 * h2 + (1 - p) * l2 * l2 - vi * vi;
        most = fmax(most, fabs(x) * fmax(fabs(law[i].high), fabs(law[i].low)));
        most_e2 = fmax(most_e2, fmax(h2, l2));
    }
    for (size_t k = 0; k < repeats; k++) {
        try_repeat(t, k);
        try_both(t);
        for (size_t i = 0; i < n; i++) {
            const double e = faked * (double)t->y[i] - (double)t->x[i];
            dot += (double)t->x[i] * e;
            mse += e * e;
        }
    }
    v1 /= g2 * g2;
    kappa /= v * v;
    return (Verdict){.gain = dot / (r * g2),
                     .gain_allowed = 6.22 * sqrt(v1 / r) + 6.5 * most / g2 / r + 1e-6,
                     .ratio = mse / (r * v) - 1,
                     .ratio_allowed = 6.22 * sqrt(kappa / r) + 6.5 * most_e2 / (v * r)};
}

static inline bool verdict_good(Verdict v)
{
    return fabs(v.gain) <= v.gain_allowed && fabs(v.ratio) <= v.ratio_allowed;
}

#endif
