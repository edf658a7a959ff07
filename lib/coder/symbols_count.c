/* symbols_count.c -- how often each code occurs, in every block, and from that each symbol of any form. */
#include "coder/symbols_writer.h"

#include <math.h>

enum { CLASS_SYMBOLS = 1 << 12 }; /* at least those of the finest classes, at any width */

static void count_bytes(const uint8_t *code, size_t n, uint32_t *count, size_t cells)
{
    uint32_t turn[4][1 << BYTE_WIDTH] = {{0}}; /* neighbours are often equal: they count apart */
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            turn[k][code[i + (size_t)k]]++;
    for (; i < n; i++)
        turn[0][code[i]]++;
    for (size_t c = 0; c < cells; c++)
        count[c] = turn[0][c] + turn[1][c] + turn[2][c] + turn[3][c];
}

static void count_block(void *data, size_t block)
{
    const SymbolsJob *job = data;
    const Symbols *s = job->s;
    const size_t n = block_size(s->n, block);
    uint32_t *count = job->count + block * job->cells;
    if (!symbols_wide(s)) {
        s->make(s->data, block, job->code + block * BLOCK);
        count_bytes(job->code + block * BLOCK, n, count, job->cells);
        return;
    }
    uint32_t code[BLOCK];
    s->make(s->data, block, code);
    memset(count, 0, job->cells * sizeof *count);
    for (size_t i = 0; i < n; i++)
        count[code[i] >> shift_least(s)]++;
    if (job->finest)
        classes_count(s, code, n, job->class + block * job->finest);
}

/* From counts of codes to those of symbols that are `shift` bits shorter. */
static void shorten(const SymbolsJob *job, int shift, uint64_t *count)
{
    size_t cells = job->cells;
    for (int k = shift_least(job->s); k < shift; k++, cells /= 2)
        for (size_t c = 0; c < cells / 2; c++)
            count[c] = count[2 * c] + count[2 * c + 1];
}

static void total_counts(const SymbolsJob *job, int shift, uint64_t *count)
{
    memcpy(count, job->total, job->cells * sizeof *count);
    shorten(job, shift, count);
}

static void block_counts(const SymbolsJob *job, size_t block, int shift, uint64_t *count)
{
    for (size_t c = 0; c < job->cells; c++)
        count[c] = job->count[block * job->cells + c];
    shorten(job, shift, count);
}

uint64_t symbols_form_counts(const SymbolsJob *job, const Form *f, size_t block, uint64_t *count)
{
    const bool all = block == ALL_BLOCKS;
    if (f->classes) {
        uint64_t finest[CLASS_SYMBOLS];
        for (size_t c = 0; c < job->finest; c++)
            finest[c] = all ? job->class_total[c] : job->class[block * job->finest + c];
        return classes_merge(job->s, finest, f->shift, count);
    }
    if (all)
        total_counts(job, f->shift, count);
    else
        block_counts(job, block, f->shift, count);
    return (uint64_t)f->shift * (all ? job->s->n : block_size(job->s->n, block));
}

static void add_up(SymbolsJob *job)
{
    for (size_t b = 0; b < blocks_of(job->s->n); b++) {
        for (size_t c = 0; c < job->cells; c++)
            job->total[c] += job->count[b * job->cells + c];
        for (size_t c = 0; c < job->finest; c++)
            job->class_total[c] += job->class[b * job->finest + c];
    }
}

Status symbols_count(SymbolsJob *job, const Symbols *s, Arena *scratch)
{
    const size_t blocks = blocks_of(s->n);
    *job = (SymbolsJob){.s = s, .cells = alphabet_of(s, shift_least(s))};
    job->finest = symbols_coder(s)->many && symbols_wide(s) ? class_alphabet(s, CLASS_MOST) : 0;
    job->code = NEW(scratch, uint8_t, symbols_wide(s) ? 0 : s->n);
    job->count = NEW(scratch, uint32_t, blocks * job->cells);
    job->total = NEW_ZERO(scratch, uint64_t, job->cells);
    job->class = NEW(scratch, uint32_t, blocks * job->finest);
    job->class_total = NEW_ZERO(scratch, uint64_t, job->finest);
    job->spare = NEW(scratch, uint64_t, job->cells > job->finest ? job->cells : job->finest);
    job->size = NEW(scratch, size_t, blocks);
    if (!job->code || !job->count || !job->total || !job->class || !job->class_total || !job->spare ||
        !job->size)
        return ERR_MEMORY;
    parallel_for(s->threads, blocks, count_block, job);
    add_up(job);
    return OK;
}

double symbols_entropy(const SymbolsJob *job)
{
    const Symbols *s = job->s;
    double bits = 0;
    if (job->form.kind == KIND_PLANES)
        return (double)s->width * (double)s->n;
    for (size_t t = 0; t < symbols_tables(job); t++) {
        const size_t block = symbols_tables(job) > 1 ? t : ALL_BLOCKS;
        bits += (double)symbols_form_counts(job, &job->form, block, job->spare);
        double total = 0, sum = 0; /* n H = n log2 n - sum c log2 c */
        for (uint32_t k = 0; k < form_alphabet(s, &job->form); k++)
            if (job->spare[k]) {
                total += (double)job->spare[k];
                sum += (double)job->spare[k] * log2((double)job->spare[k]);
            }
        bits += total > 0 ? total * log2(total) - sum : 0;
    }
    return bits;
}
