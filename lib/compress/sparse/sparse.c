/* sparse.c -- writes and reads the indices and the values of selected elements, and sets of elements with their signs
 * and magnitudes (sparse.h). */
#include "compress/sparse/sparse.h"
#include "coder/indices.h"
#include "base/parallel.h"
#include "math/blockwise.h"
#include "coder/signs.h"

#include <math.h>

size_t picks_bound(const Call *c)
{
    return 1 + indices_bound(c->shape->n) + 4 * c->shape->n;
}

size_t picks_wanted(size_t n, double ratio)
{
    const double wanted = floor(ratio * (double)n + 0.5);
    const size_t k = wanted < 1 ? 1 : (size_t)wanted;
    return k < n ? k : n;
}

Status picks_open(const Call *c, const float *x, Picks *s)
{
    return select_open(s, x, c->shape->n, c->threads, c->scratch) ? OK : arena_fail(c->scratch, c->err);
}

/* ---- writing ---- */

static Indices indices_of(const Picks *s)
{
    return s->place ? indices_list(s->place, s->count) : indices_bits(s->bits, s->n, s->count);
}

/* Writes the set of indices of a selection, without the values. */
static void picks_put_set(const Call *c, const Picks *s, Buf *out)
{
    const Indices set = indices_of(s);
    indices_put(&set, s->n, c->threads, c->scratch, out);
}

/* adds the entropy of the set's index gaps to c->streams */
static void picks_report_set(const Call *c, const Picks *s)
{
    const Indices set = indices_of(s);
    streams_gaps(c, &set);
}

typedef struct {
    const Picks *s;
    uint8_t *out;
    size_t *before; /* select_before */
} PicksValues;

static void put_block(void *data, size_t block)
{
    const PicksValues *v = data;
    const Picks *s = v->s;
    const size_t words = (block_size(s->n, block) + 63) / 64;
    const uint64_t *bits = s->bits + block * (BLOCK / 64);
    const float *x = s->x + block * BLOCK;
    uint8_t *out = v->out + 4 * v->before[block];
    for (size_t w = 0; w < words && s->in_block[block]; w++)
        for (uint64_t left = bits[w]; left; left &= left - 1, out += 4)
            store_f32(out, x[64 * w + (size_t)__builtin_ctzll(left)]);
}

static Status put_values(const Call *c, const Picks *s, uint8_t *out)
{
    for (size_t i = 0; i < s->count && s->place; i++)
        store_f32(out + 4 * i, s->value[i]);
    if (s->place)
        return OK;
    PicksValues v = {s, out, select_before(s)};
    TRY(arena_check(v.before, c->scratch, c->err));
    parallel_for(c->threads, blocks_of(s->n), put_block, &v);
    return OK;
}

Status picks_put(const Call *c, Picks *s, Buf *out)
{
    const size_t start = out->size;
    TRY(arena_check(select_list(s), c->scratch, c->err));
    buf_u8(out, PAYLOAD_METHOD);
    if (4 * s->count < raw_size(c))
        picks_put_set(c, s, out);
    if (out->size - start + 4 * s->count >= raw_size(c)) {
        out->size = start;
        return raw_put(c, s->x, out);
    }
    TRY(put_values(c, s, buf_room(out, 4 * s->count)));
    streams_floats(c->streams, s->count);
    picks_report_set(c, s);
    return OK;
}

Status picks_put_some(const Call *c, Picks *s, Buf *out)
{
    if (s->count == 0)
        select_from(s, (double)blockwise_most(s->x, s->n, s->threads));
    return picks_put(c, s, out);
}

/* ---- reading ---- */

typedef struct {
    size_t n;
    Places set;
    const uint8_t *value;
    float *x;
    /* (blocks) the least and the largest bits of a magnitude; as integers they have the order of the magnitudes */
    uint32_t *least, *most;
} PicksFill;

static const uint32_t INFINITE = UINT32_C(0x7f800000);

static void fill_block(void *data, size_t block)
{
    const PicksFill *f = data;
    float *const x = f->x + block * BLOCK;
    uint32_t least = INFINITE, most = 0;
    memset(x, 0, block_size(f->n, block) * sizeof *x);
    for (size_t k = f->set.before[block]; k < f->set.before[block + 1]; k++) {
        const uint32_t bits = load_u32(f->value + 4 * k), v = bits & INT32_MAX;
        x[f->set.at[k]] = bits_float(bits);
        least = v < least ? v : least;
        most = v > most ? v : most;
    }
    f->least[block] = least;
    f->most[block] = most;
}

static Status refuse_value(const Call *c, const PicksFill *f)
{
    size_t k = 0;
    float v;
    do
        v = fabsf(load_f32(f->value + 4 * k++));
    while (v > 0 && isfinite(v));
    return payload_bad(c, "value %zu is %g, want a finite number that is not 0", k - 1, (double)v);
}

/* Fills x, and checks the values. */
static Status fill_all(const Call *c, PicksFill *f, PicksRead *read)
{
    const size_t blocks = blocks_of(f->n);
    uint32_t least = INFINITE, most = 0;
    f->least = NEW(c->scratch, uint32_t, blocks);
    f->most = NEW(c->scratch, uint32_t, blocks);
    TRY(arena_check(f->least && f->most, c->scratch, c->err));
    parallel_for(c->threads, blocks, fill_block, f);
    for (size_t b = 0; b < blocks; b++) {
        least = f->least[b] < least ? f->least[b] : least;
        most = f->most[b] > most ? f->most[b] : most;
    }
    *read = (PicksRead){f->set.count, bits_float(least), bits_float(most)};
    return least > 0 && most < INFINITE ? OK : refuse_value(c, f);
}

Status picks_get(const Call *c, Bytes bytes, float *x, PicksRead *read)
{
    Reader in = reader_open(bytes);
    PicksFill f = {.n = c->shape->n, .x = x};
    TRY(payload_kind(c, take_u8(&in), PAYLOAD_METHOD));
    if (!in.bad && !indices_get(&in, f.n, c->scratch, &f.set) && !in.bad)
        return arena_fail(c->scratch, c->err);
    f.value = in.bad ? NULL : take_bytes(&in, 4 * f.set.count);
    if (!reader_done(&in))
        return payload_bad(c, "%s", in.bad ? "it is cut short or holds no index set" : "bytes are left over");
    if (bytes.size >= raw_size(c))
        return payload_bad(c, "%zu bytes, where floats would take no more", bytes.size);
    return fill_all(c, &f, read);
}

Status picks_decode(const Call *c, Bytes in, float *x)
{
    PicksRead read;
    return picks_get(c, in, x, &read);
}

enum { WORDS = BLOCK / 64 };

size_t signed_set_bound(const Call *c)
{
    const size_t n = c->shape->n;
    return 1 + indices_bound(n) + 4 * SIDES + signs_size(n);
}

Status signed_set_open(SignedSet *s, const Call *c, const float *x)
{
    *s = (SignedSet){.c = c};
    return select_open(&s->picks, x, c->shape->n, c->threads, c->scratch) ? OK
                                                                          : arena_fail(c->scratch, c->err);
}

/* ---- counting ---- */

typedef struct {
    size_t count[SIDES];
    double sum[SIDES];
} SidePart;

static void add_one(SidePart *part, float v)
{
    part->count[v < 0]++;
    part->sum[v < 0] += fabs((double)v);
}

static void add_part(SignedSet *s, const SidePart *part)
{
    for (int side = 0; side < SIDES; side++) {
        s->count[side] += part->count[side];
        s->sum[side] += part->sum[side];
    }
}

typedef struct {
    const Picks *picks;
    SidePart *part; /* for each block of 2^16 elements */
} SetCount;

static void count_block(void *data, size_t block)
{
    const SetCount *job = data;
    const Picks *p = job->picks;
    SidePart part = {0};
    for (size_t w = block * WORDS; w < (block + 1) * WORDS && 64 * w < p->n; w++)
        for (uint64_t left = p->bits[w]; left; left &= left - 1)
            add_one(&part, p->x[64 * w + (size_t)__builtin_ctzll(left)]);
    job->part[block] = part;
}

/* Like count_block, sums each block by itself, so that a list of indices and a bitmap give the same
 * rounding. */
static void count_list(SignedSet *s)
{
    const Picks *p = &s->picks;
    for (size_t i = 0, block; i < p->count;) {
        SidePart part = {0};
        for (block = p->place[i] / BLOCK; i < p->count && p->place[i] / BLOCK == block; i++)
            add_one(&part, p->value[i]);
        add_part(s, &part);
    }
}

Status signed_set_count(SignedSet *s)
{
    const Call *c = s->c;
    const size_t blocks = blocks_of(s->picks.n);
    TRY(arena_check(select_list(&s->picks), c->scratch, c->err));
    if (s->picks.place) {
        count_list(s);
        return OK;
    }
    SetCount job = {&s->picks, NEW(c->scratch, SidePart, blocks)};
    TRY(arena_check(job.part, c->scratch, c->err));
    parallel_for(c->threads, blocks, count_block, &job);
    for (size_t b = 0; b < blocks; b++)
        add_part(s, &job.part[b]);
    return OK;
}

/* ---- writing ---- */

typedef struct {
    const Picks *picks;
    const size_t *before; /* select_before */
    uint8_t *out;
} SetSigns;

static void sign_block(void *data, size_t block)
{
    const SetSigns *job = data;
    const Picks *p = job->picks;
    SignPen pen = signs_pen(job->out, job->before[block]);
    for (size_t w = block * WORDS; w < (block + 1) * WORDS && 64 * w < p->n; w++)
        for (uint64_t left = p->bits[w]; left; left &= left - 1)
            signs_add(&pen, p->x[64 * w + (size_t)__builtin_ctzll(left)] < 0);
    signs_flush(&pen);
}

static Status put_signs(const Call *c, const Picks *p, uint8_t *out)
{
    if (p->place) {
        signs_put(p->value, p->count, out);
        return OK;
    }
    SetSigns job = {p, select_before(p), out};
    TRY(arena_check(job.before, c->scratch, c->err));
    memset(out, 0, signs_size(p->count));
    parallel_for(c->threads, blocks_of(p->n), sign_block, &job);
    return OK;
}

Status signed_set_put(const SignedSet *s, const float *magnitude, size_t magnitudes, Buf *out)
{
    const Picks *p = &s->picks;
    const size_t start = out->size;
    const Call *c = s->c;
    buf_u8(out, PAYLOAD_METHOD);
    picks_put_set(c, p, out);
    if (out->size - start + (p->count ? 4 * magnitudes + signs_size(p->count) : 0) >= raw_size(c)) {
        out->size = start;
        return raw_put(c, p->x, out);
    }
    for (size_t m = 0; p->count && m < magnitudes; m++)
        buf_f32(out, magnitude[m]);
    TRY(put_signs(c, p, buf_room(out, signs_size(p->count))));
    streams_floats(c->streams, p->count ? magnitudes : 0);
    streams_bits(c->streams, (double)p->count);
    picks_report_set(c, p);
    return OK;
}

/* ---- reading ---- */

typedef struct {
    size_t n;
    Places set;
    const uint8_t *sign;
    float value[SIDES];
    float *x;
} SetFill;

static void fill_signed(void *data, size_t block)
{
    const SetFill *f = data;
    float *const x = f->x + block * BLOCK;
    memset(x, 0, block_size(f->n, block) * sizeof *x);
    for (size_t k = f->set.before[block]; k < f->set.before[block + 1]; k++)
        x[f->set.at[k]] = f->value[signs_bit(f->sign, k)];
}

/* Refuses a magnitude that is not positive and finite; for a sign without elements, refuses any magnitude but
 * 0. A single magnitude is used for both signs. */
static Status take_magnitudes(const Call *c, SetFill *f, const uint8_t *in, size_t magnitudes)
{
    const size_t minus = signs_count(f->sign, f->set.count), count[SIDES] = {f->set.count - minus, minus};
    for (size_t side = 0; side < SIDES; side++) {
        const float v = load_f32(in + (magnitudes == 1 ? 0 : 4 * side));
        const bool some = magnitudes == 1 || count[side];
        if (some ? !(v > 0 && isfinite(v)) : float_bits(v) != 0)
            return payload_bad(c, "magnitude %g, want %s", (double)v,
                               some ? "a finite number above 0" : "0 for a side without elements");
        f->value[side] = side == PLUS ? v : -v;
    }
    return OK;
}

Status signed_set_get(const Call *c, Bytes bytes, size_t magnitudes, size_t most, float *x,
                      float magnitude[SIDES])
{
    Reader in = reader_open(bytes);
    SetFill f = {.n = c->shape->n, .x = x};
    TRY(payload_kind(c, take_u8(&in), PAYLOAD_METHOD));
    if (!in.bad && !indices_get(&in, f.n, c->scratch, &f.set) && !in.bad)
        return arena_fail(c->scratch, c->err);
    const bool some = !in.bad && f.set.count;
    const uint8_t *sizes = some ? take_bytes(&in, 4 * magnitudes) : NULL;
    f.sign = some ? take_bytes(&in, signs_size(f.set.count)) : NULL;
    if (!reader_done(&in))
        return payload_bad(c, "%s", in.bad ? "it is cut short or holds no index set" : "bytes are left over");
    if (f.set.count > most)
        return payload_bad(c, "%zu elements, want %zu at most", f.set.count, most);
    if (bytes.size >= raw_size(c))
        return payload_bad(c, "%zu bytes, where floats would take no more", bytes.size);
    if (some && !signs_clean(f.sign, f.set.count))
        return payload_bad(c, "padding behind the signs is not zero");
    if (some)
        TRY(take_magnitudes(c, &f, sizes, magnitudes));
    for (int side = 0; side < SIDES; side++)
        magnitude[side] = fabsf(f.value[side]);
    parallel_for(c->threads, blocks_of(f.n), fill_signed, &f);
    return OK;
}
