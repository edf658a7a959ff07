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

TEST(elements_decode_to_the_mean_of_their_bucket)
{
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

TEST(no_collision_is_lossless)
{
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
TEST(payloads_keep_to_one_budget)
{
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

TEST(bits_are_what_was_asked_for)
{
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

CHECK_ALL(NULL, NULL)
