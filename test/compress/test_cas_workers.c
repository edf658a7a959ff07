/* test_cas_workers.c -- the codec cas over workers and steps. The codec clusters the values, hashes the
 * elements of each cluster into buckets, and sends the sums of the buckets. All workers use the same clusters
 * and hash. */
#include "rig/try.h"

#include "compress/sketch/clusters.c"

enum { N = 20000, WORKERS = 4 };

typedef struct {
    Try *t[WORKERS];
    void *state[WORKERS];
    Bytes payload[WORKERS];
} Team;

/* Opens workers whose gradients are a common vector plus different noise. Worker 0 trains the clusters; the
 * other workers copy the state of worker 0. */
static void team_open(Team *m, const char *spec, size_t n)
{
    const Rng common = rng_open(11, 0, 0, 0, 0);
    for (int w = 0; w < WORKERS; w++) {
        Try *t = m->t[w] = try_open(spec, n);
        t->call.rng = rng_open(1, 0, w, 0, 9);
        t->call.rng_shared = rng_open(1, 0, RNG_EVERYONE, 0, 9);
        t->call.worker = w;
        t->call.workers = WORKERS;
        try_normal(t, 20 + (uint64_t)w);
        for (size_t i = 0; i < n; i++)
            t->x[i] = (float)rng_normal(&common, USE_TEST, i) + 0.7f * t->x[i];
        const size_t size = codec_state_size(&t->call);
        m->state[w] = NEW_ZERO(t->arena, uint8_t, size);
        t->call.state = m->state[w];
        if (w == 0)
            check_ok(codec_train(&t->call, t->x, m->state[0]), &t->err);
        else
            memcpy(m->state[w], m->state[0], size);
        try_both(t);
        m->payload[w] = t->sent.round[0];
    }
}

static void team_close(Team *m)
{
    for (int w = 0; w < WORKERS; w++)
        try_close(m->t[w]);
}

static Bytes merge(Team *m, const Bytes *in, size_t count)
{
    Try *t = m->t[0];
    Buf out = {.cap = 20 * t->out.cap + 64};
    out.data = NEW(t->arena, uint8_t, out.cap);
    check_ok(codec_merge(&t->call, in, count, &out), &t->err);
    return buf_bytes(&out);
}

static float *decode(Team *m, Bytes payload)
{
    Try *t = m->t[0];
    float *y = NEW(t->arena, float, t->shape.n);
    check_ok(codec_decode(&t->call, payload, y), &t->err);
    return y;
}

typedef struct {
    size_t from[CLUSTERS_MOST + 1], minus, clusters;
    float above[CLUSTERS_MOST];
} Model;

static Model model_of(Bytes payload)
{
    ClusterModel m = {.minus = payload.data[1], .plus = payload.data[2]};
    Model out = {.minus = m.minus, .clusters = cluster_model_clusters(&m)};
    for (size_t j = 0; j < out.clusters; j++) {
        m.cluster[j] = (Cluster){load_f32(payload.data + 3 + 8 * j), load_u32(payload.data + 7 + 8 * j)};
        out.from[j + 1] = out.from[j] + m.cluster[j].buckets;
    }
    cluster_model_thresholds(&m, out.above);
    return out;
}

static size_t bucket_of(const Model *m, const Call *c, size_t i, float x)
{
    size_t j = 0;
    while (j + 1 < m->clusters && x > m->above[j])
        j++;
    const uint64_t size = m->from[j + 1] - m->from[j];
    return m->from[j] + (size_t)(rng_u32(&c->rng_shared, USE_ATOM, i) * size >> 32);
}

TEST(merged_sums_are_kept_bucket_by_bucket)
{
    static double sum[N], count[N], want[N];
    static const char *const specs[] = {"cas", "cas:clusters=3"};
    for (size_t s = 0; s < countof(specs); s++) {
        Team m;
        team_open(&m, specs[s], N);
        const Model model = model_of(m.payload[0]);
        memset(sum, 0, sizeof sum);
        memset(count, 0, sizeof count);
        memset(want, 0, sizeof want);
        for (int w = 0; w < WORKERS; w++)
            for (size_t i = 0; i < N; i++) {
                const size_t b = bucket_of(&model, &m.t[0]->call, i, m.t[w]->x[i]);
                sum[b] += (double)m.t[w]->x[i];
                count[b]++;
            }
        const Bytes merged = merge(&m, m.payload, WORKERS);
        const float *y = decode(&m, merged);
        double total = 0, given = 0, apart = 0, norm = 0, exact = 0, each = 0;
        for (size_t i = 0; i < N; i++) {
            double separate = 0, x = 0;
            for (int w = 0; w < WORKERS; w++) {
                const size_t b = bucket_of(&model, &m.t[0]->call, i, m.t[w]->x[i]);
                want[i] += sum[b] / count[b];
                separate += (double)m.t[w]->y[i];
                x += (double)m.t[w]->x[i];
            }
            check_near((double)y[i], want[i], 1e-5);
            total += x;
            given += (double)y[i];
            apart += pow((double)y[i] - separate, 2);
            exact += pow((double)y[i] - x, 2);
            each += pow(separate - x, 2);
            norm += x * x;
        }
        check_near(given, total, 1e-3);
        print_message("%s: merged and decoded apart differ by %.3g of |sum|^2; errors %.4f and %.4f\n",
                      specs[s], apart / norm, exact / norm, each / norm);
        /* A merged bucket has one mean for the elements of all workers, so the merged estimate differs from the
         * sum of the separate estimates. */
        check(apart / norm < 0.02);
        check(exact <= 1.1 * each);
        team_close(&m);
    }
}

TEST(model_is_learned_every_period_of_steps)
{
    Try *t = try_open("cas:period=3", N);
    uint8_t *kept = NEW_ZERO(t->arena, uint8_t, codec_state_size(&t->call)), head[35], before[35] = {0};
    t->call.state = kept;
    for (uint64_t step = 0; step < 9; step++) {
        t->call.rng_shared = rng_open(1, 0, RNG_EVERYONE, (int64_t)step, 9);
        try_normal(t, 50 + step);
        check_ok(codec_train(&t->call, t->x, kept), &t->err);
        try_both(t);
        memcpy(head, t->out.data, sizeof head);
        check((memcmp(head, before, sizeof head) != 0) == (step % 3 == 0));
        memcpy(before, head, sizeof head);
        check_ok(codec_settle(&t->call, t->x, t->sent.round, t->y, kept), &t->err);
    }
    try_close(t);
}

CHECK_ALL(NULL, NULL)
