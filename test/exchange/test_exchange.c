/* test_exchange.c -- one step of many workers. The estimate is the same for payloads of this process and of
 * another, and for payloads merged in batches and all at once. Workers may drop out. Also tests the store of
 * codec states (CodecStates). */
#include "rig/check.h"

#include "compress/spec.h"
#include "rig/share_training.h"
#include "exchange/exchange.h"
#include "exchange/gradient_buckets.h"
#include "exchange/states.h"

#include <math.h>
#include <string.h>

enum { N = 900, MOST = 21 };

/* Specs for all kinds of steps: payloads that are added, votes, several rounds, decoding that needs a state, a
 * trained state. */
static const char *const specs[] = {
    "none",    "qsgd",        "topk:ratio=0.1",      "sign",      "randk", "intsgd", "thc", "powersgd", "cas",
    "ef+topk", "ef+powersgd", "ef21+topk:ratio=0.1", "diana+qsgd",
    "ef+topk:ratio=0.1,share=leader", "topk:ratio=0.1,share=sketch"};

typedef struct {
    Arena *a, *scratch, *payloads;
    Error err;
    Shape shape;
    CodecStates states;
    Exchange x;
    ExchangeWorker worker[MOST];
    float g[MOST][N], y[N];
    Bytes sent[MOST][ROUNDS_MAX];
} Group;

static void group_open(Group *s, const char *spec, size_t batch)
{
    const Codec *codec;
    *s = (Group){.a = arena_open(0), .scratch = arena_open(0), .payloads = arena_open(0)};
    check(shape_make(&s->shape, 2, (const size_t[]){N / 30, 30}));
    check_ok(codec_open(&codec, spec, s->a, &s->err), &s->err);
    s->x = (Exchange){
        .call = {.self = codec, .shape = &s->shape, .threads = 1, .scratch = s->scratch, .err = &s->err},
        .seed = 4,
        .tensor = rng_hash("w"),
        .batch = batch,
        .keep = true,
        .y = s->y,
        .payloads = s->payloads};
    for (size_t w = 0; w < MOST; w++) {
        s->worker[w].index = w;
        check_ok(codec_states_find(&s->states, &s->x.call, (int64_t)w, "w", &s->worker[w].state), &s->err);
    }
}

static void group_close(Group *s)
{
    codec_states_forget(&s->states);
    arena_close(s->a);
    arena_close(s->scratch);
    arena_close(s->payloads);
}

static void new_gradients(Group *s, int64_t step)
{
    for (size_t w = 0; w < MOST; w++) {
        const Rng rng = rng_open(8, 0, (int64_t)w, step, 0);
        rng_normals(&rng, USE_TEST, 0, N, 1, s->g[w]);
    }
}

/* Runs one step of workers 0 .. workers - 1; those whose bit in `drops` is set drop out. If `from` is not NULL,
 * the step takes the payloads that `from` sent, as if they came from another process. */
static void run_step(Group *s, int64_t step, size_t workers, uint32_t drops, const Group *from)
{
    Exchange *x = &s->x;
    size_t first = 0;
    new_gradients(s, step);
    arena_rewind(s->payloads, (ArenaMark){0});
    x->step = step;
    x->call.workers = 0;
    for (size_t w = workers; w-- > 0;)
        if (!(drops >> w & 1)) {
            x->call.workers++;
            first = w;
        }
    check_ok(exchange_train(x, &s->worker[first], s->g[first]), &s->err);
    for (size_t w = 0; w < workers; w++)
        if (w != first)
            share_training(x, &s->worker[first], &s->worker[w]);
    check_ok(exchange_begin(x), &s->err);
    for (int r = 0; r < x->rounds; r++) {
        for (size_t w = 0; w < workers; w++) {
            if (drops >> w & 1)
                continue;
            if (from)
                s->sent[w][r] = from->sent[w][r];
            else
                check_ok(exchange_send(x, &s->worker[w], s->g[w], &s->sent[w][r]), &s->err);
            check_ok(exchange_take(x, &s->worker[w], s->sent[w][r]), &s->err);
        }
        check_ok(exchange_end_round(x), &s->err);
    }
    check_ok(exchange_receive(x), &s->err);
    for (size_t w = 0; w < workers; w++)
        check_ok(drops >> w & 1 ? exchange_settle_dropped(x, &s->worker[w], s->g[w])
                                : exchange_settle(x, &s->worker[w], s->g[w], s->sent[w]),
                 &s->err);
}

static void check_same_states(const Group *a, const Group *b)
{
    check(a->states.count == b->states.count);
    for (size_t i = 0; i < a->states.count; i++)
        check(!memcmp(a->states.item[i].state, b->states.item[i].state, a->states.item[i].size));
}

TEST(payloads_of_another_process_give_the_same_estimate_and_states)
{
    static Group here, there;
    for (size_t k = 0; k < countof(specs); k++) {
        group_open(&here, specs[k], 0);
        group_open(&there, specs[k], 0);
        for (int64_t step = 0; step < 3; step++) {
            run_step(&here, step, 5, 0, NULL);
            run_step(&there, step, 5, 0, &here);
            check(!memcmp(here.y, there.y, sizeof here.y));
            check_same_states(&here, &there);
        }
        group_close(&here);
        group_close(&there);
    }
}

/* Merging in batches gives the same estimate up to rounding: each batch rounds its sum to floats. */
TEST(batches_give_the_estimate_of_all_payloads_at_once)
{
    static Group all, some;
    for (size_t k = 0; k < countof(specs); k++)
        for (size_t workers = 1; workers <= MOST; workers += 4) {
            group_open(&all, specs[k], 0);
            group_open(&some, specs[k], 3);
            run_step(&all, 0, workers, 0, NULL);
            run_step(&some, 0, workers, 0, NULL);
            for (size_t i = 0; i < N; i++)
                check_near((double)all.y[i], (double)some.y[i], 1e-4);
            check(some.x.held <= 4);
            group_close(&all);
            group_close(&some);
        }
}

/* Payloads of `none` merge by addition, so the estimate is the mean. A number of workers that is a power of two
 * has a loop of its own. */
TEST(the_estimate_of_merged_payloads_is_the_mean)
{
    static Group s;
    for (size_t workers = 1; workers <= MOST; workers++) {
        group_open(&s, "none", 0);
        run_step(&s, 0, workers, 0, NULL);
        check(s.x.adds);
        for (size_t i = 0; i < N; i++) {
            double sum = 0;
            for (size_t w = 0; w < workers; w++)
                sum += (double)s.g[w][i];
            check_near((double)s.y[i], sum / (double)workers, 1e-6);
        }
        group_close(&s);
    }
}

/* Only workers that sent a payload count in the mean. With error feedback, a worker that dropped out keeps its
 * whole gradient in its residual. */
TEST(workers_that_drop_out_count_neither_in_the_mean_nor_as_sent)
{
    static Group s;
    group_open(&s, "ef+none", 0);
    run_step(&s, 0, 4, 1u << 0 | 1u << 2, NULL);
    for (size_t i = 0; i < N; i++) {
        check_near((double)s.y[i], ((double)s.g[1][i] + (double)s.g[3][i]) / 2, 1e-6);
        check(((const float *)s.worker[0].state)[i] == s.g[0][i]);
        check(((const float *)s.worker[1].state)[i] == 0);
    }
    group_close(&s);
    for (size_t k = 0; k < countof(specs); k++) {
        group_open(&s, specs[k], 0);
        for (int64_t step = 0; step < 4; step++)
            run_step(&s, step, 6, 1u << (step + 1), NULL);
        for (size_t i = 0; i < N; i++)
            check(isfinite(s.y[i]));
        group_close(&s);
    }
}

static Status count_phase(void *data, ExchangePhase phase, size_t worker, Status (*work)(void *), void *arg)
{
    (void)worker;
    ((int *)data)[phase]++;
    if (phase == EXCHANGE_ENCODE || phase == EXCHANGE_MERGE || phase == EXCHANGE_ESTIMATE ||
        phase == EXCHANGE_DECODE)
        TRY(work(arg)); /* work runs a second time, as in a loop that measures times */
    return work(arg);
}

TEST(a_clock_that_repeats_phases_changes_nothing)
{
    static Group plain, timed;
    for (size_t k = 0; k < countof(specs); k++) {
        int phases[EXCHANGE_SCALE + 1] = {0};
        group_open(&plain, specs[k], 3);
        group_open(&timed, specs[k], 3);
        timed.x.clock = (ExchangeClock){count_phase, phases};
        run_step(&plain, 0, 7, 0, NULL);
        run_step(&timed, 0, 7, 0, NULL);
        check(!memcmp(plain.y, timed.y, sizeof plain.y));
        check(phases[EXCHANGE_ENCODE] == 7 * timed.x.rounds);
        check(phases[EXCHANGE_DECODE] == timed.x.adds && phases[EXCHANGE_ESTIMATE] == (timed.x.adds ? 0 : 7));
        group_close(&plain);
        group_close(&timed);
    }
}

/* Returns the mean, by the definition: over all workers that sent, or over those whose estimate is not 0. */
static float plain_mean(float (*estimate)[N], size_t workers, size_t i, bool senders)
{
    double sum = 0, count = 0;
    for (size_t w = 0; w < workers; w++) {
        sum += (double)estimate[w][i];
        count += !senders || estimate[w][i] != 0;
    }
    return count > 0 ? (float)(sum / count) : 0;
}

/* Specs of payloads that hold elements; in the last three all elements, as floats. */
TEST(a_mean_over_senders_divides_by_how_many_sent_the_element)
{
    static const char *const leaving[] = {"topk:ratio=0.1",
                                          "ef+topk:ratio=0.3",
                                          "threshold:tau=1.5",
                                          "gaussiank",
                                          "sidco",
                                          "dgc",
                                          "ef+stc",
                                          "ef+adaq",
                                          "strom:tau=1",
                                          "zstd+topk",
                                          "chunktopk:k=50",
                                          "ef+chunktopk:k=90,values=2bit",
                                          "chunktopk:k=100000",
                                          "topk:ratio=1",
                                          "chunktopk:k=100000,transform=dct"};
    enum { WORKERS = 5, DROPS = 4 };
    static float estimate[WORKERS][N];
    static Group s;
    for (size_t k = 0; k < countof(leaving); k++) {
        size_t differ = 0;
        group_open(&s, leaving[k], 0);
        s.x.senders = true;
        check(codec_traits(s.x.call.self) & LEAVES_OUT);
        for (int64_t step = 0; step < 2; step++) {
            size_t senders = 0;
            run_step(&s, step, WORKERS, DROPS, NULL);
            for (size_t w = 0; w < WORKERS; w++)
                if (!(DROPS >> w & 1)) {
                    const Call c = exchange_call(&s.x, &s.worker[w]);
                    check_ok(codec_decode(&c, s.sent[w][0], estimate[senders++]), &s.err);
                }
            for (size_t i = 0; i < N; i++) {
                const float want = plain_mean(estimate, senders, i, true);
                check(strstr(leaving[k], "dct") ? fabsf(s.y[i] - want) < 1e-5f : s.y[i] == want);
                differ += want != plain_mean(estimate, senders, i, false);
            }
        }
        check((differ > 0) == (k + 3 < countof(leaving)));
        group_close(&s);
    }
}

/* A tensor of min_elements or more is for the codec, a smaller one goes as floats; every element is in one parcel, at its place and
 * times the gain. */
TEST(parcels_hold_every_element_once)
{
    enum { TENSORS = 5 };
    static const size_t sizes[TENSORS] = {9, 10, 11, 1, 200};
    GradientTensor tensor[TENSORS];
    Parcel item[TENSORS + 1];
    float gradient[231], parcel[231], back[231];
    size_t offset = 0;
    for (size_t i = 0; i < TENSORS; i++) {
        tensor[i] = (GradientTensor){"t", shape_vector(sizes[i]), offset};
        offset += sizes[i];
    }
    for (size_t i = 0; i < offset; i++)
        gradient[i] = (float)(i + 1);
    for (int all = 0; all < 2; all++) {
        ParcelList l = {.tensor = tensor, .tensors = TENSORS, .min_elements = 10, .item = item};
        size_t raw = 0;
        memset(back, 0, sizeof back);
        parcels_make(&l, all ? GROUP_ALL : GROUP_TENSOR);
        for (const Parcel *p = item; p < item + l.count; p++) {
            check(p->raw == (p->shape.n < 10));
            raw += p->raw ? p->shape.n : 0;
            parcel_load(&l, p, gradient, 0.5, parcel);
            parcel_store(&l, p, parcel, back);
        }
        check(raw == 9 + 1);
        for (size_t i = 0; i < offset; i++)
            check(back[i] == gradient[i] / 2);
    }
}

TEST(each_worker_leads_as_often_whatever_lies_between_exchanges)
{
    for (size_t every = 1; every <= 64; every++)
        for (size_t senders = 1; senders <= MOST; senders++) {
            size_t leads[MOST] = {0};
            for (size_t i = 1; i <= 1000 * senders; i++)
                leads[exchange_leader((int64_t)(i * every), senders)]++;
            for (size_t w = 0; w < senders; w++)
                check(leads[w] >= 900 && leads[w] <= 1100);
        }
}

TEST(states_are_found_again_by_worker_and_tensor)
{
    enum { TENSORS = 40, WORKERS = 9 };
    static void *kept[WORKERS][TENSORS];
    static Group s;
    char name[16];
    group_open(&s, "ef+none", 0);
    codec_states_forget(&s.states);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t w = 0; w < WORKERS; w++)
            for (int t = 0; t < TENSORS; t++) {
                void *found;
                snprintf(name, sizeof name, "t%d", t);
                check_ok(codec_states_find(&s.states, &s.x.call, w, name, &found), &s.err);
                check(pass ? found == kept[w][t] : *(const float *)found == 0);
                kept[w][t] = found;
                *(float *)found = (float)(w * TENSORS + t);
            }
    check(s.states.count == WORKERS * TENSORS);
    codec_states_zero(&s.states);
    check(*(const float *)kept[3][5] == 0);
    group_close(&s);
}

CHECK_ALL(NULL, NULL)
