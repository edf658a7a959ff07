/* test_defects.c -- each test checks that a codec is free of one defect that public implementations of its
 * method have. The numbers are this file's own. test_powersgd_workers.c tests defect 7
 * (sums instead of averages), and test_powersgd.c defect 9 (the matrices of convolutions). */
#include "rig/try.h"

#include "base/bits.h"
#include "measure/compare.h"
#include "coder/planes.h"
#include "coder/signs.h"
#include "compress/spec.h"

/* ---- defect 1, of qsgd: a fraction 0.1 was rounded up with probability 0.9 ---- */

static double share_rounded_up(uint32_t s, double fraction)
{
    enum { COUNT = 60000 };
    char spec[64];
    snprintf(spec, sizeof spec, "qsgd:levels=%u,bucket=0,code=fixed,norm=linf", s);
    Try *t = try_open(spec, COUNT);
    size_t ups = 0;
    t->x[0] = 1;
    for (size_t i = 1; i < COUNT; i++)
        t->x[i] = (float)((s - 1) + fraction) / (float)s;
    try_both(t);
    for (size_t i = 1; i < COUNT; i++)
        ups += t->y[i] > t->x[i];
    try_close(t);
    return (double)ups / COUNT;
}

static void defect_1_qsgd_rounds_up_with_the_fraction_and_not_with_its_complement(void **state)
{
    (void)state;
    for (uint32_t s = 1; s < 300; s = 4 * s + 3)
        for (double fraction = 0.1; fraction < 1; fraction += 0.4)
            check_near(share_rounded_up(s, fraction), fraction, 6.5 * 0.5 / sqrt(60000));
}

/* ---- defects 2 and 3, of svd: what probabilities clipped at 1 left of the budget was not given to other atoms, and a
 * draw of no atom was drawn again; drawing a steady number of atoms changed their probabilities ---- */

/* a matrix with the singular values `lambda` on its diagonal */
static Try *open_spectrum(const char *spec, size_t rows, size_t atoms, double (*lambda)(size_t k))
{
    Try *t = try_open(spec, rows * atoms);
    check(shape_make(&t->shape, 2, (const size_t[]){rows, atoms}));
    t->out.cap = codec_message_bound(&t->call);
    t->out.data = NEW(t->arena, uint8_t, t->out.cap);
    for (size_t k = 0; k < atoms; k++)
        t->x[k * (atoms + 1)] = (float)lambda(k);
    return t;
}

static double inverse_square(size_t k)
{
    return 1 / (double)((k + 1) * (k + 1));
}

typedef struct {
    /* `variance`: the closed form; `atoms`, `gain`: means over the draws; `gain_error`: standard error of
     * `gain` */
    double variance, atoms, gain, gain_error;
} Drawn;

static Drawn draw_spectrum(const char *spec, size_t atoms, size_t draws)
{
    Try *t = open_spectrum(spec, 3 * atoms, atoms, inverse_square);
    Drawn d = {.variance = codec_variance(&t->call, t->x)};
    double norm = 0, square = 0;
    for (size_t k = 0; k < atoms; k++)
        norm += pow(inverse_square(k), 2);
    for (uint64_t r = 0; r < draws; r++) {
        double gain = 0;
        try_repeat(t, r);
        try_both(t);
        check(t->out.data[0] == PAYLOAD_METHOD);
        for (size_t k = 0; k < atoms; k++)
            gain += (double)t->x[k * (atoms + 1)] * (double)t->y[k * (atoms + 1)] / norm;
        /* the second byte of the payload is the number of atoms sent */
        d.atoms += (double)t->out.data[1] / (double)draws;
        d.gain += gain / (double)draws;
        square += gain * gain / (double)draws;
    }
    d.gain_error = sqrt((square - d.gain * d.gain) / (double)draws);
    try_close(t);
    return d;
}

/* An atom is a singular value with its two singular vectors. The singular values are 1/k^2 and the budget is
 * six atoms. If probabilities are only clipped at 1, their sum is 3.3, so 3.3 atoms are sent on average. */
static void defect_2_svd_gives_what_clipping_would_waste_to_the_other_atoms(void **state)
{
    (void)state;
    const Drawn full = draw_spectrum("svd:rank=6", 16, 1000),
                clip = draw_spectrum("svd:rank=6,probs=clip", 16, 1000);
    check_near(full.atoms, 6, 6.22 * sqrt(6. / 1000));
    check(clip.atoms < 4);
    check_rel(clip.variance / full.variance, 7.8, 0.01);
    check_rel(draw_spectrum("svd:rank=6,probs=clip", 100, 1).variance /
                  draw_spectrum("svd:rank=6", 100, 1).variance,
              5.2, 0.01);
}

/* The budget is one atom, and one draw in five keeps no atom. If the codec repeats a draw without atoms
 * (empty=resample), estimates are on average more than 1.1 times too large. */
static void defect_2_svd_sends_the_draw_that_keeps_nothing(void **state)
{
    (void)state;
    const Drawn sent = draw_spectrum("svd:rank=1", 16, 8000),
                again = draw_spectrum("svd:rank=1,empty=resample", 16, 8000);
    check_near(sent.gain, 1, 6.22 * sent.gain_error);
    check(again.gain > 1.1);
}

static double slowly_falling(size_t k)
{
    return pow(0.93, (double)k);
}

/* Defect 3: the codec repeats draws until the wanted number of atoms is kept, but does not correct the
 * probabilities. Large atoms are then kept an eighth too often. */
static void defect_3_a_steady_number_of_atoms_leaves_each_its_own_probability(void **state)
{
    (void)state;
    enum { ATOMS = 12, BUDGET = 3, DRAWS = 12000 };
    static const char *const specs[] = {"svd:rank=3", "svd:rank=3,draw=systematic"};
    double sum = 0;
    for (size_t k = 0; k < ATOMS; k++)
        sum += slowly_falling(k);
    for (size_t s = 0; s < countof(specs); s++) {
        Try *t = open_spectrum(specs[s], 3 * ATOMS, ATOMS, slowly_falling);
        size_t kept[ATOMS] = {0}, other_numbers = 0;
        for (uint64_t r = 0; r < DRAWS; r++) {
            try_repeat(t, r);
            try_both(t);
            other_numbers += t->out.data[1] != BUDGET;
            for (size_t k = 0; k < ATOMS; k++)
                kept[k] += (double)t->y[k * (ATOMS + 1)] > 0.5 * sum / BUDGET;
        }
        for (size_t k = 0; k < ATOMS; k++) {
            const double p = BUDGET * slowly_falling(k) / sum;
            check_near((double)kept[k] / DRAWS, p, 6.22 * sqrt(p * (1 - p) / DRAWS));
        }
        /* Systematic sampling keeps the same number of atoms in every draw; independent draws do not. */
        check((other_numbers == 0) == (s == 1));
        try_close(t);
    }
}

/* ---- defect 4, of onebit: the mean of the positive elements was multiplied by the bytes ~0 and ~1 of a mask
 * instead of 1 and 0 ---- */

static void defect_4_both_sides_of_onebit_decode_to_their_own_mean(void **state)
{
    (void)state;
    Try *t = try_open("onebit", 5);
    const float x[] = {1, 2, 6, -1, -3}, want[] = {3, 3, 3, -2, -2};
    memcpy(t->x, x, sizeof x);
    try_both(t);
    assert_memory_equal(t->y, want, sizeof want);
    try_close(t);
}

/* ---- defect 5, of randk: no scaling by n/k, the same index drawn twice, and an index n, which is out of range
 * ---- */

static void defect_5_randk_sends_k_different_elements_and_scales_them_by_n_over_k(void **state)
{
    (void)state;
    enum { COUNT = 10000, KEPT = 3000, DRAWS = 600 };
    static const char *const specs[] = {"randk:ratio=0.3", "randk:ratio=0.3,shared=off"};
    for (size_t s = 0; s < countof(specs); s++) {
        Try *t = try_open(specs[s], COUNT);
        size_t often[COUNT] = {0};
        for (size_t i = 0; i < COUNT; i++)
            t->x[i] = (float)(i + 1);
        for (uint64_t r = 0; r < DRAWS; r++) {
            size_t sent = 0;
            try_repeat(t, r);
            t->call.rng_shared = rng_open(1, r, RNG_EVERYONE, 0, 0);
            try_both(t);
            for (size_t i = 0; i < COUNT; i++) {
                sent += t->y[i] != 0;
                often[i] += t->y[i] != 0;
                check(t->y[i] == 0 || t->y[i] == (float)((double)(i + 1) * COUNT / KEPT));
            }
            check(sent == KEPT);
        }
        /* 7.6 standard deviations: 10,000 checks together raise a false alarm with probability below 1e-9 */
        for (size_t i = 0; i < COUNT; i++)
            check_near((double)often[i] / DRAWS, 0.3, 7.6 * sqrt(0.3 * 0.7 / DRAWS));
        try_close(t);
    }
}

/* ---- defect 6, of natural: the input was returned instead of the rounded vector ---- */

static void defect_6_natural_decodes_to_powers_of_two_and_not_to_its_input(void **state)
{
    (void)state;
    enum { COUNT = 10000 };
    Try *t = try_open("natural", COUNT);
    size_t same = 0;
    double error = 0;
    try_normal(t, 62);
    try_both(t);
    for (size_t i = 0; i < COUNT; i++) {
        int exponent;
        check(fabs(frexp((double)t->y[i], &exponent)) == 0.5);
        same += t->y[i] == t->x[i];
        error += pow((double)t->y[i] - (double)t->x[i], 2);
    }
    check(same < 10 && error > 0.5 * codec_variance(&t->call, t->x));
    try_close(t);
}

/* ---- defect 8, of threshold: the threshold was a fraction of the largest value instead of the largest
 * magnitude, so a negative gradient was sent whole ---- */

static void defect_8_a_threshold_of_a_negative_gradient_is_one_of_magnitudes(void **state)
{
    (void)state;
    enum { COUNT = 10000 };
    static const char *const specs[] = {"threshold:rel=0.5", "threshold:tau=2"};
    for (size_t s = 0; s < countof(specs); s++) {
        size_t kept = 0, count = 0;
        double most = 0;
        Try *t = try_open(specs[s], COUNT);
        try_normal(t, 5);
        for (size_t i = 0; i < COUNT; i++) {
            t->x[i] = -fabsf(t->x[i]);
            most = fmax(most, -(double)t->x[i]);
        }
        try_both(t);
        for (size_t i = 0; i < COUNT; i++) {
            kept += t->y[i] != 0;
            count += -(double)t->x[i] >= (s ? 2 : 0.5 * most);
        }
        check(kept == count && kept > 0 && kept < 1000);
        try_close(t);
    }
}

/* ---- defect 10: a number of bits was kept in a float, which is inexact beyond 2^24 ---- */

static void defect_10_sizes_beyond_two_to_the_24_bits_are_exact(void **state)
{
    (void)state;
    for (int power = 23; power < 40; power++)
        for (size_t off = 0; off < 20; off++) {
            const size_t n = ((size_t)1 << power) + off;
            const Shape shape = shape_vector(n);
            Try *t = try_open("sign", 1);
            t->call.shape = &shape;
            check(t->codec->ops->bound(&t->call) == 1 + (n + 7) / 8);
            check(signs_size(n) == (n + 7) / 8 && planes_size(n, 3) == n / 64 * 24 + 3 * ((n % 64 + 7) / 8));
            check(trits_size(n) == (n + 4) / 5);
            try_close(t);
        }
}

static void defect_10_a_stream_of_more_than_two_to_the_24_bits_ends_at_its_last_byte(void **state)
{
    (void)state;
    enum { FIELDS = (1 << 24) / 13 + 5, SIZE = FIELDS * 13 / 8 + 9 };
    uint8_t *data = test_malloc(SIZE);
    BitWriter w = bits_writer(data, SIZE);
    for (uint32_t i = 0; i < FIELDS; i++)
        bits_put(&w, i & 0x1fff, 13);
    bits_close(&w);
    const size_t size = (size_t)(w.at - data);
    check(!w.full && size == ((size_t)FIELDS * 13 + 7) / 8);
    BitReader r = bits_reader((Bytes){data, size});
    for (uint32_t i = 0; i < FIELDS; i++)
        check(bits_get(&r, 13) == (i & 0x1fff));
    check(bits_finish(&r));
    test_free(data);
}

/* ---- defect 11, of sign: zero had a sign of its own, 0, which one bit per element cannot represent ---- */

static void defect_11_zeros_of_both_signs_are_plus_and_no_third_level(void **state)
{
    (void)state;
    Try *t = try_open("sign", 6);
    const float x[] = {0, -0.0f, 2, -2, 0x1p-149f, -0x1p-149f}, want[] = {1, 1, 1, -1, 1, -1};
    memcpy(t->x, x, sizeof x);
    try_both(t);
    assert_memory_equal(t->y, want, sizeof want);
    check(t->out.size == 2 && t->out.data[1] == 0x28);
    try_close(t);
}

/* ---- defect 12, of a trainer: the gradient was in one variable, and another variable was compressed ---- */

static Status load_line(void *data, const Vector *v, float *x, Error *err)
{
    (void)data, (void)err;
    for (size_t i = 0; i < v->shape.n; i++)
        x[i] = (float)(v->step + 1) * (float)(i + 1);
    return OK;
}

static Status check_record(void *data, const Record *r, Error *err)
{
    size_t *records = data;
    const double n = (double)r->vector->shape.n, scale = (double)r->vector->step + 1;
    (void)err;
    if (r->level == LEVEL_VECTOR) {
        check_rel(metric_value(metric_find("second_moment"), &r->tally),
                  scale * scale * n * (n + 1) * (2 * n + 1) / 6, 1e-12);
        check(metric_value(metric_find("mse"), &r->tally) == 0);
        ++*records;
    }
    return OK;
}

static void defect_12_what_was_loaded_is_what_is_compressed_and_decoded(void **state)
{
    (void)state;
    Arena *a = arena_open(0);
    Error err;
    const Codec *codec;
    const char *name = "none";
    size_t failures, records = 0;
    const Vector vector[] = {{.name = "w", .step = 0, .shape = shape_vector(1000)},
                             {.name = "w", .step = 1, .step_address = 1, .shape = shape_vector(1000)},
                             {.name = "w", .step = 2, .step_address = 2, .shape = shape_vector(70)}};
    const VectorList list = {
        .item = (Vector *)vector, .count = 3, .largest = 1000, .tensors = 3, .elements = 2070};
    check_ok(codec_open(&codec, name, a, &err), &err);
    const Comparison c = {.codec = &codec,
                          .name = &name,
                          .codecs = 1,
                          .vectors = &list,
                          .repeats = 2,
                          .seed = 1,
                          .memory = 1 << 20,
                          .threads = 1,
                          .data = &records,
                          .load = load_line,
                          .record = check_record};
    check_ok(compare_run(&c, &failures, a, &err), &err);
    check(failures == 0 && records == 3);
    arena_close(a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(defect_1_qsgd_rounds_up_with_the_fraction_and_not_with_its_complement),
    cmocka_unit_test(defect_2_svd_gives_what_clipping_would_waste_to_the_other_atoms),
    cmocka_unit_test(defect_2_svd_sends_the_draw_that_keeps_nothing),
    cmocka_unit_test(defect_3_a_steady_number_of_atoms_leaves_each_its_own_probability),
    cmocka_unit_test(defect_4_both_sides_of_onebit_decode_to_their_own_mean),
    cmocka_unit_test(defect_5_randk_sends_k_different_elements_and_scales_them_by_n_over_k),
    cmocka_unit_test(defect_6_natural_decodes_to_powers_of_two_and_not_to_its_input),
    cmocka_unit_test(defect_8_a_threshold_of_a_negative_gradient_is_one_of_magnitudes),
    cmocka_unit_test(defect_10_sizes_beyond_two_to_the_24_bits_are_exact),
    cmocka_unit_test(defect_10_a_stream_of_more_than_two_to_the_24_bits_ends_at_its_last_byte),
    cmocka_unit_test(defect_11_zeros_of_both_signs_are_plus_and_no_third_level),
    cmocka_unit_test(defect_12_what_was_loaded_is_what_is_compressed_and_decoded),
};

CHECK_MAIN(tests)
