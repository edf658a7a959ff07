/* test_science.c -- the codec zfp: against libzfp's function for whole arrays, against what an accuracy
 * promises, and with streams that no encoder writes. */
#include "compress/spec.h"
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

TEST(an_accuracy_bounds_every_error)
{
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

static uint64_t rest = 1; /* a generator of damage */

static size_t below(size_t n)
{
    rest = rest * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(rest >> 33) % n;
}

/* Damages a payload: random bytes from some place on, one to three changed bytes, or another length. */
static size_t damage(uint8_t *bytes, size_t size, size_t cap)
{
    const size_t way = below(4), from = 1 + below(size);
    for (size_t i = from; way == 0 && i < size; i++)
        bytes[i] = (uint8_t)below(256);
    for (size_t k = 0; way == 1 && k < 1 + below(3); k++)
        bytes[1 + below(size - 1)] ^= (uint8_t)(1 + below(255));
    for (size_t i = 1; way == 2 && i < 5 && i < size; i++)
        bytes[i] = (uint8_t)(below(2) ? 255 : below(256));
    return way == 3 ? 1 + below(cap - 1) : size;
}

TEST(damage_is_refused_or_decodes_to_finite_numbers)
{
    static const char *const specs[] = {
        "zfp", "zfp:accuracy=0.01", "zfp:accuracy=1e-9,view=vector", "zfp:rate=20,view=matrix"};
    float x[N];
    size_t refused = 0, taken = 0;
    normal_fill(x, N, 0);
    for (size_t k = 0; k < countof(specs); k++) {
        if (!there("zfp"))
            continue;
        for (size_t t = 0; t < 1500; t++) {
            Rig rig;
            Shape shape = t % 3 ? shape_vector(1 + below(200)) : matrix();
            rig_open(&rig, specs[k], shape);
            check_ok(rig_encode(&rig, x, 0), &rig.err);
            uint8_t *bytes = calloc(rig.payload.cap, 1);
            memcpy(bytes, rig.payload.data, rig.payload.size);
            const size_t size = damage(bytes, rig.payload.size, rig.payload.cap);
            uint8_t *exact = malloc(size); /* AddressSanitizer sees reads behind it */
            memcpy(exact, bytes, size);
            const Status status = rig_decode_bytes(&rig, exact, size, rig.decoded);
            check(status == OK || status == ERR_CORRUPT);
            check(status != OK || first_nonfinite(rig.decoded, shape.n, NULL) == shape.n);
            refused += status != OK;
            taken += status == OK;
            free(exact);
            free(bytes);
            rig_close(&rig);
        }
    }
    check(!compressor_find("zfp") || (refused > 100 && taken > 100));
}

#ifdef ATOMO_ZFP
#include <zfp.h>

/* The codec's blocks are those of libzfp's function for whole arrays. */
TEST(a_matrix_is_coded_as_libzfp_codes_an_array)
{
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

CHECK_ALL(NULL, NULL)
