/* symbols_get.c -- reads arrays of codes (symbols.h), block by block. */
#include "coder/indices.h"
#include "coder/symbols_parts.h"

/* A code without the magnitude bits that its class does not determine, and the number of these bits. */
typedef struct {
    uint32_t code, open;
} Class;

typedef struct {
    const Symbols *s;
    Form form;
    Table *table;     /* one table for all blocks, or one for each block */
    Bytes *body;      /* (blocks) the bytes of each block: low bits and stream */
    bool *bad;        /* (blocks) true: a block's stream is damaged */
    const uint8_t *planes;
    const Class *class; /* (alphabet) the classes of the symbols, if the form has classes */
} Job;

static size_t tables(const Job *job)
{
    return job->form.kind == KIND_OWN_TABLES ? blocks_of(job->s->n) : 1;
}

/* ---- tables and streams of rANS; tables are padded to whole bytes ---- */

/* The state of reading a stream of symbols in pieces. */
typedef struct {
    const Table *table;
    RansLanes lanes;
    Reader words;
} Stream;

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

/* Makes the reader's look-up table; returns false if memory runs out. */
static bool table_ready(Table *t, Arena *scratch)
{
    t->reader = arena_take(scratch, 1, rans_reader_size(&t->rans));
    if (t->reader)
        rans_reader(t->reader, &t->rans);
    return t->reader;
}

static bool symbols_stream_open(Stream *s, const Table *t, unsigned lanes, Bytes in)
{
    *s = (Stream){.table = t, .words = reader_open(in)};
    return rans_open(t->reader, &s->lanes, lanes, &s->words);
}

/* reads the next n symbols into bytes */
static bool symbols_stream_bytes(Stream *s, size_t n, uint8_t *symbol)
{
    return rans_pull(s->table->reader, &s->lanes, &s->words, n, symbol);
}

/* Does what symbols_stream_bytes does, for RANS_SEVERAL streams with one lane each; good[k] is the result of
 * stream k. */
static void several_bytes(Stream *const s[RANS_SEVERAL], size_t n, uint8_t *const symbol[RANS_SEVERAL],
                               bool good[RANS_SEVERAL])
{
    const RansReader *r[RANS_SEVERAL];
    RansLanes *lanes[RANS_SEVERAL];
    Reader *words[RANS_SEVERAL];
    for (int k = 0; k < RANS_SEVERAL; k++) {
        r[k] = s[k]->table->reader;
        lanes[k] = &s[k]->lanes;
        words[k] = &s[k]->words;
    }
    rans_pull_several(r, lanes, words, n, symbol, good);
}

/* reads the next n <= STRETCH symbols */
static bool symbols_stream_get(Stream *s, size_t n, uint16_t *symbol)
{
    const Rans *rans = &s->table->rans;
    uint8_t byte[STRETCH];
    if (!symbols_stream_bytes(s, n, byte))
        return false;
    for (size_t i = 0; i < n; i++)
        symbol[i] = rans_ranks(rans) ? rans->symbol[byte[i]] : byte[i];
    return true;
}

static bool symbols_stream_end(const Stream *s)
{
    return rans_ended(s->table->reader, &s->lanes, &s->words);
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

static const Class *class_table(const Job *job, Arena *scratch)
{
    const int lead = job->form.shift;
    const uint32_t alphabet = form_alphabet(job->s, &job->form);
    Class *class = NEW(scratch, Class, alphabet);
    for (uint32_t k = 0; k < alphabet && class; k++) {
        const uint32_t least = class_least(k / 2, lead);
        class[k] = (Class){least | (k & 1) << (job->s->width - 1), class_open(least, lead)};
    }
    return class;
}

static Status get_tables(Job *job, Bytes in, Arena *scratch, const char **why)
{
    const Symbols *s = job->s;
    const uint32_t alphabet = form_alphabet(s, &job->form);
    const bool own = job->form.kind == KIND_OWN_TABLES;
    job->class = job->form.classes ? class_table(job, scratch) : NULL;
    if (job->form.classes && !job->class)
        return ERR_MEMORY;
    *why = "a damaged table of symbols";
    if (!own && !table_get(alphabet, &job->table[0], &in))
        return ERR_CORRUPT;
    *why = "streams of symbols that are not as long as said";
    if (!find_bodies(job, in))
        return ERR_CORRUPT;
    *why = "a damaged table of symbols";
    for (size_t t = 0; t < tables(job); t++) {
        if (own && !table_get(alphabet, &job->table[t], &job->body[t]))
            return ERR_CORRUPT;
        if (!table_ready(&job->table[t], scratch))
            return ERR_MEMORY;
    }
    return OK;
}

/* ---- bodies: the low bits and the entropy-coded stream of a block ---- */

/* The state of reading the body (low bits and stream) of one block. */
typedef struct {
    Stream stream;
    /* used with classes (ranges of magnitudes): reads the bits of a magnitude that its class does not
     * determine */
    BitReader open;
    Bytes low; /* the low bits of the block's codes, which are sent as they are */
} Body;

static bool open_body(const Job *job, size_t b, Body *body)
{
    const Bytes in = job->body[b];
    Reader r = reader_open(in);
    const size_t low =
        job->form.classes ? take_u32(&r) : planes_size(block_size(job->s->n, b), job->form.shift);
    const uint8_t *data = take_bytes(&r, low);
    if (r.bad)
        return false;
    body->low = (Bytes){data, low};
    body->open = bits_reader(body->low);
    return symbols_stream_open(&body->stream, &job->table[tables(job) > 1 ? b : 0], form_lanes(&job->form),
                       (Bytes){r.at, reader_left(&r)});
}

static bool end_body(const Job *job, const Body *body)
{
    return symbols_stream_end(&body->stream) && (!job->form.classes || bits_finish(&body->open));
}

/* Takes the class's open bits from the upper end of `bits`, and returns the code. */
static inline uint32_t class_code(Class c, uint64_t *bits)
{
    const uint32_t code = c.code | (uint32_t)(*bits >> 1 >> (63 - c.open));
    *bits <<= c.open;
    return code;
}

/* Computes codes from symbols. A symbol is 2 * class + the highest bit of the code; a class is a range of
 * magnitudes. `open` reads the bits of each magnitude that its class does not determine: at most SYMBOLS_WIDTH - 2, so
 * that bits_peek returns those of three magnitudes. */
static void join_classes(const Class *class, const uint16_t *symbol, size_t n, BitReader *open,
                         uint32_t *code)
{
    BitReader r = *open;
    size_t i = 0;
    for (; i + 3 <= n; i += 3) {
        const Class a = class[symbol[i]], b = class[symbol[i + 1]], c = class[symbol[i + 2]];
        uint64_t bits = bits_peek(&r);
        code[i] = class_code(a, &bits);
        code[i + 1] = class_code(b, &bits);
        code[i + 2] = class_code(c, &bits);
        bits_skip(&r, a.open + b.open + c.open);
    }
    for (; i < n; i++)
        code[i] = class[symbol[i]].code | (uint32_t)bits_get(&r, class[symbol[i]].open);
    *open = r;
}

/* Sets the high bits of each code to its symbol; the low `shift` bits are already set. */
static void join_shift(const Job *job, const uint16_t *symbol, size_t n, size_t from, void *code)
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

static bool get_symbols(const Job *job, Body *body, size_t n, void *code)
{
    uint16_t symbol[STRETCH];
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < STRETCH ? n - i : STRETCH;
        if (!symbols_stream_get(&body->stream, some, symbol))
            return false;
        if (job->form.classes)
            join_classes(job->class, symbol, some, &body->open, (uint32_t *)code + i);
        else
            join_shift(job, symbol, some, i, code);
    }
    return true;
}

static bool get_low_planes(const Job *job, const Body *body, size_t n, void *code)
{
    const int shift = job->form.shift;
    const uint8_t *in = body->low.data;
    if (shift == 0) {
        memset(code, 0, symbols_wide(job->s) ? n * sizeof(uint32_t) : n);
        return true;
    }
    return symbols_wide(job->s) ? planes_get32(in, n, shift, code) : planes_get8(in, n, shift, code);
}

static bool get_codes(const Job *job, Body *body, size_t n, void *code)
{
    if (form_bytes(job->s, &job->form))
        return symbols_stream_bytes(&body->stream, n, code);
    return (job->form.classes || get_low_planes(job, body, n, code)) && get_symbols(job, body, n, code);
}

static void *block_codes(const Symbols *s, size_t block)
{
    return symbols_wide(s) ? (void *)block_words(s, block) : block_bytes(s, block);
}

static void get_block(const Job *job, size_t block)
{
    Body body;
    job->bad[block] = !open_body(job, block, &body) ||
                      !get_codes(job, &body, block_size(job->s->n, block), block_codes(job->s, block)) ||
                      !end_body(job, &body);
}

/* Does what get_block does, for RANS_SEVERAL whole blocks. If one cannot be opened, refuses all of them. */
static void get_several(const Job *job, size_t first)
{
    uint8_t *symbol[RANS_SEVERAL];
    Body body[RANS_SEVERAL];
    Stream *stream[RANS_SEVERAL];
    bool open = true, good[RANS_SEVERAL] = {false};
    for (size_t k = 0; k < RANS_SEVERAL; k++) {
        open &= open_body(job, first + k, &body[k]);
        stream[k] = &body[k].stream;
        symbol[k] = block_bytes(job->s, first + k);
    }
    if (open)
        several_bytes(stream, BLOCK, symbol, good);
    for (size_t k = 0; k < RANS_SEVERAL; k++)
        job->bad[first + k] = !good[k] || !end_body(job, &body[k]);
}

static void get_blocks(void *data, size_t group)
{
    const Job *job = data;
    const Blocks b = blocks_in(job->s, &job->form, group);
    if (b.several)
        get_several(job, b.first);
    else
        for (size_t block = b.first; block < b.end; block++)
            get_block(job, block);
}

static void get_planes(void *data, size_t block)
{
    const Job *job = data;
    const Symbols *s = job->s;
    const size_t n = block_size(s->n, block);
    const uint8_t *in = job->planes + planes_size(block * BLOCK, s->width);
    job->bad[block] = symbols_wide(s) ? !planes_get32(in, n, s->width, block_words(s, block))
                                      : !planes_get8(in, n, s->width, block_bytes(s, block));
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
        job.table = NEW(scratch, Table, tables(&job));
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
    for (size_t i = from; i < to; i++)
        set_code(s->code, s->width, i, o->common);
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
