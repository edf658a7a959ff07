/* symbols_get.c -- the reading half of symbols.h. */
#include "symbols_parts.h"

enum { LOOK_FROM = 2048 }; /* symbols that pay for a table of looks */

typedef struct {
    const Symbols *s;
    Form form;
    Table *table;       /* one, or one for each block */
    RansReader *reader; /* alike */
    Bytes *body;        /* (blocks) low bits and stream */
    const char **why;   /* (blocks) NULL: good */
    const uint8_t *planes;
} Job;

/* ---- heads ---- */

static bool form_get(Job *job, unsigned byte)
{
    const Symbols *s = job->s;
    job->form = (Form){.kind = byte & 3, .lanes_log4 = byte >> 2 & 3, .shift = (int)(byte >> 4)};
    if (job->form.kind == KIND_PLANES)
        return byte == KIND_PLANES;
    if (job->form.kind == KIND_CLASSES) {
        if (!symbols_wide(s) || s->coder != CODER_RANS)
            return false;
        job->form.classes = true;
        job->form.kind = job->form.shift & CLASS_OWN ? KIND_OWN_TABLES : KIND_ONE_TABLE;
        job->form.shift &= CLASS_MOST;
        return job->form.lanes_log4 < LANE_KINDS && (job->form.kind == KIND_ONE_TABLE || blocks_of(s->n) > 1);
    }
    return job->form.lanes_log4 < (s->coder == CODER_RANS ? LANE_KINDS : 1) &&
           job->form.shift >= shift_least(s) && job->form.shift < s->width &&
           (job->form.kind == KIND_ONE_TABLE || blocks_of(s->n) > 1);
}

/* A table and its padding off the front of the bytes. */
static bool table_get(Job *job, size_t t, Bytes *in)
{
    Table *table = &job->table[t];
    BitReader r = bits_reader(*in);
    if (job->s->coder == CODER_HUFFMAN ? !huffman_table_get(&table->huffman, &r)
                                       : !rans_table_get(&table->rans, form_alphabet(job->s, &job->form), &r))
        return false;
    if (bits_get(&r, (unsigned)(-r.at & 7)) != 0 || r.bad)
        return false;
    in->data += r.at / 8;
    in->size -= (size_t)(r.at / 8);
    return true;
}

static Status open_tables(Job *job, Arena *scratch)
{
    const Symbols *s = job->s;
    const size_t tables = job->form.kind == KIND_OWN_TABLES ? blocks_of(s->n) : 1;
    job->table = NEW(scratch, Table, tables);
    job->reader = NEW(scratch, RansReader, s->coder == CODER_RANS ? tables : 0);
    if (!job->table || !job->reader)
        return ERR_MEMORY;
    for (size_t t = 0; t < tables; t++)
        if (!table_open(&job->table[t], s, job->form.shift, scratch))
            return ERR_MEMORY;
    return OK;
}

/* What reading looks up, once a table is read. */
static Status ready(Job *job, size_t t)
{
    Table *table = &job->table[t];
    if (job->s->coder == CODER_RANS)
        rans_reader(&job->reader[t], &table->rans);
    else if (job->s->n >= LOOK_FROM && !huffman_ready(&table->huffman))
        return ERR_MEMORY;
    return OK;
}

/* Where each block's bytes stand; false when their lengths do not add up to what is there. */
static bool find_bodies(Job *job, Bytes in)
{
    const size_t blocks = blocks_of(job->s->n);
    uint64_t at = blocks > 1 ? 4 * (uint64_t)blocks : 0;
    if (in.size < at)
        return false;
    for (size_t b = 0; b < blocks; b++) {
        const size_t size = blocks > 1 ? load_u32(in.data + 4 * b) : in.size;
        if (size > in.size - at)
            return false;
        job->body[b] = (Bytes){in.data + at, size};
        at += size;
    }
    return at == in.size;
}

/* ---- blocks ---- */

enum { STRETCH = 4096 }; /* symbols at a time, which stay in the nearest cache */

static bool rans_symbols(const Job *job, size_t t, Bytes in, size_t n, uint16_t *symbol)
{
    const Rans *rans = &job->table[t].rans;
    uint8_t byte[BLOCK];
    if (!rans_get(&job->reader[t], form_lanes(&job->form), in, n, byte))
        return false;
    for (size_t i = 0; i < n; i++)
        symbol[i] = rans_ranks(rans) ? rans->symbol[byte[i]] : byte[i];
    return true;
}

/* Symbols above the low bits that stand in the codes. */
static void join(const Job *job, const uint16_t *symbol, size_t n, size_t from, void *code)
{
    const int shift = job->form.shift;
    if (symbols_wide(job->s)) {
        uint32_t *word = (uint32_t *)code + from;
        for (size_t i = 0; i < n; i++)
            word[i] |= (uint32_t)symbol[i] << shift;
    } else {
        uint8_t *byte = (uint8_t *)code + from;
        for (size_t i = 0; i < n; i++)
            byte[i] |= (uint8_t)(symbol[i] << shift);
    }
}

static bool huffman_codes(const Job *job, size_t t, Bytes in, size_t n, void *code)
{
    BitReader r = bits_reader(in);
    uint16_t symbol[STRETCH + HUFFMAN_SLACK];
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < STRETCH ? n - i : STRETCH;
        if (!huffman_get(&job->table[t].huffman, &r, some, symbol))
            return false;
        join(job, symbol, some, i, code);
    }
    return bits_finish(&r);
}

static bool rans_codes(const Job *job, size_t t, Bytes in, size_t n, void *code)
{
    uint16_t symbol[BLOCK];
    if (!symbols_wide(job->s) && job->form.shift == 0)
        return rans_get(&job->reader[t], form_lanes(&job->form), in, n, code);
    if (!rans_symbols(job, t, in, n, symbol))
        return false;
    join(job, symbol, n, 0, code);
    return true;
}

static bool class_codes(const Job *job, size_t t, Bytes body, size_t n, uint32_t *code)
{
    uint16_t symbol[BLOCK];
    Reader r = reader_open(body);
    const size_t size = take_u32(&r);
    if (r.bad || size > reader_left(&r))
        return false;
    const Bytes open = {r.at, size}, stream = {r.at + size, reader_left(&r) - size};
    return rans_symbols(job, t, stream, n, symbol) &&
           classes_join(job->s, job->form.shift, symbol, n, open, code);
}

/* The codes of a block, bytes or words; false for a damaged stream. */
static bool block_codes(const Job *job, size_t block, void *code)
{
    const Symbols *s = job->s;
    const size_t n = block_size(s->n, block), t = job->form.kind == KIND_OWN_TABLES ? block : 0;
    const int shift = job->form.shift;
    const size_t low_size = planes_size(n, shift);
    const Bytes body = job->body[block];
    if (job->form.classes)
        return class_codes(job, t, body, n, code);
    if (body.size < low_size)
        return false;
    const Bytes stream = {body.data + low_size, body.size - low_size};
    if (shift == 0)
        memset(code, 0, symbols_wide(s) ? n * sizeof(uint32_t) : n);
    else if (!(symbols_wide(s) ? planes_get32(body.data, n, shift, code)
                               : planes_get8(body.data, n, shift, code)))
        return false;
    return s->coder == CODER_HUFFMAN ? huffman_codes(job, t, stream, n, code)
                                     : rans_codes(job, t, stream, n, code);
}

static void get_block(void *data, size_t block)
{
    const Job *job = data;
    const Symbols *s = job->s;
    const size_t n = block_size(s->n, block);
    uint32_t code[BLOCK];
    const uint8_t *in =
        job->form.kind == KIND_PLANES ? job->planes + planes_size(block * BLOCK, s->width) : NULL;
    const bool good = !in               ? block_codes(job, block, code)
                      : symbols_wide(s) ? planes_get32(in, n, s->width, code)
                                        : planes_get8(in, n, s->width, (uint8_t *)code);
    job->why[block] = !good                           ? "a damaged stream of symbols"
                      : s->take(s->data, block, code) ? NULL
                                                      : "levels that no encoder writes";
}

/* ---- all ---- */

static Status get_tables(Job *job, Bytes in, const char **why)
{
    *why = "a damaged table of symbols";
    if (job->form.kind == KIND_ONE_TABLE && !table_get(job, 0, &in))
        return ERR_CORRUPT;
    *why = "streams of symbols that are not as long as said";
    if (!find_bodies(job, in))
        return ERR_CORRUPT;
    *why = "a damaged table of symbols";
    const bool own = job->form.kind == KIND_OWN_TABLES;
    for (size_t t = 0; t < (own ? blocks_of(job->s->n) : 1); t++) {
        if (own && !table_get(job, t, &job->body[t]))
            return ERR_CORRUPT;
        TRY(ready(job, t));
    }
    return OK;
}

Status symbols_get(const Symbols *s, Bytes in, Arena *scratch, Error *err, const char **why)
{
    const size_t blocks = blocks_of(s->n);
    Job job = {.s = s, .body = NEW(scratch, Bytes, blocks), .why = NEW(scratch, const char *, blocks)};
    if (!job.body || !job.why)
        return arena_fail(scratch, err);
    *why = "an unknown form of symbols";
    if (in.size == 0 || !form_get(&job, in.data[0]))
        return ERR_CORRUPT;
    const Bytes rest = {in.data + 1, in.size - 1};
    if (job.form.kind == KIND_PLANES) {
        *why = "bit planes of another length";
        if (rest.size != planes_size(s->n, s->width))
            return ERR_CORRUPT;
        job.planes = rest.data;
    } else {
        if (open_tables(&job, scratch) != OK)
            return arena_fail(scratch, err);
        const Status status = get_tables(&job, rest, why);
        if (status != OK)
            return status == ERR_MEMORY ? arena_fail(scratch, err) : status;
    }
    parallel_for(s->threads, blocks, get_block, &job);
    for (size_t b = 0; b < blocks; b++)
        if ((*why = job.why[b]))
            return ERR_CORRUPT;
    return OK;
}
