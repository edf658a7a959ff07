/* test_signed_set.c -- the codecs stc, adaq and strom, which send a set of elements with their signs and a
 * common magnitude (adaq: one for each sign). stc and adaq send the share `ratio` of largest magnitude with the
 * mean magnitude. strom sends magnitudes of at least tau as tau, and keeps a residual. */
#include "rig/try.h"

static const size_t sizes[] = {0, 1, 2, 3, 7, 63, 64, 65, 1000, 65535, 65536, 65537, 200003};
static const char *const specs[] = {"stc",  "stc:ratio=0.3",  "stc:ratio=1",
                                    "adaq", "adaq:ratio=0.3", "adaq:ratio=1"};

/* Fills x with normal numbers. Every third number is rounded to a multiple of 1/8, so that equal magnitudes and
 * zeros occur. */
static void fill(Try *t, uint64_t seed)
{
    try_normal(t, seed);
    for (size_t i = 0; i < t->shape.n; i += 3)
        t->x[i] = roundf(8 * t->x[i]) / 8;
}

/* ---- the expected estimates, computed by sorting ---- */

typedef struct {
    float size;
    size_t at;
} Item;

static int larger_first(const void *a, const void *b)
{
    const Item *x = a, *y = b;
    return x->size != y->size ? (x->size < y->size) - (x->size > y->size) : (x->at > y->at) - (x->at < y->at);
}

static size_t share_of(double ratio, size_t n)
{
    const double k = floor(ratio * (double)n + 0.5);
    return k < 1 ? 1 : k > (double)n ? n : (size_t)k;
}

/* Sets want[i] for the elements i in the first k items: the mean magnitude of the k elements, with the sign of
 * x[i]. */
static void put_mean(const Try *t, const Item *item, size_t k, double *want)
{
    long double sum = 0;
    for (size_t j = 0; j < k; j++)
        sum += (long double)item[j].size;
    for (size_t j = 0; j < k; j++)
        want[item[j].at] = copysign((double)(sum / (long double)k), (double)t->x[item[j].at]);
}

static void expect(const Try *t, bool adaq, double ratio, double *want)
{
    const size_t n = t->shape.n;
    Item *item = NEW(t->arena, Item, n + 1);
    memset(want, 0, n * sizeof *want);
    for (int side = 0; side < 1 + adaq; side++) {
        size_t some = 0;
        for (size_t i = 0; i < n; i++)
            if (t->x[i] != 0 && (!adaq || (t->x[i] < 0) == side))
                item[some++] = (Item){fabsf(t->x[i]), i};
        qsort(item, some, sizeof *item, larger_first);
        size_t k = share_of(ratio, adaq ? some : n);
        k = k < some ? k : some;
        put_mean(t, item, k, want);
    }
}

TEST(the_largest_are_kept_at_their_mean_and_of_ties_the_first)
{
    static const double ratios[] = {0.01, 0.3, 1};
    for (size_t s = 0; s < countof(specs); s++)
        for (size_t z = 0; z < countof(sizes); z++) {
            Try *t = try_open(specs[s], sizes[z]);
            double *want = NEW(t->arena, double, sizes[z] + 1);
            fill(t, 70 + z);
            try_both(t);
            expect(t, s > 2, ratios[s % 3], want);
            const bool raw = t->out.data[0] == PAYLOAD_RAW;
            check(!raw || sizes[z] < 4);
            for (size_t i = 0; i < sizes[z]; i++)
                if (raw)
                    check(t->y[i] == t->x[i]);
                else
                    check_rel((double)t->y[i], want[i], 0x1p-24 * (1 + 1e-6));
            try_close(t);
        }
}

static double error_of(const Try *t)
{
    double error = 0, norm = 0;
    for (size_t i = 0; i < t->shape.n; i++) {
        const double x = (double)t->x[i], d = (double)t->y[i] - x;
        error += d * d;
        norm += x * x;
    }
    return error / norm;
}

/* The squared error of stc is |g|^2 - k m^2, where m is the mean magnitude of the k elements sent. */
TEST(the_error_is_what_the_mean_does_not_carry)
{
    Try *t = try_open("stc:ratio=0.1", 5000);
    double norm = 0, kept = 0;
    fill(t, 5);
    try_both(t);
    for (size_t i = 0; i < 5000; i++) {
        norm += (double)t->x[i] * (double)t->x[i];
        kept += (double)t->y[i] * (double)t->y[i];
    }
    check_rel(error_of(t), 1 - kept / norm, 1e-6);
    try_close(t);
}

/* ---- strom ---- */

static Try *open_strom(const char *spec, size_t n)
{
    Try *t = try_open(spec, n);
    check(codec_state_size(&t->call) == n * sizeof(float));
    t->call.state = NEW_ZERO(t->arena, float, n);
    return t;
}

static void step(Try *t)
{
    try_both(t);
    check_ok(codec_settle(&t->call, t->x, t->sent.round, t->y, (void *)(uintptr_t)t->call.state), &t->err);
}

TEST(what_is_under_tau_gathers_until_it_is_sent)
{
    Try *t = open_strom("strom:tau=0.5", 40);
    /* the estimates of element 3, which is 0.3125 in every step */
    static const float sent[] = {0, 0.5f, 0, 0.5f, 0.5f};
    for (size_t k = 0; k < countof(sent); k++) {
        t->x[3] = 0.3125f, t->x[7] = -0.3125f, t->x[11] = 2;
        step(t);
        check(t->y[3] == sent[k] && t->y[7] == -sent[k] && t->y[11] == 0.5f && t->y[0] == 0);
    }
    const float *r = t->call.state;
    check(r[3] == 0.0625f && r[7] == -0.0625f && r[11] == 7.5f && r[0] == 0);
    check_rel(codec_residual(&t->call), sqrt(2 * 0.0625 * 0.0625 + 7.5 * 7.5), 1e-12);
    try_close(t);
}

TEST(over_steps_nothing_is_lost)
{
    static const char *const of[] = {"strom", "strom:tau=0.7", "strom:tau=1e-60", "strom:tau=3e38"};
    static const size_t ns[] = {1, 5, 1000, 70000};
    for (size_t k = 0; k < countof(of) * countof(ns); k++) {
        const size_t n = ns[k % countof(ns)];
        Try *t = open_strom(of[k / countof(ns)], n);
        double *due = NEW_ZERO(t->arena, double, n);
        for (uint64_t s = 0; s < 6; s++) {
            try_laplace(t, 80 + s);
            step(t);
            for (size_t i = 0; i < n; i++)
                due[i] += (double)t->x[i] - (double)t->y[i];
        }
        for (size_t i = 0; i < n; i++)
            check_near((double)((const float *)t->call.state)[i], due[i], 1e-5);
        try_close(t);
    }
}

/* ---- refused payloads ---- */

CHECK_ALL(NULL, NULL)
