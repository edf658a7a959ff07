/* test_signs.c -- codecs with one bit per element: kernels against plain loops, and the codecs scaledsign and
 * onebit against their formulas. test_sign_vote.c tests the majority vote of the codec sign. */
#include "rig/codec_rig.h"
#include "math/vec/kernels.h"
#include "coder/planes.h"
#include "rig/try.h"

#include <float.h>

static const size_t sizes[] = {0,  1,   2,   3,   7,    8,     9,     63,    64,
                               65, 511, 512, 513, 1000, 65535, 65536, 65537, 200003};
static const char *const specs[] = {"sign", "scaledsign", "scaledsign:scale=bucket", "onebit",
                                    "onebit:scope=tensor"};

enum { N = 1500 };

#define EACH_ISA(k)                                                                                          \
    for (int isa = 0; isa < ISA_COUNT; isa++)                                                                \
        for (const Kernels *k = kernels_of((Isa)isa); k; k = NULL)

/* Fills x with normal numbers, and every fifth element with a special value. */
static void fill(float *x, size_t n)
{
    static const float odd[] = {0, -0.0f, 0x1p-149f, -0x1p-149f, FLT_MAX, -FLT_MAX, 1, -1};
    const Rng rng = rng_open(21, 0, 0, 0, 0);
    for (size_t i = 0; i < n; i++)
        x[i] = i % 5 ? (float)rng_normal(&rng, USE_TEST, i) : odd[i / 5 % countof(odd)];
}

/* ---- kernels ---- */

TEST(bits_are_set_under_zero_and_come_back_as_the_two_values)
{
    enum { GROUPS = N / 64 };
    float x[N], y[N];
    uint8_t bit[8 * GROUPS];
    fill(x, N);
    EACH_ISA(k)
    {
        memset(bit, 0xa5, sizeof bit);
        k->sign_bits(x, GROUPS, bit);
        k->sign_values(bit, GROUPS, 3, -0.0f, y);
        for (size_t i = 0; i < 64 * GROUPS; i++) {
            check(signs_bit(bit, i) == (x[i] < 0));
            check(x[i] < 0 ? y[i] == 0 && signbit(y[i]) : y[i] == 3);
        }
    }
}

TEST(sums_of_both_sides_agree_to_the_bit_and_with_long_doubles)
{
    float x[N];
    fill(x, N);
    for (size_t n = 0; n <= N; n += n < 70 ? 1 : 71) {
        long double side[2] = {0};
        double first[2] = {0}, sum[2];
        for (size_t i = 0; i < n; i++)
            side[x[i] < 0] += fabsl((long double)x[i]);
        EACH_ISA(k)
        {
            k->sign_sums(x, n, sum);
            if (isa == 0)
                memcpy(first, sum, sizeof sum);
            assert_memory_equal(sum, first, sizeof sum);
            check_rel(sum[0], (double)side[0], 1e-12);
            check_rel(sum[1], (double)side[1], 1e-12);
        }
    }
}

TEST(sums_of_columns_equal_those_of_single_elements)
{
    enum { ROWS = 5, COLUMNS = 67, ROOM = 80 };
    float x[ROWS * COLUMNS];
    fill(x, ROWS * COLUMNS);
    EACH_ISA(k)
    {
        double sum[2][ROOM] = {{0}}, want[2][ROOM] = {{0}};
        uint64_t below[ROOM] = {0};
        for (size_t i = 0; i < ROWS * COLUMNS; i++)
            want[x[i] < 0][i % COLUMNS] += fabs((double)x[i]);
        for (size_t row = 0; row < ROWS; row++)
            k->sign_columns(x + row * COLUMNS, COLUMNS, sum[0], sum[1], below);
        assert_memory_equal(sum, want, sizeof sum);
        for (size_t i = 0; i < ROWS * COLUMNS; i++)
            below[i % COLUMNS] -= x[i] < 0;
        for (size_t i = 0; i < ROOM; i++)
            check(below[i] == 0);
    }
}

TEST(any_number_of_signs_is_put_got_counted_and_looked_over)
{
    float x[200], y[200];
    uint8_t bit[26];
    fill(x, 200);
    for (size_t n = 0; n <= 200; n++) {
        size_t count = 0;
        memset(bit, 0x5a, sizeof bit);
        signs_put(x, n, bit);
        check(bit[signs_size(n)] == 0x5a && signs_clean(bit, n));
        signs_get(bit, n, 2, -7, y);
        for (size_t i = 0; i < n; i++) {
            check(y[i] == (x[i] < 0 ? -7 : 2));
            count += x[i] < 0;
        }
        check(signs_count(bit, n) == count);
        for (size_t i = n; i < 8 * signs_size(n); i++) {
            bit[i / 8] ^= (uint8_t)(1 << i % 8);
            check(!signs_clean(bit, n));
            bit[i / 8] ^= (uint8_t)(1 << i % 8);
        }
    }
}

/* Parts that begin anywhere are written in an order other than their own, and without a sign. */
TEST(pens_write_parts_that_share_bytes)
{
    enum { SIGNS = 400 };
    float x[SIGNS];
    uint8_t want[SIGNS / 8], bit[SIGNS / 8 + 1];
    fill(x, SIGNS);
    signs_put(x, SIGNS, want);
    for (size_t first = 0; first <= 70; first++)
        for (size_t second = first; second <= SIGNS; second += second < 140 ? 1 : 37) {
            const size_t cut[] = {0, first, second, SIGNS}, order[] = {1, 2, 0};
            memset(bit, 0, sizeof bit);
            for (size_t part = 0; part < 3; part++) {
                SignPen pen = signs_pen(bit, cut[order[part]]);
                for (size_t i = cut[order[part]]; i < cut[order[part] + 1]; i++)
                    signs_add(&pen, x[i] < 0);
                signs_flush(&pen);
            }
            assert_memory_equal(bit, want, sizeof want);
            check(bit[SIGNS / 8] == 0);
        }
}

/* ---- sizes of all codecs with one bit per element ---- */

static size_t means_bytes(size_t spec, size_t n)
{
    const size_t bytes[] = {0, 4, 4 * ((n + 511) / 512), 8, 8};
    return bytes[spec];
}

TEST(every_size_takes_one_bit_an_element_and_its_means)
{
    for (size_t s = 0; s < countof(specs); s++)
        for (size_t k = 0; k < countof(sizes); k++) {
            const size_t n = sizes[k], own = 1 + means_bytes(s, n) + (n + 7) / 8;
            Try *t = try_open(specs[s], n);
            try_normal(t, 60 + k);
            try_both(t);
            const bool raw = own >= 4 * n + 1;
            check(raw == (n == 0 || (n == 1 && s > 0) || (n == 2 && s > 2)));
            assert_int_equal(t->out.size, raw ? 4 * n + 1 : own);
            for (size_t i = 0; i < n; i++)
                check(raw ? t->y[i] == t->x[i] : (t->y[i] < 0) == (t->x[i] < 0));
            try_close(t);
        }
}

/* ---- scaledsign ---- */

TEST(scaled_signs_have_the_mean_magnitude_of_their_tensor_or_bucket)
{
    for (size_t s = 1; s <= 2; s++)
        for (size_t k = 2; k < countof(sizes); k++) {
            const size_t n = sizes[k], bucket = s == 1 ? n : 512;
            Try *t = try_open(specs[s], n);
            fill(t->x, n);
            try_both(t);
            for (size_t from = 0; from < n; from += bucket) {
                const size_t to = n - from < bucket ? n : from + bucket;
                long double sum = 0;
                for (size_t i = from; i < to; i++)
                    sum += fabsl((long double)t->x[i]);
                const double mean = (double)(sum / (long double)(to - from));
                for (size_t i = from; i < to; i++)
                    check_rel((double)t->y[i], t->x[i] < 0 ? -mean : mean, 0x1p-24 * (1 + 1e-6));
            }
            try_close(t);
        }
}

/* ---- onebit ---- */

static void check_columns(const Rig *rig, const float *x, size_t columns)
{
    const size_t n = rig->shape.n;
    for (size_t k = 0; k < columns; k++) {
        long double sum[2] = {0}, count[2] = {0};
        for (size_t i = k; i < n; i += columns) {
            sum[x[i] < 0] += (long double)x[i];
            count[x[i] < 0]++;
        }
        for (size_t i = k; i < n; i += columns)
            check_rel((double)rig->decoded[i], (double)(sum[x[i] < 0] / count[x[i] < 0]),
                      0x1p-24 * (1 + 1e-6));
    }
}

TEST(each_column_of_a_matrix_has_its_own_two_means)
{
    static const struct {
        int rank;
        size_t dim[4], columns;
    } rows[] = {
        {2, {40, 30}, 30},     {2, {20, 1000}, 1000}, {2, {500, 1}, 1},     {4, {64, 16, 3, 3}, 144},
        {3, {9, 1, 300}, 300}, {1, {5000}, 1},        {2, {700, 257}, 257},
    };
    for (size_t k = 0; k < countof(rows); k++) {
        Shape shape;
        Rig rig;
        check(shape_make(&shape, rows[k].rank, rows[k].dim));
        rig_open(&rig, "onebit", shape);
        float *x = NEW(rig.forever, float, shape.n);
        fill(x, shape.n);
        check_ok(rig_encode(&rig, x, 0), &rig.err);
        check_ok(rig_decode(&rig), &rig.err);
        assert_int_equal(rig.payload.size, 1 + 8 * rows[k].columns + (shape.n + 7) / 8);
        check_columns(&rig, x, rows[k].columns);
        rig_close(&rig);
    }
}

CHECK_ALL(NULL, NULL)
