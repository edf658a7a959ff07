/* symbols_put.c -- writes arrays of codes (symbols.h). Counts codes, chooses the shortest form, and writes the codes block by
 * block; or sends only the codes that differ from the most frequent code, and their positions. */
#include "coder/indices.h"
#include "coder/symbols_parts.h"
#include "math/log_series.h"
#include "math/vec/kernels.h"

#include <math.h>

size_t symbols_most(size_t n, int width)
{
    return 1 + planes_size(n, width);
}

/* ---- dense forms: kinds 0 to 3 of symbols.h, all forms but the sparse one ---- */

typedef struct {
    const Symbols *s;
    /* (blocks, cells) how often each of the `cells` values of code >> shift_least occurs in each block */
    uint32_t *count;
    size_t cells;
    uint64_t *total; /* (cells) how often each value of code >> shift_least occurs in all blocks */
    /* (blocks, finest) how often each symbol occurs in each block, if magnitudes are split into the finest
     * classes (class_of with lead = CLASS_LEAD_MOST) */
    uint32_t *class;
    uint64_t *class_total; /* (finest) the counts in `class` added up over all blocks */
    size_t finest;         /* number of symbols with these finest classes; 0: no form with classes is tried */
    uint64_t *spare; /* (alphabet) working memory: counts of the symbols of the form that is being tried */
    Form form;       /* the shortest form */
    uint64_t bits;   /* estimated bits of the shortest form */
    Table *table;    /* one table for all blocks, or one for each block */
    Table trial;     /* a table that is built only to estimate sizes */
    uint8_t *room;   /* (blocks, room_size) room for the bytes of each block */
    size_t room_size;
    /* (blocks) number of bytes written for each block; they are the last bytes of the block's part of `room` */
    size_t *size;
    uint8_t *out; /* where the bit planes are written */
} DensePlan;

static const size_t ALL_BLOCKS = SIZE_MAX;

/* ---- tables and streams of rANS; tables are padded to whole bytes ---- */

static size_t table_size(const Table *t)
{
    return (size_t)((rans_table_put(&t->rans, NULL) + 7) / 8);
}

/* Builds the best table in t for symbols with these counts; returns the table's bits plus the bits of all counted
 * symbols, or UINT64_MAX if there are too many different symbols. */
static uint64_t table_cost(uint32_t alphabet, const uint64_t *count, Table *t)
{
    return rans_build(&t->rans, alphabet, count) ? rans_bits(&t->rans, count, 0) + 8 * (uint64_t)table_size(t)
                                                 : UINT64_MAX;
}

static void table_put(const Table *t, uint8_t *to)
{
    BitWriter w = bits_writer(to, table_size(t));
    rans_table_put(&t->rans, &w);
    bits_close(&w);
    assert(!w.full);
}

/* Converts symbols to the bytes that a rANS stream codes. If every symbol of the alphabet fits in a byte, these
 * are the symbols themselves. Otherwise (rans_ranks) a symbol becomes its index in the list of the symbols that
 * occur. */
static void symbols_to_bytes(const Table *t, const uint16_t *symbol, size_t n, uint8_t *byte)
{
    uint8_t rank[RANS_ALPHABET];
    if (!rans_ranks(&t->rans)) {
        for (size_t i = 0; i < n; i++)
            byte[i] = (uint8_t)symbol[i];
        return;
    }
    for (uint32_t k = 0; k < t->rans.present; k++)
        rank[t->rans.symbol[k]] = (uint8_t)rans_byte(&t->rans, k);
    for (size_t i = 0; i < n; i++)
        byte[i] = rank[symbol[i]];
}

/* Writes a stream so that it ends at `end`; returns its bytes. */
static size_t stream_put(const Table *t, unsigned lanes, const uint8_t *byte, size_t n, uint8_t *end)
{
    RansWriter w;
    rans_writer(&w, &t->rans);
    return rans_put(&w, lanes, byte, n, end);
}

/* ---- counts ---- */

/* upper bound on the number of symbols for codes of any width, when magnitudes are split into the finest
 * classes */
enum { CLASS_SYMBOLS = 1 << 12 };

/* Increments of one counter wait for each other. So codes that follow each other count in TURNS counters, which
 * are added up at the end. */
enum { TURNS = 8, TURN_CELLS = 1 << 10, BYTE_CELLS = 1 << BYTE_WIDTH };

static void add_turns(const uint32_t *turn, size_t cells, uint32_t *count)
{
    memset(count, 0, cells * sizeof *count);
    for (size_t k = 0; k < TURNS; k++)
        for (size_t c = 0; c < cells; c++)
            count[c] += turn[k * cells + c];
}

static void count_bytes(const uint8_t *code, size_t n, uint32_t *count, size_t cells)
{
    uint32_t turn[TURNS * BYTE_CELLS] = {0};
    size_t i = 0;
    for (; i + TURNS <= n; i += TURNS) {
        const uint64_t eight = load_u64(code + i);
        for (size_t k = 0; k < TURNS; k++)
            turn[k * cells + (eight >> 8 * k & 0xff)]++;
    }
    for (; i < n; i++)
        turn[code[i]]++;
    add_turns(turn, cells, count);
}

/* Counts code >> shift. */
static void count_words(const uint32_t *code, size_t n, int shift, uint32_t *count, size_t cells)
{
    uint32_t turn[TURNS * TURN_CELLS];
    size_t i = 0;
    memset(count, 0, cells * sizeof *count);
    if (cells <= TURN_CELLS) {
        memset(turn, 0, TURNS * cells * sizeof *turn);
        for (; i + TURNS <= n; i += TURNS)
            for (size_t k = 0; k < TURNS; k++)
                turn[k * cells + (code[i + k] >> shift)]++;
        add_turns(turn, cells, count);
    }
    for (; i < n; i++)
        count[code[i] >> shift]++;
}

static void count_block(void *data, size_t block)
{
    const DensePlan *p = data;
    const Symbols *s = p->s;
    const size_t n = block_size(s->n, block);
    uint32_t *count = p->count + block * p->cells, *class = p->class + block * p->finest;
    if (!symbols_wide(s)) {
        count_bytes(codes_at(s, block * BLOCK), n, count, p->cells);
        return;
    }
    const uint32_t *code = codes_at(s, block * BLOCK);
    count_words(code, n, shift_least(s), count, p->cells);
    memset(class, 0, p->finest * sizeof *class);
    if (shift_least(s) == 0) {
        for (uint32_t c = 0; c < p->cells && p->finest; c++)
            class[class_symbol(s, c, CLASS_LEAD_MOST)] += count[c];
        return;
    }
    for (size_t i = 0; i < n && p->finest; i++)
        class[class_symbol(s, code[i], CLASS_LEAD_MOST)]++;
}

/* Adds up the counts of the finest classes to the counts of coarser classes, which have only `lead` bits below
 * the highest set bit. Returns the number of magnitude bits that the class does not determine, and that are
 * sent unchanged. */
static uint64_t merge_classes(const DensePlan *p, const uint64_t *finest, int lead, uint64_t *count)
{
    uint64_t open = 0;
    memset(count, 0, class_alphabet(p->s, lead) * sizeof *count);
    for (uint32_t symbol = 0; symbol < p->finest; symbol++) {
        const uint32_t least = class_least(symbol / 2, CLASS_LEAD_MOST);
        count[2 * class_of(least, lead) + (symbol & 1)] += finest[symbol];
        open += finest[symbol] * class_open(least, lead);
    }
    return open;
}

/* Sets `count` to the counts of the symbols of form f in a block, or in all blocks (ALL_BLOCKS); returns the
 * number of low bits that are sent unchanged with these symbols. */
static uint64_t symbols_counts(const DensePlan *p, const Form *f, size_t block, uint64_t *count)
{
    const bool all = block == ALL_BLOCKS;
    if (f->classes) {
        uint64_t finest[CLASS_SYMBOLS];
        for (size_t c = 0; c < p->finest; c++)
            finest[c] = all ? p->class_total[c] : p->class[block * p->finest + c];
        return merge_classes(p, finest, f->shift, count);
    }
    size_t cells = p->cells;
    for (size_t c = 0; c < cells; c++)
        count[c] = all ? p->total[c] : p->count[block * p->cells + c];
    for (int k = shift_least(p->s); k < f->shift; k++, cells /= 2)
        for (size_t c = 0; c < cells / 2; c++)
            count[c] = count[2 * c] + count[2 * c + 1];
    return (uint64_t)f->shift * (all ? p->s->n : block_size(p->s->n, block));
}

static Status count_codes(DensePlan *p, Arena *scratch)
{
    const Symbols *s = p->s;
    const size_t blocks = blocks_of(s->n);
    p->cells = (size_t)1 << (s->width - shift_least(s));
    p->finest = symbols_wide(s) ? class_alphabet(s, CLASS_LEAD_MOST) : 0;
    p->count = NEW(scratch, uint32_t, blocks * p->cells);
    p->total = NEW_ZERO(scratch, uint64_t, p->cells);
    p->class = NEW(scratch, uint32_t, blocks * p->finest);
    p->class_total = NEW_ZERO(scratch, uint64_t, p->finest);
    p->spare = NEW(scratch, uint64_t, p->cells > p->finest ? p->cells : p->finest);
    p->size = NEW(scratch, size_t, blocks);
    if (!p->count || !p->total || !p->class || !p->class_total || !p->spare || !p->size)
        return ERR_MEMORY;
    parallel_for(s->threads, blocks, count_block, p);
    for (size_t b = 0; b < blocks; b++) {
        for (size_t c = 0; c < p->cells; c++)
            p->total[c] += p->count[b * p->cells + c];
        for (size_t c = 0; c < p->finest; c++)
            p->class_total[c] += p->class[b * p->finest + c];
    }
    return OK;
}

/* ---- choosing the shortest form ---- */

/* the least bytes of a block's stream for which 16 or 4 rANS lanes (coder states) are used: in a shorter stream
 * the states would take too large a share */
enum { LANES_16_FROM = 10 << 10, LANES_4_FROM = 5 << 10 };
/* The search for the shortest form ends when more than PATIENCE forms in a row are not shorter than the
 * shortest so far. Several forms are tried because sizes are not smooth functions of the form's parameters. */
enum { PATIENCE = 2 };
enum { LENGTH_BITS = 32, STATE_BITS = 24, PADDING_BITS = 7, SLACK = 64 };

/* Sets a form's number of rANS lanes (coder states). `symbols`: the bits of the table and of all symbols.
 * Returns the bits that coder states and lengths take in one block. */
static uint64_t choose_lanes(const DensePlan *p, uint64_t symbols, Form *f)
{
    const uint64_t blocks = blocks_of(p->s->n), each = blocks ? symbols / 8 / blocks : 0;
    f->lanes_log4 = each >= LANES_16_FROM ? 2 : each >= LANES_4_FROM ? 1 : 0;
    return STATE_BITS * form_lanes(f) + (blocks > 1 ? LENGTH_BITS : 0) + (f->classes ? LENGTH_BITS : 0);
}

/* The state of a search for the shortest form. The search tries growing shifts (number of low bits outside the
 * symbol), or growing leads (number of leading magnitude bits in the symbol). */
typedef struct {
    uint64_t best;
    int worse; /* number of forms tried since the best form */
} Search;

/* Tries a form with one table, and puts it into the plan if it is shorter than the plan's form. Returns false
 * when the search should end. */
static bool try_form(DensePlan *p, Form form, Search *family)
{
    const uint64_t low = symbols_counts(p, &form, ALL_BLOCKS, p->spare),
                   symbols = table_cost(form_alphabet(p->s, &form), p->spare, &p->trial);
    if (symbols == UINT64_MAX)
        return family->best == UINT64_MAX;
    const uint64_t bits = symbols + low + blocks_of(p->s->n) * choose_lanes(p, symbols, &form);
    if (bits < p->bits) {
        p->bits = bits;
        p->form = form;
    }
    if (bits >= family->best)
        return ++family->worse <= PATIENCE;
    *family = (Search){.best = bits};
    return true;
}

static void choose_symbols(DensePlan *p)
{
    const Symbols *s = p->s;
    Search shifts = {.best = UINT64_MAX}, classes = shifts;
    for (int shift = shift_least(s); shift < s->width && shift <= SHIFT_MOST; shift++)
        if (!try_form(p, (Form){.kind = KIND_ONE_TABLE, .shift = shift}, &shifts) || s->quick)
            break;
    for (int lead = 0; lead <= CLASS_LEAD_MOST && p->finest; lead++)
        if (!try_form(p, (Form){.kind = KIND_ONE_TABLE, .shift = lead, .classes = true}, &classes))
            break;
}

static void choose_tables(DensePlan *p)
{
    const size_t blocks = blocks_of(p->s->n);
    const Form *f = &p->form;
    uint64_t own = blocks * (PADDING_BITS + LENGTH_BITS * (uint64_t)(f->classes ? 2 : 1) + STATE_BITS * form_lanes(f));
    for (size_t b = 0; b < blocks && own < p->bits; b++) {
        const uint64_t low = symbols_counts(p, f, b, p->spare),
                       cost = table_cost(form_alphabet(p->s, f), p->spare, &p->trial);
        own = cost == UINT64_MAX ? cost : own + cost + low;
    }
    if (blocks == 1 || own >= p->bits)
        return;
    p->form.kind = KIND_OWN_TABLES;
    p->bits = own;
}

/* Counts the codes and chooses the form with the fewest estimated bits. */
static Status symbols_plan(DensePlan *p, const Symbols *s, Arena *scratch)
{
    *p = (DensePlan){.s = s, .bits = UINT64_MAX};
    TRY(count_codes(p, scratch));
    choose_symbols(p);
    /* Bit planes are chosen if the form's estimated size exceeds their exact size by SLACK bytes or more.
     * Otherwise the form is written, and its exact size is then compared with the size of bit planes. */
    if (p->bits / 8 >= symbols_most(s->n, s->width) + SLACK)
        p->form = (Form){.kind = KIND_PLANES};
    else
        choose_tables(p);
    return OK;
}

static Status make_tables(DensePlan *p, Arena *scratch)
{
    const Symbols *s = p->s;
    const uint32_t alphabet = form_alphabet(s, &p->form);
    p->table = NEW(scratch, Table, form_tables(p->s, &p->form));
    if (!p->table)
        return ERR_MEMORY;
    for (size_t t = 0; t < form_tables(p->s, &p->form); t++) {
        symbols_counts(p, &p->form, form_tables(p->s, &p->form) > 1 ? t : ALL_BLOCKS, p->spare);
        if (table_cost(alphabet, p->spare, &p->table[t]) == UINT64_MAX)
            return ERR_MEMORY;
    }
    return OK;
}

/* ---- blocks ---- */

/* Splits codes into symbols (classes of magnitudes) and the magnitude bits that a class does not determine.
 * Writes the length of these bits in bytes, then the bits, to `low`. Returns the bytes written. */
static size_t split_classes(const Symbols *s, int lead, const uint32_t *code, size_t n, uint16_t *symbol,
                            uint8_t *low)
{
    const uint32_t magnitudes = (UINT32_C(1) << (s->width - 1)) - 1;
    BitWriter w = bits_writer(low + 4, planes_size(n, s->width) + 8);
    for (size_t i = kernels()->split_classes(code, n, s->width, lead, symbol, &w); i < n; i++) {
        const unsigned bits = class_open(code[i] & magnitudes, lead);
        symbol[i] = (uint16_t)class_symbol(s, code[i], lead);
        bits_put(&w, code[i] & ((UINT32_C(1) << bits) - 1), bits);
    }
    bits_close(&w);
    assert(!w.full);
    store_u32(low, (uint32_t)(w.at - low - 4));
    return (size_t)(w.at - low);
}

/* Splits the codes of a block into symbols, which are entropy-coded, and low bits, which are sent unchanged.
 * Returns the number of bytes of low bits. */
static size_t split_block(const DensePlan *p, size_t block, uint16_t *symbol, uint8_t *low)
{
    const Symbols *s = p->s;
    const size_t n = block_size(s->n, block);
    const int shift = p->form.shift;
    const void *code = codes_at(s, block * BLOCK);
    if (p->form.classes)
        return split_classes(s, shift, code, n, symbol, low);
    for (size_t i = 0; i < n; i++)
        symbol[i] = (uint16_t)(code_at(code, s->width, i) >> shift);
    if (shift)
        planes_put(code, symbols_wide(s), n, shift, low);
    return planes_size(n, shift);
}

static const Table *table_of(const DensePlan *p, size_t block)
{
    return &p->table[form_tables(p->s, &p->form) > 1 ? block : 0];
}

static uint8_t *room_end(const DensePlan *p, size_t block)
{
    return p->room + (block + 1) * p->room_size;
}

/* Writes the low bits and the stream of a block; the stream ends at `end`. Returns where the low bits begin. */
static uint8_t *put_body(const DensePlan *p, size_t block, uint8_t *end)
{
    const Symbols *s = p->s;
    const size_t n = block_size(s->n, block);
    uint8_t *start = p->room + block * p->room_size;
    uint16_t symbol[BLOCK];
    uint8_t byte[BLOCK];
    const size_t low = split_block(p, block, symbol, start);
    symbols_to_bytes(table_of(p, block), symbol, n, byte);
    end -= stream_put(table_of(p, block), form_lanes(&p->form), byte, n, end) + low;
    memmove(end, start, low);
    return end;
}

/* Ends a block whose low bits and stream begin at `at`: writes the block's own table, if any, in front of them. */
static void end_block(DensePlan *p, size_t block, uint8_t *at)
{
    const Table *table = table_of(p, block);
    if (p->form.kind == KIND_OWN_TABLES) {
        at -= table_size(table);
        table_put(table, at);
    }
    p->size[block] = (size_t)(room_end(p, block) - at);
}

/* Fills a block's part of `room` from its end: last the stream, before it the low bits, and before these the
 * block's own table, if any. */
static void put_block(DensePlan *p, size_t block)
{
    const Symbols *s = p->s;
    uint8_t *end = room_end(p, block);
    if (form_bytes(s, &p->form))
        end -= stream_put(table_of(p, block), form_lanes(&p->form), codes_at(s, block * BLOCK), block_size(s->n, block), end);
    else
        end = put_body(p, block, end);
    end_block(p, block, end);
}

/* Does what put_block does, for RANS_SEVERAL whole blocks of streams with one lane. */
static void put_several(DensePlan *p, size_t first)
{
    RansWriter writer[RANS_SEVERAL];
    const RansWriter *w[RANS_SEVERAL];
    const uint8_t *symbol[RANS_SEVERAL];
    uint8_t *end[RANS_SEVERAL];
    size_t size[RANS_SEVERAL];
    for (size_t k = 0; k < RANS_SEVERAL; k++) {
        const Table *table = table_of(p, first + k);
        w[k] = k && table == table_of(p, first) ? writer : &writer[k];
        if (w[k] == &writer[k])
            rans_writer(&writer[k], &table->rans);
        symbol[k] = codes_at(p->s, (first + k) * BLOCK);
        end[k] = room_end(p, first + k);
    }
    rans_put_several(w, symbol, BLOCK, end, size);
    for (size_t k = 0; k < RANS_SEVERAL; k++)
        end_block(p, first + k, end[k] - size[k]);
}

static void put_blocks(void *data, size_t group)
{
    DensePlan *p = data;
    const Blocks b = blocks_in(p->s, &p->form, group);
    if (b.whole && form_bytes(p->s, &p->form) && form_lanes(&p->form) == 1)
        put_several(p, b.first);
    else
        for (size_t block = b.first; block < b.end; block++)
            put_block(p, block);
}

/* Returns an upper bound on the bytes of a block of n codes, including the working memory of split_block. */
static size_t room_most(const DensePlan *p, size_t n)
{
    const Symbols *s = p->s;
    const size_t low = p->form.classes ? 4 + planes_size(n, s->width) + 8 : planes_size(n, p->form.shift);
    size_t table = 0;
    for (size_t t = 0; t < form_tables(p->s, &p->form) && p->form.kind == KIND_OWN_TABLES; t++)
        table = table_size(&p->table[t]) > table ? table_size(&p->table[t]) : table;
    return table + rans_most(n, RANS_LANES) + 2 * low;
}

/* Writes each block into the block's part of p->room. Sets *total to the payload bytes of all blocks and
 * tables. */
static Status write_blocks(DensePlan *p, Arena *scratch, size_t *total)
{
    const size_t n = p->s->n, blocks = blocks_of(n);
    TRY(make_tables(p, scratch));
    p->room_size = room_most(p, n < BLOCK ? n : BLOCK);
    p->room = NEW(scratch, uint8_t, blocks * p->room_size);
    if (!p->room)
        return ERR_MEMORY;
    parallel_for(p->s->threads, block_groups(p->s, &p->form), put_blocks, p);
    *total = 1 + (p->form.kind == KIND_ONE_TABLE ? table_size(&p->table[0]) : 0) +
             (blocks > 1 ? 4 * blocks : 0);
    for (size_t b = 0; b < blocks; b++)
        *total += p->size[b];
    return OK;
}

static void join_blocks(const DensePlan *p, Buf *out)
{
    const size_t blocks = blocks_of(p->s->n);
    const Form *f = &p->form;
    const unsigned own = f->classes && f->kind == KIND_OWN_TABLES ? CLASS_OWN_TABLES : 0,
                   kind = f->classes ? KIND_CLASSES : (unsigned)f->kind;
    buf_u8(out, (uint8_t)(kind | f->lanes_log4 << 2 | ((unsigned)f->shift | own) << 4));
    if (f->kind == KIND_ONE_TABLE)
        table_put(&p->table[0], buf_room(out, table_size(&p->table[0])));
    for (size_t b = 0; b < blocks && blocks > 1; b++)
        buf_u32(out, (uint32_t)p->size[b]);
    for (size_t b = 0; b < blocks; b++)
        buf_copy(out, p->room + (b + 1) * p->room_size - p->size[b], p->size[b]);
}

static void put_planes(void *data, size_t block)
{
    const DensePlan *p = data;
    const Symbols *s = p->s;
    planes_put(codes_at(s, block * BLOCK), symbols_wide(s), block_size(s->n, block), s->width,
               p->out + planes_size(block * BLOCK, s->width));
}

/* Returns v log2 v, rounded to the same number on every machine. */
static double v_log2_v(uint64_t v)
{
    int e = 0;
    const double m = v ? log_split((double)v, &e) : 0;
    return (double)v * (e + m * M_LOG2E);
}

/* Returns the order-0 entropy bound in bits: the entropy of the symbols under each table, plus one bit for each
 * bit that is sent unchanged. */
static double bound_of(const DensePlan *p)
{
    double bits = 0;
    if (p->form.kind == KIND_PLANES)
        return (double)p->s->width * (double)p->s->n;
    for (size_t t = 0; t < form_tables(p->s, &p->form); t++) {
        bits += (double)symbols_counts(p, &p->form, form_tables(p->s, &p->form) > 1 ? t : ALL_BLOCKS, p->spare);
        /* n H = n log2 n - sum of c log2 c over all symbols: c is a symbol's count, n the number of codes, H
         * the entropy per code */
        uint64_t total = 0;
        for (uint32_t k = 0; k < form_alphabet(p->s, &p->form); k++) {
            total += p->spare[k];
            bits -= v_log2_v(p->spare[k]);
        }
        bits += v_log2_v(total);
    }
    return bits;
}

static Status symbols_put_dense(DensePlan *p, Buf *out, Arena *scratch)
{
    const Symbols *s = p->s;
    size_t size = SIZE_MAX;
    if (p->form.kind != KIND_PLANES)
        TRY(write_blocks(p, scratch, &size));
    if (size < symbols_most(s->n, s->width)) {
        join_blocks(p, out);
    } else {
        p->form = (Form){.kind = KIND_PLANES};
        buf_u8(out, KIND_PLANES);
        p->out = buf_room(out, planes_size(s->n, s->width));
        parallel_for(s->threads, blocks_of(s->n), put_planes, p);
    }
    if (s->entropy)
        *s->entropy = bound_of(p);
    return OK;
}

/* ---- the sparse form, and the choice between it and the dense forms ---- */

/* The sparse form is tried if the estimate sparse_bits, plus 1/GAIN_PART of it and HEAD_BITS bits, is below
 * the bits of the dense form. */
enum { GAIN_PART = 128, HEAD_BITS = 192 };

/* The codes that differ from the common (most frequent) code, in order, and their positions, which are sent as an
 * index set (indices.h). */
typedef struct {
    const Symbols *s;
    uint32_t common;
    void *code;
    size_t count;
    size_t *index;  /* (count) positions of the codes that differ from the common code */
} Others;

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

/* Returns the bits below which the sparse form is taken. */
static uint64_t most_sparse(const DensePlan *p)
{
    return p->bits + (p->s->quick ? p->bits / 16 : 0);
}

static bool may_pay(const DensePlan *p, uint32_t *common)
{
    return p->form.kind != KIND_PLANES && find_common(p, common) &&
           sparse_bits(p, *common) * (1 + 1.0 / GAIN_PART) + HEAD_BITS < (double)most_sparse(p);
}

/* Returns the position of the first code from `i` on that differs from the common code; n: there is none. */
static size_t next_other(const Others *o, size_t i)
{
    const Symbols *s = o->s;
    const uint64_t eight = o->common * UINT64_C(0x0101010101010101);
    while (!symbols_wide(s) && i + 8 <= s->n && load_u64((const uint8_t *)s->code + i) == eight)
        i += 8;
    while (i < s->n && code_at(s->code, s->width, i) == o->common)
        i++;
    return i;
}

/* Lists the codes that differ from the common code, and their positions. The list stays empty if there are more
 * than n/4 such codes. */
static Status find_others(Others *o, Arena *scratch)
{
    const Symbols *s = o->s;
    size_t count = 0;
    for (size_t i = next_other(o, 0); i < s->n; i = next_other(o, i + 1))
        count++;
    if (count > others_most(s->n))
        return OK;
    o->code = codes_take(count, s->width, scratch);
    o->index = NEW(scratch, size_t, count);
    if (!o->code || !o->index)
        return ERR_MEMORY;
    for (size_t i = next_other(o, 0); i < s->n; i = next_other(o, i + 1)) {
        o->index[o->count] = i;
        set_code(o->code, s->width, o->count++, code_at(s->code, s->width, i));
    }
    return OK;
}

/* Writes the codes in a dense form. */
static Status put_others(const Others *o, Buf *out, Arena *scratch, double *entropy)
{
    double bits = 0;
    const Symbols codes = {
        .n = o->count, .width = o->s->width, .threads = o->s->threads, .code = o->code, .entropy = &bits};
    DensePlan plan;
    *out = (Buf){.cap = symbols_most(o->count, o->s->width)};
    out->data = NEW(scratch, uint8_t, out->cap);
    if (!out->data)
        return ERR_MEMORY;
    TRY(symbols_plan(&plan, &codes, scratch));
    TRY(symbols_put_dense(&plan, out, scratch));
    *entropy += bits;
    return OK;
}

static Status put_set(const Others *o, Buf *out, Arena *scratch, double *entropy)
{
    const Indices set = indices_list(o->index, o->count);
    *out = (Buf){.cap = indices_bound(o->s->n)};
    out->data = NEW(scratch, uint8_t, out->cap);
    if (!out->data)
        return ERR_MEMORY;
    indices_put(&set, o->s->n, out);
    const double n = (double)o->s->n, k = (double)o->count;
    *entropy += fmin(8 * (double)out->size, (lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) * M_LOG2E); /* log2 of n over k */
    return OK;
}

/* Writes the sparse form to `out`. Leaves `out` empty if all codes are equal, or if too many codes differ from
 * the common code. */
static Status write_sparse(Others *o, Buf *out, Arena *scratch, double *entropy)
{
    Buf positions, others;
    TRY(find_others(o, scratch));
    if (o->count == 0)
        return OK;
    TRY(put_set(o, &positions, scratch, entropy));
    TRY(put_others(o, &others, scratch, entropy));
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
    if (sparse.size && 8 * (uint64_t)sparse.size < most_sparse(&plan) && sparse.size < symbols_most(s->n, s->width)) {
        buf_copy(out, sparse.data, sparse.size);
        if (s->entropy)
            *s->entropy = entropy;
        return OK;
    }
    arena_rewind(scratch, mark);
    return symbols_put_dense(&plan, out, scratch) == OK ? OK : arena_fail(scratch, err);
}
