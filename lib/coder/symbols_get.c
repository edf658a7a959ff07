/* symbols_get.c -- reads arrays of codes (symbols.h), block by block. */
#include "coder/indices.h"
#include "coder/symbols_parts.h"

typedef struct {
    const Symbols *s;
    Form form;
    Table *table;     /* one table for all blocks, or one for each block */
    Bytes *body;      /* (blocks) the bytes of each block: low bits and stream */
    bool *bad;        /* (blocks) true: a block's stream is damaged */
    const uint8_t *planes;
} Job;

/* ---- tables and streams of rANS; tables are padded to whole bytes ---- */

enum {
    STRETCH = 4096
}; /* symbols read at a time: they fit the first-level cache, and are a multiple of the rANS lanes */

/* Reads a table and its padding from the start of `in`, and removes them from `in`; false for a damaged
 * table. */
static bool table_get(uint32_t alphabet, Table *t, Bytes *in)
{
    BitReader r = bits_reader(*in);
    if (!rans_table_get(&t->rans, alphabet, &r))
        return false;
    if (bits_get(&r, (unsigned)(-r.at & 7)) != 0 || r.bad)
        return false;
    in->data += r.at / 8;
    in->size -= (size_t)(r.at / 8);
    return true;
}

/* Makes the look-up tables of a table that has been read; returns false if memory runs out. */
static bool table_ready(const Job *job, Table *t, Arena *scratch)
{
    const Rans *r = &t->rans;
    const int shift = job->form.shift;
    t->reader = arena_take(scratch, 1, rans_reader_size(r));
    t->part = NEW_ZERO(scratch, Part, RANS_BYTES);
    if (!t->reader || !t->part)
        return false;
    rans_reader(t->reader, r);
    for (uint32_t k = 0; k < r->present; k++) {
        const uint32_t symbol = r->symbol[k], least = job->form.classes ? class_least(symbol / 2, shift) : 0;
        t->part[rans_byte(r, k)] =
            job->form.classes ? (Part){least | (symbol & 1) << (job->s->width - 1), class_open(least, shift)}
                              : (Part){symbol << shift, 0};
    }
    return true;
}

/* ---- reading the form byte, the tables and the block lengths ---- */

static bool form_get(Job *job, unsigned byte)
{
    const Symbols *s = job->s;
    const unsigned lanes = byte >> 2 & 3;
    job->form = (Form){.kind = byte & 3, .shift = (int)(byte >> 4), .lanes_log4 = lanes};
    if (job->form.kind == KIND_PLANES)
        return byte == KIND_PLANES;
    if (job->form.kind == KIND_CLASSES) {
        job->form.classes = true;
        job->form.kind = job->form.shift & CLASS_OWN_TABLES ? KIND_OWN_TABLES : KIND_ONE_TABLE;
        job->form.shift &= CLASS_LEAD_MOST;
    }
    const bool good = job->form.classes ? symbols_wide(s)
                                        : job->form.shift >= shift_least(s) && job->form.shift < s->width;
    return good && lanes <= 2 && (job->form.kind == KIND_ONE_TABLE || blocks_of(s->n) > 1);
}

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

static Status get_tables(Job *job, Bytes in, Arena *scratch, const char **why)
{
    const Symbols *s = job->s;
    const uint32_t alphabet = form_alphabet(s, &job->form);
    const bool own = job->form.kind == KIND_OWN_TABLES;
    *why = "a damaged table of symbols";
    if (!own && !table_get(alphabet, &job->table[0], &in))
        return ERR_CORRUPT;
    *why = "streams of symbols that are not as long as said";
    if (!find_bodies(job, in))
        return ERR_CORRUPT;
    *why = "a damaged table of symbols";
    for (size_t t = 0; t < form_tables(job->s, &job->form); t++) {
        if (own && !table_get(alphabet, &job->table[t], &job->body[t]))
            return ERR_CORRUPT;
        if (!table_ready(job, &job->table[t], scratch))
            return ERR_MEMORY;
    }
    return OK;
}

/* ---- bodies: the low bits and the entropy-coded stream of a block ---- */

/* The state of reading the body (low bits and stream) of one block. */
typedef struct {
    const Table *table;
    RansLanes lanes;
    Reader words;
    /* used with classes (ranges of magnitudes): reads the bits of a magnitude that its class does not
     * determine */
    BitReader open;
    uint8_t byte[STRETCH]; /* the bytes of a stream, where they are not the codes */
} Body;

/* Sets the low bits of the codes, which are sent as they are, and the others to 0. */
static bool get_low_planes(const Job *job, const uint8_t *in, size_t n, void *code)
{
    const int shift = job->form.shift;
    if (shift == 0) {
        memset(code, 0, symbols_wide(job->s) ? n * sizeof(uint32_t) : n);
        return true;
    }
    return planes_get(in, n, shift, code, symbols_wide(job->s));
}

static bool open_body(const Job *job, size_t b, Body *body)
{
    const Form *f = &job->form;
    const size_t n = block_size(job->s->n, b);
    Reader *r = &body->words;
    *r = reader_open(job->body[b]);
    const size_t low = f->classes ? take_u32(r) : planes_size(n, f->shift);
    const uint8_t *data = take_bytes(r, low);
    if (r->bad)
        return false;
    body->open = bits_reader((Bytes){data, low});
    body->table = &job->table[form_tables(job->s, &job->form) > 1 ? b : 0];
    return rans_open(body->table->reader, &body->lanes, form_lanes(f), r) &&
           (f->classes || form_bytes(job->s, f) || get_low_planes(job, data, n, codes_at(job->s, b * BLOCK)));
}

static bool end_body(const Job *job, const Body *body)
{
    return rans_ended(body->table->reader, &body->lanes, &body->words) &&
           (!job->form.classes || bits_finish(&body->open));
}

/* Takes the class's open bits from the upper end of `bits`, and returns the code. */
static inline uint32_t class_code(Part c, uint64_t *bits)
{
    const uint32_t code = c.code | (uint32_t)(*bits >> 1 >> (63 - c.open));
    *bits <<= c.open;
    return code;
}

/* Computes codes from bytes. `open` reads the bits of each magnitude that its class does not determine: at most
 * SYMBOLS_WIDTH - 2, so that bits_peek returns those of three magnitudes. */
static void join_classes(const Part *part, const uint8_t *byte, size_t n, BitReader *open, uint32_t *code)
{
    BitReader r = *open;
    size_t i = 0;
    for (; i + 3 <= n; i += 3) {
        const Part a = part[byte[i]], b = part[byte[i + 1]], c = part[byte[i + 2]];
        uint64_t bits = bits_peek(&r);
        code[i] = class_code(a, &bits);
        code[i + 1] = class_code(b, &bits);
        code[i + 2] = class_code(c, &bits);
        bits_skip(&r, a.open + b.open + c.open);
    }
    for (; i < n; i++)
        code[i] = part[byte[i]].code | (uint32_t)bits_get(&r, part[byte[i]].open);
    *open = r;
}

/* Sets the high bits of the codes; the low bits are already set. */
static void join_shift(const Job *job, const Part *part, const uint8_t *byte, size_t n, void *code)
{
    if (symbols_wide(job->s))
        for (size_t i = 0; i < n; i++)
            ((uint32_t *)code)[i] |= part[byte[i]].code;
    else
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)code)[i] |= (uint8_t)part[byte[i]].code;
}

static void join(const Job *job, Body *body, size_t n, void *code)
{
    if (job->form.classes)
        join_classes(body->table->part, body->byte, n, &body->open, code);
    else if (!form_bytes(job->s, &job->form))
        join_shift(job, body->table->part, body->byte, n, code);
}

/* Reads the next n codes, from `from` on, of each of `count` blocks; clears good[k] if block k is damaged. */
static void get_stretch(const Job *job, size_t first, size_t count, size_t from, size_t n, Body *body, bool *good)
{
    const RansReader *reader[RANS_SEVERAL];
    RansLanes *lanes[RANS_SEVERAL];
    Reader *words[RANS_SEVERAL];
    uint8_t *byte[RANS_SEVERAL];
    for (size_t k = 0; k < count; k++) {
        reader[k] = body[k].table->reader;
        lanes[k] = &body[k].lanes;
        words[k] = &body[k].words;
        byte[k] = form_bytes(job->s, &job->form) ? codes_at(job->s, (first + k) * BLOCK + from) : body[k].byte;
    }
    rans_pull_several(reader, lanes, words, count, n, byte, good);
    for (size_t k = 0; k < count; k++)
        if (good[k])
            join(job, &body[k], n, codes_at(job->s, (first + k) * BLOCK + from));
}

/* Reads blocks of n codes each. If one is damaged, it is marked as bad, and others may be. */
static void get_some(const Job *job, size_t first, size_t count, size_t n)
{
    Body body[RANS_SEVERAL];
    bool good[RANS_SEVERAL], all = true;
    for (size_t k = 0; k < count; k++)
        all &= open_body(job, first + k, &body[k]);
    for (size_t i = 0, some; i < n && all; i += some) {
        some = n - i < STRETCH ? n - i : STRETCH;
        get_stretch(job, first, count, i, some, body, good);
        for (size_t k = 0; k < count; k++)
            all &= good[k];
    }
    for (size_t k = 0; k < count; k++)
        job->bad[first + k] = !all || !end_body(job, &body[k]);
}

static void get_blocks(void *data, size_t group)
{
    const Job *job = data;
    const Blocks b = blocks_in(job->s, &job->form, group);
    if (b.whole)
        get_some(job, b.first, b.end - b.first, BLOCK);
    else
        for (size_t block = b.first; block < b.end; block++)
            get_some(job, block, 1, block_size(job->s->n, block));
}

static void get_planes(void *data, size_t block)
{
    const Job *job = data;
    const Symbols *s = job->s;
    job->bad[block] = !planes_get(job->planes + planes_size(block * BLOCK, s->width), block_size(s->n, block), s->width,
                                  codes_at(s, block * BLOCK), symbols_wide(s));
}

/* ---- reading all blocks ---- */

static Status symbols_get_dense(const Symbols *s, Bytes in, Arena *scratch, Error *err, const char **why)
{
    const size_t blocks = blocks_of(s->n);
    Job job = {.s = s};
    job.body = NEW(scratch, Bytes, blocks);
    job.bad = NEW(scratch, bool, blocks);
    TRY(arena_check(job.body && job.bad, scratch, err));
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
        job.table = NEW(scratch, Table, form_tables(s, &job.form));
        const Status status = job.table ? get_tables(&job, rest, scratch, why) : ERR_MEMORY;
        if (status != OK)
            return status == ERR_MEMORY ? arena_fail(scratch, err) : status;
        parallel_for(s->threads, block_groups(s, &job.form), get_blocks, &job);
    }
    *why = "a damaged stream of symbols";
    for (size_t b = 0; b < blocks; b++)
        if (job.bad[b])
            return ERR_CORRUPT;
    return OK;
}

/* ---- the sparse form ---- */

/* The common (most frequent) code, and the codes that differ from it. */
typedef struct {
    const Symbols *s;
    uint32_t common;
    void *code;
    Places places; /* where the codes are that differ */
} Others;

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
    if (!symbols_wide(s))
        memset((uint8_t *)s->code + from, (int)o->common, to - from);
    for (size_t i = from; i < to && symbols_wide(s); i++)
        ((uint32_t *)s->code)[i] = o->common;
    for (size_t i = places->before[block]; i < places->before[block + 1]; i++)
        set_code(s->code, s->width, from + places->at[i], code_at(o->code, s->width, i));
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
    o.code = codes_take(count, s->width, scratch);
    TRY(arena_check(o.code, scratch, err));
    const Symbols others = {.n = count, .width = s->width, .threads = s->threads, .code = o.code};
    TRY(symbols_get_dense(&others, (Bytes){r.at, reader_left(&r)}, scratch, err, why));
    *why = "levels that no encoder writes";
    for (size_t i = 0; i < count; i++)
        if (code_at(o.code, s->width, i) == o.common)
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
