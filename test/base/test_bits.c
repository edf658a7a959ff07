/* test_bits.c -- bit streams (bits.h): writing, reading, reads beyond the end, and wrong padding bits. */
#include "rig/check.h"

#include "base/bits.h"
#include "base/rng.h"

enum { FIELDS = 5000 };

static unsigned width_of(const Rng *rng, uint64_t i)
{
    return rng_u32(rng, USE_TEST, i) % (BITS_MAX + 1);
}
static uint64_t value_of(const Rng *rng, uint64_t i)
{
    const unsigned width = width_of(rng, i);
    return width ? rng_u64(rng, USE_TEST, FIELDS + i) >> (64 - width) : 0;
}

TEST(fields_of_every_width_come_back)
{
    static uint8_t data[FIELDS * 8];
    const Rng rng = rng_open(1, 0, 0, 0, 0);
    BitWriter w = bits_writer(data, sizeof data);
    uint64_t bits = 0;
    for (uint64_t i = 0; i < FIELDS; i++) {
        bits_put(&w, value_of(&rng, i), width_of(&rng, i));
        bits += width_of(&rng, i);
    }
    bits_close(&w);
    check(!w.full);
    const size_t size = (size_t)(w.at - data);
    assert_int_equal(size, (bits + 7) / 8);
    BitReader r = bits_reader((Bytes){data, size});
    for (uint64_t i = 0; i < FIELDS; i++)
        assert_int_equal(bits_get(&r, width_of(&rng, i)), value_of(&rng, i));
    check(bits_finish(&r));
}

TEST(the_first_bit_is_the_high_bit_of_the_first_byte)
{
    uint8_t data[2] = {0, 0};
    BitWriter w = bits_writer(data, 2);
    bits_put(&w, 1, 1);
    bits_put(&w, 2, 3);
    bits_put(&w, 0x1f, 5);
    bits_close(&w);
    assert_int_equal(data[0], 0xaf); /* 1 010 1111 */
    assert_int_equal(data[1], 0x80);
    check(w.at == data + 2);
}

TEST(a_full_writer_stays_full_and_writes_nothing_behind_its_end)
{
    for (size_t room = 0; room < 20; room++) {
        uint8_t data[32];
        memset(data, 0xee, sizeof data);
        BitWriter w = bits_writer(data, room);
        for (unsigned i = 0; i < 16; i++)
            bits_put(&w, 0, 10);
        bits_close(&w);
        check(w.full == (room < 20));
        check(w.at == data + room);
        for (size_t i = room; i < sizeof data; i++)
            assert_int_equal(data[i], 0xee);
    }
}

TEST(reading_past_the_end_gives_zeros_and_a_bad_reader)
{
    const uint8_t data[3] = {0xff, 0xff, 0xff};
    BitReader r = bits_reader((Bytes){data, 3});
    assert_int_equal(bits_get(&r, 20), 0xfffff);
    assert_int_equal(bits_get(&r, 5), 0);
    check(r.bad);
    assert_int_equal(bits_get(&r, 1), 0);
    check(!bits_finish(&r));
    BitReader none = bits_reader((Bytes){NULL, 0});
    check(bits_finish(&none));
    assert_int_equal(bits_get(&none, 1), 0);
    check(!bits_finish(&none));
}

TEST(padding_must_be_short_and_zero)
{
    const uint8_t clean[2] = {0xff, 0xe0}, dirty[2] = {0xff, 0xe1}, longer[3] = {0xff, 0xe0, 0};
    BitReader a = bits_reader((Bytes){clean, 2}), b = bits_reader((Bytes){dirty, 2}),
              c = bits_reader((Bytes){longer, 3});
    bits_skip(&a, 11), bits_skip(&b, 11), bits_skip(&c, 11);
    check(bits_finish(&a));
    check(!bits_finish(&b));
    check(!bits_finish(&c));
}

CHECK_ALL(NULL, NULL)
