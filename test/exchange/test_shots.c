/* test_shots.c -- exchanges that quantise sums again (exchange/shots.h), and the others. Several ranks compute the mean of one process, bit for
 * bit, with states and with workers that do not send, and send the bytes that are counted. The ranks are threads, which a
 * made-up net joins. */
#include "rig/check.h"

#include "compress/spec.h"
#include "exchange/gradient.h"

#include <pthread.h>

enum { WORKERS = 4, STEPS = 3, LENGTH = 40 * 30 + 700 + 5 };

static const GradientTensor tensors[] = {
    {"a", {.rank = 2, .dim = {40, 30}, .n = 1200}, 0},
    {"b", {.rank = 1, .dim = {700}, .n = 700}, 1200},
    {"c", {.rank = 1, .dim = {5}, .n = 5}, 1900},
};

static float gradients[STEPS][WORKERS][LENGTH];

/* ---- a net of threads ---- */

typedef struct {
    pthread_barrier_t barrier;
    const uint8_t *data[WORKERS];
    const size_t *size[WORKERS];
} Hub;

typedef struct {
    Net net;
    Hub *hub;
    size_t room[WORKERS];
    bool flag[WORKERS];
} Wire;

static size_t before(const size_t *size, int rank)
{
    size_t sum = 0;
    for (int r = 0; r < rank; r++)
        sum += size[r];
    return sum;
}

static void wire_gather(Net *n, NetWay way, uint8_t *data, const size_t *size)
{
    Hub *hub = ((Wire *)n)->hub;
    hub->data[n->rank] = data;
    pthread_barrier_wait(&hub->barrier);
    for (int r = 0; r < n->ranks; r++)
        if (r != n->rank && size[r])
            memcpy(data + before(size, r), hub->data[r] + before(size, r), size[r]);
    if (way == NET_RING)
        n->sent += before(size, n->ranks) - size[(n->rank + 1) % n->ranks];
    pthread_barrier_wait(&hub->barrier);
}

static void wire_scatter(Net *n, const uint8_t *out, const size_t *out_size, uint8_t *in, const size_t *in_size)
{
    Hub *hub = ((Wire *)n)->hub;
    hub->data[n->rank] = out;
    hub->size[n->rank] = out_size;
    pthread_barrier_wait(&hub->barrier);
    for (int r = 0; r < n->ranks; in += in_size[r++]) {
        if (in_size[r])
            memcpy(in, hub->data[r] + before(hub->size[r], n->rank), in_size[r]);
        n->sent += r == n->rank ? 0 : out_size[r];
    }
    pthread_barrier_wait(&hub->barrier);
}

static void wire_broadcast(Net *n, int root, uint8_t *data, size_t size)
{
    Hub *hub = ((Wire *)n)->hub;
    hub->data[n->rank] = data;
    pthread_barrier_wait(&hub->barrier);
    if (n->rank != root)
        memcpy(data, hub->data[root], size);
    pthread_barrier_wait(&hub->barrier);
}

/* ---- training steps on ranks ---- */

typedef struct {
    const char *spec;
    Shots shots;
    bool feedback;
    bool all; /* false: worker 2 does not send in step 1 */
    const char *within; /* the codec within nodes of two workers; NULL: there are no nodes */
    NetWay way;
} Case;

typedef struct {
    const Case *c;
    Hub *hub;
    int rank, ranks; /* 0 ranks: one process without a net */
    float mean[STEPS][LENGTH];
    double bytes[STEPS]; /* that a worker sends */
    uint64_t sent;
    bool adds;
    Status status;
    Error err;
} Rank;

static Status run_steps(Rank *r, Net *net, Arena *a)
{
    const Codec *codec, *feedback = NULL, *within = NULL;
    GradientExchange *x;
    GradientBytes bytes;
    char spec[100];
    snprintf(spec, sizeof spec, "%s%s", strncmp(r->c->spec, "ef+", 3) ? "ef+" : "", r->c->spec);
    TRY(codec_open(&codec, r->c->spec, a, &r->err));
    if (r->c->feedback)
        TRY(codec_open(&feedback, spec, a, &r->err));
    if (r->c->within)
        TRY(codec_open(&within, r->c->within, a, &r->err));
    const GradientSpec s = {.codec = codec,
                            .within = within,
                            .node = within ? 2 : 0,
                            .min_elements = 10,
                            .workers = WORKERS,
                            .seed = 5,
                            .threads = 1,
                            .tensor = tensors,
                            .tensors = countof(tensors),
                            .net = net,
                            .way = r->c->way,
                            .shots = r->c->shots,
                            .feedback = feedback};
    r->adds = codec_adds(codec) && !within;
    TRY(gradient_open(&x, &s, &r->err));
    for (size_t step = 0; step < STEPS && r->status == OK; step++) {
        float *g[WORKERS];
        double weight[WORKERS];
        bool sends[WORKERS];
        for (size_t w = 0; w < WORKERS; w++) {
            g[w] = gradients[step][w];
            sends[w] = r->c->all || step != 1 || w != 2;
            weight[w] = sends[w] ? 1.0 / (step == 1 && !r->c->all ? WORKERS - 1 : WORKERS) : 0;
        }
        r->status = gradient_step(x, step, g, weight, sends, r->mean[step], &bytes, &r->err);
        r->bytes[step] = bytes.sent;
    }
    gradient_close(x);
    return r->status;
}

static void *run_rank(void *data)
{
    Rank *r = data;
    Arena *a = arena_open(0);
    Wire wire = {.net = {.rank = r->rank, .ranks = r->ranks, .gather = wire_gather, .scatter = wire_scatter,
                         .broadcast = wire_broadcast},
                 .hub = r->hub};
    wire.net.room = wire.room;
    wire.net.flag = wire.flag;
    r->status = run_steps(r, r->ranks ? &wire.net : NULL, a);
    r->sent = wire.net.sent;
    arena_close(a);
    return NULL;
}

static Rank alone, rank[WORKERS];

static void run_ranks(const Case *c, int ranks)
{
    Hub hub;
    pthread_t thread[WORKERS];
    pthread_barrier_init(&hub.barrier, NULL, (unsigned)ranks);
    for (int r = 0; r < ranks; r++) {
        rank[r] = (Rank){.c = c, .hub = &hub, .rank = r, .ranks = ranks};
        check(!pthread_create(&thread[r], NULL, run_rank, &rank[r]));
    }
    for (int r = 0; r < ranks; r++)
        check(!pthread_join(thread[r], NULL));
    pthread_barrier_destroy(&hub.barrier);
}

static void compare_case(const Case *c)
{
    alone = (Rank){.c = c};
    run_rank(&alone);
    check_ok(alone.status, &alone.err);
    for (int ranks = 2; ranks <= WORKERS; ranks += 2) {
        uint64_t sent = 0;
        double counted = 0;
        run_ranks(c, ranks);
        for (int r = 0; r < ranks; r++) {
            check_ok(rank[r].status, &rank[r].err);
            if (memcmp(rank[r].mean, alone.mean, sizeof alone.mean) || memcmp(rank[r].bytes, alone.bytes, sizeof alone.bytes))
                check_never(c->spec);
            sent += rank[r].sent;
        }
        for (size_t step = 0; step < STEPS; step++) {
            const int senders = step == 1 && !c->all ? WORKERS - 1 : WORKERS;
            /* the raw tensor of 5 floats is too short for segments, so whole payloads of it go to 3 ranks */
            counted += alone.bytes[step] * senders + 20 * senders * (3 - 2 * (senders - 1.0) / senders);
        }
        /* where payloads add, a worker that does not send counts as absent, and here its rank takes its segment */
        if (ranks == WORKERS && c->way == NET_RING && (alone.adds ? c->all : c->shots != SHOTS_NONE))
            check_near((double)sent, counted, alone.adds ? 100 : 1e-6);
    }
}

static const char *const specs[] = {"none", "qsgd:bits=4,bucket=64", "ef+topk:ratio=0.1", "minmax:bucket=128", "eden", "svd",
                                    "powersgd", "sign", "terngrad", "onebit", "ef+qsgd:bits=2"};

TEST(ranks_compute_the_mean_of_one_process)
{
    for (size_t i = 0; i < STEPS * WORKERS * LENGTH; i++)
        (&gradients[0][0][0])[i] = (float)rng_normal(&(Rng){{1, 2, 3, 4}}, USE_TEST, i);
    for (size_t i = 0; i < countof(specs); i++)
        for (Shots shots = SHOTS_TWO; shots <= SHOTS_HOPS; shots++)
            for (int feedback = 0; feedback < 2; feedback++)
                compare_case(&(Case){specs[i], shots, feedback, false, NULL, NET_RING});
    static const char *const nodes[][2] = {
        {"qsgd:bits=4,bucket=64", "fp16"}, {"ef+topk:ratio=0.1", "none"}, {"svd", "ef+qsgd:bits=6"}, {"none", "minmax"}};
    for (size_t i = 0; i < countof(nodes); i++)
        for (int feedback = 0; feedback < 2; feedback++)
            compare_case(&(Case){nodes[i][0], SHOTS_NODES, feedback, true, nodes[i][1], NET_RING});
    static const char *const sums[] = {"none", "sign", "powersgd"}, *const others[] = {"qsgd:bits=4,bucket=64", "ef+topk:ratio=0.1"};
    for (NetWay way = NET_ALL; way <= NET_ROOT; way++) {
        for (size_t i = 0; i < countof(sums); i++)
            compare_case(&(Case){sums[i], SHOTS_NONE, false, false, NULL, way});
        for (size_t i = 0; i < countof(others) && way != NET_TREE; i++)
            compare_case(&(Case){others[i], SHOTS_NONE, false, false, NULL, way});
    }
    compare_case(&(Case){"none", SHOTS_TWO, false, true, NULL, NET_RING});
    compare_case(&(Case){"sign", SHOTS_TWO, false, true, NULL, NET_RING});
}

/* ---- errors ---- */

/* Returns the squared error of the mean over all steps of gradients that do not change, relative to their mean. */
static double error_over_steps(const Case *c)
{
    double error = 0, whole = 0;
    alone = (Rank){.c = c};
    run_rank(&alone);
    check_ok(alone.status, &alone.err);
    for (size_t i = 0; i < 1900; i++) {
        double mean = 0, true_mean = 0;
        for (size_t step = 0; step < STEPS; step++)
            mean += (double)alone.mean[step][i] / STEPS;
        for (size_t w = 0; w < WORKERS; w++)
            true_mean += (double)gradients[0][w][i] / WORKERS;
        error += (mean - true_mean) * (mean - true_mean);
        whole += true_mean * true_mean;
    }
    return error / whole;
}

/* The owner's feedback takes the error of the second quantisation out of the sum over steps: what is left is that of the last
 * step. Without it a biased codec loses the same in each step. */
TEST(an_owner_with_feedback_errs_less_over_steps)
{
    for (size_t step = 1; step < STEPS; step++)
        memcpy(gradients[step], gradients[0], sizeof gradients[0]);
    for (Shots shots = SHOTS_TWO; shots <= SHOTS_HOPS; shots++)
        check(error_over_steps(&(Case){"ef+minmax:bits=2", shots, true, true, NULL, NET_RING}) <
              0.8 * error_over_steps(&(Case){"ef+minmax:bits=2", shots, false, true, NULL, NET_RING}));
}

/* Plain floats within nodes and between them give the mean; a codec's errors add to those of the other. */
TEST(nodes_compute_the_mean)
{
    const double both = error_over_steps(&(Case){"minmax:bits=4", SHOTS_NODES, false, true, "minmax:bits=4", NET_RING}),
                 near = error_over_steps(&(Case){"none", SHOTS_NODES, false, true, "minmax:bits=4", NET_RING}),
                 far = error_over_steps(&(Case){"minmax:bits=4", SHOTS_NODES, false, true, "none", NET_RING});
    check(error_over_steps(&(Case){"none", SHOTS_NODES, false, true, "none", NET_RING}) < 1e-13);
    check(near > 1e-4 && far > 1e-4 && both > near && both > far && both < 0.1);
}

/* ---- shards ---- */

TEST(shards_cover_the_vector_and_begin_at_buckets)
{
    Arena *a = arena_open(0);
    Error err;
    const Codec *codec;
    for (size_t i = 0; i < 2; i++)
        for (size_t n = 1; n < 3000; n += 97) {
            check_ok(codec_open(&codec, i ? "ef+qsgd:bucket=64" : "topk", a, &err), &err);
            for (size_t p = 1; p < 20; p++) {
                check(shots_cut(codec, n, p, 0) == 0 && shots_cut(codec, n, p, p) == n);
                for (size_t s = 0; s < p; s++) {
                    const size_t from = shots_cut(codec, n, p, s), end = shots_cut(codec, n, p, s + 1);
                    check(from <= end && (from == n || !i || from % 64 == 0));
                    check(end - from <= (i ? 64 : 1) * (((n + (i ? 63 : 0)) / (i ? 64 : 1) + p - 1) / p));
                }
            }
        }
    check_ok(codec_open(&codec, "svd", a, &err), &err);
    check(shots_cut(codec, 100, 4, 0) == 0 && shots_cut(codec, 100, 4, 1) == 100);
    check_ok(codec_open(&codec, "diana+qsgd", a, &err), &err);
    check(shots_check(SHOTS_TWO, codec, false, &err) == ERR_USAGE);
    arena_close(a);
}

CHECK_ALL(NULL, NULL)
