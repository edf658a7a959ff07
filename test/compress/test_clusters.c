/* test_clusters.c -- the codec cas clusters the values of a vector by k-means, separately for each sign, and
 * hashes the elements of each cluster into buckets. Tests the clusters and the numbers of buckets. */
#include "rig/check.h"

#include "compress/sketch/clusters.c"
#include "math/vec/kernels.h"

enum { N = 5000 };

static const ClusterSpec usual = {.clusters = 3, .sample = 100000, .bins = 5, .percentile = 95};

typedef struct {
    Arena *a;
    Error err;
    ClusterModel m;
    ClusterStats s;
    float x[N];
} Rig;

static Rig *rig_open(void)
{
    Arena *a = arena_open(0);
    Rig *r = NEW_ZERO(a, Rig, 1);
    const Rng rng = rng_open(3, 0, 0, 0, 0);
    r->a = a;
    rng_normals(&rng, USE_TEST, 0, N, 1, r->x);
    return r;
}

static void learn(Rig *r, const ClusterSpec *spec, size_t n, uint64_t seed)
{
    const Rng rng = rng_open(seed, 0, RNG_EVERYONE, 0, 0);
    check_ok(clusters_train(&r->m, &r->s, spec, r->x, n, &rng, r->a, &r->err), &r->err);
    const double alike[CLUSTERS_MOST] = {0};
    clusters_share(&r->m, alike, 0);
    check(cluster_model_good(&r->m));
}

/* Returns the cluster with the nearest centre, among the clusters of the sign of x. Of two equally near
 * centres, the one of smaller magnitude counts. */
static size_t nearest(const ClusterModel *m, float x)
{
    const size_t from = x > 0 ? m->minus : 0, to = x > 0 ? cluster_model_clusters(m) : m->minus;
    size_t at = from;
    for (size_t j = from; j < to; j++) {
        const double gap = fabs((double)m->cluster[j].centre - (double)x);
        const double best = fabs((double)m->cluster[at].centre - (double)x);
        if (gap < best || (gap == best && fabsf(m->cluster[j].centre) < fabsf(m->cluster[at].centre)))
            at = j;
    }
    return at;
}

TEST(thresholds_find_the_nearest_centre_of_the_sign)
{
    Rig *r = rig_open();
    float above[CLUSTERS_MOST];
    uint8_t code[N], again[N];
    learn(r, &usual, N, 1);
    r->x[0] = 0;
    r->x[1] = -0.0f;
    r->x[2] = 1e6f;
    r->x[3] = -1e6f;
    r->x[4] = 1e-45f;
    /* values halfway between two neighbouring centres */
    for (size_t j = 0; j + 1 < cluster_model_clusters(&r->m); j++)
        r->x[5 + j] = r->m.cluster[j].centre / 2 + r->m.cluster[j + 1].centre / 2;
    cluster_model_thresholds(&r->m, above);
    for (Isa isa = 0; isa < ISA_COUNT; isa++) {
        const Kernels *k = kernels_of(isa);
        if (!k)
            continue;
        k->stretches(r->x, N, above, cluster_model_clusters(&r->m) - 1, code);
        for (size_t i = 0; i < N; i++)
            check(code[i] == nearest(&r->m, r->x[i]));
        for (size_t n = 0; n < 70; n++) { /* also lengths that do not fill a vector register */
            memset(again, 0xee, sizeof again);
            k->stretches(r->x, n, above, cluster_model_clusters(&r->m) - 1, again);
            check(!memcmp(again, code, n) && again[n] == 0xee);
        }
    }
    arena_close(r->a);
}

TEST(slots_are_in_the_buckets_of_the_elements_clusters)
{
    const Rng rng = rng_open(9, 0, 0, 0, 0);
    const RngKey key = rng_key(&rng, USE_ATOM, 2);
    static const size_t clusters[] = {2, 4, 5, 8, 9, 16, 17, 256};
    uint32_t from[CLUSTERS_MOST] = {0}, size[CLUSTERS_MOST] = {0}, slot[100];
    uint8_t code[100];
    for (size_t c = 0; c < countof(clusters); c++) {
        for (size_t j = 0; j < clusters[c]; j++) {
            size[j] = j % 3 ? 1 + (uint32_t)j : 0xf0000000u + (uint32_t)j;
            from[j] = 1000 * (uint32_t)j;
        }
        for (size_t i = 0; i < 100; i++)
            code[i] = (uint8_t)(rng_u32(&rng, USE_TEST, i) % clusters[c]);
        for (Isa isa = 0; isa < ISA_COUNT; isa++)
            for (size_t n = 0; kernels_of(isa) && n < 99; n++) {
                slot[n] = 7;
                kernels_of(isa)->cluster_slots(key, 1234, n, code, clusters[c], from, size, slot);
                check(slot[n] == 7);
                for (uint32_t i = 0; i < n; i++)
                    check(slot[i] == (uint32_t)(from[code[i]] +
                                                ((uint64_t)rng_word(&key, 1234 + i) * size[code[i]] >> 32)));
            }
    }
}

/* ---- budgets ---- */

/* The code released with the paper exceeds the budget, because each cluster gets at least ten buckets. */
TEST(buckets_come_to_the_budget_exactly)
{
    Rig *r = rig_open();
    const Rng rng = rng_open(4, 0, 0, 0, 0);
    double weight[CLUSTERS_MOST];
    learn(r, &usual, N, 1);
    for (uint64_t t = 0; t < 300; t++) {
        const uint64_t budget = rng_u64(&rng, USE_TEST, t) % (t % 3 ? 100 : 1000000);
        for (size_t j = 0; j < 6; j++)
            weight[j] = t % 7 ? pow(rng_unit(&rng, USE_DATA, 6 * t + j), 6) : 0;
        clusters_share(&r->m, weight, budget);
        check(cluster_model_buckets(&r->m) == (budget > 6 ? budget : 6));
        for (size_t j = 0; j < 6; j++)
            check(r->m.cluster[j].buckets >= 1);
    }
    arena_close(r->a);
}

/* ---- special vectors ---- */

TEST(each_side_has_a_cluster_and_no_centre_twice)
{
    Rig *r = rig_open();
    const float values[][4] = {{0, 0, 0, 0},
                               {2, 2, 2, 2},
                               {-1, -1, -1, -1},
                               {-0.0f, 0, 1, 0},
                               {1, 2, 3, 4},
                               {0, 0, -5, 0},
                               {1e-45f, 1e-45f, 3e-45f, -1e-45f},
                               {3e38f, 3.3e38f, -3.4e38f, 3.4e38f}};
    for (size_t v = 0; v < countof(values); v++)
        for (size_t k = 1; k <= 8; k++)
            for (double percentile = 0; percentile <= 100; percentile += 25) {
                const ClusterSpec spec = {k, 100, 5, percentile};
                memcpy(r->x, values[v], sizeof values[v]);
                learn(r, &spec, 4, k);
                check(r->m.minus <= k && r->m.plus <= k);
            }
    learn(r, &usual, 0, 1);
    check(cluster_model_clusters(&r->m) == 2);
    arena_close(r->a);
}

CHECK_ALL(NULL, NULL)
