/* rans_case.h -- a test case for rANS: random bytes, their rANS table and their rANS stream. */
#ifndef ATOMO_TEST_RANS_CASE_H
#define ATOMO_TEST_RANS_CASE_H

#include "rig/coder_rig.h"
#include "rig/wall.h"

#include "base/rng.h"

static const unsigned lane_counts[] = {1, 4, RANS_LANES};

/* Writes the rANS stream that docs/FORMAT.md defines, in the plainest way. It uses 64-bit states and handles
 * one symbol at a time. It finds slots by summing frequencies, and collects the 16-bit words in a separate
 * array. Returns the stream's size. */
static inline size_t slow_put(const Rans *r, unsigned lanes, const uint8_t *byte, size_t n, uint8_t *out)
{
    uint64_t x[RANS_LANES];
    uint16_t *word = malloc((n + 1) * sizeof *word);
    size_t words = 0;
    for (unsigned l = 0; l < lanes; l++)
        x[l] = 65536;
    for (size_t i = n; i-- > 0;) {
        uint64_t start = 0, f = 0, *state = &x[i % lanes];
        for (uint32_t k = 0; k < r->present; k++) {
            f = r->frequency[k];
            if (rans_byte(r, k) == byte[i])
                break;
            start += f;
        }
        const uint64_t sum = UINT64_C(1) << r->precision;
        if (*state / f * sum + start + *state % f > UINT32_MAX) { /* state would overflow */
            word[words++] = (uint16_t)*state;
            *state >>= 16;
        }
        *state = *state / f * sum + start + *state % f;
    }
    for (unsigned l = 0; l < lanes; l++)
        store_u32(out + 4 * l, (uint32_t)x[l]);
    for (size_t k = 0; k < words; k++)
        store_u16(out + 4 * lanes + 2 * k, word[words - 1 - k]);
    free(word);
    return 4 * lanes + 2 * words;
}

typedef struct {
    size_t n;
    uint8_t *byte, *room, *stream;
    size_t size;
    uint64_t count[RANS_BYTES];
    Rans rans;
    unsigned lanes;
} Case;

/* Returns n random bytes below `alphabet`, with their rANS table and stream. Larger bytes are less frequent;
 * with `slope` 0, all are equally frequent. Frequencies have `precision` bits; 0 selects the best number. */
static inline Case make_case_at(const Rng *rng, size_t n, uint32_t alphabet, double slope, unsigned lanes,
                                int precision)
{
    Case c = {.n = n, .lanes = lanes};
    c.byte = malloc(n + 1);
    c.room = malloc(rans_most(n, lanes));
    for (size_t i = 0; i < n; i++) {
        const double u = rng_unit(rng, USE_TEST, i + n);
        const double v = slope > 0 ? -log(u) / slope : u * alphabet;
        c.byte[i] = (uint8_t)(v < alphabet - 1 ? v : alphabet - 1);
        c.count[c.byte[i]]++;
    }
    RansWriter w;
    check(rans_build(&c.rans, alphabet, c.count));
    if (precision && c.rans.present > 1) {
        uint64_t weight[RANS_BYTES];
        for (uint32_t k = 0; k < c.rans.present; k++)
            weight[k] = c.count[c.rans.symbol[k]];
        c.rans.precision = precision;
        rans_share(&c.rans, weight);
    }
    rans_writer(&w, &c.rans);
    c.size = rans_put(&w, lanes, c.byte, n, c.room + rans_most(n, lanes));
    c.stream = c.room + rans_most(n, lanes) - c.size;
    return c;
}

static inline Case make_case(const Rng *rng, size_t n, uint32_t alphabet, double slope, unsigned lanes)
{
    return make_case_at(rng, n, alphabet, slope, lanes, 0);
}

static inline void drop_case(Case *c)
{
    free(c->byte);
    free(c->room);
}

/* True when the decoder accepts the stream in `data`. The decoder gets a copy that ends at a protected page, so
 * a read past the end crashes. */
static inline bool reads(const Case *c, const uint8_t *data, size_t size, uint8_t *back)
{
    static RansReader reader;
    static Walled room;
    if (!room.end)
        room = walled(1 << 18);
    rans_reader(&reader, &c->rans);
    return rans_get(&reader, c->lanes, (Bytes){at_the_end(room, data, size), size}, c->n, back);
}

#endif
