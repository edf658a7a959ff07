/* test_science.c -- the codecs zfp and fpzip: against libzfp's function for whole arrays, and against what an accuracy and
 * a precision promise. */
#include "compress/science/fpzip_walk.h"
#include "rig/codec_rig.h"
#include "rig/sources.h"

enum { ROWS = 61, COLUMNS = 50, N = ROWS * COLUMNS };

static bool there(const char *name)
{
    const bool is = compressor_find(name);
    if (!is)
        print_message("skip: %s is not in this build (Debian: lib%s-dev)\n", name, name);
    return is;
}

static void normal_fill(float *x, size_t n, uint64_t repeat)
{
    const Rng rng = rng_open(31, repeat, 0, 0, 0);
    rng_normals(&rng, USE_TEST, 0, n, 1, x);
}

static Shape matrix(void)
{
    Shape shape;
    check(shape_make(&shape, 2, (size_t[]){ROWS, COLUMNS}));
    return shape;
}

static void an_accuracy_bounds_every_error(void **state)
{
    (void)state;
    static const char *const views[] = {"cube", "matrix", "vector"};
    float x[N];
    for (int e = there("zfp") ? -12 : 4; e < 4; e += 3)
        for (size_t v = 0; v < countof(views); v++) {
            Rig rig;
            char spec[64];
            const double accuracy = ldexp(1.3, e);
            snprintf(spec, sizeof spec, "zfp:accuracy=%.9g,view=%s", accuracy, views[v]);
            rig_open(&rig, spec, matrix());
            normal_fill(x, N, 0);
            check_ok(rig_encode(&rig, x, 0), &rig.err);
            check_ok(rig_decode(&rig), &rig.err);
            double most = 0;
            for (size_t i = 0; i < N; i++)
                most = fmax(most, fabs((double)rig.decoded[i] - (double)x[i]));
            check(most <= accuracy && most > accuracy / 64);
            rig_close(&rig);
        }
}

/* libzfp itself turns blocks below 2^-98 into integers of the wrong sign. */
static void small_elements_keep_their_signs_or_become_zeros(void **state)
{
    (void)state;
    static const char *const views[] = {"cube", "matrix", "vector"};
    float x[N];
    for (int e = there("zfp") ? -149 : 0; e < -80; e++)
        for (size_t v = 0; v < countof(views); v++) {
            Rig rig;
            char spec[64];
            snprintf(spec, sizeof spec, "zfp:rate=14,view=%s", views[v]);
            rig_open(&rig, spec, matrix());
            for (size_t i = 0; i < N; i++)
                x[i] = ldexpf(i % 3 ? 1 : 1.5f, e);
            check_ok(rig_encode(&rig, x, 0), &rig.err);
            check_ok(rig_decode(&rig), &rig.err);
            for (size_t i = 0; i < N; i++)
                check(e < -98 ? rig.decoded[i] == 0 : fabsf(rig.decoded[i] - x[i]) < 0.1f * x[i]);
            rig_close(&rig);
        }
}

static void fpzip_cuts_the_low_bits(void **state)
{
    (void)state;
    float x[N];
    for (unsigned precision = there("fpzip") ? 2 : 33; precision <= 32; precision++)
        for (int view = 0; view < 2; view++) {
            Rig rig;
            char spec[64];
            snprintf(spec, sizeof spec, "fpzip:precision=%u,view=%s", precision, view ? "matrix" : "vector");
            rig_open(&rig, spec, matrix());
            normal_fill(x, N, precision);
            check_ok(rig_encode(&rig, x, 0), &rig.err);
            check_ok(rig_decode(&rig), &rig.err);
            check(rig.payload.data[0] == 1);
            for (size_t i = 0; i < N; i++)
                check(float_bits(rig.decoded[i]) ==
                      (float_bits(x[i]) & (uint32_t)(UINT64_MAX << (32 - precision))));
            rig_close(&rig);
        }
}

/* The walk accepts a stream that ends with its last element, and no other number of elements. */
static void the_walk_counts_the_floats_of_a_stream(void **state)
{
    (void)state;
    float x[N];
    Rig rig;
    if (!there("fpzip"))
        return;
    rig_open(&rig, "fpzip:precision=13", shape_vector(N));
    normal_fill(x, N, 0);
    check_ok(rig_encode(&rig, x, 0), &rig.err);
    const Bytes stream = {rig.payload.data + 1, rig.payload.size - 1};
    check(fpzip_walk(stream, N, 13));
    check(!fpzip_walk(stream, N - 10, 13) && !fpzip_walk(stream, N + 10, 13) && !fpzip_walk(stream, N, 14));
    check(!fpzip_walk((Bytes){stream.data, stream.size - 1}, N, 13));
    rig_close(&rig);
}

#ifdef ATOMO_ZFP
#include <zfp.h>

/* The codec's blocks are those of libzfp's function for whole arrays. */
static void a_matrix_is_coded_as_libzfp_codes_an_array(void **state)
{
    (void)state;
    static const double rates[] = {0.7, 4, 8, 13.5};
    float x[N];
    uint8_t whole[8 * N] = {0};
    normal_fill(x, N, 0);
    for (size_t r = 0; r <= countof(rates); r++) {
        Rig rig;
        char spec[64];
        zfp_stream *zfp = zfp_stream_open(NULL);
        if (r < countof(rates)) {
            snprintf(spec, sizeof spec, "zfp:rate=%g,view=matrix", rates[r]);
            zfp_stream_set_rate(zfp, rates[r], zfp_type_float, 2, zfp_false);
        } else {
            snprintf(spec, sizeof spec, "zfp:accuracy=0.001,view=matrix");
            zfp_stream_set_accuracy(zfp, 0.001);
        }
        bitstream *bits = stream_open(whole, sizeof whole);
        zfp_field *field = zfp_field_2d(x, zfp_type_float, COLUMNS, ROWS);
        zfp_stream_set_bit_stream(zfp, bits);
        zfp_stream_rewind(zfp);
        const size_t size = zfp_compress(zfp, field);
        rig_open(&rig, spec, matrix());
        check_ok(rig_encode(&rig, x, 0), &rig.err);
        check(rig.payload.size - 1 <= size && size < rig.payload.size - 1 + 8);
        check(!memcmp(rig.payload.data + 1, whole, rig.payload.size - 1));
        rig_close(&rig);
        zfp_field_free(field);
        zfp_stream_close(zfp);
        stream_close(bits);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_accuracy_bounds_every_error),
        cmocka_unit_test(small_elements_keep_their_signs_or_become_zeros),
        cmocka_unit_test(fpzip_cuts_the_low_bits),
        cmocka_unit_test(the_walk_counts_the_floats_of_a_stream),
#ifdef ATOMO_ZFP
        cmocka_unit_test(a_matrix_is_coded_as_libzfp_codes_an_array),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
