/* symbols_parts.h -- between the writing and the reading half of symbols.h; nobody else includes it. */
#ifndef ATOMO_SYMBOLS_PARTS_H
#define ATOMO_SYMBOLS_PARTS_H

#include "elias.h"
#include "huffman.h"
#include "planes.h"
#include "rans.h"
#include "symbols.h"

enum { KIND_PLANES, KIND_ONE_TABLE, KIND_OWN_TABLES, KIND_CLASSES };
enum { BYTE_WIDTH = 8, SHIFT_MOST = 15, LANE_KINDS = 3 };
enum { CLASS_MOST = 7, CLASS_OWN = 8 }; /* leading bits; beside them in form: tables of the blocks' own */

typedef struct {
    int kind, shift; /* never KIND_CLASSES: that is `classes`, whose leading bits are in shift */
    bool classes;
    unsigned lanes_log4; /* lanes = 4^this */
} Form;

static inline unsigned form_lanes(const Form *f)
{
    return 1u << 2 * f->lanes_log4;
}
static inline uint8_t form_byte(const Form *f)
{
    const unsigned kind = f->classes ? KIND_CLASSES : (unsigned)f->kind,
                   own = f->classes && f->kind == KIND_OWN_TABLES ? CLASS_OWN : 0;
    return (uint8_t)(kind | f->lanes_log4 << 2 | ((unsigned)f->shift | own) << 4);
}
static inline bool symbols_wide(const Symbols *s)
{
    return s->width > BYTE_WIDTH;
}
static inline uint32_t alphabet_of(const Symbols *s, int shift)
{
    return UINT32_C(1) << (s->width - shift);
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
/* The most bytes of a block's low bits. */
static inline size_t low_most(const Symbols *s, const Form *f, size_t n)
{
    return f->classes ? 4 + planes_size(n, s->width) + 8 : planes_size(n, f->shift);
}

/* Counts of the finest classes' symbols in a block (class_alphabet(s, CLASS_MOST) of them). */
void classes_count(const Symbols *s, const uint32_t *code, size_t n, uint32_t *count);
/* From those to the counts with `lead` bits; returns the bits that these leave open. */
uint64_t classes_merge(const Symbols *s, const uint64_t *finest, int lead, uint64_t *count);
/* Symbols, and from `low` on the length:32 of the open bits and these; returns their bytes. */
size_t classes_split(const Symbols *s, int lead, const uint32_t *code, size_t n, uint16_t *symbol,
                     uint8_t *low);
/* Codes from symbols and exactly these open bits, or false. */
bool classes_join(const Symbols *s, int lead, const uint16_t *symbol, size_t n, Bytes open, uint32_t *code);

typedef struct {
    Rans rans;
    Huffman huffman; /* open where it is the coder */
    bool starved;    /* building it ran out of memory at least once */
} Table;

static inline bool table_open(Table *t, const Symbols *s, int shift, Arena *scratch)
{
    return s->coder != CODER_HUFFMAN || huffman_open(&t->huffman, UINT32_C(1) << (s->width - shift), scratch);
}

/* Bits of a table and of all symbols so counted, states aside; UINT64_MAX where no table holds them. */
uint64_t table_cost(const Symbols *s, uint32_t alphabet, const uint64_t *count, Table *t);
size_t table_size(const Symbols *s, const Table *t);
size_t table_put(const Symbols *s, const Table *t, uint8_t *to, size_t most);
/* Writes a block's stream so that it ends at `end`; returns its bytes. */
size_t stream_put(const Symbols *s, const Form *f, const Table *t, const uint16_t *symbol, size_t n,
                  uint8_t *end);

/* Alphabets have 16 bits at most. */
static inline int shift_least(const Symbols *s)
{
    return s->width > 16 ? s->width - 16 : 0;
}

#endif
