/* test_svd_vectors.c -- the codec svd (spectral ATOMO) with singular vectors that are rounded at random by bf16
 * or qsgd: independent random numbers for each vector, sizes, and moments. An atom is a singular value with its
 * two singular vectors. */
#include "compress/atoms/svd.c"
#include "rig/draws.h"
#include "math/linalg.h"

/* Fills x with noise plus a few outer products of high norm. One vector has elements of very different size. */
static void fill_gradient(size_t rows, size_t cols, uint64_t seed, float *x)
{
    const Rng rng = rng_open(seed, 0, 0, 0, 0);
    for (size_t i = 0; i < rows * cols; i++) {
        double sum = 0.05 * rng_normal(&rng, USE_TEST, i);
        for (uint64_t k = 0; k < 4; k++)
            sum += pow(0.5, (double)k) * rng_normal(&rng, USE_DATA, k << 32 | i / cols) *
                   rng_normal(&rng, USE_INIT, k << 32 | i % cols) *
                   (k == 0 ? exp(-(double)(i / cols) / 40) : 1);
        x[i] = (float)(1e-3 * sum);
    }
}

/* ---- closed form of the variance, and draws ---- */

typedef struct {
    const char *form;
    double bits, rank;
    size_t rows, cols, repeats;
} Case;

static void open_case(const Case *c, Rig *rig)
{
    char spec[96];
    if (!strcmp(c->form, "bf16"))
        snprintf(spec, sizeof spec, "svd:rank=%g,vectors=bf16", c->rank);
    else
        snprintf(spec, sizeof spec, "svd:rank=%g,vectors=qsgd,vbits=%g", c->rank, c->bits);
    rig_open(rig, spec, (Shape){2, {c->rows, c->cols}, c->rows * c->cols});
}

/* ---- independent random numbers for the two vectors of an atom ---- */

/* The matrix is a multiple of u u'. If the two singular vectors were rounded to the same vector v, the mean
 * trace of the estimate would be too large by the factor 1 + E |v - u|^2 / |u|^2. */
TEST(the_two_vectors_of_an_atom_are_rounded_independently)
{
    enum { SIDE = 96, R = 800 };
    float x[SIDE * SIDE];
    double trace = 0, mean = 0, squares = 0;
    const Rng rng = rng_open(8, 0, 0, 0, 0);
    for (size_t i = 0; i < SIDE * SIDE; i++)
        x[i] = (float)(rng_normal(&rng, USE_DATA, i / SIDE) * rng_normal(&rng, USE_DATA, i % SIDE));
    for (size_t i = 0; i < SIDE; i++)
        trace += (double)x[i * (SIDE + 1)];
    Rig rig;
    rig_open(&rig, "svd:rank=1,vectors=qsgd,vbits=3", (Shape){2, {SIDE, SIDE}, SIDE * SIDE});
    for (size_t r = 0; r < R; r++) {
        double sum = 0;
        check_ok(rig_encode(&rig, x, r), &rig.err);
        check_ok(rig_decode(&rig), &rig.err);
        for (size_t i = 0; i < SIDE; i++)
            sum += (double)rig.decoded[i * (SIDE + 1)] / trace;
        mean += sum / R;
        squares += (sum - 1) * (sum - 1) / R;
    }
    const double limit = 6.22 * sqrt(squares / R);
    check(limit < 0.05); /* with the same random numbers, the mean would be at least 1.2 */
    check_near(mean, 1, limit);
    rig_close(&rig);
}

/* Each singular vector is coded as by the codec bf16 or qsgd, with the random numbers that docs/FORMAT.md
 * specifies. */
TEST(vectors_travel_as_payloads_of_their_codec_at_their_own_addresses)
{
    const char *const forms[][2] = {{"svd:rank=2.5,vectors=bf16", "bf16:rounding=stochastic"},
                                    {"svd:rank=2.5,vectors=qsgd", "qsgd:bits=8"},
                                    {"svd:rank=2.5,vectors=qsgd,vbits=3", "qsgd:bits=3"}};
    enum { ROWS = 700, COLS = 30 };
    float x[ROWS * COLS];
    fill_gradient(ROWS, COLS, 4, x);
    Rig plain;
    rig_open(&plain, "svd:rank=2.5", (Shape){2, {ROWS, COLS}, ROWS * COLS});
    for (size_t f = 0; f < countof(forms); f++)
        for (uint64_t repeat = 0; repeat < 20; repeat++) {
            Rig rig;
            SvdPlan plan;
            size_t kept[COLS];
            rig_open(&rig, forms[f][0], plain.shape);
            check_ok(rig_encode(&rig, x, repeat), &rig.err);
            check_ok(rig_encode(&plain, x, repeat), &plain.err);
            check_ok(svd_plan_open(&plain.call, x, &plan), &plain.err);
            check_ok(svd_plan_rank(&plain.call, &plan), &plain.err);
            const size_t count = svd_draw(&plain.call, &plan, kept);
            Reader r = reader_open(buf_bytes(&rig.payload));
            const uint8_t *at = plain.payload.data + 2;
            check(take_u8(&r) == PAYLOAD_METHOD && take_varint(&r) == count);
            for (size_t i = 0; i < 2 * count; i++) {
                const size_t n = i % 2 ? COLS : ROWS;
                Rig one;
                rig_open(&one, forms[f][1], shape_vector(n));
                one.call.rng = rng_below(&rig.call.rng, 2 * kept[i / 2] + i % 2);
                check_ok(codec_encode(&one.call, (const float *)memcpy(one.decoded, at, 4 * n), &one.payload),
                         &one.err);
                check(take_varint(&r) == one.payload.size);
                const uint8_t *bytes = take_bytes(&r, one.payload.size);
                check(bytes && !memcmp(bytes, one.payload.data, one.payload.size));
                at += 4 * n;
                rig_close(&one);
            }
            check(reader_done(&r));
            rig_close(&rig);
        }
    rig_close(&plain);
}

/* ---- expected bits and rounding errors of singular vectors ---- */

/* The expected number of bits in the plan must be right for random singular vectors, as of a matrix of normal
 * numbers, and the better the longer they are. */
TEST(expected_bits_are_met_where_vectors_are_random)
{
    enum { R = 16 };
    static const double bits[] = {1, 2, 4, 6, 8, 12, 16};
    const Rng rng = rng_open(6, 0, 0, 0, 0);
    Arena *a = arena_open(0);
    const Shape shapes[] = {{2, {3000, 18}, 54000}, {2, {40, 30}, 1200}};
    static const double tolerance[countof(shapes)] = {0.015, 0.03};
    float *x = NEW(a, float, 54000);
    rng_normals(&rng, USE_TEST, 0, 54000, 1, x);
    for (size_t k = 0; k < countof(bits) * countof(shapes); k++) {
        char spec[96];
        Rig rig;
        SvdPlan plan;
        double mean = 0;
        snprintf(spec, sizeof spec, "svd:rank=6,draw=systematic,vectors=qsgd,vbits=%g", bits[k / 2]);
        rig_open(&rig, spec, shapes[k % 2]);
        check_ok(svd_plan_open(&rig.call, x, &plan), &rig.err);
        check_ok(svd_plan_rank(&rig.call, &plan), &rig.err);
        for (size_t r = 0; r < R; r++) {
            check_ok(rig_encode(&rig, x, r), &rig.err);
            mean += 8 * (double)rig.payload.size / R;
        }
        check_rel(mean, plan.bits, tolerance[k % 2]);
        rig_close(&rig);
    }
    arena_close(a);
}

/* The moment `squares` is tr C^2 for the covariance C of the error: the mean of <e, e'>^2 for independent
 * errors e and e'. All atoms are sent here, so only rounding is random. */
TEST(moments_count_the_directions_of_the_error)
{
    enum { R = 800 };
    static const Case all_sent[] = {
        {"bf16", 8, 18, 90, 18, R}, {"qsgd", 4, 18, 90, 18, R}, {"qsgd", 2, 12, 18, 90, R}};
    float x[90 * 18], last[90 * 18];
    for (size_t i = 0; i < countof(all_sent); i++) {
        double mean = 0, squares = 0;
        Rig rig;
        AtomMoments m;
        open_case(&all_sent[i], &rig);
        fill_gradient(all_sent[i].rows, all_sent[i].cols, i, x);
        check(codec_moments(&rig.call, x, &m) == ATOMWISE);
        memcpy(last, x, sizeof last);
        for (size_t r = 0; r <= R; r++) {
            double dot = 0;
            check_ok(rig_encode(&rig, x, r), &rig.err);
            check_ok(rig_decode(&rig), &rig.err);
            for (size_t k = 0; k < countof(x); k++)
                dot += ((double)rig.decoded[k] - (double)x[k]) * ((double)last[k] - (double)x[k]);
            memcpy(last, rig.decoded, sizeof last);
            mean += dot * dot / R;
            squares += dot * dot * dot * dot / R;
        }
        /* the closed form omits the covariances between atoms, which are products of rounding errors */
        check_near(mean, m.squares, 6.22 * sqrt(squares / R) + 0.1 * m.squares);
        rig_close(&rig);
    }
}

CHECK_ALL(NULL, NULL)
