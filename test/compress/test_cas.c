/* test_cas.c -- the cluster-aware sketch (codec cas) against its definition. The codec clusters the values by
 * size, and hashes the elements of each cluster into buckets. An element decodes to the mean of its bucket. */
#include "rig/slow_slices.h"
#include "rig/try.h"

#include "compress/sketch/clusters.h"
#include "compress/rate.h"
#include "compress/spec.h"

enum { N = 20000, BUCKETS_MOST = 50000 };

/* The contents of a cas payload. `minus`: number of clusters of values <= 0; `size`: number of buckets of
 * each cluster; `from`: index of the first bucket of each cluster; `sum`: the sums of all buckets, as
 * float32. */
typedef struct {
    size_t minus, clusters, buckets;
    double centre[CLUSTERS_MOST];
    size_t size[CLUSTERS_MOST], from[CLUSTERS_MOST];
    const uint8_t *sum;
} Head;

static Head head_of(Bytes payload)
{
    Head h = {.minus = payload.data[1], .clusters = (size_t)payload.data[1] + payload.data[2]};
    check(payload.data[0] == PAYLOAD_METHOD);
    for (size_t j = 0; j < h.clusters; j++) {
        h.centre[j] = (double)load_f32(payload.data + 3 + 8 * j);
        h.size[j] = load_u32(payload.data + 7 + 8 * j);
        h.from[j] = h.buckets;
        h.buckets += h.size[j];
    }
    h.sum = payload.data + 3 + 8 * h.clusters;
    check(h.buckets <= BUCKETS_MOST);
    return h;
}

static size_t cluster_of(const Head *h, double x)
{
    const size_t from = x > 0 ? h->minus : 0, to = x > 0 ? h->clusters : h->minus;
    size_t at = from;
    for (size_t j = from; j < to; j++) {
        const double gap = fabs(h->centre[j] - x), best = fabs(h->centre[at] - x);
        if (gap < best || (gap == best && fabs(h->centre[j]) < fabs(h->centre[at])))
            at = j;
    }
    return at;
}

static size_t bucket_of(const Head *h, const Call *c, size_t i, double x)
{
    const size_t j = cluster_of(h, x);
    return h->from[j] +
           slow_bucket_of(h->size[j], c->shape->n, i / BLOCK, rng_u32(&c->rng_shared, USE_ATOM, i));
}

/* Opens the codec on a vector of n normal numbers. Every second group of 512 elements is scaled by 0.1. */
static Try *open_normal(const char *spec, size_t n)
{
    Try *t = try_open(spec, n);
    t->call.rng_shared = rng_open(1, 0, RNG_EVERYONE, 0, 0);
    try_normal(t, 5);
    for (size_t i = 0; i < n; i++)
        t->x[i] *= i / 512 % 2 ? 0.1f : 1;
    return t;
}

static Bytes payload_of(const Try *t)
{
    return t->sent.round[0];
}

static double error_of(const Try *t)
{
    double error = 0, norm = 0;
    for (size_t i = 0; i < t->shape.n; i++) {
        error += pow((double)t->x[i] - (double)t->y[i], 2);
        norm += pow((double)t->x[i], 2);
    }
    return error / norm;
}

static void elements_decode_to_the_mean_of_their_bucket(void **state)
{
    (void)state;
    static const char *const specs[] = {"cas",
                                        "cas:clusters=1",
                                        "cas:clusters=5",
                                        "cas:buckets=1500",
                                        "cas:allocate=density,percentile=80",
                                        "cas:allocate=entropy-centre,bins=50",
                                        "cas:bits=2.7",
                                        "cas:allocate=manual,sizes=700:3:40:1,clusters=4",
                                        "cas:clusters=40",
                                        "cas:clusters=2,allocate=manual,sizes=100:24500"}; /* three slices */
    static double sum[BUCKETS_MOST], count[BUCKETS_MOST];
    for (size_t s = 0; s < countof(specs); s++) {
        const size_t n = s + 1 < countof(specs) ? N : 3 * BLOCK - 5;
        Try *t = open_normal(specs[s], n);
        try_both(t);
        const Head h = head_of(payload_of(t));
        memset(sum, 0, sizeof sum);
        memset(count, 0, sizeof count);
        for (size_t i = 0; i < n; i++) {
            const size_t b = bucket_of(&h, &t->call, i, (double)t->x[i]);
            sum[b] += (double)t->x[i];
            count[b]++;
        }
        for (size_t b = 0; b < h.buckets; b++)
            check_rel((double)load_f32(h.sum + 4 * b), sum[b], 1e-7);
        for (size_t i = 0; i < n; i++) {
            const size_t b = bucket_of(&h, &t->call, i, (double)t->x[i]);
            check_rel((double)t->y[i], sum[b] / count[b], 3e-7);
        }
        try_close(t);
    }
}

static void signs_never_flip_even_where_clusters_are_old(void **state)
{
    (void)state;
    Try *t = open_normal("cas:clusters=3", N);
    const size_t size = codec_state_size(&t->call);
    void *kept = NEW_ZERO(t->arena, uint8_t, size);
    t->call.state = kept;
    for (size_t i = 0; i < N; i++)
        t->x[i] = fabsf(t->x[i]); /* the codec is trained on a vector without negative values */
    check_ok(codec_train(&t->call, t->x, kept), &t->err);
    for (uint64_t seed = 0; seed < 3; seed++) {
        try_normal(t, seed);
        for (size_t i = 0; i < 100; i++)
            t->x[i] = i % 2 ? 0 : -0.0f;
        try_both(t);
        for (size_t i = 0; i < N; i++)
            check(t->x[i] > 0 ? t->y[i] > 0 : t->y[i] <= 0);
    }
    try_close(t);
}

static void one_bucket_a_cluster_is_a_k_means_quantiser(void **state)
{
    (void)state;
    Try *t = open_normal("cas:clusters=4,buckets=1", N);
    double sum[8] = {0}, count[8] = {0}, plain = 0;
    try_both(t);
    const Head h = head_of(payload_of(t));
    check(h.clusters == 8 && h.buckets == 8);
    for (size_t i = 0; i < N; i++) {
        sum[cluster_of(&h, (double)t->x[i])] += (double)t->x[i];
        count[cluster_of(&h, (double)t->x[i])]++;
    }
    for (size_t i = 0; i < N; i++) {
        const size_t j = cluster_of(&h, (double)t->x[i]);
        check_rel((double)t->y[i], sum[j] / count[j], 3e-7);
        plain += pow(h.centre[j] - (double)t->x[i], 2);
    }
    check(error_of(t) > 0.01 && error_of(t) < 0.05);
    double error = 0;
    for (size_t i = 0; i < N; i++)
        error += pow((double)t->y[i] - (double)t->x[i], 2);
    check(error <= plain); /* means leave at most the error of the centres */
    try_close(t);
}

static void one_cluster_a_sign_is_one_bit_sgd(void **state)
{
    (void)state;
    Try *t = open_normal("cas:clusters=1,buckets=1", N), *o = open_normal("onebit:scope=tensor", N);
    try_both(t);
    try_both(o);
    for (size_t i = 0; i < N; i++)
        check_rel((double)t->y[i], (double)o->y[i], 2e-7);
    try_close(t);
    try_close(o);
}

static void no_collision_is_lossless(void **state)
{
    (void)state;
    Try *t = open_normal("cas:clusters=3,allocate=manual,sizes=1:900:900", N);
    for (size_t i = 0; i < N; i++)
        t->x[i] = i % 1000 == 1 ? t->x[i] : 0;
    try_both(t);
    const Head h = head_of(payload_of(t));
    size_t alone = 0, members = 0;
    for (size_t i = 0; i < N; i++) {
        if (t->x[i] == 0)
            continue;
        const size_t own = bucket_of(&h, &t->call, i, (double)t->x[i]);
        size_t others = 0;
        for (size_t k = 0; k < N; k++)
            others += k != i && bucket_of(&h, &t->call, k, (double)t->x[k]) == own;
        members++;
        alone += !others;
        if (!others)
            check(t->y[i] == t->x[i]);
    }
    /* the other non-zero elements share a bucket with zeros or with each other */
    check(members == 20 && alone >= 10);
    try_close(t);
}

/* ---- sizes ---- */

/* A size of 1 in the key `sizes` must give 1 bucket. (The code released with the paper takes 10.) */
static void payloads_keep_to_one_budget(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        size_t buckets;
    } cases[] = {{"cas", N / 100},
                 {"cas:allocate=density", N / 100},
                 {"cas:allocate=entropy-centre,buckets=777", 777},
                 {"cas:allocate=manual,buckets=100", 100},
                 {"cas:clusters=8,buckets=3", 16},
                 {"cas:allocate=manual,sizes=50:1", 102},
                 {"cas:allocate=manual,sizes=2:40:1:5", 48}};
    for (size_t k = 0; k < countof(cases); k++) {
        Try *t = open_normal(cases[k].spec, N);
        try_both(t);
        const Head h = head_of(payload_of(t));
        check(h.buckets == cases[k].buckets);
        if (strstr(cases[k].spec, "2:40:1:5"))
            check(h.size[0] == 2 && h.size[1] == 40 && h.size[2] == 1 && h.size[3] == 5);
        if (strstr(cases[k].spec, "50:1"))
            check(h.size[0] == 1 && h.size[1] == 50 && h.size[2] == 50 && h.size[3] == 1);
        try_close(t);
    }
}

static void bits_are_what_was_asked_for(void **state)
{
    (void)state;
    const double bits[] = {1.05, 1.5, 2, 2.5, 3, 4, 5.5};
    for (size_t k = 0; k < countof(bits); k++)
        for (int normal = 0; normal < 2; normal++) {
            char spec[64];
            snprintf(spec, sizeof spec, "cas:bits=%g", bits[k]);
            Try *t = try_open(spec, 65536);
            if (normal)
                try_normal(t, 3);
            else
                try_laplace(t, 3);
            try_both(t);
            check_rel(8 * (double)t->out.size / 65536, bits[k], 0.01);
            try_close(t);
        }
}

/* The option --equal-bits varies the key `bits`; the command sweep varies the key `clusters`. */
static void the_fine_rate_reaches_one_two_and_three_bits(void **state)
{
    (void)state;
    for (int bits = 1; bits <= 3; bits++) {
        Try *t = try_open("cas", 65536);
        Rate r;
        check(rate_find(&r, t->codec) && !strcmp(r.key->key, "clusters"));
        check(rate_find_fine(&r, t->codec) && !strcmp(r.key->key, "bits"));
        check_ok(rate_set(&t->codec, t->codec, &r, bits, t->arena, &t->err), &t->err);
        t->call.self = t->codec;
        try_laplace(t, 3);
        try_both(t);
        check_rel(8 * (double)t->out.size / 65536, bits, 0.01);
        try_close(t);
    }
}

static void more_bits_leave_less_error(void **state)
{
    (void)state;
    double before = 1;
    for (int bits = 10; bits <= 60; bits += 5) {
        char spec[64];
        snprintf(spec, sizeof spec, "cas:bits=%g", bits / 10.0);
        Try *t = open_normal(spec, N);
        try_both(t);
        check(error_of(t) < before);
        before = error_of(t);
        try_close(t);
    }
    /* the error that is left comes from the magnitudes above a percentile, which share one cluster */
    check(before < 0.02);
}

static void index_is_within_a_tenth_of_its_entropy(void **state)
{
    (void)state;
    for (int k = 2; k <= 8; k++) {
        char spec[64];
        snprintf(spec, sizeof spec, "cas:buckets=1,clusters=%d", k);
        Try *t = try_open(spec, 65536);
        Streams streams = {0};
        try_laplace(t, 3);
        t->call.streams = &streams;
        try_both(t);
        check(streams.reported && !streams.raw);
        check(8 * (double)t->out.size >= streams.entropy_bits);
        check(8 * (double)t->out.size <= 1.1 * streams.entropy_bits);
        try_close(t);
    }
}

/* ---- edge cases ---- */

static void short_tensors_travel_as_floats(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        size_t n, kind;
    } cases[] = {{"cas", 999, PAYLOAD_RAW},
                 {"cas", 1000, PAYLOAD_METHOD},
                 {"cas:min=50", 60, PAYLOAD_METHOD},
                 {"cas:min=0", 8, PAYLOAD_RAW},
                 {"cas:min=0", 0, PAYLOAD_RAW},
                 {"cas:min=2000", 1999, PAYLOAD_RAW},
                 {"cas:buckets=3000", 3000, PAYLOAD_RAW}};
    for (size_t k = 0; k < countof(cases); k++) {
        Try *t = open_normal(cases[k].spec, cases[k].n);
        try_both(t);
        check(t->out.data[0] == cases[k].kind);
        check(t->out.size <= 4 * cases[k].n + 1);
        try_close(t);
    }
}

static void other_lengths_flips_and_threads(void **state)
{
    (void)state;
    static const char *const specs[] = {"cas", "cas:clusters=3", "cas:clusters=20"};
    for (size_t s = 0; s < countof(specs); s++) {
        Try *t = open_normal(specs[s], 3001);
        try_both(t);
        try_refuses_other_lengths(t);
        try_survives_flips(t, 7);
        try_close(t);
        t = open_normal(specs[s], 10 * 65536 + 77);
        try_any_threads(t);
        try_close(t);
    }
}

static void specs_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *why;
    } cases[] = {{"cas:sizes=1:2", "without allocate=manual"},
                 {"cas:allocate=manual,sizes=1:2:3", "want 2 or 4"},
                 {"cas:allocate=manual,sizes=1:0", "from 1 to 2^30"},
                 {"cas:allocate=manual,sizes=1:", "from 1 to 2^30"},
                 {"cas:allocate=manual,sizes=a", "from 1 to 2^30"},
                 {"cas:allocate=manual,sizes=5:5,buckets=9", "sizes sets the number of buckets"},
                 {"cas:bits=2,buckets=9", "bits sets the number of buckets"},
                 {"cas:bits=2,allocate=manual,sizes=5:5", "both set the number"},
                 {"cas:bits=2,clusters=3", "exclude each other"}};
    Arena *a = arena_open(0);
    for (size_t k = 0; k < countof(cases); k++) {
        const Codec *codec;
        Error err;
        check(codec_open(&codec, cases[k].spec, a, &err) == ERR_USAGE);
        if (!strstr(err.text, cases[k].why))
            print_error("%s: %s\n", cases[k].spec, err.text);
        check(strstr(err.text, cases[k].why));
    }
    arena_close(a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(elements_decode_to_the_mean_of_their_bucket),
    cmocka_unit_test(signs_never_flip_even_where_clusters_are_old),
    cmocka_unit_test(one_bucket_a_cluster_is_a_k_means_quantiser),
    cmocka_unit_test(one_cluster_a_sign_is_one_bit_sgd),
    cmocka_unit_test(no_collision_is_lossless),
    cmocka_unit_test(payloads_keep_to_one_budget),
    cmocka_unit_test(bits_are_what_was_asked_for),
    cmocka_unit_test(the_fine_rate_reaches_one_two_and_three_bits),
    cmocka_unit_test(more_bits_leave_less_error),
    cmocka_unit_test(index_is_within_a_tenth_of_its_entropy),
    cmocka_unit_test(short_tensors_travel_as_floats),
    cmocka_unit_test(other_lengths_flips_and_threads),
    cmocka_unit_test(specs_that_cannot_be_are_refused),
};
CHECK_MAIN(tests)
