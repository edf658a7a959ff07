/* test_expected.c -- the metrics variance_expected and relative_error_expected, in records of one vector and
 * of several vectors. The test sums the codecs' closed forms itself and compares. The closed forms involve
 * no random numbers, so the tolerance is only 0.001 %. */
#include "compress/spec.h"
#include "measure/compare.h"
#include "reference/vectors.h"
#include "rig/check.h"

#include <math.h>

enum { VECTORS = 3 };

static const size_t sizes[VECTORS] = {1000, 70003, 333};

static float *gradient(size_t i, float *x)
{
    reference_gradient(x, sizes[i], (uint32_t)i + 1);
    return x;
}

/* ---- closed forms of the variance; l1: sum of the magnitudes; squares: sum of the squares; most: largest
 * magnitude ---- */

static double keep_some(double n, double l1, double squares, double most) /* randk, which keeps a tenth */
{
    (void)l1;
    (void)most;
    return squares * (n / floor(n / 10 + 0.5) - 1);
}
static double terngrad(double n, double l1, double squares, double most)
{
    (void)n;
    return most * l1 - squares;
}
static double one_level(double n, double l1, double squares, double most)
{
    (void)n;
    (void)most;
    return (double)(float)sqrt(squares) * l1 - squares;
}
static double nothing(double n, double l1, double squares, double most)
{
    (void)n;
    (void)l1;
    (void)most;
    return 0 * squares;
}

static const struct {
    const char *spec;
    double (*variance)(double n, double l1, double squares, double most);
} cases[] = {{"randk:ratio=0.1", keep_some},
             {"terngrad", terngrad},
             {"qsgd:levels=1,bucket=0,code=fixed", one_level},
             {"none", nothing}};

static double expected(size_t k, size_t i, double *squares)
{
    static float x[70003];
    double l1 = 0, most = 0;
    gradient(i, x);
    *squares = 0;
    for (size_t e = 0; e < sizes[i]; e++) {
        const double m = fabs((double)x[e]);
        l1 += m;
        *squares += m * m;
        most = fmax(most, m);
    }
    return cases[k].variance((double)sizes[i], l1, *squares, most);
}

/* ---- comparing ---- */

typedef struct {
    size_t k;
    size_t records;
    double total, squares; /* of all vectors */
} Held;

static Status load(void *data, const Vector *v, float *x, Error *err)
{
    (void)data;
    (void)err;
    gradient((size_t)(v->name[0] - 'a'), x);
    return OK;
}

static Status keep(void *data, const Record *r, Error *err)
{
    Held *h = data;
    double squares = h->squares, want = h->total;
    (void)err;
    h->records++;
    if (r->level == LEVEL_VECTOR) {
        want = expected(h->k, (size_t)(r->vector->name[0] - 'a'), &squares);
        h->total += want;
        h->squares += squares;
    }
    check_rel(metric_value(metric_find("variance_expected"), &r->tally), want, 1e-5);
    check_rel(metric_value(metric_find("relative_error_expected"), &r->tally), want / squares, 1e-5);
    return OK;
}

TEST(records_hold_the_closed_forms_and_their_sums)
{
    for (size_t k = 0; k < countof(cases); k++) {
        Error err = {0};
        Arena *a = arena_open(0);
        const Codec *codec;
        Vector vector[VECTORS];
        static const char *const names[VECTORS] = {"a", "b", "c"};
        Held held = {.k = k};
        VectorList list = {.item = vector, .count = VECTORS};
        for (size_t i = 0; i < VECTORS; i++) {
            vector[i] = (Vector){.name = names[i], .shape = shape_vector(sizes[i])};
            list.elements += sizes[i];
            list.largest = sizes[i] > list.largest ? sizes[i] : list.largest;
        }
        check_ok(codec_open(&codec, cases[k].spec, a, &err), &err);
        const Comparison c = {.codec = &codec,
                              .codecs = 1,
                              .vectors = &list,
                              .repeats = 2,
                              .seed = 1,
                              .memory = 1 << 30,
                              .threads = 1,
                              .untimed = true,
                              .data = &held,
                              .load = load,
                              .record = keep};
        size_t failures;
        check_ok(compare_run(&c, &failures, a, &err), &err);
        assert_int_equal(failures, 0);
        assert_int_equal(held.records, VECTORS + 1);
        arena_close(a);
    }
}

/* The closed form of the variance of `rotated` depends on the rotation that is drawn. The record has the mean
 * of the closed form over repeats. Over 70,003 elements and 10 repeats, the measured variance is within 1 % of
 * this mean. */
static Status keep_ratio(void *data, const Record *r, Error *err)
{
    double *ratio = data;
    (void)err;
    if (r->level == LEVEL_VECTOR)
        *ratio = metric_value(metric_find("variance"), &r->tally) /
                 metric_value(metric_find("variance_expected"), &r->tally);
    return OK;
}

/* Compares a codec on the vector "a" or "b", whichever has as many elements as the shape, and hands the records to `record`. */
static void compare_one(const char *spec, Shape shape, size_t repeats,
                        Status (*record)(void *data, const Record *r, Error *err), void *data)
{
    Error err = {0};
    Arena *a = arena_open(0);
    const Codec *codec;
    Vector vector = {.name = shape.n == sizes[0] ? "a" : "b", .shape = shape};
    const VectorList list = {.item = &vector, .count = 1, .elements = shape.n, .largest = shape.n};
    size_t failures;
    check_ok(codec_open(&codec, spec, a, &err), &err);
    const Comparison c = {.codec = &codec,
                          .codecs = 1,
                          .vectors = &list,
                          .repeats = repeats,
                          .seed = 1,
                          .memory = 1 << 30,
                          .threads = 1,
                          .untimed = true,
                          .data = data,
                          .load = load,
                          .record = record};
    check_ok(compare_run(&c, &failures, a, &err), &err);
    assert_int_equal(failures, 0);
    arena_close(a);
}

TEST(a_form_that_depends_on_draws_is_averaged)
{
    double ratio = 0;
    compare_one("rotated:bits=2", shape_vector(sizes[1]), 10, keep_ratio, &ratio);
    check_rel(ratio, 1, 0.01);
}

/* The payloads of svd are as long as the atoms that were drawn, all of one size. So their expected size is exact, and
 * the same with other draws. */
static Status keep_sizes(void *data, const Record *r, Error *err)
{
    double *expected = data;
    (void)err;
    if (r->level == LEVEL_VECTOR) {
        check(metric_value(metric_find("bytes_expected_se"), &r->tally) == 0 && r->tally.sizes > 0);
        *expected = metric_value(metric_find("bytes_expected"), &r->tally);
        check(*expected > r->tally.bytes_min && *expected < r->tally.bytes_max);
    }
    return OK;
}

TEST(the_size_of_drawn_atoms_is_exact)
{
    double some = 0, more = 0;
    const Shape shape = {.rank = 2, .dim = {25, 40}, .n = 1000};
    compare_one("svd:rank=4", shape, 4, keep_sizes, &some);
    compare_one("svd:rank=4", shape, 7, keep_sizes, &more);
    check_rel(some, more, 1e-9);
}

CHECK_ALL(NULL, NULL)
