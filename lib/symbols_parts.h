/* symbols_parts.h -- between the writing and the reading half of symbols.h; nobody else includes it. */
#ifndef ATOMO_SYMBOLS_PARTS_H
#define ATOMO_SYMBOLS_PARTS_H

#include "huffman.h"
#include "planes.h"
#include "rans.h"
#include "symbols.h"

enum { KIND_PLANES, KIND_ONE_TABLE, KIND_OWN_TABLES, KINDS };
enum { BYTE_WIDTH = 8, SHIFT_MOST = 15, LANE_KINDS = 3 };

typedef struct {
    int kind, shift;
    unsigned lanes_log4; /* lanes = 4^this */
} Form;

static inline unsigned form_lanes(const Form *f)
{
    return 1u << 2 * f->lanes_log4;
}
static inline uint8_t form_byte(const Form *f)
{
    return (uint8_t)((unsigned)f->kind | f->lanes_log4 << 2 | (unsigned)f->shift << 4);
}
static inline bool symbols_wide(const Symbols *s)
{
    return s->width > BYTE_WIDTH;
}
static inline uint32_t alphabet_of(const Symbols *s, int shift)
{
    return UINT32_C(1) << (s->width - shift);
}
typedef struct {
    Rans rans;
    Huffman huffman; /* open where it is the coder */
} Table;

static inline bool table_open(Table *t, const Symbols *s, int shift, Arena *scratch)
{
    return s->coder != CODER_HUFFMAN || huffman_open(&t->huffman, UINT32_C(1) << (s->width - shift), scratch);
}

/* Alphabets have 16 bits at most. */
static inline int shift_least(const Symbols *s)
{
    return s->width > 16 ? s->width - 16 : 0;
}

#endif
