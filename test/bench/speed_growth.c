/* speed_growth.c -- checks that the time to encode and decode grows at most like n log n: every codec at 2^16,
 * 2^18, .. 2^26 floats, on one thread, in CPU time.
 *
 * The tensor has the shape n/64 by 64, so that the codec svd takes n * 64 + 64^3 operations. A wrapper is
 * measured around the codec `none`, or around `entry` if the wrapper refuses `none`. Let t(n) be the time of
 * the codec per element, and c(n) the time of memcpy per element. The check is
 *
 *     t(N) <= 1.6 (log N / log n) t(n) + 16 (c(N) - c(n))   for the largest size N and every smaller size n
 *
 * The factor 1.6 allows for noise. The second term allows for cache misses: a codec that reads a table at
 * random may move a cache line of 64 bytes per element, where memcpy moves 4. Time like n^1.5 log n would
 * double the time per element from one size to the next, which the check detects.
 *
 * usage: speed_growth [PART_OF_A_NAME [LAST]]. With LAST, the sizes are 2^16 .. 2^LAST, at most 2^30, and no size is
 * skipped that takes less than a minute: `speed_growth '' 28`. */
#include "compress/spec.h"
#include "bench/yardstick.h"

#include <stdio.h>
#include <stdlib.h>

enum { COLS = 64, FIRST = 16, LAST = 26, STEP = 2, SIZES_MOST = 8 };
static int sizes_run = (LAST - FIRST) / STEP + 1;

/* After a warm-up, each size is run for ENOUGH seconds, at least once and at most RUNS_MAX times. A size is skipped if one run
 * would take longer than `patience` seconds. */
#define ENOUGH 0.15
static double patience = 5;
#define NOISE 1.6
enum { RUNS_MAX = 9 };

typedef struct {
    const char *name;
    double copy[SIZES_MOST];                       /* seconds per element of a memcpy, for each size */
    double encode[SIZES_MOST], decode[SIZES_MOST]; /* seconds per element, for each size that was run */
    int sizes;
} Growth;

static int log_size(int size)
{
    return FIRST + STEP * size;
}

static size_t floats_of(int size)
{
    return (size_t)1 << log_size(size);
}

/* ---- measuring the times of one codec ---- */

static const Codec *open_default(const Compressor *ops, Arena *a)
{
    static const char *const round_what[] = {"", "+none", "+entry"};
    const Codec *codec = NULL;
    for (size_t i = ops->wraps; i < countof(round_what); i++) {
        Error err;
        const char *spec = text_format(a, "%s%s", ops->name, round_what[i]);
        if (spec && codec_open(&codec, spec, a, &err) == OK)
            return codec;
    }
    return NULL;
}

typedef struct {
    Call call;
    Buf payload;
    Message message;
    float *y;
} Bench;

static Status run_once(Bench *b, const float *x, double *encode, double *decode)
{
    b->payload.size = 0;
    const double start = cpu_seconds();
    TRY(codec_send(&b->call, x, &b->payload, &b->message));
    const double sent = cpu_seconds();
    TRY(codec_receive(&b->call, &b->message, b->y));
    *encode = sent - start;
    *decode = cpu_seconds() - sent;
    return OK;
}

/* Sets *encode and *decode to the shortest times in seconds, after a warm-up run. */
static Status run_size(Bench *b, const float *x, double *encode, double *decode)
{
    double e, d, used = 0;
    TRY(run_once(b, x, &e, &d));
    *encode = *decode = INFINITY;
    for (int run = 0; run < RUNS_MAX && used < ENOUGH; run++) {
        TRY(run_once(b, x, &e, &d));
        *encode = fmin(*encode, e);
        *decode = fmin(*decode, d);
        used += e + d;
    }
    return OK;
}

static Status measure_size(Growth *g, const Codec *codec, int size, const float *x, float *y, Error *err)
{
    Shape shape;
    const size_t n = floats_of(size);
    if (!shape_make(&shape, 2, (size_t[]){n / COLS, COLS}))
        return FAIL(err, ERR_USAGE, "no shape for %zu floats", n);
    Arena *forever = arena_open(0), *scratch = arena_open(0);
    Bench b = {.y = y};
    b.call =
        (Call){.self = codec, .shape = &shape, .workers = 1, .threads = 1, .scratch = scratch, .err = err};
    b.call.rng = rng_open(1, 0, 0, 0, 1);
    b.call.rng_shared = rng_open(1, 0, RNG_EVERYONE, 0, 1);
    b.payload.cap = codec_message_bound(&b.call);
    b.payload.data = NEW(forever, uint8_t, b.payload.cap);
    const size_t state = codec_state_size(&b.call);
    b.call.state = state ? NEW_ZERO(forever, uint8_t, state) : NULL;
    Status status = ERR_MEMORY;
    if (b.payload.data && (b.call.state || !state))
        status = run_size(&b, x, &g->encode[size], &g->decode[size]);
    g->encode[size] /= (double)n;
    g->decode[size] /= (double)n;
    arena_close(scratch);
    arena_close(forever);
    return status;
}

static Status measure(Growth *g, const Codec *codec, const float *x, float *y, Error *err)
{
    const double per_step = 1 << STEP;
    for (g->sizes = 0; g->sizes < sizes_run; g->sizes++) {
        const int s = g->sizes;
        const double last = s ? (g->encode[s - 1] + g->decode[s - 1]) * (double)floats_of(s - 1) : 0;
        if (s > 1 && last * per_step > patience)
            break;
        TRY(measure_size(g, codec, s, x, y, err));
    }
    return OK;
}

/* ---- the check that time does not grow faster than n log n ---- */

/* Returns the largest quotient of the two sides of the check over the smaller sizes; at most 1 passes. */
static double excess(const Growth *g, const double *t)
{
    const int last = g->sizes - 1;
    double worst = 0;
    for (int s = 0; s < last; s++) {
        const double steps = NOISE * (double)log_size(last) / (double)log_size(s) * t[s];
        const double caches = 16 * fmax(0, g->copy[last] - g->copy[s]);
        worst = fmax(worst, t[last] / (steps + caches));
    }
    return worst;
}

/* Returns the exponent e such that time grows like n^e from the first to the last size. */
static double exponent(const Growth *g, const double *t)
{
    const int last = g->sizes - 1;
    return 1 + log2(t[last] / t[0]) / (double)(log_size(last) - FIRST);
}

static bool print_side(const Growth *g, const char *side, const double *t)
{
    const bool ok = excess(g, t) <= 1;
    printf("%-12s %-6s", g->name, side);
    for (int s = 0; s < sizes_run; s++)
        s < g->sizes ? printf(" %8.3f", 1e9 * t[s]) : printf(" %8s", "");
    printf(" %8.2f %8.2f  %s\n", exponent(g, t), excess(g, t), ok ? "ok" : "GROWS FASTER THAN n log n");
    return ok;
}

static bool run_codec(Growth *g, const Compressor *ops, const float *x, float *y)
{
    Arena *a = arena_open(0);
    Error err = {0};
    bool ok = true;
    const Codec *codec = open_default(ops, a);
    g->name = codec ? codec_text(codec, a) : ops->name;
    if (!codec || measure(g, codec, x, y, &err) != OK) {
        printf("%-12s %s\n", g->name, codec ? err.text : "needs keys: left out");
        ok = !codec;
    } else {
        const bool encode = print_side(g, "encode", g->encode), decode = print_side(g, "decode", g->decode);
        ok = encode && decode;
    }
    fflush(stdout);
    arena_close(a);
    return ok;
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        const int last = atoi(argv[2]);
        sizes_run = last < FIRST                             ? 1
                    : last > FIRST + STEP * (SIZES_MOST - 1) ? SIZES_MOST
                                                             : (last - FIRST) / STEP + 1;
        patience = 60;
    }
    const size_t most = floats_of(sizes_run - 1);
    Arena *a = arena_open(0);
    float *x = NEW(a, float, most), *y = NEW(a, float, most);
    Growth g = {.sizes = sizes_run};
    bool ok = true;
    if (!x || !y) {
        printf("no memory for two tensors of %zu floats\n", most);
        arena_close(a);
        return 1;
    }
    fill(x, floats_of(0) * 16);
    /* the first elements are repeated, since to draw all elements would take long */
    for (size_t i = floats_of(0) * 16; i < most; i++)
        x[i] = x[i - floats_of(0) * 16];
    best_copy(y, x, most, 2);
    printf("growth with the tensor, n/%d by %d floats, one thread: ns an element\n%-19s", COLS, COLS, "");
    for (int s = 0; s < sizes_run; s++) {
        printf("     2^%d", log_size(s));
        g.copy[s] = best_copy(y, x, floats_of(s), s < 3 ? 200 : 12) / (double)floats_of(s);
    }
    printf(" %8s %8s\n%-19s", "exponent", "of limit", "memcpy");
    for (int s = 0; s < sizes_run; s++)
        printf(" %8.3f", 1e9 * g.copy[s]);
    printf(" %8.2f\n", exponent(&g, g.copy));
    for (size_t i = 0; compressor_number(i); i++)
        if (argc < 2 || strstr(compressor_number(i)->name, argv[1]))
            ok &= run_codec(&g, compressor_number(i), x, y);
    arena_close(a);
    return ok ? 0 : 1;
}
