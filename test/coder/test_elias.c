/* test_elias.c -- Elias gamma and omega codes: published codes and lengths, and words against streams. */
#include "rig/check.h"

#include "rig/coder_rig.h"
#include "base/rng.h"

typedef struct {
    const char *name;
    void (*put)(BitWriter *, uint64_t);
    uint64_t (*get)(BitReader *);
    unsigned (*bits)(uint64_t);
} Code;
static const Code codes[] = {
    {"gamma", gamma_put, gamma_get, gamma_bits},
    {"omega", omega_put, omega_get, omega_bits},
};

static void expect(const Code *code, uint64_t v, const char *text)
{
    uint8_t data[32] = {0};
    BitWriter w = bits_writer(data, sizeof data);
    code->put(&w, v);
    bits_close(&w);
    assert_int_equal(code->bits(v), strlen(text));
    for (size_t i = 0; text[i]; i++)
        assert_int_equal(data[i / 8] >> (7 - i % 8) & 1, text[i] - '0');
}

TEST(codes_are_those_of_the_books)
{
    expect(&codes[0], 1, "1");
    expect(&codes[0], 4, "00100");
    expect(&codes[0], 15, "0001111");
    expect(&codes[1], 1, "0");
    expect(&codes[1], 2, "100");
    expect(&codes[1], 3, "110");
    expect(&codes[1], 4, "101000");
    expect(&codes[1], 7, "101110");
    expect(&codes[1], 8, "1110000");
    expect(&codes[1], 15, "1111110");
    expect(&codes[1], 16, "10100100000");
}

TEST(omega_lengths_are_those_of_the_table)
{
    static const struct {
        uint64_t v;
        unsigned bits;
    } rows[] = {{1, 1},    {3, 3},    {7, 6},    {15, 7},    {31, 11},    {63, 12},   {127, 13},
                {128, 14}, {255, 14}, {256, 16}, {1023, 17}, {65535, 23}, {65536, 28}};
    for (size_t i = 0; i < countof(rows); i++)
        assert_int_equal(omega_bits(rows[i].v), rows[i].bits);
}

TEST(numbers_come_back_at_their_stated_cost)
{
    static uint8_t data[1 << 16];
    const Rng rng = rng_open(2, 0, 0, 0, 0);
    for (size_t c = 0; c < countof(codes); c++) {
        BitWriter w = bits_writer(data, sizeof data);
        uint64_t bits = 0, v[3000];
        for (size_t i = 0; i < countof(v); i++) {
            v[i] = i < 2000 ? i + 1 : rng_u64(&rng, USE_TEST, i) >> i % 64 | 1;
            codes[c].put(&w, v[i]);
            bits += codes[c].bits(v[i]);
        }
        bits_close(&w);
        check(!w.full);
        assert_int_equal(w.at - data, (bits + 7) / 8);
        BitReader r = bits_reader((Bytes){data, (size_t)(w.at - data)});
        for (size_t i = 0; i < countof(v); i++)
            assert_int_equal(codes[c].get(&r), v[i]);
        check(bits_finish(&r));
    }
}

TEST(omega_words_equal_omega_streams)
{
    for (uint32_t v = 1; v < 200000; v += v < 1000 ? 1 : 997) {
        uint8_t a[16] = {0}, b[16] = {0};
        BitWriter wa = bits_writer(a, 16), wb = bits_writer(b, 16);
        const CodeWord word = omega_word(v);
        assert_int_equal(word.length, omega_bits(v));
        omega_put(&wa, v);
        bits_put(&wb, word.bits, word.length);
        bits_close(&wa), bits_close(&wb);
        assert_memory_equal(a, b, 16);
    }
}

CHECK_ALL(NULL, NULL)
