/* symbols.c -- the writing half: which form is the shortest, and that form. */
#include "symbols_parts.h"

enum {
    LANES_16_FROM = 1 << 13,
    LANES_4_FROM = 1 << 11
}; /* bytes of a block's stream that pay for the states */

size_t symbols_most(size_t n, int width)
{
    return 1 + planes_size(n, width);
}

typedef struct {
    const Symbols *s;
    uint8_t *code;   /* all of them, or NULL where they are words: made again when wanted */
    uint32_t *count; /* (blocks, cells) how often each code occurs, less shift_least low bits */
    size_t cells;
    uint64_t *total; /* (cells) over all blocks */
    Form form;
    Table *table;  /* one, or one for each block */
    Huffman trial; /* to find costs with */
    uint8_t *room; /* (blocks, room_size) */
    size_t room_size;
    size_t *size; /* (blocks) bytes at the end of each room */
    uint8_t *out; /* planes */
} Job;

static size_t table_bytes(uint64_t bits)
{
    return (size_t)((bits + 7) / 8);
}

/* ---- counting ---- */

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
    const Job *job = data;
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
}

/* From counts of codes to those of symbols that are `shift` bits shorter. */
static void shorten(const Job *job, int shift, uint64_t *count)
{
    size_t cells = job->cells;
    for (int k = shift_least(job->s); k < shift; k++, cells /= 2)
        for (size_t c = 0; c < cells / 2; c++)
            count[c] = count[2 * c] + count[2 * c + 1];
}

static void total_counts(const Job *job, int shift, uint64_t *count)
{
    memcpy(count, job->total, job->cells * sizeof *count);
    shorten(job, shift, count);
}

static void block_counts(const Job *job, size_t block, int shift, uint64_t *count)
{
    for (size_t c = 0; c < job->cells; c++)
        count[c] = job->count[block * job->cells + c];
    shorten(job, shift, count);
}

/* ---- choosing ---- */

/* Bits of a table and of all symbols so counted, states aside; UINT64_MAX where no table holds them. */
static uint64_t cost(const Job *job, int shift, const uint64_t *count, Rans *rans, Huffman *huffman)
{
    if (job->s->coder == CODER_RANS)
        return rans_build(rans, alphabet_of(job->s, shift), count)
                   ? 8 * table_bytes(rans_table_bits(rans)) + rans_bits(rans, count, 0)
                   : UINT64_MAX;
    huffman->alphabet = alphabet_of(job->s, shift);
    return huffman_build(huffman, count)
               ? 8 * table_bytes(huffman_table_bits(huffman)) + huffman_bits(huffman, count)
               : UINT64_MAX;
}

/* The shift at which one table and its symbols are shortest: larger ones as long as they gain. Returns the
 * bits, low ones included. */
static uint64_t choose_shift(Job *job, uint64_t *count)
{
    const Symbols *s = job->s;
    uint64_t best = UINT64_MAX;
    Rans rans;
    for (int shift = shift_least(s); shift < s->width && shift <= SHIFT_MOST; shift++) {
        total_counts(job, shift, count);
        uint64_t bits = cost(job, shift, count, &rans, &job->trial);
        if (bits == UINT64_MAX)
            continue;
        bits += (uint64_t)shift * s->n;
        if (bits >= best)
            break;
        best = bits;
        job->form.shift = shift;
    }
    return best;
}

/* Tables of the blocks' own where they are shorter in all than one. */
static void choose_kind(Job *job, uint64_t one, uint64_t *count)
{
    const size_t blocks = blocks_of(job->s->n);
    uint64_t own = (uint64_t)job->form.shift * job->s->n;
    Rans rans;
    for (size_t b = 0; b < blocks && blocks > 1; b++) {
        block_counts(job, b, job->form.shift, count);
        own += 7 + cost(job, job->form.shift, count, &rans, &job->trial);
    }
    job->form.kind = blocks > 1 && own < one ? KIND_OWN_TABLES : KIND_ONE_TABLE;
}

static void choose_lanes(Job *job, uint64_t bits)
{
    const uint64_t each = bits / 8 / blocks_of(job->s->n);
    if (job->s->coder == CODER_RANS)
        job->form.lanes_log4 = each >= LANES_16_FROM ? 2 : each >= LANES_4_FROM ? 1 : 0;
}

static Status make_tables(Job *job, uint64_t *count, Arena *scratch)
{
    const size_t tables = job->form.kind == KIND_OWN_TABLES ? blocks_of(job->s->n) : 1;
    job->table = NEW(scratch, Table, tables);
    if (!job->table)
        return ERR_MEMORY;
    for (size_t t = 0; t < tables; t++) {
        if (!table_open(&job->table[t], job->s, job->form.shift, scratch))
            return ERR_MEMORY;
        if (job->form.kind == KIND_OWN_TABLES)
            block_counts(job, t, job->form.shift, count);
        else
            total_counts(job, job->form.shift, count);
        if (cost(job, job->form.shift, count, &job->table[t].rans, &job->table[t].huffman) == UINT64_MAX)
            return ERR_MEMORY;
    }
    return OK;
}

/* ---- writing ---- */

static void put_planes(void *data, size_t block)
{
    const Job *job = data;
    const Symbols *s = job->s;
    const size_t n = block_size(s->n, block);
    uint8_t *out = job->out + planes_size(block * BLOCK, s->width);
    if (!symbols_wide(s)) {
        planes_put8(job->code + block * BLOCK, n, s->width, out);
        return;
    }
    uint32_t code[BLOCK];
    s->make(s->data, block, code);
    planes_put32(code, n, s->width, out);
}

static size_t put_table(const Job *job, size_t t, uint8_t *to, size_t most)
{
    BitWriter w = bits_writer(to, most);
    if (job->s->coder == CODER_HUFFMAN)
        huffman_table_put(&job->table[t].huffman, &w);
    else
        rans_table_put(&job->table[t].rans, &w);
    bits_close(&w);
    assert(!w.full);
    return (size_t)(w.at - to);
}

static size_t table_size(const Job *job, size_t t)
{
    return table_bytes(job->s->coder == CODER_HUFFMAN ? huffman_table_bits(&job->table[t].huffman)
                                                      : rans_table_bits(&job->table[t].rans));
}

/* A block's symbols above their low bits, which go to `low`. */
static void split(const Job *job, size_t block, uint16_t *symbol, uint8_t *low)
{
    const Symbols *s = job->s;
    const size_t n = block_size(s->n, block);
    const int shift = job->form.shift;
    uint32_t code[BLOCK];
    if (!symbols_wide(s)) {
        const uint8_t *byte = job->code + block * BLOCK;
        for (size_t i = 0; i < n; i++)
            symbol[i] = (uint16_t)(byte[i] >> shift);
        if (shift)
            planes_put8(byte, n, shift, low);
        return;
    }
    s->make(s->data, block, code);
    for (size_t i = 0; i < n; i++)
        symbol[i] = (uint16_t)(code[i] >> shift);
    if (shift)
        planes_put32(code, n, shift, low);
}

static size_t put_huffman(const Huffman *h, const uint16_t *symbol, size_t n, uint8_t *end)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i++)
        bits += h->length[symbol[i]];
    const size_t size = (size_t)((bits + 7) / 8);
    BitWriter w = bits_writer(end - size, size);
    huffman_put(h, symbol, n, &w);
    bits_close(&w);
    return size;
}

static size_t put_rans(const Job *job, const Rans *r, const uint16_t *symbol, size_t n, uint8_t *end)
{
    const unsigned lanes = form_lanes(&job->form);
    uint8_t byte[BLOCK], rank[RANS_ALPHABET];
    RansWriter w;
    rans_writer(&w, r);
    for (uint32_t k = 0; k < r->present; k++)
        rank[r->symbol[k]] = (uint8_t)rans_byte(r, k);
    for (size_t i = 0; i < n; i++)
        byte[i] = rank[symbol[i]];
    return rans_put(&w, lanes, byte, n, end - rans_most(n, lanes));
}

/* A block from the end of its room: the stream, the low bits, a table of its own. */
static void put_block(void *data, size_t block)
{
    Job *job = data;
    const size_t n = block_size(job->s->n, block), t = job->form.kind == KIND_OWN_TABLES ? block : 0;
    const size_t low = planes_size(n, job->form.shift);
    uint8_t *end = job->room + (block + 1) * job->room_size, *at = end;
    uint16_t symbol[BLOCK];
    uint8_t *bits = job->room + block * job->room_size; /* the low bits, until the stream's place is known */
    split(job, block, symbol, bits);
    at -= job->s->coder == CODER_HUFFMAN ? put_huffman(&job->table[t].huffman, symbol, n, at)
                                         : put_rans(job, &job->table[t].rans, symbol, n, at);
    at -= low;
    memmove(at, bits, low);
    if (job->form.kind == KIND_OWN_TABLES) {
        at -= table_size(job, t);
        put_table(job, t, at, table_size(job, t));
    }
    job->size[block] = (size_t)(end - at);
}

/* Bytes of the blocks that have been written, and what stands before them. */
static size_t written(const Job *job)
{
    const size_t blocks = blocks_of(job->s->n);
    size_t bytes =
        1 + (job->form.kind == KIND_ONE_TABLE ? table_size(job, 0) : 0) + (blocks > 1 ? 4 * blocks : 0);
    for (size_t b = 0; b < blocks; b++)
        bytes += job->size[b];
    return bytes;
}

static void join(const Job *job, Buf *out)
{
    const size_t blocks = blocks_of(job->s->n);
    buf_u8(out, form_byte(&job->form));
    if (job->form.kind == KIND_ONE_TABLE) {
        const size_t size = table_size(job, 0);
        put_table(job, 0, buf_room(out, size), size);
    }
    for (size_t b = 0; b < blocks && blocks > 1; b++)
        buf_u32(out, (uint32_t)job->size[b]);
    for (size_t b = 0; b < blocks; b++)
        buf_copy(out, job->room + (b + 1) * job->room_size - job->size[b], job->size[b]);
}

/* Bytes that the symbols of a block of n can take, with whatever table. */
static size_t room_most(const Job *job, size_t n)
{
    const bool huffman = job->s->coder == CODER_HUFFMAN, own = job->form.kind == KIND_OWN_TABLES;
    size_t most = 0;
    for (size_t t = 0; t < (own ? blocks_of(job->s->n) : 1); t++) {
        size_t size = own ? table_size(job, t) : 0;
        if (huffman)
            size += (huffman_longest(&job->table[t].huffman) * n + 7) / 8;
        most = size > most ? size : most;
    }
    return most + (huffman ? 0 : rans_most(n, RANS_LANES)) + 2 * planes_size(n, job->form.shift);
}

static Status open_job(Job *job, const Symbols *s, Arena *scratch)
{
    const size_t blocks = blocks_of(s->n);
    *job = (Job){.s = s, .cells = alphabet_of(s, shift_least(s))};
    job->code = NEW(scratch, uint8_t, symbols_wide(s) ? 0 : s->n);
    job->count = NEW(scratch, uint32_t, blocks * job->cells);
    job->total = NEW_ZERO(scratch, uint64_t, job->cells);
    job->size = NEW(scratch, size_t, blocks);
    return job->code && job->count && job->total && job->size ? OK : ERR_MEMORY;
}

/* The form, and where it is one of symbols, its blocks, each in its room. */
static Status write_symbols(Job *job, Arena *scratch)
{
    const Symbols *s = job->s;
    const size_t blocks = blocks_of(s->n), most = symbols_most(s->n, s->width);
    uint64_t *count = NEW(scratch, uint64_t, job->cells);
    if (!count || !huffman_open(&job->trial, s->coder == CODER_HUFFMAN ? (uint32_t)job->cells : 1, scratch))
        return ERR_MEMORY;
    const uint64_t one = choose_shift(job, count);
    if (one == UINT64_MAX || one / 8 >= most)
        return OK;
    choose_kind(job, one, count);
    choose_lanes(job, one - (uint64_t)job->form.shift * s->n);
    TRY(make_tables(job, count, scratch));
    job->room_size = room_most(job, s->n < BLOCK ? s->n : BLOCK);
    job->room = NEW(scratch, uint8_t, blocks * job->room_size);
    if (!job->room)
        return ERR_MEMORY;
    parallel_for(s->threads, blocks, put_block, job);
    if (written(job) >= most)
        job->form.kind = KIND_PLANES;
    return OK;
}

Status symbols_put(const Symbols *s, Buf *out, Arena *scratch, Error *err)
{
    Job job;
    const size_t blocks = blocks_of(s->n);
    assert(s->width >= 1 && s->width <= SYMBOLS_WIDTH);
    if (open_job(&job, s, scratch) != OK)
        return arena_fail(scratch, err);
    parallel_for(s->threads, blocks, count_block, &job);
    for (size_t b = 0; b < blocks; b++)
        for (size_t c = 0; c < job.cells; c++)
            job.total[c] += job.count[b * job.cells + c];
    if (write_symbols(&job, scratch) != OK)
        return arena_fail(scratch, err);
    if (job.form.kind == KIND_PLANES) {
        buf_u8(out, KIND_PLANES);
        job.out = buf_room(out, planes_size(s->n, s->width));
        parallel_for(s->threads, blocks, put_planes, &job);
    } else {
        join(&job, out);
    }
    return OK;
}
