/* huffman.c -- builds Huffman codes, writes and reads their tables and streams. */
#include "coder/huffman.h"

#include "coder/code_table.h"

#include <stdlib.h>

/* A table codes each code length as the difference from the previous one. The first is coded as the
 * difference from FIRST_LENGTH. */
enum { FIRST_LENGTH = 8 };

bool huffman_open(Huffman *h, uint32_t alphabet, Arena *a)
{
    assert(alphabet >= 1 && alphabet <= HUFFMAN_ALPHABET);
    *h = (Huffman){.alphabet = alphabet, .room = a};
    h->length = NEW_ZERO(a, uint8_t, alphabet);
    h->code = NEW_ZERO(a, uint32_t, alphabet);
    h->order = NEW_ZERO(a, uint16_t, alphabet);
    return h->length && h->code && h->order;
}

/* ---- lengths ---- */

enum { SYMBOL_BITS = 16 }; /* a 64-bit word holds count << SYMBOL_BITS | symbol */

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Writes to `leaf` the symbols that occur, sorted by count and then by symbol. Returns their number. */
static uint32_t sort_symbols(const Huffman *h, const uint64_t *count, uint64_t *leaf)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < h->alphabet; s++)
        if (count[s])
            leaf[n++] = count[s] << SYMBOL_BITS | s;
    qsort(leaf, n, sizeof *leaf, by_number);
    return n;
}

/* Builds the Huffman tree: joins the two nodes of least weight (count) n - 1 times. Two queues hold the
 * nodes not yet joined, each in order of weight: the leaves, and the nodes made by joining. Node k < n is a
 * leaf, node n + k is the k-th node made by joining. Sets depth[k], the depth of node k, and returns the
 * greatest depth. */
static unsigned leaf_depths(const uint64_t *leaf, uint32_t n, uint64_t *joined, uint32_t *parent,
                            uint8_t *depth)
{
    uint32_t l = 0, j = 0;
    for (uint32_t made = 0; made < n - 1; made++) {
        joined[made] = 0;
        for (int side = 0; side < 2; side++) {
            const bool take_leaf = l < n && (j == made || leaf[l] >> SYMBOL_BITS <= joined[j]);
            joined[made] += take_leaf ? leaf[l] >> SYMBOL_BITS : joined[j];
            parent[take_leaf ? l++ : n + j++] = n + made;
        }
    }
    depth[2 * n - 2] = 0;
    for (uint32_t k = 2 * n - 2; k-- > 0;)
        depth[k] = (uint8_t)(depth[parent[k]] + 1);
    return depth[0]; /* leaf 0 has the least count, so no leaf is deeper */
}

static bool find_lengths(Huffman *h, uint64_t *leaf, uint32_t n)
{
    uint64_t *joined = NEW(h->room, uint64_t, n);
    uint32_t *parent = NEW(h->room, uint32_t, 2 * (size_t)n);
    uint8_t *depth = NEW(h->room, uint8_t, 2 * (size_t)n);
    if (!joined || !parent || !depth)
        return false;
    const uint64_t low = (UINT64_C(1) << SYMBOL_BITS) - 1;
    while (leaf_depths(leaf, n, joined, parent, depth) > HUFFMAN_LONGEST)
        for (uint32_t i = 0; i < n; i++)
            leaf[i] = ((leaf[i] >> SYMBOL_BITS) + 1) / 2 << SYMBOL_BITS | (leaf[i] & low);
    for (uint32_t i = 0; i < n; i++)
        h->length[leaf[i] & low] = depth[i];
    return true;
}

/* ---- assigning codes to code lengths ---- */

/* Assigns the canonical codes to h->code; returns false if the lengths do not form a complete prefix code
 * (Kraft sum not 1). */
static bool number_codes(Huffman *h)
{
    uint64_t next = 0;
    uint32_t place = 0;
    for (unsigned l = 1; l <= HUFFMAN_LONGEST; l++) {
        next <<= 1;
        h->first[l] = (uint32_t)next;
        h->place[l] = place;
        next += h->count[l];
        place += h->count[l];
        if (next > UINT64_C(1) << l)
            return false;
    }
    if (next != UINT64_C(1) << HUFFMAN_LONGEST)
        return false;
    uint32_t used[HUFFMAN_LONGEST + 1] = {0};
    for (uint32_t s = 0; s < h->alphabet; s++) {
        const unsigned l = h->length[s];
        if (l == 0)
            continue;
        h->code[s] = h->first[l] + used[l];
        h->order[h->place[l] + used[l]++] = (uint16_t)s;
    }
    return true;
}

static void forget(Huffman *h)
{
    h->present = 0;
    memset(h->count, 0, sizeof h->count);
    memset(h->length, 0, h->alphabet);
}

bool huffman_build(Huffman *h, const uint64_t *count)
{
    const ArenaMark mark = arena_mark(h->room);
    uint64_t *leaf = NEW(h->room, uint64_t, h->alphabet);
    forget(h);
    if (!leaf)
        return false;
    h->present = sort_symbols(h, count, leaf);
    if (h->present)
        h->order[0] = (uint16_t)(leaf[0] & (HUFFMAN_ALPHABET - 1));
    bool good = true;
    if (h->present > 1) {
        good = find_lengths(h, leaf, h->present);
        for (uint32_t s = 0; s < h->alphabet; s++)
            h->count[h->length[s]]++;
        h->count[0] = 0;
        good = good && number_codes(h);
    }
    arena_rewind(h->room, mark);
    return good;
}

uint64_t huffman_bits(const Huffman *h, const uint64_t *count)
{
    uint64_t bits = 0;
    for (uint32_t s = 0; s < h->alphabet; s++)
        bits += count[s] * h->length[s];
    return bits;
}

/* ---- writing and reading the table of code lengths ---- */

static bool has_code(const Huffman *h, uint32_t s)
{
    return h->length[s] || (h->present == 1 && h->order[0] == s);
}

/* Writes the table of code lengths to w unless w is NULL; returns the table's size in bits. */
static uint64_t walk_table(const Huffman *h, BitWriter *w)
{
    TableWalk t = {.w = w, .before = FIRST_LENGTH};
    walk_start(&t, h->present);
    for (uint32_t s = 0; s < h->alphabet; s++) {
        if (!has_code(h, s))
            continue;
        walk_symbol(&t, s);
        if (h->present > 1)
            walk_step(&t, h->length[s]);
    }
    return t.bits;
}

uint64_t huffman_table_bits(const Huffman *h)
{
    return walk_table(h, NULL);
}

void huffman_table_put(const Huffman *h, BitWriter *w)
{
    walk_table(h, w);
}

bool huffman_table_get(Huffman *h, BitReader *r)
{
    TableScan t = {.r = r, .alphabet = h->alphabet, .before = FIRST_LENGTH};
    uint32_t present, symbol;
    forget(h);
    h->look = NULL;
    if (!scan_start(&t, h->alphabet, &present))
        return false;
    for (uint32_t i = 0; i < present; i++) {
        unsigned length = 0;
        if (!scan_symbol(&t, &symbol) || (present > 1 && !scan_step(&t, 1, HUFFMAN_LONGEST, &length)))
            return false;
        /* If the code has one symbol, order[0] is now final. Otherwise number_codes overwrites `order`. */
        h->order[0] = (uint16_t)symbol;
        h->length[symbol] = (uint8_t)length;
        h->count[length]++;
    }
    h->count[0] = 0;
    h->present = present;
    return present < 2 || number_codes(h);
}

/* ---- streams ---- */

/* Decodes the first symbol in `bits`, the next 64 bits of the stream, and sets *length to the length of its
 * code word. The code must have two symbols or more. */
static uint16_t first_symbol(const Huffman *h, uint64_t bits, unsigned *length)
{
    unsigned l = 1;
    /* the loop ends, since every sequence of bits begins with a code word of a complete code */
    while ((bits >> (64 - l)) - h->first[l] >= h->count[l])
        l++;
    *length = l;
    return h->order[h->place[l] + (uint32_t)((bits >> (64 - l)) - h->first[l])];
}

/* An entry of the look-up table, from its low bits: up to three symbols of 16 bits each, 8 bits with the
 * total length of their code words, 8 bits with their number. An entry is 0 if the first code word is longer
 * than HUFFMAN_LOOK bits. */
enum { ENTRY_BITS = 48, ENTRY_COUNT = 56 };

static uint64_t look_entry(const uint64_t *single, uint32_t bits)
{
    uint64_t entry = 0;
    unsigned used = 0, count = 0;
    for (; count < 3; count++) {
        const uint64_t next = single[bits << used & ((1u << HUFFMAN_LOOK) - 1)];
        const unsigned length = (unsigned)(next >> SYMBOL_BITS);
        if (length == 0 || used + length > HUFFMAN_LOOK)
            break;
        entry |= (next & (HUFFMAN_ALPHABET - 1)) << 16 * count;
        used += length;
    }
    return entry | (uint64_t)used << ENTRY_BITS | (uint64_t)count << ENTRY_COUNT;
}

bool huffman_ready(Huffman *h)
{
    uint64_t *look = NEW(h->room, uint64_t, 1 << HUFFMAN_LOOK);
    if (!look)
        return false;
    /* index: the next HUFFMAN_LOOK bits of the stream; entry: length << SYMBOL_BITS | symbol of the first
     * code word */
    uint64_t single[1 << HUFFMAN_LOOK] = {0};
    for (unsigned l = 1; l <= HUFFMAN_LOOK && h->present > 1; l++)
        for (uint32_t i = 0; i < h->count[l]; i++) {
            const uint32_t from = (h->first[l] + i) << (HUFFMAN_LOOK - l);
            for (uint32_t k = 0; k < 1u << (HUFFMAN_LOOK - l); k++)
                single[from + k] = h->order[h->place[l] + i] | (uint64_t)l << SYMBOL_BITS;
        }
    for (uint32_t bits = 0; bits < 1u << HUFFMAN_LOOK; bits++)
        look[bits] = look_entry(single, bits);
    h->look = look;
    return true;
}

static uint16_t one_symbol(const Huffman *h, BitReader *r)
{
    unsigned length;
    const uint16_t symbol = first_symbol(h, bits_peek(r), &length);
    bits_skip(r, length);
    return symbol;
}

/* Writes 4 symbols, at most 3 of them valid. */
static inline void put_symbols(uint16_t *symbol, uint64_t entry)
{
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        memcpy(symbol, &entry, sizeof entry);
    for (int i = 0; __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ && i < 4; i++)
        symbol[i] = (uint16_t)(entry >> 16 * i);
}

/* Decodes with the look-up table while at least 8 bytes of input and MOST symbols are left. Loads 64 bits,
 * and looks into the table up to four times before it loads again. Returns the number of decoded symbols. */
static size_t look_symbols(const Huffman *h, BitReader *r, size_t n, uint16_t *symbol)
{
    enum { LOOKS = 4, MOST = 3 * LOOKS };
    const uint64_t *look = h->look, last = 8 * (uint64_t)(r->size - 8);
    uint64_t at = r->at;
    size_t i = 0;
    while (i + MOST <= n && at <= last) {
        uint64_t bits = __builtin_bswap64(load_u64(r->data + (at >> 3))) << (at & 7);
        for (int k = 0; k < LOOKS; k++) {
            const uint64_t entry = look[bits >> (64 - HUFFMAN_LOOK)];
            if (__builtin_expect(entry == 0, 0)) {
                r->at = at;
                symbol[i++] = one_symbol(h, r);
                at = r->at;
                if (r->bad)
                    return i;
                break;
            }
            put_symbols(symbol + i, entry);
            i += entry >> ENTRY_COUNT;
            const unsigned used = entry >> ENTRY_BITS & 0xff;
            bits <<= used;
            at += used;
        }
    }
    r->at = at;
    return i;
}

bool huffman_get(const Huffman *h, BitReader *r, size_t n, uint16_t *symbol)
{
    size_t i = 0;
    if (h->present < 2) {
        for (; i < n && h->present; i++)
            symbol[i] = h->order[0];
        return i == n;
    }
    if (h->look && r->size >= 8)
        i = look_symbols(h, r, n, symbol);
    for (; i < n && !r->bad; i++)
        symbol[i] = one_symbol(h, r);
    return !r->bad;
}
