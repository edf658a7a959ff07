/* test_sparse.c -- selections of elements (the k largest, or those that reach a threshold) against sorted
 * lists, and the codecs topk and threshold, which send the selected elements. */
#include "rig/try.h"

#include "math/vec/kernels.h"
#include "math/select.c"

#include <float.h>

static Arena *scratch;

/* ---- vectors that are hard for the search for the k-th largest magnitude ---- */

static float normal(const Rng *rng, size_t i)
{
    return (float)rng_normal(rng, USE_TEST, i);
}
static float wide(const Rng *rng, size_t i)
{
    return (float)exp(150 * rng_unit(rng, USE_TEST, i) - 90);
}
static float tied(const Rng *rng, size_t i)
{
    return (float)((int)(rng_unit(rng, USE_TEST, i) * 7) - 3);
}
static float constant(const Rng *rng, size_t i)
{
    (void)rng;
    return i % 3 ? 0.1f : -0.1f;
}
static float rare(const Rng *rng, size_t i)
{
    return rng_unit(rng, USE_TEST, i) < 1e-3 ? normal(rng, i + 1) : i % 2 ? 0 : -0.0f;
}
static float sorted_up(const Rng *rng, size_t i)
{
    (void)rng;
    return (float)(i + 1);
}
static float tail_first(const Rng *rng, size_t i)
{
    return i < 900 ? 5 + (float)(i % 100) : 1e-3f * normal(rng, i);
}
static float denormal(const Rng *rng, size_t i)
{
    return (float)((int)(rng_unit(rng, USE_TEST, i) * 200) - 100) * 0x1p-149f;
}
static float huge(const Rng *rng, size_t i)
{
    return rng_unit(rng, USE_TEST, i) < 0.5 ? -FLT_MAX : FLT_MAX / 2;
}

static const struct {
    const char *name;
    float (*at)(const Rng *rng, size_t i);
} laws[] = {{"normal", normal}, {"wide", wide},         {"tied", tied},
            {"rare", rare},     {"constant", constant}, {"sorted up", sorted_up},
            {"huge", huge},     {"denormal", denormal}, {"tail first", tail_first}};

static const size_t sizes[] = {0, 1, 2, 3, 63, 64, 65, 1000, 65535, 65537, 200000};

static void fill(Try *t, float (*at)(const Rng *rng, size_t i))
{
    const Rng rng = rng_open(9, 0, 0, 0, t->shape.n);
    for (size_t i = 0; i < t->shape.n; i++)
        t->x[i] = at(&rng, i);
}

/* ---- reference: a sort by decreasing magnitude, then by index ---- */

typedef struct {
    float magnitude;
    size_t place;
} Ranked;

static int larger_first(const void *a, const void *b)
{
    const Ranked *x = a, *y = b;
    if (x->magnitude != y->magnitude)
        return x->magnitude < y->magnitude ? 1 : -1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static Ranked *rank_all(const float *x, size_t n)
{
    Ranked *r = NEW(scratch, Ranked, n + 1);
    for (size_t i = 0; i < n; i++)
        r[i] = (Ranked){fabsf(x[i]), i};
    qsort(r, n, sizeof *r, larger_first);
    return r;
}

static size_t not_zero(const float *x, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += x[i] != 0;
    return count;
}

/* Marks the selected elements in `in`. A selection is stored as a list (`place` is not NULL) or as a bitmap. */
static void unfold(const Picks *s, bool *in)
{
    size_t *place = NEW(scratch, size_t, BLOCK), total = 0;
    memset(in, 0, s->n);
    for (size_t b = 0; b < blocks_of(s->n); b++) {
        const size_t count = s->place ? 0 : select_places(s, b, place);
        for (size_t i = 0; i < count; i++)
            in[place[i]] = true;
        total += count;
    }
    for (size_t i = 0; s->place && i < s->count; i++) {
        check(s->value[i] == s->x[s->place[i]] && (i == 0 || s->place[i] > s->place[i - 1]));
        in[s->place[i]] = true;
    }
    check(s->place || total == s->count);
}

TEST(the_k_largest_are_those_of_a_sort_and_ties_go_to_the_first)
{
    static const double shares[] = {0, 1e-4, 0.01, 0.1, 0.12, 0.13, 0.5, 0.999, 1};
    for (size_t l = 0; l < countof(laws); l++)
        for (size_t z = 0; z < countof(sizes); z++) {
            const ArenaMark mark = arena_mark(scratch);
            const size_t n = sizes[z];
            Try *t = try_open("topk", n);
            fill(t, laws[l].at);
            const Ranked *r = rank_all(t->x, n);
            bool *in = NEW(scratch, bool, n + 1);
            for (size_t s = 0; s < countof(shares); s++) {
                const size_t k = (size_t)(shares[s] * (double)n), most = not_zero(t->x, n);
                Picks p;
                check(select_open(&p, t->x, n, 1, scratch) && select_top(&p, k));
                if (p.count != (k < most ? k : most))
                    print_error("%s, n %zu, k %zu: %zu\n", laws[l].name, n, k, p.count);
                check(p.count == (k < most ? k : most));
                unfold(&p, in);
                for (size_t i = 0; i < n; i++)
                    check(in[r[i].place] == (i < p.count));
            }
            try_close(t);
            arena_rewind(scratch, mark);
        }
}

/* The search for the k-th largest magnitude starts from a sample of one element in `stride`. In these vectors
 * the sampled elements differ from all others, so the search starts with a wrong estimate. */
TEST(a_misleading_sample_changes_nothing)
{
    const size_t n = 262144 + 77, stride = n / 16384, k = 3000;
    Try *t = try_open("topk", n);
    for (int how = 0; how < 4; how++) {
        const ArenaMark mark = arena_mark(scratch);
        fill(t, normal);
        for (uint32_t i = 0; i < 16384; i++)
            for (size_t j = 0; j < stride; j++) {
                const bool seen = j == rng_mix(i, RNG_STRIDE) % stride;
                float *v = &t->x[i * stride + j];
                /* the guess from the sample is far too high */
                *v *= how == 0   ? (seen ? 100 : 1e-3f)
                      : how == 1 ? (seen ? 1e-3f : 100) /* too low */
                      : how == 2 ? (seen ? 0 : 1)
                                 : (seen ? 1 : 0);
            }
        const Ranked *r = rank_all(t->x, n);
        bool *in = NEW(scratch, bool, n);
        Picks p;
        check(select_open(&p, t->x, n, 1, scratch) && select_top(&p, k) && p.count == k);
        unfold(&p, in);
        for (size_t i = 0; i < n; i++)
            check(in[r[i].place] == (i < k));
        arena_rewind(scratch, mark);
    }
    try_close(t);
}

TEST(narrowing_a_selection_leaves_its_largest)
{
    for (size_t l = 0; l < countof(laws); l++) {
        const ArenaMark mark = arena_mark(scratch);
        const size_t n = 70000;
        Try *t = try_open("topk", n);
        fill(t, laws[l].at);
        const Ranked *r = rank_all(t->x, n);
        bool *in = NEW(scratch, bool, n);
        for (double least = 0; least < 3; least += 1.1)
            for (size_t k = 0; k < 20000; k = 5 * k + 50) {
                Picks p;
                check(select_open(&p, t->x, n, 1, scratch));
                select_from(&p, least);
                const size_t before = p.count;
                check(select_narrow(&p, k) && p.count == (k < before ? k : before));
                unfold(&p, in);
                for (size_t i = 0; i < n; i++)
                    check(in[r[i].place] == (i < p.count));
            }
        try_close(t);
        arena_rewind(scratch, mark);
    }
}

TEST(instruction_sets_mark_the_same)
{
    static const float levels[] = {FLT_TRUE_MIN, 0x1p-149f * 50, 0.1f, 1, FLT_MAX, INFINITY};
    Try *t = try_open("topk", BLOCK);
    uint64_t bits[BLOCK / 64 + 1];
    for (size_t l = 0; l < countof(laws); l++) {
        fill(t, laws[l].at);
        for (size_t v = 0; v < countof(levels); v++)
            for (size_t n = 0; n <= BLOCK; n = n * 5 + 1)
                for (int isa = ISA_BASE; isa < ISA_COUNT; isa++) {
                    const Kernels *k = kernels_of((Isa)isa);
                    size_t want = 0;
                    if (!k)
                        continue;
                    bits[(n + 63) / 64] = 0x5555;
                    const size_t got = k->mark_from(t->x, n, levels[v], bits);
                    for (size_t i = 0; i < (n + 63) / 64 * 64; i++) {
                        const bool in = i < n && fabsf(t->x[i]) >= levels[v];
                        check((bits[i / 64] >> i % 64 & 1) == in);
                        want += in;
                    }
                    check(got == want && bits[(n + 63) / 64] == 0x5555);
                }
    }
    try_close(t);
}

/* ---- tests of the codecs ---- */

static size_t wanted(double ratio, size_t n)
{
    const size_t k = (size_t)(ratio * (double)n + 0.5);
    return k < 1 ? n < 1 ? 0 : 1 : k < n ? k : n;
}

TEST(topk_sends_exactly_the_k_largest)
{
    static const struct {
        const char *spec;
        double ratio;
    } rows[] = {{"topk", 0.01}, {"topk:ratio=0.3", 0.3}, {"topk:ratio=0.9", 0.9}, {"topk:ratio=1", 1}};
    for (size_t l = 0; l < countof(laws); l++)
        for (size_t z = 0; z < countof(sizes); z++) {
            const ArenaMark mark = arena_mark(scratch);
            const size_t n = sizes[z];
            Try *filled = try_open("none", n);
            fill(filled, laws[l].at);
            const Ranked *r = rank_all(filled->x, n);
            for (size_t row = 0; row < countof(rows); row++) {
                const size_t k = wanted(rows[row].ratio, n);
                Try *t = try_open(rows[row].spec, n);
                memcpy(t->x, filled->x, n * sizeof *t->x);
                try_both(t);
                const bool raw = t->out.data[0] == PAYLOAD_RAW;
                for (size_t i = 0; i < n; i++)
                    check(t->y[r[i].place] == (i < k || raw ? t->x[r[i].place] : 0));
                check(!raw || n < 3 || k > n / 2);
                try_close(t);
            }
            try_close(filled);
            arena_rewind(scratch, mark);
        }
}

TEST(threshold_sends_what_reaches_it)
{
    static const struct {
        const char *spec;
        double tau, rel;
    } rows[] = {{"threshold", 0, 0.01},
                {"threshold:rel=0.5", 0, 0.5},
                {"threshold:rel=1", 0, 1},
                /* 0.1f is above 0.1, so an element of 0.1f is sent */
                {"threshold:tau=0.7", 0.7, 0},
                {"threshold:tau=0.1", 0.1, 0},
                {"threshold:tau=3e38", 3e38, 0}};
    for (size_t l = 0; l < countof(laws); l++)
        for (size_t z = 0; z < countof(sizes); z++) {
            const size_t n = sizes[z];
            Try *filled = try_open("none", n);
            fill(filled, laws[l].at);
            for (size_t row = 0; row < countof(rows); row++) {
                Try *t = try_open(rows[row].spec, n);
                memcpy(t->x, filled->x, n * sizeof *t->x);
                try_both(t);
                double largest = 0;
                for (size_t i = 0; i < n; i++)
                    largest = fmax(largest, fabs((double)t->x[i]));
                const double least = rows[row].tau > 0 ? rows[row].tau : rows[row].rel * largest;
                const bool raw = t->out.data[0] == PAYLOAD_RAW;
                for (size_t i = 0; i < n; i++)
                    check(t->y[i] == (raw || fabs((double)t->x[i]) >= least ? t->x[i] : 0));
                try_close(t);
            }
            try_close(filled);
        }
}

CHECK_ALL_IN(scratch)
