/* symbols.c -- the writing half: which form is the shortest, and that form. */
#include "symbols_parts.h"

enum {
    LANES_16_FROM = 1 << 13,
    LANES_4_FROM = 1 << 11
}; /* bytes of a block's stream that pay for the states */

enum { CLASS_SYMBOLS = 1 << 12 }; /* at least those of the finest classes, at any width */
static const size_t ALL_BLOCKS = SIZE_MAX;

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
    uint32_t
        *class; /* (blocks, finest) how often each finest class occurs; finest is 0 where there are none */
    uint64_t *class_total;
    size_t finest;
    Form form;
    Table *table;  /* one, or one for each block */
    Table trial;   /* to find costs with */
    uint8_t *room; /* (blocks, room_size) */
    size_t room_size;
    size_t *size; /* (blocks) bytes at the end of each room */
    uint8_t *out; /* planes */
} Job;

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
    if (job->finest)
        classes_count(s, code, n, job->class + block * job->finest);
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

/* Counts of a form's symbols, over all blocks or in one; returns the bits that they leave open. */
static uint64_t form_counts(const Job *job, const Form *f, size_t block, uint64_t *count)
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

/* ---- choosing ---- */

/* The shift at which one table and its symbols are shortest: larger ones as long as they gain. Returns the
 * bits, low ones included. */
static uint64_t choose_shift(Job *job, uint64_t *count)
{
    const Symbols *s = job->s;
    uint64_t best = UINT64_MAX;
    for (int shift = shift_least(s); shift < s->width && shift <= SHIFT_MOST; shift++) {
        total_counts(job, shift, count);
        uint64_t bits = table_cost(job->s, alphabet_of(s, shift), count, &job->trial);
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

/* Classes where they are shorter than the best shift: more leading bits as long as they gain. */
static uint64_t choose_classes(Job *job, uint64_t shifted, uint64_t *count)
{
    const Symbols *s = job->s;
    const uint64_t lengths = 32 * (uint64_t)blocks_of(s->n);
    uint64_t best = UINT64_MAX;
    for (int lead = 0; lead <= CLASS_MOST && job->finest; lead++) {
        const Form form = {.classes = true, .shift = lead};
        uint64_t bits = form_counts(job, &form, ALL_BLOCKS, count) + lengths;
        const uint64_t symbols = table_cost(job->s, form_alphabet(s, &form), count, &job->trial);
        bits += symbols;
        if (symbols == UINT64_MAX || bits >= best)
            break;
        best = bits;
        if (bits < shifted)
            job->form = form;
    }
    return best < shifted ? best : shifted;
}

/* Tables of the blocks' own where they are shorter in all than one. */
static void choose_kind(Job *job, uint64_t one, uint64_t *count)
{
    const size_t blocks = blocks_of(job->s->n);
    const uint32_t alphabet = form_alphabet(job->s, &job->form);
    uint64_t own = job->form.classes ? 32 * (uint64_t)blocks : 0;
    for (size_t b = 0; b < blocks && blocks > 1; b++) {
        own += 7 + form_counts(job, &job->form, b, count);
        const uint64_t cost = table_cost(job->s, alphabet, count, &job->trial);
        own = cost == UINT64_MAX ? cost : own + cost;
        if (own == UINT64_MAX)
            break;
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
        form_counts(job, &job->form, job->form.kind == KIND_OWN_TABLES ? t : ALL_BLOCKS, count);
        if (table_cost(job->s, form_alphabet(job->s, &job->form), count, &job->table[t]) == UINT64_MAX)
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

/* A block's symbols, and what they leave open into `low`; returns the bytes of that. */
static size_t split(const Job *job, size_t block, uint16_t *symbol, uint8_t *low)
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
        return planes_size(n, shift);
    }
    s->make(s->data, block, code);
    if (job->form.classes)
        return classes_split(s, shift, code, n, symbol, low);
    for (size_t i = 0; i < n; i++)
        symbol[i] = (uint16_t)(code[i] >> shift);
    if (shift)
        planes_put32(code, n, shift, low);
    return planes_size(n, shift);
}

/* A block from the end of its room: the stream, the low bits, a table of its own. */
static void put_block(void *data, size_t block)
{
    Job *job = data;
    const size_t n = block_size(job->s->n, block), t = job->form.kind == KIND_OWN_TABLES ? block : 0;
    uint8_t *end = job->room + (block + 1) * job->room_size, *at = end;
    uint16_t symbol[BLOCK];
    uint8_t *bits = job->room + block * job->room_size; /* the low bits, until the stream's place is known */
    const size_t low = split(job, block, symbol, bits);
    at -= stream_put(job->s, &job->form, &job->table[t], symbol, n, at);
    at -= low;
    memmove(at, bits, low);
    if (job->form.kind == KIND_OWN_TABLES) {
        at -= table_size(job->s, &job->table[t]);
        table_put(job->s, &job->table[t], at, table_size(job->s, &job->table[t]));
    }
    job->size[block] = (size_t)(end - at);
}

/* Bytes of the blocks that have been written, and what stands before them. */
static size_t written(const Job *job)
{
    const size_t blocks = blocks_of(job->s->n);
    size_t bytes = 1 + (job->form.kind == KIND_ONE_TABLE ? table_size(job->s, &job->table[0]) : 0) +
                   (blocks > 1 ? 4 * blocks : 0);
    for (size_t b = 0; b < blocks; b++)
        bytes += job->size[b];
    return bytes;
}

static void join(const Job *job, Buf *out)
{
    const size_t blocks = blocks_of(job->s->n);
    buf_u8(out, form_byte(&job->form));
    if (job->form.kind == KIND_ONE_TABLE) {
        const size_t size = table_size(job->s, &job->table[0]);
        table_put(job->s, &job->table[0], buf_room(out, size), size);
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
        size_t size = own ? table_size(job->s, &job->table[t]) : 0;
        if (huffman)
            size += (huffman_longest(&job->table[t].huffman) * n + 7) / 8;
        most = size > most ? size : most;
    }
    return most + (huffman ? 0 : rans_most(n, RANS_LANES)) + 2 * low_most(job->s, &job->form, n);
}

static Status open_job(Job *job, const Symbols *s, Arena *scratch)
{
    const size_t blocks = blocks_of(s->n);
    *job = (Job){.s = s, .cells = alphabet_of(s, shift_least(s))};
    job->code = NEW(scratch, uint8_t, symbols_wide(s) ? 0 : s->n);
    job->count = NEW(scratch, uint32_t, blocks * job->cells);
    job->total = NEW_ZERO(scratch, uint64_t, job->cells);
    job->size = NEW(scratch, size_t, blocks);
    job->finest = s->coder == CODER_RANS && symbols_wide(s) ? class_alphabet(s, CLASS_MOST) : 0;
    job->class = NEW(scratch, uint32_t, blocks * job->finest);
    job->class_total = NEW_ZERO(scratch, uint64_t, job->finest);
    return job->code && job->count && job->total && job->size && job->class && job->class_total ? OK
                                                                                                : ERR_MEMORY;
}

/* The form, and where it is one of symbols, its blocks, each in its room. */
static Status write_symbols(Job *job, Arena *scratch)
{
    const Symbols *s = job->s;
    const size_t blocks = blocks_of(s->n), most = symbols_most(s->n, s->width);
    uint64_t *count = NEW(scratch, uint64_t, job->cells > job->finest ? job->cells : job->finest);
    if (!count ||
        !huffman_open(&job->trial.huffman, s->coder == CODER_HUFFMAN ? (uint32_t)job->cells : 1, scratch))
        return ERR_MEMORY;
    job->trial.starved = false;
    const uint64_t one = choose_classes(job, choose_shift(job, count), count);
    if (job->trial.starved)
        return ERR_MEMORY;
    if (one == UINT64_MAX || one / 8 >= most)
        return OK;
    choose_kind(job, one, count);
    if (job->trial.starved)
        return ERR_MEMORY;
    choose_lanes(job, one - form_counts(job, &job->form, ALL_BLOCKS, count));
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

static void add_up(Job *job)
{
    for (size_t b = 0; b < blocks_of(job->s->n); b++) {
        for (size_t c = 0; c < job->cells; c++)
            job->total[c] += job->count[b * job->cells + c];
        for (size_t c = 0; c < job->finest; c++)
            job->class_total[c] += job->class[b * job->finest + c];
    }
}

Status symbols_put(const Symbols *s, Buf *out, Arena *scratch, Error *err)
{
    Job job;
    const size_t blocks = blocks_of(s->n);
    assert(s->width >= 1 && s->width <= SYMBOLS_WIDTH);
    if (open_job(&job, s, scratch) != OK)
        return arena_fail(scratch, err);
    parallel_for(s->threads, blocks, count_block, &job);
    add_up(&job);
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
