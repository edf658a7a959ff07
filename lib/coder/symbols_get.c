/* symbols_get.c -- the reading half of symbols.h. */
#include "coder/symbols_parts.h"

typedef struct {
    const Symbols *s;
    const Coder *coder;
    Form form;
    Table *table;     /* one, or one for each block */
    Bytes *body;      /* (bodies) low bits and stream */
    const char **why; /* (blocks) NULL: good */
    const uint8_t *planes;
} Job;

static size_t tables(const Job *job)
{
    return job->form.kind == KIND_OWN_TABLES ? blocks_of(job->s->n) : 1;
}

/* Blocks that have lengths and streams of their own: all, or one of all codes. */
static size_t bodies(const Job *job)
{
    return job->form.whole ? 1 : blocks_of(job->s->n);
}

/* ---- heads ---- */

static bool lanes_get(Job *job, unsigned lanes)
{
    job->form.whole = lanes == LANES_WHOLE;
    job->form.lanes_log4 = job->form.whole ? 0 : lanes;
    if (!job->coder->many)
        return lanes == 0;
    return !job->form.whole || (blocks_of(job->s->n) > 1 && job->form.kind == KIND_ONE_TABLE);
}

static bool form_get(Job *job, unsigned byte)
{
    const Symbols *s = job->s;
    job->form = (Form){.kind = byte & 3, .shift = (int)(byte >> 4)};
    if (job->form.kind == KIND_PLANES)
        return byte == KIND_PLANES;
    if (job->form.kind == KIND_CLASSES) {
        job->form.classes = true;
        job->form.kind = job->form.shift & CLASS_OWN ? KIND_OWN_TABLES : KIND_ONE_TABLE;
        job->form.shift &= CLASS_MOST;
    }
    const bool good = job->form.classes ? symbols_wide(s) && job->coder->many
                                        : job->form.shift >= shift_least(s) && job->form.shift < s->width;
    return good && lanes_get(job, byte >> 2 & 3) && (job->form.kind == KIND_ONE_TABLE || blocks_of(s->n) > 1);
}

/* Where each body stands; false when their lengths do not add up to what is there. */
static bool find_bodies(Job *job, Bytes in)
{
    const size_t count = bodies(job);
    uint64_t at = count > 1 ? 4 * (uint64_t)count : 0;
    if (in.size < at)
        return false;
    for (size_t b = 0; b < count; b++) {
        const size_t size = count > 1 ? load_u32(in.data + 4 * b) : in.size;
        if (size > in.size - at)
            return false;
        job->body[b] = (Bytes){in.data + at, size};
        at += size;
    }
    return at == in.size;
}

static Status get_tables(Job *job, Bytes in, Arena *scratch, const char **why)
{
    const Symbols *s = job->s;
    const uint32_t alphabet = form_alphabet(s, &job->form);
    const bool own = job->form.kind == KIND_OWN_TABLES;
    for (size_t t = 0; t < tables(job); t++)
        if (!job->coder->open(&job->table[t], alphabet, scratch))
            return ERR_MEMORY;
    *why = "a damaged table of symbols";
    if (!own && !table_get(s, alphabet, &job->table[0], &in))
        return ERR_CORRUPT;
    *why = "streams of symbols that are not as long as said";
    if (!find_bodies(job, in))
        return ERR_CORRUPT;
    *why = "a damaged table of symbols";
    for (size_t t = 0; t < tables(job); t++) {
        if (own && !table_get(s, alphabet, &job->table[t], &job->body[t]))
            return ERR_CORRUPT;
        if (!job->coder->ready(&job->table[t], s->n, scratch))
            return ERR_MEMORY;
    }
    return OK;
}

/* ---- bodies ---- */

/* What a body says, on the way from block to block. */
typedef struct {
    Stream stream;
    BitReader open; /* of classes */
    Bytes low;      /* planes */
} Body;

static bool open_body(const Job *job, size_t b, Body *body)
{
    const Bytes in = job->body[b];
    const size_t n = job->form.whole ? job->s->n : block_size(job->s->n, b);
    Reader r = reader_open(in);
    const size_t low = job->form.classes ? take_u32(&r) : planes_size(n, job->form.shift);
    const uint8_t *data = take_bytes(&r, low);
    if (r.bad)
        return false;
    body->low = (Bytes){data, low};
    body->open = bits_reader(body->low);
    return job->coder->stream_open(&body->stream, &job->table[job->form.kind == KIND_OWN_TABLES ? b : 0],
                                   form_lanes(&job->form), (Bytes){r.at, reader_left(&r)});
}

static bool end_body(const Job *job, const Body *body)
{
    return job->coder->stream_end(&body->stream) && (!job->form.classes || bits_finish(&body->open));
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

/* The next n symbols become codes. */
static bool body_symbols(const Job *job, Body *body, size_t n, void *code)
{
    uint16_t symbol[STRETCH + HUFFMAN_SLACK];
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < STRETCH ? n - i : STRETCH;
        if (!job->coder->stream_get(&body->stream, some, symbol))
            return false;
        if (job->form.classes)
            classes_join(job->s, job->form.shift, symbol, some, &body->open, (uint32_t *)code + i);
        else
            join(job, symbol, some, i, code);
    }
    return true;
}

/* Planes of a block's low bits, off the front of the body's. */
static bool body_planes(const Job *job, Body *body, size_t n, void *code)
{
    const int shift = job->form.shift;
    const uint8_t *in = body->low.data;
    if (shift == 0) {
        memset(code, 0, symbols_wide(job->s) ? n * sizeof(uint32_t) : n);
        return true;
    }
    body->low.data += planes_size(n, shift);
    return symbols_wide(job->s) ? planes_get32(in, n, shift, code) : planes_get8(in, n, shift, code);
}

/* The next n codes, bytes or words; false for a damaged stream. */
static bool body_codes(const Job *job, Body *body, size_t n, void *code)
{
    const bool bytes = !symbols_wide(job->s) && job->form.shift == 0;
    if (bytes && job->coder->stream_bytes)
        return job->coder->stream_bytes(&body->stream, n, code);
    return (job->form.classes || body_planes(job, body, n, code)) && body_symbols(job, body, n, code);
}

static const char *take(const Job *job, bool good, size_t block, const void *code)
{
    return !good                                     ? "a damaged stream of symbols"
           : job->s->take(job->s->data, block, code) ? NULL
                                                     : "levels that no encoder writes";
}

static void get_block(void *data, size_t block)
{
    const Job *job = data;
    uint32_t code[BLOCK];
    Body body;
    const bool good = open_body(job, block, &body) &&
                      body_codes(job, &body, block_size(job->s->n, block), code) && end_body(job, &body);
    job->why[block] = take(job, good, block, code);
}

static void get_planes(void *data, size_t block)
{
    const Job *job = data;
    const Symbols *s = job->s;
    const size_t n = block_size(s->n, block);
    const uint8_t *in = job->planes + planes_size(block * BLOCK, s->width);
    uint32_t code[BLOCK];
    const bool good =
        symbols_wide(s) ? planes_get32(in, n, s->width, code) : planes_get8(in, n, s->width, (uint8_t *)code);
    job->why[block] = take(job, good, block, code);
}

/* All blocks, one after the other. */
static void get_whole(const Job *job)
{
    const size_t blocks = blocks_of(job->s->n);
    uint32_t code[BLOCK];
    Body body;
    bool good = open_body(job, 0, &body);
    for (size_t b = 0; b < blocks; b++) {
        good = good && body_codes(job, &body, block_size(job->s->n, b), code);
        if (b + 1 == blocks)
            good = good && end_body(job, &body);
        job->why[b] = take(job, good, b, code);
    }
}

/* ---- all ---- */

Status symbols_get(const Symbols *s, Bytes in, Arena *scratch, Error *err, const char **why)
{
    const size_t blocks = blocks_of(s->n);
    if (in.size > 0 && is_sparse(in.data[0]))
        return symbols_get_sparse(s, in, scratch, err, why);
    Job job = {.s = s, .coder = symbols_coder(s)};
    job.body = NEW(scratch, Bytes, blocks);
    job.why = NEW(scratch, const char *, blocks);
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
        parallel_for(s->threads, blocks, get_planes, &job);
    } else {
        job.table = NEW(scratch, Table, tables(&job));
        const Status status = job.table ? get_tables(&job, rest, scratch, why) : ERR_MEMORY;
        if (status != OK)
            return status == ERR_MEMORY ? arena_fail(scratch, err) : status;
        if (job.form.whole)
            get_whole(&job);
        else
            parallel_for(s->threads, blocks, get_block, &job);
    }
    for (size_t b = 0; b < blocks; b++)
        if ((*why = job.why[b]))
            return ERR_CORRUPT;
    return OK;
}
