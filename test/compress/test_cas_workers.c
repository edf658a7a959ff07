/* test_cas_workers.c -- the codec cas over workers and steps. The codec clusters the values, hashes the
 * elements of each cluster into buckets, and sends the sums of the buckets. All workers use the same clusters
 * and hash. */
#include "rig/try.h"

#include "compress/sketch/clusters.h"

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

static void merged_sums_are_kept_bucket_by_bucket(void **state)
{
    (void)state;
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

static void merging_in_turn_is_merging_at_once(void **state)
{
    (void)state;
    Team m;
    team_open(&m, "cas", N);
    const float *once = decode(&m, merge(&m, m.payload, WORKERS));
    const Bytes pairs[] = {merge(&m, m.payload, 2), merge(&m, m.payload + 2, 2)};
    const Bytes turn = merge(&m, pairs, 2);
    const float *y = decode(&m, turn);
    for (size_t i = 0; i < N; i++)
        check_near((double)y[i], (double)once[i], 1e-6);
    check(turn.data[0] == PAYLOAD_MERGED && turn.data[1] == WORKERS);
    const float *one = decode(&m, merge(&m, m.payload, 1));
    for (size_t i = 0; i < N; i++)
        check_rel((double)one[i], (double)m.t[0]->y[i], 1e-7);
    team_close(&m);
}

static void merged_payloads_are_no_longer_than_their_parts_or_floats(void **state)
{
    (void)state;
    Team m;
    team_open(&m, "cas:clusters=6", N);
    Bytes sum = m.payload[0];
    const float *before = decode(&m, sum);
    size_t parts = sum.size;
    for (int w = 1; w < 24; w++) {
        const Bytes two[] = {sum, m.payload[w % WORKERS]};
        sum = merge(&m, two, 2);
        parts += two[1].size;
        check(sum.size <= parts && sum.size <= 4 * N + 13);
        /* Byte 2 of a merged payload is 1 if the payload is stored as floats, as from about ten workers on. */
        check(w > 2 || sum.data[2] == 0);
        check(w < 20 || sum.data[2] == 1);
        const float *y = decode(&m, sum);
        double ours = 0, theirs = 0;
        for (size_t i = 0; i < N; i++) {
            ours += (double)y[i];
            theirs += (double)before[i] + (double)m.t[w % WORKERS]->y[i];
        }
        check_near(ours, theirs, 0.05);
        before = y;
    }
    check(sum.data[1] == 24);
    team_close(&m);
}

static void raw_tensors_merge_too(void **state)
{
    (void)state;
    Team m;
    team_open(&m, "cas", 500);
    const Bytes merged = merge(&m, m.payload, WORKERS);
    const float *y = decode(&m, merged);
    for (size_t i = 0; i < 500; i++)
        check_near((double)y[i],
                   (double)m.t[0]->x[i] + (double)m.t[1]->x[i] + (double)m.t[2]->x[i] + (double)m.t[3]->x[i],
                   2e-6);
    team_close(&m);
}

static void payloads_of_different_models_do_not_merge(void **state)
{
    (void)state;
    Team m;
    team_open(&m, "cas", N);
    /* without a state, worker 1 learns clusters from its own gradient */
    m.t[1]->call.state = NULL;
    check_ok(try_send(m.t[1]), &m.t[1]->err);
    const Bytes two[] = {m.payload[0], m.t[1]->sent.round[0]};
    Buf out = {NEW(m.t[0]->arena, uint8_t, 1000000), 0, 1000000};
    check(codec_merge(&m.t[0]->call, two, 2, &out) == ERR_USAGE);
    check(strstr(m.t[0]->err.text, "different clusters") && m.t[0]->err.hint[0]);
    team_close(&m);
}

static void merged_payloads_of_other_lengths_are_refused(void **state)
{
    (void)state;
    Team m;
    team_open(&m, "cas:clusters=3", 2000);
    Try *t = m.t[0];
    t->sent.round[0] = merge(&m, m.payload, WORKERS);
    try_refuses_other_lengths(t);
    try_survives_flips(t, 11);
    team_close(&m);
}

/* The hash is a function of random numbers that all workers share. (The code released with the paper has a hash
 * with a seed per Python process, so other processes cannot decode its payloads.) */
static void hash_is_seeded_by_what_all_workers_share(void **state)
{
    (void)state;
    Team m;
    team_open(&m, "cas", N);
    Try *t = m.t[0], *other = m.t[1];
    memcpy(other->x, t->x, N * sizeof *t->x);
    try_both(other);
    check(other->out.size == t->out.size && !memcmp(other->out.data, t->out.data, t->out.size));
    other->call.rng_shared = rng_open(1, 1, RNG_EVERYONE, 0, 9);
    check_ok(try_send(other), &other->err);
    const size_t sums = 3 + 8 * (size_t)(t->out.data[1] + t->out.data[2]);
    /* the clusters are in the state, so new random numbers do not change the clusters */
    check(!memcmp(other->out.data, t->out.data, sums));
    check(memcmp(other->out.data + sums, t->out.data + sums, 4 * (N / 100)) != 0);
    check_ok(codec_receive(&other->call, &t->sent, other->y), &other->err);
    team_close(&m);
}

static void model_is_learned_every_period_of_steps(void **state)
{
    (void)state;
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

static void ef_trains_what_it_wraps(void **state)
{
    (void)state;
    Try *t = try_open("ef+cas", N), *alone = try_open("cas", N);
    uint8_t *kept = NEW_ZERO(t->arena, uint8_t, codec_state_size(&t->call));
    t->call.state = kept;
    double error = 0, norm = 0, sent = 0;
    static double owed[N];
    for (uint64_t step = 0; step < 12; step++) {
        t->call.rng_shared = alone->call.rng_shared = rng_open(1, 0, RNG_EVERYONE, (int64_t)step, 9);
        try_normal(t, 5);
        check_ok(codec_train(&t->call, t->x, kept), &t->err);
        try_both(t);
        for (size_t i = 0; i < N; i++)
            owed[i] += (double)t->x[i] - (double)t->y[i];
        check_ok(codec_settle(&t->call, t->x, t->sent.round, t->y, kept), &t->err);
    }
    for (size_t i = 0; i < N; i++) {
        error += owed[i] * owed[i];
        norm += pow((double)t->x[i], 2);
        sent += fabs((double)((const float *)(const void *)kept)[i] - owed[i]);
    }
    /* the residual in the state is the sum of all gradients minus the sum of all estimates */
    check(sent / N < 1e-4);
    check(error / norm < 12 * 0.5);
    try_close(t);
    try_close(alone);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(merged_sums_are_kept_bucket_by_bucket),
    cmocka_unit_test(merging_in_turn_is_merging_at_once),
    cmocka_unit_test(merged_payloads_are_no_longer_than_their_parts_or_floats),
    cmocka_unit_test(raw_tensors_merge_too),
    cmocka_unit_test(payloads_of_different_models_do_not_merge),
    cmocka_unit_test(merged_payloads_of_other_lengths_are_refused),
    cmocka_unit_test(hash_is_seeded_by_what_all_workers_share),
    cmocka_unit_test(model_is_learned_every_period_of_steps),
    cmocka_unit_test(ef_trains_what_it_wraps),
};
CHECK_MAIN(tests)
