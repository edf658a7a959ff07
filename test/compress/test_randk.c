/* test_randk.c -- the codec randk, which sends k of n elements, chosen at random: the elements sent, and
 * their moments. */
#include "rig/try.h"

#include "compress/sparse/randk.c"

/* Returns the random number generator that all workers share in repeat r. */
static Rng address(uint64_t r)
{
    return rng_open(11, r, RNG_EVERYONE, 0, 5);
}

static const size_t sizes[] = {0, 1, 2, 3, 7, 49, 50, 51, 149, 150, 1000, 65535, 65536, 65537, 300000};

static size_t kept_ref(double ratio, size_t n)
{
    const size_t k = (size_t)(ratio * (double)n + 0.5);
    return n == 0 ? 0 : k < 1 ? 1 : k;
}

/* The payload must have the values of a random subset, in order of the indices. A value must decode to n / k
 * times the value. */
TEST(values_of_the_subset_travel_and_come_back_scaled)
{
    static const struct {
        const char *spec;
        double ratio;
        bool shared;
    } rows[] = {{"randk", 0.01, true},
                {"randk:ratio=0.37", 0.37, true},
                {"randk:ratio=0.9,shared=off", 0.9, false},
                {"randk:ratio=1", 1, true}};
    for (size_t row = 0; row < countof(rows); row++)
        for (size_t z = 0; z < countof(sizes); z++) {
            const size_t n = sizes[z], k = kept_ref(rows[row].ratio, n);
            Try *t = try_open(rows[row].spec, n);
            t->call.rng_shared = address(z);
            try_normal(t, 70 + z);
            try_both(t);
            check(t->out.size == 1 + 4 * k && t->out.data[0] == (k < n ? PAYLOAD_METHOD : PAYLOAD_RAW));
            Subset s;
            uint64_t member[BLOCK / 64];
            check(subset_open(&s, rows[row].shared ? &t->call.rng_shared : &t->call.rng, n, k, t->arena));
            size_t next = 0;
            for (size_t i = 0; i < n; i++) {
                if (i % BLOCK == 0)
                    subset_mark(&s, i / BLOCK, member);
                const bool in = member[i % BLOCK / 64] >> i % 64 & 1;
                check(t->y[i] == (in ? (float)((double)t->x[i] * ((double)n / (double)k)) : 0));
                check(!in || load_f32(t->out.data + 1 + 4 * next) == t->x[i]);
                next += in;
            }
            check(next == k);
            try_close(t);
        }
}

/* ---- merging ---- */

/* ---- closed forms ---- */

/* The closed forms of variance and moments must be those of the covariance matrix of the error over all
 * subsets. */
TEST(the_moments_are_those_of_all_subsets_together)
{
    enum { N = 6 };
    static const float vectors[][N] = {
        {1, -2, 3, 0.5f, 0, -1.5f}, {1, 1, -1, 1, -1, 1}, {4, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1.5f}};
    for (size_t row = 0; row < countof(vectors); row++)
        for (size_t k = 1; k < N; k++) {
            char spec[48];
            const float *x = vectors[row];
            double C[N][N] = {{0}}, trace = 0, squares = 0, weighted = 0, count = 0;
            AtomMoments m;
            snprintf(spec, sizeof spec, "randk:ratio=%.17g", (double)k / N);
            Try *t = try_open(spec, N);
            memcpy(t->x, x, sizeof vectors[row]);
            for (unsigned mask = 0; mask < 1u << N; mask++) {
                double e[N];
                if ((size_t)__builtin_popcount(mask) != k)
                    continue;
                count++;
                for (size_t i = 0; i < N; i++)
                    e[i] = (double)x[i] * ((mask >> i & 1 ? (double)N / (double)k : 0) - 1);
                for (size_t i = 0; i < N; i++)
                    for (size_t j = 0; j < N; j++)
                        C[i][j] += e[i] * e[j];
            }
            for (size_t i = 0; i < N; i++)
                for (size_t j = 0; j < N; j++) {
                    trace += i == j ? C[i][j] / count : 0;
                    squares += C[i][j] * C[i][j] / count / count;
                    weighted += (double)x[i] * C[i][j] / count * (double)x[j];
                }
            check(codec_moments(&t->call, x, &m) == ATOMWISE);
            check_rel(codec_variance(&t->call, x), trace, 1e-12);
            check_rel(m.squares, squares, 1e-12);
            check_near(m.weighted, weighted, 1e-12 * squares + 1e-12);
            try_close(t);
        }
}

CHECK_ALL(NULL, NULL)
