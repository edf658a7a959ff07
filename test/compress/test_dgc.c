/* test_dgc.c -- dgc (deep gradient compression) over many steps, against a plain version of the algorithm of
 * the paper. */
#include "rig/try.h"

enum { STEPS = 12 };

typedef struct {
    Try *t;
    float *u, *v, *state;
} Run;

static Run open_run(const char *spec, size_t n)
{
    Run r = {.t = try_open(spec, n)};
    r.u = NEW_ZERO(r.t->arena, float, n + 1);
    r.v = NEW_ZERO(r.t->arena, float, n + 1);
    r.state = NEW_ZERO(r.t->arena, float, 2 * n + 1);
    check(codec_state_size(&r.t->call) == 2 * n * sizeof(float));
    return r;
}

static void step_gradient(Try *t, int step)
{
    step % 2 ? try_laplace(t, 40 + (uint64_t)step) : try_normal(t, 40 + (uint64_t)step);
    try_repeat(t, (uint64_t)step);
}

static void settle(Run *r)
{
    Try *t = r->t;
    check_ok(codec_settle(&t->call, t->x, t->sent.round, t->y, r->state), &t->err);
    t->call.state = r->state;
}

TEST(every_step_sends_the_largest_of_what_accumulated)
{
    static const struct {
        const char *spec;
        double ratio;
        float momentum;
        bool mask;
    } rows[] = {{"dgc", 0.001, 0.9f, true},
                {"dgc:ratio=0.01,sample=0.05", 0.01, 0.9f, true},
                {"dgc:ratio=0.05,momentum=0.5,mask=off", 0.05, 0.5f, false},
                {"dgc:ratio=0.01,sample=1,momentum=0", 0.01, 0, true}};
    static const size_t sizes[] = {1, 2, 100, 5000, 65537, 200000};
    for (size_t row = 0; row < countof(rows); row++)
        for (size_t z = 0; z < countof(sizes); z++) {
            const size_t n = sizes[z];
            const double wish = floor(rows[row].ratio * (double)n + 0.5), k = wish < 1 ? 1 : wish;
            Run r = open_run(rows[row].spec, n);
            for (int step = 0; step < STEPS; step++) {
                Try *t = r.t;
                step_gradient(t, step);
                try_both(t);
                float least = INFINITY, left = 0;
                double count = 0, owed = 0;
                const bool raw = t->out.data[0] == PAYLOAD_RAW;
                for (size_t i = 0; i < n; i++) {
                    r.u[i] = rows[row].momentum * r.u[i] + t->x[i];
                    r.v[i] += r.u[i];
                    check(t->y[i] == 0 || t->y[i] == r.v[i]);
                    count += t->y[i] != 0;
                    if (t->y[i] != 0 && fabsf(r.v[i]) < least)
                        least = fabsf(r.v[i]);
                    if (t->y[i] == 0 && fabsf(r.v[i]) > left)
                        left = fabsf(r.v[i]);
                    if (t->y[i] != 0) {
                        r.v[i] = 0;
                        r.u[i] = rows[row].mask ? 0 : r.u[i];
                    }
                    owed += pow((double)r.v[i], 2);
                }
                check(least >= left);
                check(raw || (count <= 1.3 * k && count >= 0.8 * k));
                settle(&r);
                check(!memcmp(r.state, r.u, n * sizeof *r.u) && !memcmp(r.state + n, r.v, n * sizeof *r.v));
                check_rel(codec_residual(&t->call), sqrt(owed), 1e-12);
            }
            try_close(r.t);
        }
}

/* Without momentum, the estimates plus the residual must add up to the sum of the gradients. Elements are
 * integers, so the sums are exact. */
TEST(without_momentum_all_that_came_in_went_out_or_is_owed)
{
    const size_t n = 30000;
    Run r = open_run("dgc:ratio=0.02,momentum=0", n);
    double *in = NEW_ZERO(r.t->arena, double, n);
    for (int step = 0; step < STEPS; step++) {
        step_gradient(r.t, step);
        for (size_t i = 0; i < n; i++) {
            r.t->x[i] = rintf(100 * r.t->x[i]);
            in[i] += (double)r.t->x[i];
        }
        try_both(r.t);
        settle(&r);
        for (size_t i = 0; i < n; i++) {
            in[i] -= (double)r.t->y[i];
            check(in[i] == (double)r.state[n + i]);
        }
    }
    try_close(r.t);
}

/* The sample may miss the few non-zero elements. Then dgc must lower the threshold until enough elements are
 * sent. */
TEST(rare_values_go_though_no_sample_saw_them)
{
    Try *t = try_open("dgc:ratio=0.001", 400000);
    for (size_t i = 0; i < 300; i++)
        t->x[i * 1000 + 7] = i % 2 ? 1 : -1;
    try_both(t);
    for (size_t i = 0; i < 400000; i++)
        check(t->y[i] == t->x[i]);
    try_close(t);
}

CHECK_ALL(NULL, NULL)
