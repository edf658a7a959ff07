/* symbols_parts.h -- what the writing and the reading half of symbols.h share; nobody else includes it. */
#ifndef ATOMO_SYMBOLS_PARTS_H
#define ATOMO_SYMBOLS_PARTS_H

#include "coder/elias.h"
#include "coder/huffman.h"
#include "coder/planes.h"
#include "coder/rans.h"
#include "coder/symbols.h"

enum { KIND_PLANES, KIND_ONE_TABLE, KIND_OWN_TABLES, KIND_CLASSES };
enum { BYTE_WIDTH = 8, SHIFT_MOST = 15 };
enum { LANES_WHOLE = 3, WHOLE_LANES = 4 }; /* 1, 4, 16, and 4 in one stream of all blocks */
enum { CLASS_MOST = 7, CLASS_OWN = 8 };    /* leading bits; beside them in form: tables of the blocks' own */
enum { FORM_SPARSE = 4 };                  /* kind and lanes: planes with lanes, which they have not */

typedef struct {
    int kind, shift; /* never KIND_CLASSES: that is `classes`, whose leading bits are in shift */
    bool classes, whole;
    unsigned lanes_log4; /* lanes = 4^this, where not whole */
} Form;

static inline unsigned form_lanes(const Form *f)
{
    return f->whole ? WHOLE_LANES : 1u << 2 * f->lanes_log4;
}
static inline uint8_t form_byte(const Form *f)
{
    const unsigned kind = f->classes ? KIND_CLASSES : (unsigned)f->kind,
                   own = f->classes && f->kind == KIND_OWN_TABLES ? CLASS_OWN : 0,
                   lanes = f->whole ? LANES_WHOLE : f->lanes_log4;
    return (uint8_t)(kind | lanes << 2 | ((unsigned)f->shift | own) << 4);
}
static inline bool symbols_wide(const Symbols *s)
{
    return s->width > BYTE_WIDTH;
}
static inline uint32_t alphabet_of(const Symbols *s, int shift)
{
    return UINT32_C(1) << (s->width - shift);
}

/* Alphabets have 16 bits at most. */
static inline int shift_least(const Symbols *s)
{
    return s->width > 16 ? s->width - 16 : 0;
}

/* ---- classes: magnitudes by their place and their `lead` bits behind the highest ---- */

/* Bits of a magnitude that its class leaves open. */
static inline unsigned class_open(uint32_t magnitude, int lead)
{
    return magnitude < UINT32_C(2) << lead ? 0 : log2_floor(magnitude) - (unsigned)lead;
}
static inline uint32_t class_of(uint32_t magnitude, int lead)
{
    const unsigned open = class_open(magnitude, lead);
    return (open << lead) + (magnitude >> open);
}
/* The least magnitude of a class. */
static inline uint32_t class_least(uint32_t class, int lead)
{
    const uint32_t above = class >> lead;
    return above < 2 ? class : ((class & ((1u << lead) - 1)) | 1u << lead) << (above - 1);
}
/* A code's symbol is 2 class + its highest bit. */
static inline uint32_t class_symbol(const Symbols *s, uint32_t code, int lead)
{
    const uint32_t top = UINT32_C(1) << (s->width - 1);
    return 2 * class_of(code & (top - 1), lead) + (code >= top);
}
static inline uint32_t class_alphabet(const Symbols *s, int lead)
{
    return class_symbol(s, (UINT32_C(1) << s->width) - 1, lead) + 1;
}
static inline uint32_t form_alphabet(const Symbols *s, const Form *f)
{
    return f->classes ? class_alphabet(s, f->shift) : alphabet_of(s, f->shift);
}

/* Counts of the finest classes' symbols in a block (class_alphabet(s, CLASS_MOST) of them). */
void classes_count(const Symbols *s, const uint32_t *code, size_t n, uint32_t *count);
/* From those to the counts with `lead` bits; returns the bits that these leave open. */
uint64_t classes_merge(const Symbols *s, const uint64_t *finest, int lead, uint64_t *count);
/* Symbols, and the open bits behind those that `open` has. */
void classes_split(const Symbols *s, int lead, const uint32_t *code, size_t n, uint16_t *symbol,
                   BitWriter *open);
/* Codes from symbols and the next open bits. */
void classes_join(const Symbols *s, int lead, const uint16_t *symbol, size_t n, BitReader *open,
                  uint32_t *code);

/* ---- sparse codes: gaps between those that are not the common one ---- */

enum { GAP_BITS_LEAST = 8, GAP_BITS_MOST = 16 }; /* what the longest gap takes */
enum { LONG_GAP = 1 << GAP_BITS_MOST };          /* this many, and it goes on */

static inline unsigned gap_bits(uint64_t longest)
{
    const unsigned bits = longest ? log2_floor(longest) + 1 : 0;
    return bits < GAP_BITS_LEAST ? GAP_BITS_LEAST : bits > GAP_BITS_MOST ? GAP_BITS_MOST : bits;
}

static inline uint8_t sparse_form(unsigned bits)
{
    return (uint8_t)(FORM_SPARSE | (bits - GAP_BITS_LEAST) << 4);
}

/* The others that n codes may have in this form, and gaps. */
static inline size_t sparse_others(size_t n)
{
    return n / 4;
}

static inline size_t sparse_gaps(size_t n)
{
    return sparse_others(n) + n / LONG_GAP;
}

static inline bool is_sparse(unsigned form)
{
    return (form & 15) == FORM_SPARSE;
}

/* Reads a sparse form. */
Status symbols_get_sparse(const Symbols *s, Bytes in, Arena *scratch, Error *err, const char **why);

/* ---- coders ---- */

typedef struct {
    Rans rans;
    RansReader *reader; /* once ready to read */
    Huffman huffman;    /* open where it is the coder */
    bool starved;       /* building it ran out of memory at least once */
} Table;

/* Symbols off a stream, some at a time. */
typedef struct {
    const Table *table;
    RansLanes lanes;
    Reader words;
    BitReader bits;
} Stream;

enum { STRETCH = 4096 }; /* symbols at a time, which stay in the nearest cache: rows of all lanes */

/* What a coder of symbols can do; each is a file of its own. Sizes of tables and streams are in whole bytes. */
typedef struct {
    bool many; /* lanes, classes for wide codes, one stream of all blocks */
    bool (*open)(Table *t, uint32_t alphabet, Arena *scratch);
    /* The best table for these counts: bits of the symbols, or UINT64_MAX where none holds them. */
    uint64_t (*build)(Table *t, uint32_t alphabet, const uint64_t *count);
    uint64_t (*table_bits)(const Table *t);
    void (*table_put)(const Table *t, BitWriter *w);
    bool (*table_get)(Table *t, uint32_t alphabet, BitReader *r);
    size_t (*stream_most)(const Table *t, size_t n);
    /* Writes a stream so that it ends at `end`; returns its bytes. */
    size_t (*stream_put)(const Table *t, unsigned lanes, const uint16_t *symbol, size_t n, uint8_t *end);
    bool (*ready)(Table *t, size_t n, Arena *scratch); /* what reading looks up */
    bool (*stream_open)(Stream *s, const Table *t, unsigned lanes, Bytes in);
    /* The next STRETCH symbols, or the last; HUFFMAN_SLACK more may be overwritten. */
    bool (*stream_get)(Stream *s, size_t n, uint16_t *symbol);
    /* The same for symbols that are bytes; NULL: by stream_get alone. */
    bool (*stream_bytes)(Stream *s, size_t n, uint8_t *symbol);
    bool (*stream_end)(const Stream *s);
} Coder;

extern const Coder symbols_huffman, symbols_rans;

const Coder *symbols_coder(const Symbols *s);

/* Bits of a table and of all symbols so counted, states aside; UINT64_MAX where no table holds them. */
uint64_t table_cost(const Symbols *s, uint32_t alphabet, const uint64_t *count, Table *t);
size_t table_size(const Symbols *s, const Table *t);
void table_put(const Symbols *s, const Table *t, uint8_t *to);
/* A table and its padding off the front of the bytes. */
bool table_get(const Symbols *s, uint32_t alphabet, Table *t, Bytes *in);

/* Symbols as the bytes that rANS has for them. */
void symbols_ranks(const Table *t, const uint16_t *symbol, size_t n, uint8_t *byte);

#endif
