/* symbols.c -- writes and reads the sparse form, which sends only the codes that differ from the most frequent
 * code, and their positions. Chooses between the sparse form and the dense forms. */
#include "coder/indices.h"
#include "coder/symbols_parts.h"
#include "math/log_series.h"

/* First byte of the sparse form. The first byte of a dense form has the kind in bits 0 and 1, and the field
 * `lanes` in bits 2 and 3. No dense form begins with 4: this would be bit planes (kind 0) with `lanes` = 1, and
 * bit planes have `lanes` = 0. */
enum { SPARSE = 4 };
/* The sparse form is tried if the estimate sparse_bits, plus 1/GAIN_PART of it and HEAD_BITS bits, is below
 * the bits of the dense form. */
enum { GAIN_PART = 128, HEAD_BITS = 192 };

/* Returns the greatest number of codes that may differ from the most frequent code: with more, the sparse form
 * is not tried. */
static size_t others_most(size_t n)
{
    return n / 4;
}

/* The codes that differ from the most frequent code, which the sparse form sends as symbols. Bytes if width <= 8, else
 * words. */
typedef struct {
    void *code; /* (n) */
    size_t n;
    int width;
} Words;

static inline uint32_t code_at(const void *code, int width, size_t i)
{
    return width > BYTE_WIDTH ? ((const uint32_t *)code)[i] : ((const uint8_t *)code)[i];
}
static inline void set_code(void *code, int width, size_t i, uint32_t value)
{
    if (width > BYTE_WIDTH)
        ((uint32_t *)code)[i] = value;
    else
        ((uint8_t *)code)[i] = (uint8_t)value;
}

static Words words_of(size_t n, int width, Arena *scratch)
{
    return (Words){arena_take(scratch, n, width > BYTE_WIDTH ? sizeof(uint32_t) : 1), n, width};
}

static Symbols symbols_of(const Symbols *s, const Words *w)
{
    return (Symbols){.n = w->n, .width = w->width, .threads = s->threads, .code = w->code};
}

/* The codes that differ from the common (most frequent) code, in order, and their positions, which are sent as an
 * index set (indices.h). */
typedef struct {
    const Symbols *s;
    uint32_t common;
    Words other;
    /* writing: */
    size_t *before; /* (blocks + 1) number of codes that differ from the common code before each block */
    size_t *index;  /* (others) positions of the codes that differ from the common code */
    /* reading: */
    Places places;
} Others;

/* ---- writing ---- */

/* Returns v log2 v, rounded to the same number on every machine. */
static double v_log2_v(uint64_t v)
{
    int e = 0;
    const double m = v ? log_split((double)v, &e) : 0;
    return (double)v * (e + m * M_LOG2E);
}

/* Finds the most frequent code; returns false if more than n/4 codes differ from it. Codes of 17 bits are
 * counted in pairs 2 k, 2 k + 1. For such codes the result is the even code of the most frequent pair. */
static bool find_common(const DensePlan *p, uint32_t *common)
{
    uint64_t most = 0, seen = 0;
    for (uint32_t c = 0; c < p->cells; c++) {
        seen += p->total[c];
        if (p->total[c] > most) {
            most = p->total[c];
            *common = c << shift_least(p->s);
        }
        if (seen - most > others_most(p->s->n))
            return false;
    }
    return true;
}

/* Estimates the bits of the sparse form: the entropy of the positions of the codes that differ from the
 * common code, plus the order-0 entropy of these codes. Clustered positions may take fewer bits. */
static double sparse_bits(const DensePlan *p, uint32_t common)
{
    const Symbols *s = p->s;
    const Form *f = &p->form;
    const uint32_t magnitude = common & ((UINT32_C(1) << (s->width - 1)) - 1);
    const uint64_t all = p->total[common >> shift_least(s)],
                   low = f->classes ? class_open(magnitude, f->shift) : (unsigned)f->shift;
    double bits = (double)(symbols_counts(p, f, ALL_BLOCKS, p->spare) - all * low);
    p->spare[f->classes ? class_symbol(s, common, f->shift) : common >> f->shift] -= all;
    bits += v_log2_v(s->n) - v_log2_v(all);
    for (uint32_t k = 0; k < form_alphabet(s, f); k++)
        bits -= v_log2_v(p->spare[k]);
    return bits;
}

static bool may_pay(const DensePlan *p, uint32_t *common)
{
    return p->form.kind != KIND_PLANES && find_common(p, common) &&
           sparse_bits(p, *common) * (1 + 1.0 / GAIN_PART) + HEAD_BITS < (double)p->bits;
}

static void count_others(void *data, size_t block)
{
    const Others *o = data;
    const Symbols *s = o->s;
    const size_t from = block * BLOCK, to = from + block_size(s->n, block);
    size_t others = 0;
    for (size_t i = from; i < to; i++)
        others += code_at(s->code, s->width, i) != o->common;
    o->before[block + 1] = others;
}

static void list_others(void *data, size_t block)
{
    const Others *o = data;
    const Symbols *s = o->s;
    size_t next = o->before[block];
    for (size_t i = block * BLOCK; next < o->before[block + 1]; i++) {
        const uint32_t code = code_at(s->code, s->width, i);
        if (code == o->common)
            continue;
        o->index[next] = i;
        set_code(o->other.code, s->width, next++, code);
    }
}

/* Lists the codes that differ from the common code, and their positions. The list stays empty if there are more
 * than n/4 such codes. */
static Status find_others(Others *o, Arena *scratch)
{
    const size_t n = o->s->n, blocks = blocks_of(n);
    o->before = NEW_ZERO(scratch, size_t, blocks + 1);
    if (!o->before)
        return ERR_MEMORY;
    parallel_for(o->s->threads, blocks, count_others, o);
    for (size_t b = 0; b < blocks; b++)
        o->before[b + 1] += o->before[b];
    const size_t count = o->before[blocks];
    if (count > others_most(n))
        return OK;
    o->other = words_of(count, o->s->width, scratch);
    o->index = NEW(scratch, size_t, count);
    if (!o->other.code || !o->index)
        return ERR_MEMORY;
    parallel_for(o->s->threads, blocks, list_others, o);
    return OK;
}

static Status put_words(const Symbols *s, const Words *w, Buf *out, Arena *scratch, double *entropy)
{
    Symbols words = symbols_of(s, w);
    DensePlan plan;
    double bits = 0;
    words.entropy = &bits;
    *out = (Buf){.cap = symbols_most(w->n, w->width)};
    out->data = NEW(scratch, uint8_t, out->cap);
    if (!out->data)
        return ERR_MEMORY;
    TRY(symbols_plan(&plan, &words, scratch));
    TRY(symbols_put_dense(&plan, out, scratch));
    *entropy += bits;
    return OK;
}

/* Returns log2 of the binomial coefficient n over k. */
static double log2_sets(double n, double k)
{
    return (lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) * M_LOG2E;
}

static Status put_set(const Others *o, Buf *out, Arena *scratch, double *entropy)
{
    const Indices set = indices_list(o->index, o->other.n);
    *out = (Buf){.cap = indices_bound(o->s->n)};
    out->data = NEW(scratch, uint8_t, out->cap);
    if (!out->data)
        return ERR_MEMORY;
    indices_put(&set, o->s->n, 1, scratch, out);
    *entropy += fmin(8 * (double)out->size, log2_sets((double)o->s->n, (double)o->other.n));
    return OK;
}

/* Writes the sparse form to `out`. Leaves `out` empty if all codes are equal, or if too many codes differ from
 * the common code. */
static Status write_sparse(Others *o, Buf *out, Arena *scratch, double *entropy)
{
    Buf positions, others;
    TRY(find_others(o, scratch));
    if (o->other.n == 0)
        return OK;
    TRY(put_set(o, &positions, scratch, entropy));
    TRY(put_words(o->s, &o->other, &others, scratch, entropy));
    out->cap = 1 + VARINT_MAX + positions.size + others.size;
    out->data = NEW(scratch, uint8_t, out->cap);
    if (!out->data)
        return ERR_MEMORY;
    buf_u8(out, SPARSE);
    buf_varint(out, o->common);
    buf_copy(out, positions.data, positions.size);
    buf_copy(out, others.data, others.size);
    return OK;
}

Status symbols_put(const Symbols *s, Buf *out, Arena *scratch, Error *err)
{
    DensePlan plan;
    Others others = {.s = s};
    Buf sparse = {0};
    double entropy = 0;
    assert(s->width >= 1 && s->width <= SYMBOLS_WIDTH);
    if (symbols_plan(&plan, s, scratch) != OK)
        return arena_fail(scratch, err);
    const ArenaMark mark = arena_mark(scratch);
    if (may_pay(&plan, &others.common) && write_sparse(&others, &sparse, scratch, &entropy) != OK)
        return arena_fail(scratch, err);
    if (sparse.size && 8 * (uint64_t)sparse.size < plan.bits && sparse.size < symbols_most(s->n, s->width)) {
        buf_copy(out, sparse.data, sparse.size);
        if (s->entropy)
            *s->entropy = entropy;
        return OK;
    }
    arena_rewind(scratch, mark);
    return symbols_put_dense(&plan, out, scratch) == OK ? OK : arena_fail(scratch, err);
}

/* ---- reading ---- */

static Status get_words(const Symbols *s, const Words *w, Bytes in, Arena *scratch, Error *err,
                        const char **why)
{
    const Symbols words = symbols_of(s, w);
    return w->code ? symbols_get_dense(&words, in, scratch, err, why) : arena_fail(scratch, err);
}

static Status get_set(Others *o, Reader *r, Arena *scratch, Error *err, const char **why)
{
    Reader peek = *r;
    const uint64_t count = take_varint(&peek);
    if (peek.bad || count == 0 || count > others_most(o->s->n))
        return ERR_CORRUPT;
    *why = "a damaged set of positions of symbols";
    if (indices_get(r, o->s->n, scratch, &o->places))
        return OK;
    return r->bad ? ERR_CORRUPT : arena_fail(scratch, err);
}

/* Writes the codes of a block: the common code, except at the listed positions. */
static void fill_block(void *data, size_t block)
{
    const Others *o = data;
    const Symbols *s = o->s;
    const Places *places = &o->places;
    const size_t from = block * BLOCK, to = from + block_size(s->n, block);
    for (size_t i = from; i < to; i++)
        set_code(s->code, s->width, i, o->common);
    for (size_t i = places->before[block]; i < places->before[block + 1]; i++)
        set_code(s->code, s->width, from + places->at[i], code_at(o->other.code, s->width, i));
}

static Status get_sparse(const Symbols *s, Bytes in, Arena *scratch, Error *err, const char **why)
{
    Others o = {.s = s};
    Reader r = reader_open((Bytes){in.data + 1, in.size - 1});
    const uint64_t common = take_varint(&r);
    *why = "a damaged head of sparse symbols";
    if (r.bad || common >> s->width)
        return ERR_CORRUPT;
    o.common = (uint32_t)common;
    TRY(get_set(&o, &r, scratch, err, why));
    const size_t count = o.places.count;
    o.other = words_of(count, s->width, scratch);
    TRY(get_words(s, &o.other, (Bytes){r.at, reader_left(&r)}, scratch, err, why));
    *why = "levels that no encoder writes";
    for (size_t i = 0; i < count; i++)
        if (code_at(o.other.code, s->width, i) == o.common)
            return ERR_CORRUPT;
    parallel_for(s->threads, blocks_of(s->n), fill_block, &o);
    return OK;
}

Status symbols_get(const Symbols *s, Bytes in, Arena *scratch, Error *err, const char **why)
{
    if (in.size > 0 && in.data[0] == SPARSE)
        return get_sparse(s, in, scratch, err, why);
    return symbols_get_dense(s, in, scratch, err, why);
}
