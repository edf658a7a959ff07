/* huffman.c -- builds Huffman codes, and writes and reads tables and streams of numbers (huffman.h). */
#include "coder/huffman.h"

#include "base/bits.h"
#include "base/parallel.h"
#include "coder/elias.h"

#include <stdlib.h>

/* A table codes each code length as the difference from the previous one. The first is coded as the
 * difference from FIRST_LENGTH. */
enum { FIRST_LENGTH = 8, LOOK_BITS = 11 };

typedef struct {
    uint32_t alphabet;                 /* 1 .. HUFFMAN_ALPHABET */
    uint32_t present;                  /* how many numbers have a code */
    uint8_t length[HUFFMAN_ALPHABET];  /* code length in bits; 0: the number has no code, or is the only one */
    uint32_t code[HUFFMAN_ALPHABET];   /* code words */
    uint8_t order[HUFFMAN_ALPHABET];   /* (present) the numbers, sorted by their codes */
    /* For each code length: the first code word of this length, the index in `order` of its number, and how many code words
     * have this length. */
    uint32_t first[HUFFMAN_LONGEST + 1], place[HUFFMAN_LONGEST + 1], count[HUFFMAN_LONGEST + 1];
    uint64_t look[1 << LOOK_BITS]; /* the first numbers in each value of the next LOOK_BITS bits of a stream */
    uint64_t word[256];            /* the code words of the digits of each byte (fill_words) */
    size_t each; /* digits of a byte of `word`; 0: four code words need not fit into one bits_put */
} Huffman;

/* ---- lengths ---- */

enum { NUMBER_BITS = 8 }; /* a 64-bit word holds count << NUMBER_BITS | number */

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Writes to `leaf` the numbers that occur, sorted by count and then by number. Returns their number. */
static uint32_t sort_numbers(const Huffman *h, const uint64_t *count, uint64_t *leaf)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < h->alphabet; s++)
        if (count[s])
            leaf[n++] = count[s] << NUMBER_BITS | s;
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
            const bool take_leaf = l < n && (j == made || leaf[l] >> NUMBER_BITS <= joined[j]);
            joined[made] += take_leaf ? leaf[l] >> NUMBER_BITS : joined[j];
            parent[take_leaf ? l++ : n + j++] = n + made;
        }
    }
    depth[2 * n - 2] = 0;
    for (uint32_t k = 2 * n - 2; k-- > 0;)
        depth[k] = (uint8_t)(depth[parent[k]] + 1);
    return depth[0]; /* leaf 0 has the least count, so no leaf is deeper */
}

static void find_lengths(Huffman *h, uint64_t *leaf, uint32_t n)
{
    uint64_t joined[HUFFMAN_ALPHABET];
    uint32_t parent[2 * HUFFMAN_ALPHABET];
    uint8_t depth[2 * HUFFMAN_ALPHABET];
    const uint64_t low = (UINT64_C(1) << NUMBER_BITS) - 1;
    while (leaf_depths(leaf, n, joined, parent, depth) > HUFFMAN_LONGEST)
        for (uint32_t i = 0; i < n; i++)
            leaf[i] = ((leaf[i] >> NUMBER_BITS) + 1) / 2 << NUMBER_BITS | (leaf[i] & low);
    for (uint32_t i = 0; i < n; i++)
        h->length[leaf[i] & low] = depth[i];
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
        h->order[h->place[l] + used[l]++] = (uint8_t)s;
    }
    return true;
}

/* Builds the optimal code for numbers with the counts count[0 .. alphabet - 1], each below 2^47. */
static void huffman_build(Huffman *h, uint32_t alphabet, const uint64_t *count)
{
    uint64_t leaf[HUFFMAN_ALPHABET];
    *h = (Huffman){.alphabet = alphabet};
    h->present = sort_numbers(h, count, leaf);
    h->order[0] = (uint8_t)(h->present ? leaf[0] : 0);
    if (h->present < 2)
        return;
    find_lengths(h, leaf, h->present);
    for (uint32_t s = 0; s < alphabet; s++)
        h->count[h->length[s]]++;
    h->count[0] = 0;
    number_codes(h);
}

/* Returns the exact bits of a stream in which number s occurs count[s] times. */
static uint64_t huffman_bits(const Huffman *h, const uint64_t *count)
{
    uint64_t bits = 0;
    for (uint32_t s = 0; s < h->alphabet; s++)
        bits += count[s] * h->length[s];
    return bits;
}

/* ---- writing and reading the table of code lengths ---- */

/* Writes the table of code lengths to w unless w is NULL; returns the table's size in bits. */
static uint64_t walk_table(const Huffman *h, BitWriter *w)
{
    TableWalk t = {.w = w, .before = FIRST_LENGTH};
    walk_gamma(&t, UINT64_C(1) + h->present);
    for (uint32_t s = 0; s < h->alphabet; s++) {
        if (!h->length[s] && !(h->present == 1 && h->order[0] == s))
            continue;
        walk_gamma(&t, UINT64_C(1) + s - t.next);
        t.next = s + 1;
        if (h->present > 1)
            walk_step(&t, h->length[s]);
    }
    return t.bits;
}

static bool scan_start(TableScan *t, uint32_t *listed)
{
    const uint64_t count = gamma_get(t->r) - 1;
    *listed = (uint32_t)count;
    return !t->r->bad && count <= t->alphabet;
}

static bool scan_number(TableScan *t, uint32_t *number)
{
    const uint64_t skipped = gamma_get(t->r);
    if (t->r->bad || skipped > t->alphabet - t->next)
        return false;
    *number = t->next + (uint32_t)skipped - 1;
    t->next = *number + 1;
    return true;
}

/* Reads a table of code lengths. Returns false if a number is beyond the alphabet, or if the code lengths form
 * no complete prefix code. */
static bool huffman_table_get(Huffman *h, uint32_t alphabet, BitReader *r)
{
    TableScan t = {.r = r, .alphabet = alphabet, .before = FIRST_LENGTH};
    uint32_t present, number;
    *h = (Huffman){.alphabet = alphabet};
    if (!scan_start(&t, &present))
        return false;
    for (uint32_t i = 0; i < present; i++) {
        unsigned length = 0;
        if (!scan_number(&t, &number) || (present > 1 && !scan_step(&t, 1, HUFFMAN_LONGEST, &length)))
            return false;
        /* If the code has one number, order[0] is now final. Otherwise number_codes overwrites `order`. */
        h->order[0] = (uint8_t)number;
        h->length[number] = (uint8_t)length;
        h->count[length]++;
    }
    h->count[0] = 0;
    h->present = present;
    return present < 2 || number_codes(h);
}

/* ---- streams ---- */

/* Small numbers are looked up several at once, as the digits of one byte. `each`: how many digits it has, 1, 2 or 4. */
static size_t digits_for(uint32_t alphabet)
{
    return alphabet <= 4 ? 4 : alphabet <= 16 ? 2 : 1;
}

static inline unsigned digit_of(unsigned byte, size_t each, size_t k)
{
    return byte >> 8 / each * k & (255u >> (8 - 8 / each));
}

static inline unsigned byte_of(const uint8_t *number, size_t each)
{
    unsigned byte = 0;
    for (size_t k = 0; k < each; k++)
        byte |= (unsigned)number[k] << 8 / each * k;
    return byte;
}

static void fill_words(Huffman *h)
{
    unsigned longest = 0;
    for (uint32_t s = 0; s < h->alphabet; s++)
        longest = h->length[s] > longest ? h->length[s] : longest;
    h->each = digits_for(h->alphabet);
    while (4 * h->each * longest > BITS_MAX)
        h->each /= 2;
    for (unsigned v = 0; v < 256 && h->each; v++) {
        h->word[v] = 0;
        for (size_t k = 0; k < h->each; k++) {
            const unsigned s = digit_of(v, h->each, k);
            h->word[v] = words_join(h->word[v], word_make(h->code[s], h->length[s]));
        }
    }
}

/* Writes the code words of 4 * each numbers at once. Returns how many it has written. */
static inline size_t put_four(const uint64_t word[256], size_t each, const uint8_t *number, size_t n, BitWriter *writer)
{
    BitWriter w = *writer;
    size_t i = 0;
    for (; i + 4 * each <= n; i += 4 * each) {
        uint64_t bits = 0;
        unsigned length = 0;
        for (size_t k = i; k < i + 4 * each; k += each) {
            const uint64_t v = word[byte_of(number + k, each)];
            bits = bits << (v & WORD_LENGTH) | v >> WORD_SHIFT;
            length += v & WORD_LENGTH;
        }
        bits_put(&w, bits, length);
    }
    *writer = w;
    return i;
}

static void put_words(const Huffman *h, const uint8_t *number, size_t n, BitWriter *w)
{
    size_t i = h->each == 4   ? put_four(h->word, 4, number, n, w)
               : h->each == 2 ? put_four(h->word, 2, number, n, w)
               : h->each == 1 ? put_four(h->word, 1, number, n, w)
                              : 0;
    for (; i < n; i++)
        bits_put(w, h->code[number[i]], h->length[number[i]]);
}

/* Decodes the first number in `bits`, the next 64 bits of the stream, and sets *length to the length of its
 * code word. The code must have two numbers or more. */
static uint8_t first_number(const Huffman *h, uint64_t bits, unsigned *length)
{
    unsigned l = 1;
    /* the loop ends, since every sequence of bits begins with a code word of a complete code */
    while ((bits >> (64 - l)) - h->first[l] >= h->count[l])
        l++;
    *length = l;
    return h->order[h->place[l] + (uint32_t)((bits >> (64 - l)) - h->first[l])];
}

/* An entry of the look-up table, from its low bits: up to AT_ONCE numbers of 8 bits each, at ENTRY_BITS the
 * total length of their code words, at ENTRY_COUNT how many there are. An entry is 0 if the first code word is longer
 * than LOOK_BITS bits. */
enum { AT_ONCE = 4, ENTRY_BITS = 48, ENTRY_COUNT = 56 };

static uint64_t look_entry(const uint32_t *single, uint32_t bits)
{
    uint64_t entry = 0;
    unsigned used = 0, count = 0;
    for (; count < AT_ONCE; count++) {
        const uint32_t next = single[bits << used & ((1u << LOOK_BITS) - 1)], length = next >> NUMBER_BITS;
        if (length == 0 || used + length > LOOK_BITS)
            break;
        entry |= (uint64_t)(next & (HUFFMAN_ALPHABET - 1)) << NUMBER_BITS * count;
        used += length;
    }
    return entry | (uint64_t)used << ENTRY_BITS | (uint64_t)count << ENTRY_COUNT;
}

/* Fills h->look. */
static void fill_look(Huffman *h)
{
    /* index: the next LOOK_BITS bits of the stream; entry: length << NUMBER_BITS | number of the first code word */
    uint32_t single[1 << LOOK_BITS] = {0};
    for (unsigned l = 1; l <= LOOK_BITS && h->present > 1; l++)
        for (uint32_t i = 0; i < h->count[l]; i++) {
            const uint32_t from = (h->first[l] + i) << (LOOK_BITS - l);
            for (uint32_t k = 0; k < 1u << (LOOK_BITS - l); k++)
                single[from + k] = h->order[h->place[l] + i] | l << NUMBER_BITS;
        }
    for (uint32_t bits = 0; bits < 1u << LOOK_BITS; bits++)
        h->look[bits] = look_entry(single, bits);
}

static uint8_t one_number(const Huffman *h, BitReader *r)
{
    unsigned length;
    const uint8_t number = first_number(h, bits_peek(r), &length);
    bits_skip(r, length);
    return number;
}

/* Decodes with the look-up table while at least 8 bytes of input and MOST numbers are left. Loads 64 bits,
 * and looks into the table up to four times before it loads again. Returns the number of decoded numbers. */
static size_t look_numbers(const Huffman *h, BitReader *r, size_t n, uint8_t *number)
{
    enum { LOOKS = 4, MOST = AT_ONCE * LOOKS };
    const uint64_t last = 8 * (uint64_t)(r->size - 8);
    uint64_t at = r->at;
    size_t i = 0;
    while (i + MOST <= n && at <= last) {
        uint64_t bits = __builtin_bswap64(load_u64(r->data + (at >> 3))) << (at & 7);
        for (int k = 0; k < LOOKS; k++) {
            const uint64_t entry = h->look[bits >> (64 - LOOK_BITS)];
            if (__builtin_expect(entry == 0, 0)) {
                r->at = at;
                number[i++] = one_number(h, r);
                at = r->at;
                if (r->bad)
                    return i;
                break;
            }
            store_u32(number + i, (uint32_t)entry);
            i += entry >> ENTRY_COUNT;
            const unsigned used = entry >> ENTRY_BITS & 0xff;
            bits <<= used;
            at += used;
        }
    }
    r->at = at;
    return i;
}

/* Reads n numbers, written as their code words one after the other. Returns false when the stream ends too soon, or when
 * n > 0 and no number has a code. */
static bool get_words(const Huffman *h, BitReader *r, size_t n, uint8_t *number)
{
    size_t i = 0;
    if (h->present < 2) {
        memset(number, h->order[0], n);
        return n == 0 || h->present;
    }
    if (r->size >= 8)
        i = look_numbers(h, r, n, number);
    for (; i < n && !r->bad; i++)
        number[i] = one_number(h, r);
    return !r->bad;
}

/* ---- blocks ---- */

typedef struct {
    size_t n;
    const uint8_t *number;
    uint8_t *read; /* where the numbers are written that get_block reads */
    uint8_t *out;
    const uint8_t *in;
    uint32_t (*count)[HUFFMAN_ALPHABET]; /* (blocks) how many numbers of each value there are */
    /* (blocks + 1) at[b]: offset of the stream of block b from the first stream; at[b + 1]: the end of this
     * stream */
    uint64_t *at;
    bool *bad; /* (blocks) true: the stream cannot be decoded */
    Huffman huffman;
} HuffmanJob;

size_t huffman_most(size_t n, uint32_t alphabet)
{
    /* The table takes at most 17 bits, and 28 bits for each number with a code. All code words together take no more bits
     * than codes of fixed width. */
    size_t width = 1;
    while ((alphabet - 1) >> width)
        width++;
    return (17 + 28 * (size_t)alphabet) / 8 + 1 + n / 8 * width + (n % 8 * width) / 8 + 1 + 5 * blocks_of(n);
}

double huffman_mean_bits(const double *share, uint32_t alphabet)
{
    uint64_t count[HUFFMAN_ALPHABET] = {0}, total = 0;
    Huffman h;
    for (uint32_t k = 0; k < alphabet; k++)
        total += count[k] = (uint64_t)(share[k] * 0x1p40);
    huffman_build(&h, alphabet, count);
    return total ? (double)huffman_bits(&h, count) / (double)total : 0;
}

/* Counts in four tables, because incrementing one counter many times in a row is slow. Returns how many numbers it has
 * counted. */
static inline size_t count_four(const uint8_t *number, size_t n, size_t each, uint32_t part[4][256])
{
    size_t i = 0;
    for (; i + 4 * each <= n; i += 4 * each)
        for (size_t k = 0; k < 4; k++)
            part[k][byte_of(number + i + each * k, each)]++;
    return i;
}

static void count_block(void *data, size_t block)
{
    const HuffmanJob *job = data;
    const uint8_t *number = job->number + block * BLOCK;
    const size_t n = block_size(job->n, block), each = digits_for(job->huffman.alphabet);
    uint32_t *count = job->count[block], part[4][256] = {{0}};
    memset(count, 0, sizeof job->count[block]);
    size_t i = each == 4   ? count_four(number, n, 4, part)
               : each == 2 ? count_four(number, n, 2, part)
                           : count_four(number, n, 1, part);
    for (; i < n; i++)
        count[number[i]]++;
    for (unsigned v = 0; v < 256; v++)
        for (size_t k = 0; k < each; k++)
            count[digit_of(v, each, k)] += part[0][v] + part[1][v] + part[2][v] + part[3][v];
}

static void put_block(void *data, size_t block)
{
    const HuffmanJob *job = data;
    BitWriter w = bits_writer(job->out + job->at[block], (size_t)(job->at[block + 1] - job->at[block]));
    put_words(&job->huffman, job->number + block * BLOCK, block_size(job->n, block), &w);
    bits_close(&w);
}

static uint64_t block_bytes(const HuffmanJob *job, size_t block)
{
    uint64_t bits = 0;
    for (uint32_t k = 0; k < job->huffman.alphabet; k++)
        bits += (uint64_t)job->count[block][k] * job->huffman.length[k];
    return (bits + 7) / 8;
}

/* Writes the table and the sizes of the blocks, and finds where their streams begin. */
static void put_head(HuffmanJob *job, Buf *out)
{
    const size_t blocks = blocks_of(job->n), table = (size_t)((walk_table(&job->huffman, NULL) + 7) / 8);
    BitWriter w = bits_writer(buf_room(out, table), table);
    walk_table(&job->huffman, &w);
    bits_close(&w);
    job->at[0] = 0;
    for (size_t b = 0; b < blocks; b++) {
        const uint64_t size = block_bytes(job, b);
        job->at[b + 1] = job->at[b] + size;
        if (blocks > 1)
            buf_u32(out, (uint32_t)size);
    }
}

Status huffman_put(const uint8_t *number, size_t n, uint32_t alphabet, int threads, Arena *scratch, Error *err, Buf *out,
                   uint64_t count[HUFFMAN_ALPHABET])
{
    const ArenaMark mark = arena_mark(scratch);
    const size_t blocks = blocks_of(n);
    HuffmanJob job = {.n = n, .number = number, .huffman.alphabet = alphabet};
    job.count = arena_take(scratch, blocks, sizeof *job.count);
    job.at = NEW(scratch, uint64_t, blocks + 1);
    TRY(arena_check(job.count && job.at, scratch, err));
    parallel_for(threads, blocks, count_block, &job);
    memset(count, 0, HUFFMAN_ALPHABET * sizeof *count);
    for (size_t b = 0; b < blocks; b++)
        for (size_t k = 0; k < HUFFMAN_ALPHABET; k++)
            count[k] += job.count[b][k];
    huffman_build(&job.huffman, alphabet, count);
    fill_words(&job.huffman);
    put_head(&job, out);
    job.out = buf_room(out, (size_t)job.at[blocks]);
    parallel_for(threads, blocks, put_block, &job);
    arena_rewind(scratch, mark);
    return OK;
}

/* ---- reading ---- */

static void get_block(void *data, size_t block)
{
    const HuffmanJob *job = data;
    BitReader r = bits_reader((Bytes){job->in + job->at[block], (size_t)(job->at[block + 1] - job->at[block])});
    job->bad[block] =
        !get_words(&job->huffman, &r, block_size(job->n, block), job->read + block * BLOCK) || !bits_finish(&r);
}

/* Reads the table and the sizes of the blocks. */
static bool get_head(HuffmanJob *job, uint32_t alphabet, Reader *r, const char **why)
{
    const size_t blocks = blocks_of(job->n);
    BitReader bits = bits_reader((Bytes){r->at, reader_left(r)});
    *why = "a table of cluster codes that no encoder writes";
    if (!huffman_table_get(&job->huffman, alphabet, &bits) || job->huffman.present == 0 ||
        bits_get(&bits, (unsigned)(-bits.at & 7)))
        return false;
    take_bytes(r, (size_t)(bits.at / 8));
    const uint8_t *size = blocks > 1 ? take_bytes(r, 4 * blocks) : NULL;
    job->at[0] = 0;
    for (size_t b = 0; b < blocks && !r->bad; b++)
        job->at[b + 1] = job->at[b] + (size ? load_u32(size + 4 * b) : reader_left(r));
    *why = "cluster streams of other lengths";
    return !r->bad && job->at[blocks] == reader_left(r);
}

Status huffman_get(Reader *r, size_t n, uint32_t alphabet, int threads, Arena *scratch, Error *err, uint8_t *number,
                   const char **why)
{
    const ArenaMark mark = arena_mark(scratch);
    const size_t blocks = blocks_of(n);
    HuffmanJob job = {.n = n, .read = number, .bad = NEW(scratch, bool, blocks), .at = NEW(scratch, uint64_t, blocks + 1)};
    TRY(arena_check(job.bad && job.at, scratch, err));
    bool good = get_head(&job, alphabet, r, why);
    if (good) {
        fill_look(&job.huffman);
        job.in = take_bytes(r, reader_left(r));
        parallel_for(threads, blocks, get_block, &job);
        *why = "cluster numbers that no encoder writes";
        for (size_t b = 0; b < blocks; b++)
            good &= !job.bad[b];
    }
    arena_rewind(scratch, mark);
    return good ? OK : ERR_CORRUPT;
}
