/* planes.c -- writes and reads codes as bit planes or as trits (digits in base 3). The vector kernels handle
 * whole groups of 64 codes or 320 trits; this file handles the shorter last group. */
#include "coder/planes.h"

#include "base/parallel.h"

static size_t tail_bytes(size_t n)
{
    return (n % PLANE_GROUP + 7) / 8;
}

size_t planes_size(size_t n, int width)
{
    return (n / PLANE_GROUP * 8 + tail_bytes(n)) * (size_t)width;
}

/* cut_words writes the words of the last, shorter group without the bytes that hold no codes. fill_words reads
 * these words back; it returns false when an unused bit is set. */
static void cut_words(const uint8_t *word, size_t bytes, int width, uint8_t *out)
{
    for (int k = 0; k < width; k++)
        memcpy(out + (size_t)k * bytes, word + 8 * k, bytes);
}

static bool fill_words(const uint8_t *in, size_t codes, int width, uint8_t *word)
{
    const size_t bytes = (codes + 7) / 8;
    uint64_t seen = 0;
    for (int k = 0; k < width; k++) {
        uint8_t one[8] = {0};
        memcpy(one, in + (size_t)k * bytes, bytes);
        memcpy(word + 8 * k, one, 8);
        seen |= load_u64(one);
    }
    return codes == PLANE_GROUP || seen >> codes == 0;
}

static void pack(const void *code, bool wide, size_t groups, int width, uint8_t *out)
{
    if (wide)
        kernels()->pack32(code, groups, width, out);
    else
        kernels()->pack8(code, groups, width, out);
}

void planes_put(const void *code, bool wide, size_t n, int width, uint8_t *out)
{
    const size_t groups = n / PLANE_GROUP, whole = groups * PLANE_GROUP, size = wide ? sizeof(uint32_t) : 1;
    pack(code, wide, groups, width, out);
    if (whole == n)
        return;
    uint32_t last[PLANE_GROUP] = {0};
    uint8_t word[8 * PLANES_MAX];
    memcpy(last, (const uint8_t *)code + size * whole, size * (n - whole));
    pack(last, wide, 1, width, word);
    cut_words(word, tail_bytes(n), width, out + planes_size(whole, width));
}

static void unpack(const uint8_t *in, size_t groups, int width, void *code, bool wide)
{
    if (wide)
        kernels()->unpack32(in, groups, width, code);
    else
        kernels()->unpack8(in, groups, width, code);
}

bool planes_get(const uint8_t *in, size_t n, int width, void *code, bool wide)
{
    const size_t groups = n / PLANE_GROUP, whole = groups * PLANE_GROUP, size = wide ? sizeof(uint32_t) : 1;
    unpack(in, groups, width, code, wide);
    if (whole == n)
        return true;
    uint32_t last[PLANE_GROUP];
    uint8_t word[8 * PLANES_MAX];
    const bool clean = fill_words(in + planes_size(whole, width), n - whole, width, word);
    unpack(word, 1, width, last, wide);
    memcpy((uint8_t *)code + size * whole, last, size * (n - whole));
    return clean;
}

/* ---- adding codes in bit planes ---- */

/* Adds 64 codes to 64 sums; codes and sums are bit planes, and the addition has a ripple carry. Returns a word
 * in which bit i is set if code i is greater than `most`. */
static uint64_t add_group(uint64_t *sum, int planes, const uint64_t *one, int width, uint32_t most)
{
    uint64_t carry = 0, above = 0;
    for (int k = 0; k < width; k++) {
        const uint64_t a = sum[k], b = one[k], half = a ^ b;
        sum[k] = half ^ carry;
        carry = (a & b) | (carry & half);
        above = most >> k & 1 ? above & b : above | b;
    }
    for (int k = width; k < planes; k++) {
        const uint64_t a = sum[k];
        sum[k] = a ^ carry;
        carry &= a;
    }
    return above;
}

/* Adds up one group of at most 64 codes over the `count` arrays in `in`, element by element. `at` is the index
 * of the group's first code, and `codes` the number of codes in the group. */
static bool add_one(const PlaneSet *in, size_t count, size_t at, size_t codes, int width, uint8_t *out)
{
    uint64_t sum[PLANES_MAX] = {0}, above = 0;
    bool clean = true;
    for (size_t w = 0; w < count; w++) {
        uint64_t one[PLANES_MAX];
        uint8_t word[8 * PLANES_MAX];
        clean &= fill_words(in[w].planes + planes_size(at, in[w].width), codes, in[w].width, word);
        for (int k = 0; k < in[w].width; k++)
            one[k] = load_u64(word + 8 * k);
        above |= add_group(sum, width, one, in[w].width, in[w].most);
    }
    uint8_t word[8 * PLANES_MAX];
    for (int k = 0; k < width; k++)
        store_u64(word + 8 * k, sum[k]);
    cut_words(word, (codes + 7) / 8, width, out + planes_size(at, width));
    return clean && !above;
}

typedef struct {
    const PlaneSet *in;
    size_t count, n;
    int width;
    uint8_t *out;
    bool bad; /* a code is above its array's `most`, or an unused bit is set */
} PlanesSum;

static void add_block(void *data, size_t block)
{
    PlanesSum *job = data;
    const size_t from = block * BLOCK, to = from + block_size(job->n, block);
    bool above = false, good = true;
    size_t at = PLANE_GROUP * kernels()->add_planes(job->in, job->count, from / PLANE_GROUP, to / PLANE_GROUP,
                                                    job->width, job->out, &above);
    for (; at < to; at += PLANE_GROUP)
        good &= add_one(job->in, job->count, at, to - at < PLANE_GROUP ? to - at : PLANE_GROUP, job->width, job->out);
    if (!good || above)
        __atomic_store_n(&job->bad, true, __ATOMIC_RELAXED);
}

bool planes_add(const PlaneSet *in, size_t count, size_t n, int width, int threads, uint8_t *out)
{
    PlanesSum job = {in, count, n, width, out, false};
    parallel_for(threads, blocks_of(n), add_block, &job);
    return !job.bad;
}

/* ---- trits ---- */

size_t trits_size(size_t n)
{
    return n / TRIT_GROUP * (TRIT_GROUP / 5) + (n % TRIT_GROUP + 4) / 5;
}

void trits_put(const uint8_t *code, size_t n, uint8_t *out)
{
    const size_t groups = n / TRIT_GROUP, m = n % TRIT_GROUP, q = (m + 4) / 5;
    kernels()->pack_trits(code, groups, out);
    code += n - m;
    out += groups * (TRIT_GROUP / 5);
    for (size_t j = 0; j < q; j++) {
        unsigned sum = 0;
        for (size_t i = 5; i-- > 0;) {
            const unsigned c = j + q * i < m ? code[j + q * i] : 0;
            sum = sum * 3 + c - (c >> 1);
        }
        out[j] = (uint8_t)sum;
    }
}

bool trits_get(const uint8_t *in, size_t n, uint8_t *code)
{
    const size_t groups = n / TRIT_GROUP, m = n % TRIT_GROUP, q = (m + 4) / 5;
    bool clean = kernels()->unpack_trits(in, groups, code);
    code += n - m;
    in += groups * (TRIT_GROUP / 5);
    for (size_t j = 0; j < q; j++) {
        unsigned left = in[j];
        for (size_t i = 0; i < 5; i++, left /= 3) {
            const unsigned trit = left % 3;
            if (j + q * i < m)
                code[j + q * i] = (uint8_t)(trit + (trit >> 1));
            else
                clean &= trit == 0;
        }
        clean &= left == 0;
    }
    return clean;
}

/* ---- signs ---- */

void signs_put(const float *x, size_t n, uint8_t *out)
{
    const size_t groups = n / PLANE_GROUP, whole = groups * PLANE_GROUP;
    kernels()->sign_bits(x, groups, out);
    if (whole == n)
        return;
    float last[PLANE_GROUP] = {0};
    uint8_t word[8];
    memcpy(last, x + whole, (n - whole) * sizeof *x);
    kernels()->sign_bits(last, 1, word);
    memcpy(out + 8 * groups, word, signs_size(n - whole));
}

void signs_flush(SignPen *p)
{
    if (p->word == 0) /* the array has zeros */
        return;
    const size_t start = (p->k - 1) / PLANE_GROUP * PLANE_GROUP;
    uint8_t *const to = p->out + start / 8;
    if (p->from <= start && p->k == start + PLANE_GROUP)
        store_u64(to, p->word);
    else
        for (size_t i = 0; p->word >> 8 * i % 64 && i < 8; i++)
            __atomic_fetch_or(to + i, (uint8_t)(p->word >> 8 * i), __ATOMIC_RELAXED);
    p->word = 0;
}

void signs_get(const uint8_t *in, size_t n, float plus, float minus, float *x)
{
    const size_t groups = n / PLANE_GROUP, whole = groups * PLANE_GROUP;
    kernels()->sign_values(in, groups, plus, minus, x);
    for (size_t i = whole; i < n; i++)
        x[i] = signs_bit(in, i) ? minus : plus;
}

bool signs_clean(const uint8_t *in, size_t n)
{
    return n % 8 == 0 || in[n / 8] >> n % 8 == 0;
}

size_t signs_count(const uint8_t *in, size_t n)
{
    size_t count = 0, i = 0;
    for (; i + PLANE_GROUP <= n; i += PLANE_GROUP)
        count += (size_t)__builtin_popcountll(load_u64(in + i / 8));
    for (; i < n; i++)
        count += signs_bit(in, i);
    return count;
}
