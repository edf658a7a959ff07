/* test_randk.c -- random subsets against what uniform ones would be, and randk: what it sends, merges, refuses
 * and promises.
 *
 * Chi-square limits are at z = 6.1 of Wilson and Hilferty's normal form: a false alarm under 1e-9 each, seeds
 * fixed. */
#include "try.h"

#include "subset.h"

#include <float.h>

static Arena *forever;

static void check_chi2(double chi2, size_t cells, const char *what)
{
    const double nu = (double)cells - 1, w = 2 / (9 * nu);
    const double z = (cbrt(chi2 / nu) - (1 - w)) / sqrt(w);
    if (!(z < 6.1))
        print_error("%s: chi2 %.1f of %zu cells, z %.1f\n", what, chi2, cells, z);
    check(z < 6.1);
}

static Rng address(uint64_t r)
{
    return rng_open(11, r, RNG_EVERYONE, 0, 5);
}

static double log_choose(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* ---- subsets ---- */

/* Every subset of a few elements equally often: its bits are its number. */
static void all_subsets_are_equally_likely(void **state)
{
    (void)state;
    static const struct {
        size_t n, k;
    } rows[] = {{2, 1}, {5, 2}, {6, 3}, {8, 2}, {8, 7}, {10, 4}, {12, 9}, {13, 6}};
    for (size_t row = 0; row < countof(rows); row++) {
        const ArenaMark mark = arena_mark(forever);
        const size_t n = rows[row].n, k = rows[row].k, masks = (size_t)1 << n;
        const double cells = round(exp(log_choose((double)n, (double)k)));
        const size_t draws = (size_t)(100 * cells) + 2000;
        uint64_t *seen = NEW_ZERO(forever, uint64_t, masks);
        for (uint64_t r = 0; r < draws; r++) {
            Subset s;
            const Rng rng = address(r);
            uint64_t member[BLOCK / 64];
            const ArenaMark before = arena_mark(forever);
            check(subset_open(&s, &rng, n, k, forever));
            subset_mark(&s, 0, member);
            check((size_t)__builtin_popcountll(member[0]) == k && member[0] < masks);
            seen[member[0]]++;
            arena_rewind(forever, before);
        }
        double chi2 = 0;
        const double want = (double)draws / cells;
        for (size_t m = 0; m < masks; m++)
            if ((size_t)__builtin_popcountll(m) == k)
                chi2 += pow((double)seen[m] - want, 2) / want;
        check_chi2(chi2, (size_t)cells, "subsets");
        arena_rewind(forever, mark);
    }
}

static void all_pairs_are_equally_likely(void **state)
{
    (void)state;
    enum { N = 100, PAIRS = N * (N - 1) / 2, DRAWS = 60 * PAIRS };
    static uint32_t seen[N][N];
    for (uint64_t r = 0; r < DRAWS; r++) {
        Subset s;
        const Rng rng = address(r + 1000000);
        uint64_t member[BLOCK / 64];
        const ArenaMark before = arena_mark(forever);
        check(subset_open(&s, &rng, N, 2, forever));
        subset_mark(&s, 0, member);
        size_t at[2], count = 0;
        for (size_t i = 0; i < N; i++)
            if (member[i / 64] >> i % 64 & 1)
                at[count++] = i;
        check(count == 2);
        seen[at[0]][at[1]]++;
        arena_rewind(forever, before);
    }
    double chi2 = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = i + 1; j < N; j++)
            chi2 += pow((double)seen[i][j] - 60, 2) / 60;
    check_chi2(chi2, PAIRS, "pairs");
}

/* How many fall into each of three blocks, together: C(a, i) C(b, j) C(c, k - i - j) / C(n, k). Cells that
 * are expected under 10 times go into one. */
static void blocks_get_their_hypergeometric_share(void **state)
{
    (void)state;
    enum { DRAWS = 60000 };
    const size_t n = 2 * BLOCK + 5000;
    const size_t ks[] = {1, 3, 40, n - 2, n - 30};
    for (size_t row = 0; row < countof(ks); row++) {
        const ArenaMark mark = arena_mark(forever);
        const size_t k = ks[row], few = k < n / 2 ? k : n - k; /* those left out have the same law */
        uint64_t *seen = NEW_ZERO(forever, uint64_t, (few + 1) * (few + 1));
        for (uint64_t r = 0; r < DRAWS; r++) {
            Subset s;
            const Rng rng = address(r + 77000000 * row);
            const ArenaMark before = arena_mark(forever);
            check(subset_open(&s, &rng, n, k, forever) && s.before[3] == k);
            const size_t i = s.before[1], j = s.before[2] - s.before[1];
            seen[few == k ? i * (few + 1) + j : (BLOCK - i) * (few + 1) + BLOCK - j]++;
            arena_rewind(forever, before);
        }
        double chi2 = 0, rare_want = 0, rare_seen = 0;
        size_t cells = 0;
        for (size_t i = 0; i <= few; i++)
            for (size_t j = 0; i + j <= few; j++) {
                const double want =
                    DRAWS * exp(log_choose(BLOCK, (double)i) + log_choose(BLOCK, (double)j) +
                                log_choose(5000, (double)(few - i - j)) - log_choose((double)n, (double)few));
                const double got = (double)seen[i * (few + 1) + j];
                if (want < 10) {
                    rare_want += want;
                    rare_seen += got;
                } else {
                    chi2 += pow(got - want, 2) / want;
                    cells++;
                }
            }
        if (rare_want >= 10) {
            chi2 += pow(rare_seen - rare_want, 2) / rare_want;
            cells++;
        }
        check_chi2(chi2, cells, "shares of blocks");
        arena_rewind(forever, mark);
    }
}

/* Mean and variance of a block's number, where it is large: k m/n and that times (1 - m/n)(n - k)/(n - 1). */
static void large_shares_have_the_right_mean_and_spread(void **state)
{
    (void)state;
    enum { DRAWS = 4000 };
    const size_t n = 10 * BLOCK + 777, ks[] = {n / 100, n / 2, n - n / 10};
    for (size_t row = 0; row < countof(ks); row++) {
        const double k = (double)ks[row], p = (double)BLOCK / (double)n, mean = k * p;
        const double v = mean * (1 - p) * ((double)n - k) / ((double)n - 1);
        double sum[3] = {0}, squares[3] = {0};
        for (uint64_t r = 0; r < DRAWS; r++) {
            Subset s;
            const Rng rng = address(r + 99000000 * row);
            const ArenaMark before = arena_mark(forever);
            check(subset_open(&s, &rng, n, ks[row], forever));
            for (size_t b = 0; b < 3; b++) { /* the first, one between, the last whole one */
                const size_t at = b == 0 ? 0 : b == 1 ? 5 : 9;
                const double off = (double)(s.before[at + 1] - s.before[at]) - mean;
                sum[b] += off / DRAWS;
                squares[b] += off * off / DRAWS;
            }
            arena_rewind(forever, before);
        }
        for (size_t b = 0; b < 3; b++) { /* normal to far beyond what these limits need */
            check_near(sum[b], 0, 6.1 * sqrt(v / DRAWS));
            check_rel(squares[b], v, 6.1 * sqrt(2.0 / DRAWS));
        }
    }
}

static void places_in_a_block_are_used_alike(void **state)
{
    (void)state;
    static const size_t ks[] = {700, 20000, 50000};
    for (size_t row = 0; row < countof(ks); row++) {
        enum { CELLS = 1024, DRAWS = 300 };
        uint64_t seen[CELLS] = {0}, member[BLOCK / 64];
        for (uint64_t r = 0; r < DRAWS; r++) {
            Subset s;
            const Rng rng = address(r + 5000 * row);
            const ArenaMark before = arena_mark(forever);
            check(subset_open(&s, &rng, BLOCK, ks[row], forever));
            subset_mark(&s, 0, member);
            for (size_t w = 0; w < BLOCK / 64; w++)
                seen[w] += (size_t)__builtin_popcountll(member[w]);
            arena_rewind(forever, before);
        }
        /* a word's number is hypergeometric: less spread than a multinomial's by (n - k) / (n - 1) */
        const double want = (double)ks[row] * DRAWS / CELLS;
        double chi2 = 0;
        for (size_t c = 0; c < CELLS; c++)
            chi2 += pow((double)seen[c] - want, 2) / want / (double)(BLOCK - ks[row]) * (BLOCK - 1);
        check_chi2(chi2, CELLS, "places");
    }
}

static void eight_billion_elements_are_split_too(void **state)
{
    (void)state;
    const size_t n = ((size_t)1 << 33) + 12345, ks[] = {0, 1, n / 100, n - 3, n};
    const Rng rng = address(3);
    for (size_t row = 0; row < countof(ks); row++) {
        const ArenaMark mark = arena_mark(forever);
        Subset s;
        check(subset_open(&s, &rng, n, ks[row], forever));
        check(s.before[blocks_of(n)] == ks[row]);
        for (size_t b = 0; b < blocks_of(n); b++)
            check(s.before[b + 1] - s.before[b] <= block_size(n, b));
        arena_rewind(forever, mark);
    }
    Subset none;
    check(subset_open(&none, &rng, 0, 0, forever) && none.before[0] == 0);
}

/* ---- the codec ---- */

static const size_t sizes[] = {0, 1, 2, 3, 7, 49, 50, 51, 149, 150, 1000, 65535, 65536, 65537, 300000};

static size_t kept_ref(double ratio, size_t n)
{
    const size_t k = (size_t)(ratio * (double)n + 0.5);
    return n == 0 ? 0 : k < 1 ? 1 : k;
}

/* The members are what a subset of the address says, the values go in order, decoded n/k times themselves. */
static void values_of_the_subset_travel_and_come_back_scaled(void **state)
{
    (void)state;
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
            if (n <= 1000)
                try_refuses_other_lengths(t);
            try_close(t);
        }
}

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
    (void)state;
    static const char *const specs[] = {"randk", "randk:ratio=0.4", "randk:ratio=0.8,shared=off"};
    for (size_t s = 0; s < countof(specs); s++) {
        Try *t = try_open(specs[s], 5 * BLOCK + 123);
        try_normal(t, 71);
        try_any_threads(t);
        try_close(t);
    }
}

static void workers_share_a_subset_or_have_their_own(void **state)
{
    (void)state;
    for (int off = 0; off < 2; off++) {
        Try *t[2];
        for (int w = 0; w < 2; w++) {
            t[w] = try_open(off ? "randk:shared=off" : "randk", 20000);
            try_normal(t[w], 72);
            t[w]->call.rng = rng_open(1, 0, w, 0, 0);
            t[w]->call.rng_shared = address(1);
            try_both(t[w]);
        }
        check(!memcmp(t[0]->y, t[1]->y, 20000 * sizeof(float)) == !off);
        t[1]->call.rng_shared = address(2);
        try_both(t[1]);
        check(memcmp(t[0]->y, t[1]->y, 20000 * sizeof(float)) != 0); /* another repeat, another subset */
        check((codec_traits(t[0]->codec) & LINEAR) == (off ? 0 : LINEAR));
        try_close(t[0]), try_close(t[1]);
    }
}

/* ---- merging ---- */

enum { WORKERS = 5 };

static void open_workers(Try *t[WORKERS], const char *spec, size_t n)
{
    for (int w = 0; w < WORKERS; w++) {
        t[w] = try_open(spec, n);
        try_normal(t[w], 80 + (uint64_t)w);
        t[w]->call.rng = rng_open(1, 0, w, 0, 0);
        t[w]->call.rng_shared = address(4);
        try_both(t[w]);
    }
}

static void merged_payloads_decode_to_the_sum_in_any_grouping(void **state)
{
    (void)state;
    static const char *const specs[] = {"randk", "randk:ratio=0.3", "randk:ratio=1"};
    for (size_t s = 0; s < countof(specs); s++)
        for (size_t z = 0; z < countof(sizes); z++) {
            Try *t[WORKERS];
            Bytes in[WORKERS];
            const size_t n = sizes[z];
            open_workers(t, specs[s], n);
            for (int w = 0; w < WORKERS; w++)
                in[w] = buf_bytes(&t[w]->out);
            const size_t cap = t[0]->out.cap + VARINT_MAX;
            Buf three = {NEW(t[0]->arena, uint8_t, cap), 0, cap},
                all = {NEW(t[0]->arena, uint8_t, cap), 0, cap};
            check_ok(codec_merge(&t[0]->call, in, 3, &three), &t[0]->err);
            const Bytes rest[] = {buf_bytes(&three), in[3], in[4]};
            check_ok(codec_merge(&t[0]->call, rest, 3, &all), &t[0]->err);
            check(all.data[0] == PAYLOAD_MERGED && all.data[1] == WORKERS && all.size == in[0].size + 1);
            double *sum = NEW_ZERO(t[0]->arena, double, n + 1), *size = NEW_ZERO(t[0]->arena, double, n + 1);
            for (int w = 0; w < WORKERS; w++)
                for (size_t i = 0; i < n; i++) {
                    sum[i] += (double)t[w]->y[i];
                    size[i] += fabs((double)t[w]->y[i]);
                }
            check_ok(try_payload(t[0], buf_bytes(&all)), &t[0]->err);
            for (size_t i = 0; i < n; i++)
                check_near((double)t[0]->y[i], sum[i], 4e-7 * size[i]);
            for (int w = 0; w < WORKERS; w++)
                try_close(t[w]);
        }
}

static void payloads_that_do_not_add_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        uint8_t byte[16];
        size_t size;
        Status want;
    } rows[] = {
        {"randk:ratio=0.5", {1, 0, 0, 0x80, 0x3f}, 5, OK},
        {"randk:ratio=0.5", {2, 7, 0, 0, 0x80, 0x3f}, 6, OK},
        {"randk:ratio=0.5", {2, 0, 0, 0, 0x80, 0x3f}, 6, ERR_CORRUPT},       /* nobody's sum */
        {"randk:ratio=0.5", {2, 0x87, 0, 0, 0, 0x80, 0x3f}, 7, ERR_CORRUPT}, /* 7 in two bytes */
        {"randk:ratio=0.5", {1, 0, 0, 0x80}, 4, ERR_CORRUPT},
        {"randk:ratio=0.5", {1, 0, 0, 0x80, 0x3f, 0}, 6, ERR_CORRUPT},
        {"randk:ratio=0.5", {1, 0, 0, 0x80, 0x7f}, 5, ERR_CORRUPT}, /* infinite */
        {"randk:ratio=0.5", {1, 0, 0, 0xc0, 0x7f}, 5, ERR_CORRUPT}, /* no number */
        {"randk:ratio=0.5", {1, 0, 0, 0, 0x7f}, 5, ERR_CORRUPT},    /* 2^127, and twice that is infinite */
        {"randk:ratio=0.5", {3, 0, 0, 0x80, 0x3f}, 5, ERR_CORRUPT},
        {"randk:ratio=0.5", {0, 0, 0, 0x80, 0x3f}, 5, ERR_CORRUPT},
        {"randk:ratio=0.5", {0, 0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f}, 9, ERR_CORRUPT}, /* raw: too long */
        {"randk:ratio=1", {0, 0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f}, 9, OK},
        {"randk:ratio=1", {1, 0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f}, 9, ERR_CORRUPT},
        {"randk:ratio=1", {2, 2, 0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f}, 10, OK},
        {"randk:ratio=0.5", {0}, 0, ERR_CORRUPT},
    };
    for (size_t i = 0; i < countof(rows); i++) {
        uint8_t out[64];
        Buf merged = {out, 0, sizeof out};
        Try *t = try_open(rows[i].spec, 2);
        try_both(t);
        const Bytes in = {rows[i].byte, rows[i].size};
        check(try_payload(t, in) == rows[i].want);
        check(codec_merge(&t->call, &in, 1, &merged) == rows[i].want);
        try_close(t);
    }
}

static void sums_beyond_float32_and_subsets_of_their_own_do_not_merge(void **state)
{
    (void)state;
    uint8_t out[64], large[5] = {1, 0, 0, 0x60, 0x7e}; /* 7/8 of 2^126 */
    Buf merged = {out, 0, sizeof out};
    Try *t = try_open("randk:ratio=0.5", 2), *own = try_open("randk:ratio=0.5,shared=off", 2);
    const Bytes in[] = {{large, 5}, {large, 5}, {large, 5}};
    try_both(t), try_both(own);
    check_ok(codec_merge(&t->call, in, 2, &merged), &t->err);
    check_ok(try_payload(t, buf_bytes(&merged)), &t->err);
    merged.size = 0;
    check(codec_merge(&t->call, in, 3, &merged) == ERR_NUMERIC);
    check(codec_merge(&own->call, in, 2, &merged) == ERR_USAGE);
    const uint8_t sum[6] = {2, 2, 0, 0, 0x80, 0x3f};
    check(try_payload(own, (Bytes){sum, 6}) == ERR_CORRUPT);
    for (size_t i = 0; i < 2; i++)
        t->x[i] = FLT_MAX;
    check(try_send(t) == ERR_NUMERIC);
    try_close(t), try_close(own);
}

/* ---- closed forms ---- */

/* The error's covariance, from all subsets of six elements. */
static void the_moments_are_those_of_all_subsets_together(void **state)
{
    (void)state;
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

/* Standard errors from the draws themselves; six of them. */
static void draws_spread_as_the_moments_say(void **state)
{
    (void)state;
    enum { N = 3000, DRAWS = 4000 };
    Try *t = try_open("randk:ratio=0.2", N);
    try_laplace(t, 73);
    AtomMoments m;
    double norm2 = 0, gain = 0, gain2 = 0, mse = 0, mse2 = 0;
    for (size_t i = 0; i < N; i++)
        norm2 += (double)t->x[i] * (double)t->x[i];
    for (uint64_t r = 0; r < DRAWS; r++) {
        double dot = 0, error = 0;
        t->call.rng_shared = address(r);
        try_both(t);
        for (size_t i = 0; i < N; i++) {
            const double e = (double)t->y[i] - (double)t->x[i];
            dot += e * (double)t->x[i] / norm2;
            error += e * e;
        }
        gain += dot / DRAWS;
        gain2 += dot * dot / DRAWS;
        mse += error / DRAWS;
        mse2 += error * error / DRAWS;
    }
    check(codec_moments(&t->call, t->x, &m) == ATOMWISE);
    const double v1 = m.weighted / norm2 / norm2;
    check_near(gain, 0, 6 * sqrt(v1 / DRAWS));
    check_rel(gain2, v1, 6 * sqrt(2.0 / DRAWS));
    check_near(mse, codec_variance(&t->call, t->x), 6 * sqrt((mse2 - mse * mse) / DRAWS));
    try_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_subsets_are_equally_likely),
        cmocka_unit_test(all_pairs_are_equally_likely),
        cmocka_unit_test(blocks_get_their_hypergeometric_share),
        cmocka_unit_test(large_shares_have_the_right_mean_and_spread),
        cmocka_unit_test(places_in_a_block_are_used_alike),
        cmocka_unit_test(eight_billion_elements_are_split_too),
        cmocka_unit_test(values_of_the_subset_travel_and_come_back_scaled),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
        cmocka_unit_test(workers_share_a_subset_or_have_their_own),
        cmocka_unit_test(merged_payloads_decode_to_the_sum_in_any_grouping),
        cmocka_unit_test(payloads_that_do_not_add_are_refused),
        cmocka_unit_test(sums_beyond_float32_and_subsets_of_their_own_do_not_merge),
        cmocka_unit_test(the_moments_are_those_of_all_subsets_together),
        cmocka_unit_test(draws_spread_as_the_moments_say),
    };
    forever = arena_open(0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_close(forever);
    return failed ? 1 : 0;
}
