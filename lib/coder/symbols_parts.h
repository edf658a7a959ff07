/* symbols_parts.h -- types and functions that symbols_put.c and symbols_get.c share; no other file
 * includes this header. */
#ifndef ATOMO_SYMBOLS_PARTS_H
#define ATOMO_SYMBOLS_PARTS_H

#include "coder/elias.h"
#include "coder/planes.h"
#include "coder/rans.h"
#include "coder/symbols.h"

enum { KIND_PLANES, KIND_ONE_TABLE, KIND_OWN_TABLES, KIND_CLASSES };
enum { BYTE_WIDTH = 8, SHIFT_MOST = 15 };
/* With kind 3 (classes of magnitudes), the field `shift` of the form byte is `lead`, plus 8 if each block
 * has its own table. A class determines `lead` bits below a magnitude's highest bit. */
enum { CLASS_LEAD_MOST = 7, CLASS_OWN_TABLES = 8 };

typedef struct {
    /* If `classes` is set, the kind is KIND_ONE_TABLE or KIND_OWN_TABLES, and never KIND_CLASSES. */
    int kind;
    int shift; /* number of low bits of a code outside its symbol; if `classes` is set: `lead` (above) */
    bool classes;
    unsigned lanes_log4; /* the number of lanes is 4^lanes_log4 */
} Form;

static inline unsigned form_lanes(const Form *f)
{
    return 1u << 2 * f->lanes_log4;
}
static inline bool symbols_wide(const Symbols *s)
{
    return s->width > BYTE_WIDTH;
}
/* Returns the codes from index i on, which are bytes or words. */
static inline void *codes_at(const Symbols *s, size_t i)
{
    return (uint8_t *)s->code + (symbols_wide(s) ? sizeof(uint32_t) * i : i);
}

/* Returns the least number of low bits of a code that must be left out of its symbol, since an alphabet has at
 * most 2^16 symbols. */
static inline int shift_least(const Symbols *s)
{
    return s->width > 16 ? s->width - 16 : 0;
}

/* ---- classes ---- */

/* Returns how many low bits of a magnitude are sent outside its symbol. The symbol contains the magnitude's
 * class, which determines the position of the highest set bit and the `lead` bits below it. */
static inline unsigned class_open(uint32_t magnitude, int lead)
{
    return magnitude < UINT32_C(2) << lead ? 0 : log2_floor(magnitude) - (unsigned)lead;
}
static inline uint32_t class_of(uint32_t magnitude, int lead)
{
    const unsigned open = class_open(magnitude, lead);
    return (open << lead) + (magnitude >> open);
}
/* Returns the least magnitude of a class. All magnitudes of a class agree in the position of the highest set
 * bit and in the `lead` bits below it. */
static inline uint32_t class_least(uint32_t class, int lead)
{
    const uint32_t above = class >> lead;
    return above < 2 ? class : ((class & ((1u << lead) - 1)) | 1u << lead) << (above - 1);
}
static inline uint32_t class_symbol(const Symbols *s, uint32_t code, int lead)
{
    const uint32_t top = UINT32_C(1) << (s->width - 1);
    return 2 * class_of(code & (top - 1), lead) + (code >= top);
}
static inline uint32_t class_alphabet(const Symbols *s, int lead)
{
    return class_symbol(s, (UINT32_C(1) << s->width) - 1, lead) + 1;
}
/* Returns whether the codes themselves, as bytes, are the symbols. */
static inline bool form_bytes(const Symbols *s, const Form *f)
{
    return !symbols_wide(s) && f->shift == 0;
}
static inline uint32_t form_alphabet(const Symbols *s, const Form *f)
{
    return f->classes ? class_alphabet(s, f->shift) : UINT32_C(1) << (s->width - f->shift);
}

static inline size_t form_tables(const Symbols *s, const Form *f)
{
    return f->kind == KIND_OWN_TABLES ? blocks_of(s->n) : 1;
}

/* ---- tables of rANS; in payloads they take whole bytes ---- */

/* A code without the magnitude bits that its class does not determine, or without its low bits; and the number of the
 * former. */
typedef struct {
    uint32_t code, open;
} Part;

typedef struct {
    Rans rans;
    /* Which symbols_get.c fills: the look-up table, and (RANS_BYTES) the part of a code that each byte of a stream stands
     * for. */
    RansReader *reader;
    Part *part;
} Table;

/* Blocks are written and read in groups, since streams of one lane are written and read faster several at a time, and
 * streams of sixteen lanes are read faster in pairs. The last group may have fewer blocks. */
typedef struct {
    size_t first, end; /* the blocks of the group */
    bool whole;        /* true: the group has RANS_SEVERAL whole blocks, or two */
} Blocks;
static inline size_t group_size(const Form *f)
{
    return form_lanes(f) == 1 ? RANS_SEVERAL : form_lanes(f) == RANS_LANES ? 2 : 1;
}
static inline size_t block_groups(const Symbols *s, const Form *f)
{
    const size_t size = group_size(f);
    return (blocks_of(s->n) + size - 1) / size;
}
static inline Blocks blocks_in(const Symbols *s, const Form *f, size_t group)
{
    const size_t size = group_size(f), first = group * size, end = first + size;
    return (Blocks){first, end < blocks_of(s->n) ? end : blocks_of(s->n), end <= s->n / BLOCK};
}

/* ---- the sparse form: the codes that differ from the most frequent code, and their positions ---- */

/* First byte of the sparse form. The first byte of a dense form has the kind in bits 0 and 1, and the field
 * `lanes` in bits 2 and 3. No dense form begins with 4: this would be bit planes (kind 0) with `lanes` = 1, and
 * bit planes have `lanes` = 0. */
enum { SPARSE = 4 };

/* Returns the greatest number of codes that may differ from the most frequent code: with more, the sparse form
 * is not tried. */
static inline size_t others_most(size_t n)
{
    return n / 4;
}

static inline uint32_t code_at(const void *code, int width, size_t i)
{
    return width > BYTE_WIDTH ? ((const uint32_t *)code)[i] : ((const uint8_t *)code)[i];
}
static inline void set_code(void *code, int width, size_t i, uint32_t value)
{
    if (width > BYTE_WIDTH)
        ((uint32_t *)code)[i] = value;
    else
        ((uint8_t *)code)[i] = (uint8_t)value;
}

/* Returns memory for n codes. */
static inline void *codes_take(size_t n, int width, Arena *scratch)
{
    return arena_take(scratch, n, width > BYTE_WIDTH ? sizeof(uint32_t) : 1);
}

#endif
