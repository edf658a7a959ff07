/* test_coders.c -- the number of bits that the cost function of each stream coder predicts must be the number
 * that the coder writes. */
#include "rig/try.h"

#include "rig/coder_rig.h"
#include "coder/planes.h"
#include "coder/rans.h"

enum { N = 3 * BLOCK + 1234 };

static Arena *arena;
static Rng rng;
static uint8_t codes[N];

static int open_all(void **state)
{
    arena = arena_open(0);
    rng = rng_open(5, 0, 0, 0, rng_hash("coders"));
    return 0;
}

static int close_all(void **state)
{
    arena_close(arena);
    return 0;
}

/* Fills `codes` with random values 0 .. most; larger codes are rarer. */
static void fill_codes(size_t n, uint8_t most, double slope)
{
    for (size_t i = 0; i < n; i++) {
        const double v = -log(rng_unit(&rng, USE_TEST, i)) / slope;
        codes[i] = (uint8_t)(v < most ? v : most);
    }
}

/* ---- cost functions (predicted bits) of the coders ---- */

typedef struct {
    double said, bits; /* `said`: bits predicted by the cost function; `bits`: bits written */
} Cost;

static Cost each_number(unsigned (*bits)(uint64_t), void (*put)(BitWriter *, uint64_t))
{
    static uint8_t out[64 * 4000];
    BitWriter w = bits_writer(out, sizeof out);
    uint64_t said = 0;
    for (size_t i = 0; i < 4000; i++) {
        const uint64_t v = 1 + (rng_u64(&rng, USE_TEST, i) >> (1 + i % 63));
        said += bits(v);
        put(&w, v);
    }
    return (Cost){(double)said, 8 * (double)(w.at - out) + w.count};
}

static Cost gamma_cost(void)
{
    return each_number(gamma_bits, gamma_put);
}
static Cost omega_cost(void)
{
    return each_number(omega_bits, omega_put);
}

static void count_codes(size_t n, uint64_t count[256])
{
    memset(count, 0, 256 * sizeof *count);
    for (size_t i = 0; i < n; i++)
        count[codes[i]]++;
}

/* The cost function of rANS is exact only up to 0.1 % and 9 bits for each of the four interleaved states, since
 * rANS writes whole words. */
static Cost rans_cost(void)
{
    uint64_t count[256];
    Rans r;
    static RansWriter w;
    fill_codes(BLOCK, 200, 0.1);
    count_codes(BLOCK, count);
    check(rans_build(&r, 256, count));
    rans_writer(&w, &r);
    uint8_t *room = NEW(arena, uint8_t, rans_most(BLOCK, 4));
    const double said = (double)rans_bits(&r, count, 4),
                 bits = 8 * (double)rans_put(&w, 4, codes, BLOCK, room + rans_most(BLOCK, 4));
    check_near(bits, said, 0.001 * said + 36);
    return (Cost){said, said};
}

static Cost planes_cost(void)
{
    fill_codes(BLOCK + 77, 7, 0.5);
    uint8_t *out = NEW_ZERO(arena, uint8_t, BLOCK);
    memset(out, 0xff, BLOCK);
    planes_put(codes, false, BLOCK + 77, 3, out);
    size_t size = BLOCK;
    while (out[size - 1] == 0xff)
        size--;
    return (Cost){8 * (double)planes_size(BLOCK + 77, 3), 8 * (double)size};
}

TEST(every_stream_coder_writes_what_its_cost_function_says)
{
    static const struct {
        const char *name;
        Cost (*cost)(void);
    } coders[] = {
        {"gamma", gamma_cost}, {"omega", omega_cost}, {"rans", rans_cost}, {"bit planes", planes_cost},
    };
    for (size_t i = 0; i < countof(coders); i++) {
        const Cost c = coders[i].cost();
        if (c.said != c.bits)
            print_error("%s: %g bits said, %g written\n", coders[i].name, c.said, c.bits);
        check(c.said == c.bits && c.bits > 0);
    }
}

TEST(five_trits_take_a_byte)
{
    for (size_t n = 320; n < 4000; n += 320)
        assert_int_equal(8 * trits_size(n), n * 8 / 5); /* 1.6 bits each */
    for (size_t n = 0; n < 2000; n++)
        assert_int_equal(trits_size(n), (n + 4) / 5);
    Try *t = try_open("terngrad", 65536);
    try_normal(t, 5);
    try_both(t);
    check_near(8 * (double)t->out.size / 65536, 1.6, 0.001);
    try_close(t);
}

CHECK_ALL(open_all, close_all)
