/* symbols_sparse.c -- codes most of which are one: the gaps between the others, and the others, as symbols again.
 *
 * A table gives each of its symbols a share of 2^-15 at least (rans.h), Huffman's codes have a bit at least, and
 * both are too much where nearly all codes are the common one. A gap's law is as wide as the others are rare, which
 * any table suits, and among the others none need be rare. Gaps or others may go by this form themselves: each is a
 * quarter as many at most. */
#include "num/log_series.h"
#include "coder/symbols_writer.h"

enum { GAIN_PART = 128, HEAD_BITS = 192 }; /* what it has to gain: this part, and the heads of two */

/* Codes that go as symbols themselves. */
typedef struct {
    const uint32_t *code;
    size_t n;
    int width;
} Words;

static void make_words(const void *data, size_t block, void *code)
{
    const Words *w = data;
    const size_t n = block_size(w->n, block);
    const uint32_t *from = w->code + block * BLOCK;
    if (w->width > BYTE_WIDTH)
        memcpy(code, from, n * sizeof *from);
    else
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)code)[i] = (uint8_t)from[i];
}

static Status put_words(const Symbols *s, const Words *w, Buf *out, double *entropy, Arena *scratch,
                        Error *err)
{
    double bits = 0;
    const Symbols words = {.coder = s->coder,
                           .n = w->n,
                           .width = w->width,
                           .threads = s->threads,
                           .data = w,
                           .make = make_words,
                           .entropy = s->entropy ? &bits : NULL};
    *out = (Buf){.cap = symbols_most(w->n, w->width)};
    out->data = NEW(scratch, uint8_t, out->cap);
    if (!out->data)
        return arena_fail(scratch, err);
    TRY(symbols_put(&words, out, scratch, err));
    *entropy += bits;
    return OK;
}

typedef struct {
    const SymbolsJob *job;
    uint32_t common;
    size_t *before; /* (blocks + 1) others before each block */
    uint16_t *at;   /* (others) their places in their blocks */
    uint32_t *other;
    uint32_t *gap; /* (gaps) */
    size_t gaps;
    uint64_t longest;
} Sparse;

/* v log2 v, the same on every machine. */
static double log_of(uint64_t v)
{
    int e = 0;
    const double m = v ? log_split((double)v, &e) : 0;
    return (double)v * (e + m * M_LOG2E);
}

/* The code that most are; false where too many are others. Of two codes that are counted together, as too wide to count
 * apart, it is the even one. */
static bool find_common(const SymbolsJob *job, uint32_t *common)
{
    uint64_t most = 0, seen = 0;
    for (uint32_t c = 0; c < job->cells; c++) {
        seen += job->total[c];
        if (job->total[c] > most) {
            most = job->total[c];
            *common = c << shift_least(job->s);
        }
        if (seen - most > sparse_others(job->s->n))
            return false;
    }
    return true;
}

/* The places of the common code, and the others with the symbols of the form chosen: bits at the least. */
static double least_bits(const SymbolsJob *job, uint32_t common)
{
    const Symbols *s = job->s;
    const Form *f = &job->form;
    const uint32_t magnitude = common & ((UINT32_C(1) << (s->width - 1)) - 1);
    const uint64_t all = job->total[common >> shift_least(s)],
                   open = f->classes ? class_open(magnitude, f->shift) : (unsigned)f->shift;
    double bits = (double)(symbols_form_counts(job, f, ALL_BLOCKS, job->spare) - all * open);
    job->spare[f->classes ? class_symbol(s, common, f->shift) : common >> f->shift] -= all;
    bits += log_of(s->n) - log_of(all);
    for (uint32_t k = 0; k < form_alphabet(s, f); k++)
        bits -= log_of(job->spare[k]);
    return bits;
}

static bool may_pay(const SymbolsJob *job, uint32_t *common)
{
    return job->form.kind != KIND_PLANES && find_common(job, common) &&
           least_bits(job, *common) * (1 + 1.0 / GAIN_PART) + HEAD_BITS < (double)job->bits;
}

/* The block's codes as words. */
static void get_words(const SymbolsJob *job, size_t block, uint32_t *code)
{
    const Symbols *s = job->s;
    const size_t n = block_size(s->n, block);
    if (symbols_wide(s))
        s->make(s->data, block, code);
    else
        for (size_t i = 0; i < n; i++)
            code[i] = job->code[block * BLOCK + i];
}

static void count_others(void *data, size_t block)
{
    const Sparse *p = data;
    uint32_t code[BLOCK], others = 0;
    get_words(p->job, block, code);
    for (size_t i = 0; i < block_size(p->job->s->n, block); i++)
        others += code[i] != p->common;
    p->before[block + 1] = others;
}

enum { AT_ONCE = 16 };

/* Where in the block its others stand; most stretches have none. */
static void list_others(void *data, size_t block)
{
    const Sparse *p = data;
    const size_t n = block_size(p->job->s->n, block);
    const uint32_t common = p->common;
    uint32_t code[BLOCK + AT_ONCE];
    size_t next = p->before[block];
    get_words(p->job, block, code);
    for (size_t i = 0; i < AT_ONCE; i++)
        code[n + i] = common;
    for (size_t i = 0; i < n; i += AT_ONCE) {
        uint32_t any = 0;
        for (size_t k = i; k < i + AT_ONCE; k++)
            any |= code[k] ^ common;
        for (size_t k = i; any && k < i + AT_ONCE; k++)
            if (code[k] != common) {
                p->at[next] = (uint16_t)k;
                p->other[next++] = code[k];
            }
    }
}

static void cut_gaps(Sparse *p)
{
    uint64_t next = 0;
    for (size_t b = 0; b < blocks_of(p->job->s->n); b++)
        for (size_t i = p->before[b]; i < p->before[b + 1]; i++) {
            uint64_t gap = b * BLOCK + p->at[i] - next;
            next += gap + 1;
            p->longest = gap > p->longest ? gap : p->longest;
            for (; gap >= LONG_GAP; gap -= LONG_GAP)
                p->gap[p->gaps++] = LONG_GAP;
            p->gap[p->gaps++] = (uint32_t)gap;
        }
}

/* Gaps and others; none where those are too many. */
static Status part(Sparse *p, Arena *scratch)
{
    const Symbols *s = p->job->s;
    const size_t blocks = blocks_of(s->n);
    p->before = NEW_ZERO(scratch, size_t, blocks + 1);
    if (!p->before)
        return ERR_MEMORY;
    parallel_for(s->threads, blocks, count_others, p);
    for (size_t b = 0; b < blocks; b++)
        p->before[b + 1] += p->before[b];
    const size_t others = p->before[blocks];
    if (others > sparse_others(s->n))
        return OK;
    p->at = NEW(scratch, uint16_t, others);
    p->other = NEW(scratch, uint32_t, others);
    p->gap = NEW(scratch, uint32_t, others + s->n / LONG_GAP);
    if (!p->at || !p->other || !p->gap)
        return ERR_MEMORY;
    parallel_for(s->threads, blocks, list_others, p);
    cut_gaps(p);
    return OK;
}

/* The form where it is shorter than the one chosen. */
static Status put_if_shorter(Sparse *p, Buf *out, Arena *scratch, Error *err, bool *put)
{
    const Symbols *s = p->job->s;
    uint8_t room[1 + 3 * VARINT_MAX];
    Buf gaps, others, head = {.data = room, .cap = sizeof room};
    double entropy = 0;
    if (part(p, scratch) != OK)
        return arena_fail(scratch, err);
    if (p->gaps == 0)
        return OK;
    const unsigned bits = gap_bits(p->longest);
    const Words gap = {p->gap, p->gaps, (int)bits + 1},
                other = {p->other, p->before[blocks_of(s->n)], s->width};
    TRY(put_words(s, &gap, &gaps, &entropy, scratch, err));
    TRY(put_words(s, &other, &others, &entropy, scratch, err));
    buf_u8(&head, sparse_form(bits));
    buf_varint(&head, p->common);
    buf_varint(&head, p->gaps);
    buf_varint(&head, gaps.size);
    const size_t size = head.size + gaps.size + others.size;
    *put = 8 * (uint64_t)size < p->job->bits && size < symbols_most(s->n, s->width);
    if (!*put)
        return OK;
    buf_copy(out, head.data, head.size);
    buf_copy(out, gaps.data, gaps.size);
    buf_copy(out, others.data, others.size);
    if (s->entropy)
        *s->entropy = entropy;
    return OK;
}

Status symbols_put_sparse(const SymbolsJob *job, Buf *out, Arena *scratch, Error *err, bool *put)
{
    *put = false;
    Sparse sparse = {.job = job};
    if (!may_pay(job, &sparse.common))
        return OK;
    const ArenaMark mark = arena_mark(scratch);
    TRY(put_if_shorter(&sparse, out, scratch, err, put));
    arena_rewind(scratch, mark);
    return OK;
}
