/* symbols_parts.h -- types and functions that the files symbols*.c share; no other file includes this
 * header. */
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
/* Return the codes of a block, as bytes or as words. */
static inline uint8_t *block_bytes(const Symbols *s, size_t block)
{
    return (uint8_t *)s->code + block * BLOCK;
}
static inline uint32_t *block_words(const Symbols *s, size_t block)
{
    return (uint32_t *)s->code + block * BLOCK;
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

/* Counts the codes and chooses the form with the fewest estimated bits. */
Status symbols_plan(DensePlan *p, const Symbols *s, Arena *scratch);

/* Sets `count` to the counts of the symbols of form f in a block, or in all blocks (ALL_BLOCKS); returns the
 * number of low bits that are sent unchanged with these symbols. */
uint64_t symbols_counts(const DensePlan *p, const Form *f, size_t block, uint64_t *count);

Status symbols_put_dense(DensePlan *p, Buf *out, Arena *scratch);

Status symbols_get_dense(const Symbols *s, Bytes in, Arena *scratch, Error *err, const char **why);

#endif
