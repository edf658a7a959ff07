/* symbols.c -- the sparse form, in both directions, and the choice between it and the dense forms. */
#include "coder/indices.h"
#include "coder/symbols_parts.h"
#include "num/log_series.h"

enum { SPARSE = 4 };                       /* the form's byte: kind 0 with lanes, which bit planes have not */
enum { GAIN_PART = 128, HEAD_BITS = 192 }; /* the least gain for which the sparse form is tried */

/* The most codes beside the common one. */
static size_t others_most(size_t n)
{
    return n / 4;
}

/* The codes beside the common one, in order, as an array of symbols. */
typedef struct {
    const Symbols *s;
    uint32_t common;
    size_t count;
    uint32_t *code; /* (count) */
    /* writing: */
    const DensePlan *plan;
    size_t *before; /* (blocks + 1) of them before each block */
    size_t *index;  /* (count) their positions */
    /* reading: */
    Places places;
    bool *bad; /* (blocks) */
} Others;

static Symbols symbols_of(const Others *o)
{
    Symbols s = *o->s;
    s.n = o->count;
    s.data = o;
    s.entropy = NULL;
    return s;
}

/* ---- writing ---- */

/* v log2 v, the same on every machine. */
static double v_log2_v(uint64_t v)
{
    int e = 0;
    const double m = v ? log_split((double)v, &e) : 0;
    return (double)v * (e + m * M_LOG2E);
}

/* Finds the most frequent code; false if more than n/4 codes differ from it. Where codes are too wide to be counted one
 * by one, two neighbours are counted together: the even one is taken. */
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

/* A lower bound of the sparse form, in bits: the entropy of the positions, and of the other codes as symbols of the
 * dense form. */
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

/* A block's codes as words. */
static void make_words(const DensePlan *p, size_t block, uint32_t *code)
{
    if (symbols_wide(p->s))
        p->s->make(p->s->data, block, code);
    else
        for (size_t i = 0; i < block_size(p->s->n, block); i++)
            code[i] = p->code[block * BLOCK + i];
}

static void count_others(void *data, size_t block)
{
    const Others *o = data;
    uint32_t code[BLOCK];
    size_t others = 0;
    make_words(o->plan, block, code);
    for (size_t i = 0; i < block_size(o->s->n, block); i++)
        others += code[i] != o->common;
    o->before[block + 1] = others;
}

static void list_others(void *data, size_t block)
{
    const Others *o = data;
    uint32_t code[BLOCK];
    size_t next = o->before[block];
    make_words(o->plan, block, code);
    for (size_t i = 0; next < o->before[block + 1]; i++)
        if (code[i] != o->common) {
            o->index[next] = block * BLOCK + i;
            o->code[next++] = code[i];
        }
}

static Status find_others(Others *o, Arena *scratch)
{
    const size_t blocks = blocks_of(o->s->n);
    o->before = NEW_ZERO(scratch, size_t, blocks + 1);
    if (!o->before)
        return ERR_MEMORY;
    parallel_for(o->s->threads, blocks, count_others, o);
    for (size_t b = 0; b < blocks; b++)
        o->before[b + 1] += o->before[b];
    o->count = o->before[blocks];
    o->index = NEW(scratch, size_t, o->count);
    o->code = NEW(scratch, uint32_t, o->count);
    if (!o->index || !o->code)
        return ERR_MEMORY;
    parallel_for(o->s->threads, blocks, list_others, o);
    return OK;
}

static void make_others(const void *data, size_t block, void *code)
{
    const Others *o = data;
    const uint32_t *from = o->code + block * BLOCK;
    const size_t n = block_size(o->count, block);
    if (symbols_wide(o->s))
        memcpy(code, from, n * sizeof *from);
    else
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)code)[i] = (uint8_t)from[i];
}

/* log2 of the number of sets of k out of n. */
static double log2_sets(double n, double k)
{
    return (lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) * M_LOG2E;
}

/* Writes the sparse form to `out`, which is empty where it does not fit or has no more than n/4 positions. */
static Status write_sparse(Others *o, Buf *out, Arena *scratch, double *entropy)
{
    TRY(find_others(o, scratch));
    const size_t n = o->s->n;
    if (o->count == 0 || o->count > others_most(n))
        return OK;
    const Indices set = indices_list(o->index, o->count);
    out->cap = 1 + VARINT_MAX + indices_bound(n) + symbols_most(o->count, o->s->width);
    out->data = NEW(scratch, uint8_t, out->cap);
    if (!out->data)
        return ERR_MEMORY;
    buf_u8(out, SPARSE);
    buf_varint(out, o->common);
    const size_t head = out->size;
    indices_put(&set, n, out);
    const double set_bits = 8 * (double)(out->size - head);
    Symbols s = symbols_of(o);
    DensePlan plan;
    double bits = 0;
    s.make = make_others;
    s.entropy = &bits;
    TRY(symbols_plan(&plan, &s, scratch));
    TRY(symbols_put_dense(&plan, out, scratch));
    *entropy = bits + fmin(set_bits, log2_sets((double)n, (double)o->count));
    return OK;
}

Status symbols_put(const Symbols *s, Buf *out, Arena *scratch, Error *err)
{
    DensePlan plan;
    Others others = {.s = s, .plan = &plan};
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

static bool take_others(const void *data, size_t block, const void *code)
{
    const Others *o = data;
    uint32_t *to = o->code + block * BLOCK;
    bool good = true;
    for (size_t i = 0; i < block_size(o->count, block); i++) {
        to[i] = symbols_wide(o->s) ? ((const uint32_t *)code)[i] : ((const uint8_t *)code)[i];
        good &= to[i] != o->common;
    }
    return good;
}

/* Gives a block's codes to `take`: the common code but at the places. */
static void take_block(void *data, size_t block)
{
    const Others *o = data;
    const Symbols *s = o->s;
    const size_t n = block_size(s->n, block);
    const Places *places = &o->places;
    uint32_t code[BLOCK];
    uint8_t *const byte = (uint8_t *)code;
    if (symbols_wide(s)) {
        for (size_t i = 0; i < n; i++)
            code[i] = o->common;
        for (size_t i = places->before[block]; i < places->before[block + 1]; i++)
            code[places->at[i]] = o->code[i];
    } else {
        memset(byte, (int)o->common, n);
        for (size_t i = places->before[block]; i < places->before[block + 1]; i++)
            byte[places->at[i]] = (uint8_t)o->code[i];
    }
    o->bad[block] = !s->take(s->data, block, code);
}

static Status get_sparse(const Symbols *s, Bytes in, Arena *scratch, Error *err, const char **why)
{
    const size_t blocks = blocks_of(s->n);
    Others o = {.s = s};
    Reader r = reader_open((Bytes){in.data + 1, in.size - 1});
    const uint64_t common = take_varint(&r);
    Reader peek = r;
    const uint64_t count = take_varint(&peek);
    *why = "a damaged head of sparse symbols";
    if (peek.bad || common >> s->width || count == 0 || count > others_most(s->n))
        return ERR_CORRUPT;
    o.common = (uint32_t)common;
    *why = "a damaged set of positions of symbols";
    if (!indices_get(&r, s->n, scratch, &o.places))
        return r.bad ? ERR_CORRUPT : arena_fail(scratch, err);
    o.count = o.places.count;
    o.code = NEW(scratch, uint32_t, o.count);
    o.bad = NEW(scratch, bool, blocks);
    if (!o.code || !o.bad)
        return arena_fail(scratch, err);
    Symbols others = symbols_of(&o);
    others.take = take_others;
    TRY(symbols_get_dense(&others, (Bytes){r.at, reader_left(&r)}, scratch, err, why));
    parallel_for(s->threads, blocks, take_block, &o);
    *why = "levels that no encoder writes";
    for (size_t b = 0; b < blocks; b++)
        if (o.bad[b])
            return ERR_CORRUPT;
    return OK;
}

Status symbols_get(const Symbols *s, Bytes in, Arena *scratch, Error *err, const char **why)
{
    if (in.size > 0 && in.data[0] == SPARSE)
        return get_sparse(s, in, scratch, err, why);
    return symbols_get_dense(s, in, scratch, err, why);
}
