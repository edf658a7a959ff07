/* signed_set.c -- marks a set by a bit for each element, writes it, reads it back. */
#include "signed_set.h"

#include "indices.h"
#include "parallel.h"
#include "signs.h"

#include <math.h>

enum { WORDS = BLOCK / 64 };

typedef struct SidePart {
    size_t count[SIDES];
    double sum[SIDES];
} SidePart;

size_t signed_set_bound(const Call *c)
{
    const size_t n = c->shape->n;
    return 1 + indices_bound(n) + 4 * SIDES + signs_size(n);
}

/* ---- marking ---- */

typedef struct {
    SignedSet *s;
    const float *least;
} Mark;

static void mark_block(void *data, size_t block)
{
    const Mark *m = data;
    const float *x = m->s->x + block * BLOCK;
    const size_t n = block_size(m->s->n, block);
    for (size_t w = 0; 64 * w < n; w++) {
        uint64_t word = 0;
        for (size_t i = 64 * w; i < n && i < 64 * w + 64; i++)
            word |= (uint64_t)(fabsf(x[i]) >= m->least[x[i] < 0] && x[i] != 0) << i % 64;
        m->s->bits[block * WORDS + w] = word;
    }
}

static void sum_block(void *data, size_t block)
{
    const SignedSet *s = data;
    SidePart part = {0};
    for (size_t w = block * WORDS; w < (block + 1) * WORDS && 64 * w < s->n; w++)
        for (uint64_t left = s->bits[w]; left; left &= left - 1) {
            const float v = s->x[64 * w + (size_t)__builtin_ctzll(left)];
            part.count[v < 0]++;
            part.sum[v < 0] += fabs((double)v);
        }
    s->part[block] = part;
}

/* Counts and sums of what is marked, in the order of blocks. */
static void sum_up(SignedSet *s)
{
    parallel_for(s->c->threads, blocks_of(s->n), sum_block, s);
    for (int side = 0; side < SIDES; side++) {
        s->count[side] = 0;
        s->sum[side] = 0;
        for (size_t b = 0; b < blocks_of(s->n); b++) {
            s->count[side] += s->part[b].count[side];
            s->sum[side] += s->part[b].sum[side];
        }
    }
}

Status signed_set_open(SignedSet *s, const Call *c, const float *x, const float least[SIDES])
{
    const size_t n = c->shape->n;
    *s = (SignedSet){.c = c, .x = x, .n = n};
    s->bits = NEW(c->scratch, uint64_t, n / 64 + 1);
    s->part = NEW(c->scratch, SidePart, blocks_of(n));
    if (!s->bits || !s->part)
        return arena_fail(c->scratch, c->err);
    Mark m = {s, least};
    parallel_for(c->threads, blocks_of(n), mark_block, &m);
    sum_up(s);
    return OK;
}

/* Takes out elements of the magnitudes `least`, the last ones first, as many of each side as `excess` says. */
static void drop_last(SignedSet *s, const float least[SIDES], size_t excess[SIDES])
{
    for (size_t w = (s->n + 63) / 64; w-- > 0 && (excess[PLUS] || excess[MINUS]);)
        for (uint64_t left = s->bits[w]; left;) {
            const unsigned top = 63 - (unsigned)__builtin_clzll(left);
            const float v = s->x[64 * w + top];
            const int side = v < 0;
            left ^= UINT64_C(1) << top;
            if (fabsf(v) == least[side] && excess[side]) {
                s->bits[w] ^= UINT64_C(1) << top;
                excess[side]--;
            }
        }
    sum_up(s);
}

void signed_set_keep(SignedSet *s, const float least[SIDES], const size_t count[SIDES])
{
    size_t excess[SIDES];
    for (int side = 0; side < SIDES; side++)
        excess[side] = s->count[side] > count[side] ? s->count[side] - count[side] : 0;
    if (excess[PLUS] || excess[MINUS])
        drop_last(s, least, excess);
}

void signed_set_keep_first(SignedSet *s, float least, size_t count)
{
    size_t excess = s->count[PLUS] + s->count[MINUS];
    excess = excess > count ? excess - count : 0;
    if (excess == 0)
        return;
    for (size_t w = (s->n + 63) / 64; w-- > 0 && excess;)
        for (uint64_t left = s->bits[w]; left && excess;) {
            const unsigned top = 63 - (unsigned)__builtin_clzll(left);
            left ^= UINT64_C(1) << top;
            if (fabsf(s->x[64 * w + top]) == least) {
                s->bits[w] ^= UINT64_C(1) << top;
                excess--;
            }
        }
    sum_up(s);
}

/* ---- writing ---- */

/* A block's places at a time. */
typedef struct {
    const SignedSet *s;
    size_t *place;
} Walk;

static const size_t *walk_block(const Indices *set, size_t block, size_t *count)
{
    const Walk *walk = set->data;
    const SignedSet *s = walk->s;
    size_t k = 0;
    for (size_t w = block * WORDS; w < (block + 1) * WORDS && 64 * w < s->n; w++)
        for (uint64_t left = s->bits[w]; left; left &= left - 1)
            walk->place[k++] = 64 * w + (size_t)__builtin_ctzll(left);
    *count = k;
    return walk->place;
}

static void put_signs(const SignedSet *s, uint8_t *out, size_t count)
{
    size_t k = 0;
    memset(out, 0, signs_size(count));
    for (size_t w = 0; 64 * w < s->n; w++)
        for (uint64_t left = s->bits[w]; left; left &= left - 1, k++)
            out[k / 8] |= (uint8_t)((s->x[64 * w + (size_t)__builtin_ctzll(left)] < 0) << k % 8);
}

Status signed_set_put(const SignedSet *s, const float *magnitude, size_t magnitudes, Buf *out)
{
    const size_t count = s->count[PLUS] + s->count[MINUS], start = out->size;
    const Call *c = s->c;
    const Walk walk = {s, NEW(c->scratch, size_t, s->n < BLOCK ? s->n : BLOCK)};
    const Indices set = {.count = count, .runs = blocks_of(s->n), .data = &walk, .run = walk_block};
    if (!walk.place)
        return arena_fail(c->scratch, c->err);
    buf_u8(out, PAYLOAD_METHOD);
    indices_put(&set, s->n, out);
    if (out->size - start + (count ? 4 * magnitudes + signs_size(count) : 0) >= raw_size(c)) {
        out->size = start;
        return raw_put(c, s->x, out);
    }
    for (size_t m = 0; count && m < magnitudes; m++)
        buf_f32(out, magnitude[m]);
    put_signs(s, buf_room(out, signs_size(count)), count);
    streams_subset(c->streams, s->n, count);
    streams_floats(c->streams, count ? magnitudes : 0);
    streams_bits(c->streams, (double)count);
    return OK;
}

/* ---- reading ---- */

typedef struct {
    size_t n;
    Places set;
    const uint8_t *sign;
    float value[SIDES];
    float *x;
} Fill;

/* A block is cleared and filled while it is in the cache. */
static void fill_block(void *data, size_t block)
{
    const Fill *f = data;
    float *const x = f->x + block * BLOCK;
    memset(x, 0, block_size(f->n, block) * sizeof *x);
    for (size_t k = f->set.before[block]; k < f->set.before[block + 1]; k++)
        x[f->set.at[k]] = f->value[signs_bit(f->sign, k)];
}

/* Above zero for a side with elements, else zero. One magnitude is that of both sides. */
static Status take_magnitudes(const Call *c, Fill *f, const uint8_t *in, size_t magnitudes)
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
    Fill f = {.n = c->shape->n, .x = x};
    const unsigned kind = take_u8(&in);
    if (bytes.size && kind != PAYLOAD_METHOD)
        return payload_bad(c, "kind %u, want 0 or 1", kind);
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
    parallel_for(c->threads, blocks_of(f.n), fill_block, &f);
    return OK;
}
