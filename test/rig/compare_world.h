/* compare_world.h -- a comparison of codecs for tests. It has a dump (gradients of several steps and workers)
 * in memory, test codecs with one special property each, a loader of vectors, and a store of the comparison's
 * records. */
#ifndef ATOMO_COMPARE_WORLD_H
#define ATOMO_COMPARE_WORLD_H

#include "compress/compressor.h"
#include "rig/check.h"
#include "measure/compare.h"
#include "reference/vectors.h"

/* ---- test codecs; their payloads are a kind byte and floats ---- */

static inline size_t bound(const Call *c)
{
    return raw_size(c) + 100;
}

static inline Status decode(const Call *c, Bytes in, float *x)
{
    if (in.size < raw_size(c))
        return payload_bad(c, "too short");
    memcpy(x, in.data + 1, 4 * c->shape->n);
    return OK;
}

static size_t encodings; /* number of payloads written so far */

static inline Status put(const Call *c, Buf *out, const float *y)
{
    encodings++;
    buf_u8(out, PAYLOAD_METHOD);
    buf_copy(out, y, 4 * c->shape->n);
    streams_floats(c->streams, c->shape->n);
    return OK;
}

/* Rounds each element to a multiple of 1/32. An element's estimate depends on this element alone, so vectors
 * encoded separately and joined have the same estimates. */
static inline Status encode_rounded(const Call *c, const float *x, Buf *out)
{
    float *y = NEW(c->scratch, float, c->shape->n);
    for (size_t i = 0; i < c->shape->n; i++)
        y[i] = roundf(x[i] * 32) / 32;
    return put(c, out, y);
}

/* Doubles each element, or sets it to 0, with probability 1/2 each. */
static inline Status encode_coins(const Call *c, const float *x, Buf *out)
{
    float *y = NEW(c->scratch, float, c->shape->n);
    for (size_t i = 0; i < c->shape->n; i++)
        y[i] = rng_u32(&c->rng, USE_COIN, i) & 1 ? 2 * x[i] : 0;
    return put(c, out, y);
}

static inline Status encode_or_fail(const Call *c, const float *x, Buf *out)
{
    if (c->shape->n == 300)
        return FAIL(c->err, ERR_NUMERIC, "300 elements are too many");
    return encode_rounded(c, x, out);
}

/* Writes a payload with one zero byte for each earlier step; the codec's state counts the steps. The codec
 * reports this count as its residual. */
static inline Status encode_counted(const Call *c, const float *x, Buf *out)
{
    const uint64_t steps = *(const uint64_t *)c->state;
    (void)x;
    buf_u8(out, PAYLOAD_METHOD);
    for (uint64_t i = 0; i < steps; i++)
        buf_u8(out, 0);
    streams_bits(c->streams, 0);
    return OK;
}

static inline Status decode_counted(const Call *c, Bytes in, float *x)
{
    (void)in;
    memset(x, 0, 4 * c->shape->n);
    return OK;
}

static inline size_t count_size(const Call *c)
{
    (void)c;
    return sizeof(uint64_t);
}

static inline Status count_settle(const Call *c, const float *x, const Bytes *sent, const float *agreed,
                                  void *state)
{
    check(sent[0].size == 1 + *(uint64_t *)state && agreed[0] == 0);
    (void)c, (void)x;
    ++*(uint64_t *)state;
    return OK;
}

static inline double count_residual(const Call *c)
{
    return (double)*(const uint64_t *)c->state;
}

static const Compressor rounded = {
    .name = "rounded", .promises = EXACT_BYTES, .bound = bound, .encode = encode_rounded, .decode = decode};
static const Compressor coins = {.name = "coins",
                                 .promises = EXACT_BYTES | RANDOM | UNBIASED,
                                 .bound = bound,
                                 .encode = encode_coins,
                                 .decode = decode};
static const Compressor failing = {
    .name = "failing", .promises = EXACT_BYTES, .bound = bound, .encode = encode_or_fail, .decode = decode};
static const Compressor counted = {.name = "counted",
                                   .promises = EXACT_BYTES | RANDOM | UNBIASED,
                                   .bound = bound,
                                   .encode = encode_counted,
                                   .decode = decode_counted,
                                   .state_size = count_size,
                                   .settle = count_settle,
                                   .residual = count_residual};

/* ---- the dump in memory: each step of each worker has the vectors a, b and c ---- */

enum { VECTORS = 3, CELLS_MAX = 6, RECORDS_MAX = 200 };

static const size_t sizes[VECTORS] = {1000, 300, 70000};
static const char *const names[VECTORS] = {"a", "b", "c"};

typedef struct {
    double value[128]; /* value[m] is the value of metrics[m] */
    size_t codec, vectors;
    RecordLevel level;
    const Vector *vector;
    char error[100];
} KeptRecord;

typedef struct {
    Arena *a;
    Error err;
    Vector vector[CELLS_MAX * VECTORS];
    VectorList list;
    Codec codec[4];
    const Codec *codecs[4];
    Comparison c;
    KeptRecord kept[RECORDS_MAX]; /* kept[p * c.codecs + k] is codec k's record of place p (`Record.place`) */
    size_t records, failures, stop_after;
} World;

static World world; /* global because the callback stopped() gets no argument */

static inline Status load(void *data, const Vector *v, float *x, Error *err)
{
    (void)data, (void)err;
    reference_gradient(x, v->shape.n, (uint32_t)(v->name[0] + 10 * v->step + 100 * v->worker));
    return OK;
}

/* Loads all vectors of a step and worker, one after another, as one vector. */
static inline Status load_joined(void *data, const Vector *v, float *x, Error *err)
{
    for (int i = 0; i < VECTORS; i++) {
        Vector part = *v;
        part.name = names[i];
        part.shape = shape_vector(sizes[i]);
        TRY(load(data, &part, x, err));
        x += sizes[i];
    }
    return OK;
}

static inline Status keep(void *data, const Record *r, Error *err)
{
    World *w = data;
    (void)err;
    const size_t at = r->place * w->c.codecs + r->codec;
    check(at < RECORDS_MAX && r->codec < w->c.codecs);
    KeptRecord *k = &w->kept[at];
    check(k->vector == NULL); /* each record must be reported only once */
    *k = (KeptRecord){.codec = r->codec, .vectors = r->vectors, .level = r->level, .vector = r->vector};
    snprintf(k->error, sizeof k->error, "%s", r->error ? r->error : "");
    for (size_t m = 0; metrics[m].name; m++)
        k->value[m] = r->vectors ? metric_value(&metrics[m], &r->tally) : NAN;
    w->records++;
    return OK;
}

static inline bool stop_soon(void)
{
    return world.records >= world.stop_after;
}

static inline World *open_world(int64_t steps, int64_t workers)
{
    World *w = &world;
    memset(w, 0, sizeof *w);
    w->a = arena_open(0);
    for (int64_t s = 0; s < steps; s++)
        for (int64_t p = 0; p < workers; p++)
            for (int i = 0; i < VECTORS; i++) {
                w->vector[w->list.count++] = (Vector){.name = names[i],
                                                      .step_group = "step",
                                                      .worker_group = workers > 1 ? "worker" : NULL,
                                                      .step = s,
                                                      .worker = p,
                                                      .step_address = s,
                                                      .worker_address = p,
                                                      .kind = KIND_OTHER,
                                                      .shape = shape_vector(sizes[i])};
                w->list.elements += sizes[i];
            }
    w->list.item = w->vector;
    w->list.largest = 70000;
    w->c = (Comparison){.codec = w->codecs,
                        .vectors = &w->list,
                        .repeats = 3,
                        .seed = 1,
                        .memory = 1 << 30,
                        .threads = 1,
                        .data = w,
                        .load = load,
                        .record = keep};
    return w;
}

static inline void add_codec(World *w, const Compressor *ops)
{
    const size_t k = w->c.codecs++;
    w->codec[k] = (Codec){.ops = ops};
    w->codecs[k] = &w->codec[k];
}

static inline void run(World *w)
{
    memset(w->kept, 0, sizeof w->kept);
    w->records = 0;
    check_ok(compare_run(&w->c, &w->failures, w->a, &w->err), &w->err);
}

static inline int close_world(void **state)
{
    arena_close(world.a);
    return 0;
}

static inline const KeptRecord *kept(const World *w, size_t place, size_t codec)
{
    return &w->kept[place * w->c.codecs + codec];
}

static inline double value(const KeptRecord *k, const char *name)
{
    return k->value[metric_find(name) - metrics];
}

static inline bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static inline bool is_time(const char *name)
{
    return strstr(name, "_ms") || strstr(name, "_gbps");
}

static inline void check_same_figures(const KeptRecord *a, const KeptRecord *b)
{
    for (size_t m = 0; metrics[m].name; m++)
        if (!is_time(metrics[m].name) && !same(a->value[m], b->value[m])) {
            print_error("%s: %.17g and %.17g\n", metrics[m].name, a->value[m], b->value[m]);
            check(same(a->value[m], b->value[m]));
        }
}

#define WORLD_TEST(test) TEST_BETWEEN(test, NULL, close_world)

#endif
