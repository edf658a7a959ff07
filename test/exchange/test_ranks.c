/* test_ranks.c -- training on several ranks (net.h). The weights, checkpoints and records must be those of one
 * process with all workers, bit for bit. The bytes that a step's record counts must be the bytes that the rank
 * passed to MPI.
 *
 * The tests start this program again under mpirun. There it trains on the ranks, and rank 0 compares. A layer
 * between this program and MPI (MPI's profiling interface) counts the bytes of each call. */
#include "rig/check.h"
#include "exchange/net.h"
#include "train/checkpoint.h"
#include "train/training_run.c"
#include "rig/tiny_data.h"
#include "compress/spec.h"

#include <libgen.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#if defined ATOMO_MPI && !defined __SANITIZE_ADDRESS__
#include "rig/scratch_dir.h"

#include <mpi.h>

/* ---- counting the bytes of each call of MPI ---- */

static uint64_t sent, received;
static size_t gathers; /* calls of MPI_Allgatherv */

/* A slow link: each gathering to all ranks takes `delay` seconds or longer; the last one is done at `due`. */
static double delay, due;

static void pause_for(double seconds)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * seconds)}, NULL);
}

static void count_parts(const int *counts, int root)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int r = 0; r < ranks && (root < 0 || rank == root); r++)
        received += r == rank ? 0 : (uint64_t)counts[r];
    if (root < 0)
        sent += (uint64_t)counts[rank];
}

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    sent += (uint64_t)count;
    return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *r)
{
    sent += (uint64_t)count;
    return PMPI_Isend(data, count, type, to, tag, comm, r);
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    received += (uint64_t)count;
    return PMPI_Recv(data, count, type, from, tag, comm, status);
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *r)
{
    received += (uint64_t)count;
    return PMPI_Irecv(data, count, type, from, tag, comm, r);
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    *(rank == root ? &sent : &received) += (uint64_t)count;
    return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Allgatherv(const void *in, int count, MPI_Datatype type, void *out, const int counts[],
                   const int offsets[], MPI_Datatype out_type, MPI_Comm comm)
{
    count_parts(counts, -1);
    gathers++;
    pause_for(delay);
    return PMPI_Allgatherv(in, count, type, out, counts, offsets, out_type, comm);
}

int MPI_Gatherv(const void *in, int count, MPI_Datatype type, void *out, const int counts[],
                const int offsets[], MPI_Datatype out_type, int root, MPI_Comm comm)
{
    if (in == MPI_IN_PLACE)
        count_parts(counts, root);
    else
        sent += (uint64_t)count;
    return PMPI_Gatherv(in, count, type, out, counts, offsets, out_type, root, comm);
}

int MPI_Ibcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *r)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    *(rank == root ? &sent : &received) += (uint64_t)count;
    return PMPI_Ibcast(data, count, type, root, comm, r);
}

int MPI_Iallgatherv(const void *in, int count, MPI_Datatype type, void *out, const int counts[],
                    const int offsets[], MPI_Datatype out_type, MPI_Comm comm, MPI_Request *r)
{
    count_parts(counts, -1);
    due = MPI_Wtime() + delay;
    return PMPI_Iallgatherv(in, count, type, out, counts, offsets, out_type, comm, r);
}

int MPI_Testall(int count, MPI_Request *r, int *done, MPI_Status *status)
{
    *done = 0;
    return delay > 0 && MPI_Wtime() < due ? MPI_SUCCESS : PMPI_Testall(count, r, done, status);
}

int MPI_Igatherv(const void *in, int count, MPI_Datatype type, void *out, const int counts[],
                 const int offsets[], MPI_Datatype out_type, int root, MPI_Comm comm, MPI_Request *r)
{
    if (in == MPI_IN_PLACE)
        count_parts(counts, root);
    else
        sent += (uint64_t)count;
    return PMPI_Igatherv(in, count, type, out, counts, offsets, out_type, root, comm, r);
}

/* ---- the program under mpirun ---- */

static Arena *arena;
static Error err;
static Net *net;
static Dataset train_data, test_data;
static char folder[200]; /* for checkpoints of rank 0 */

typedef struct {
    const char *spec;
    bool adds;
} Case;

/* Codecs of one and several rounds, with residuals, learned states, states that decoders read, and budgets. Four ranks
 * train with all of them, two with every second one, eight with the first ones, because they take long on few cores.
 * With each topology, the first ones train on four ranks with all numbers of workers, the others with one, in turn.
 * WHOLE_CASE is the codec that trains on eight ranks with all of them, so that rings and trees have ranks without workers. */
enum { WHOLE_CASE = 1, FIRST = 4 };
static const Case cases[] = {
    {"qsgd", false},
    {"powersgd", true},
    {"ef+topk:ratio=0.05", false},
    {"sign", true},
    {"none", true},
    {"svd", false},
    {"intsgd", true},
    {"ef+sign", true},
    {"diana+qsgd", false},
    {"joint", false},
    {"cas", false},
    {"ef21+topk:ratio=0.1", false},
    {"ef+powersgd:rank=1", true},
    {"thc", true},
    {"fp16", true},
    {"minmax:rounding=correlated", false},
    {"randk:ratio=0.3", true},
    {"lowrank", true},
    {"countsketch:bits=8", true},
    {"ef+intsgd:bits=12", true},
    {"ef+topk:ratio=0.05,share=leader", true},
    {"topk:ratio=0.3,share=sketch", true},
    {"zstd+none", false},
};

/* The checkpoint after step 2 lies between two exchanges, or after one. */
static const struct {
    Case codec;
    LocalSteps local;
} local_cases[] = {
    {{"none", true}, {.steps = 1, .lr = 0.7, .momentum = 0.9}},
    {{"ef+topk:ratio=0.05", false}, {.steps = 3, .lr = 1}},
    /* after step 2, the checkpoint, a mean is under way */
    {{"ef+minmax", false}, {.steps = 6, .fragments = 2, .late = 1, .mix = 0.5, .lr = 0.4, .momentum = 0.9}},
};

/* With `all`, all workers send. */
static TrainSetup setup_of(const char *spec, Topology topology, size_t workers, bool all)
{
    TrainSetup s = {.network = "cnn",
                    .train = &train_data,
                    .test = &test_data,
                    .workers = workers,
                    .aggregate = all ? workers : (workers + 1) / 2,
                    .batch = 12,
                    .test_batch = 100,
                    .grouping = all ? GROUP_TENSOR : GROUP_ALL,
                    .min_elements = 20,
                    .optimizer = {.kind = all ? OPTIMIZER_SGD : OPTIMIZER_ADAMW,
                                  .lr = 0.01,
                                  .momentum = 0.9,
                                  .beta2 = 0.99},
                    .seed = 3,
                    .threads = 1,
                    .topology = topology};
    check_ok(codec_open(&s.codec, spec, arena, &err), &err);
    return s;
}

/* Rank 0 must have the weights of `alone`, which has simulated all workers, and so must all other ranks. */
static void compare_weights(const Trainer *t, const Trainer *alone)
{
    const size_t size = trainer_parameters(t) * sizeof(float);
    float *first = NEW(arena, float, trainer_parameters(t));
    if (alone)
        memcpy(first, alone->weights, size);
    PMPI_Bcast(first, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD);
    check(!memcmp(first, t->weights, size));
}

static void compare_files(Trainer *alone, Trainer *t)
{
    size_t size[2];
    const char *path = step_file(folder, t->step, arena);
    check_ok(checkpoint_save(alone, folder, &err), &err);
    uint8_t *first = file_load(path, &size[0]);
    check_ok(checkpoint_save(t, folder, &err), &err);
    uint8_t *second = file_load(path, &size[1]);
    check(size[0] == size[1] && !memcmp(first, second, size[0]));
    free(first);
    free(second);
}

/* Compares the record of a step with the simulated one, and its bytes with those of the layer above. */
static void compare_records(const StepRecord *r, const StepRecord *alone, uint64_t sent_before,
                            uint64_t received_before)
{
    double own[2] = {(double)(sent - sent_before), (double)(received - received_before)};
    double all[2], most[2], least[2];
    PMPI_Allreduce(own, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    PMPI_Allreduce(own, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    PMPI_Allreduce(own, least, 2, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    check_rel(r->rank[RANK_SENT].mean * net->ranks, all[0], 1e-12);
    check_rel(r->rank[RANK_RECEIVED].mean * net->ranks, all[1], 1e-12);
    check(r->rank[RANK_SENT].least == least[0] && r->rank[RANK_SENT].most == most[0]);
    check(r->rank[RANK_RECEIVED].least == least[1] && r->rank[RANK_RECEIVED].most == most[1]);
    for (size_t i = 0; i < RANK_MEASURES; i++)
        check(r->rank[i].least <= r->rank[i].mean * (1 + 1e-12) &&
              r->rank[i].mean <= r->rank[i].most * (1 + 1e-12));
    if (net->rank == 0)
        check(r->train.loss == alone->train.loss && r->train.accuracy == alone->train.accuracy &&
              r->bytes_up == alone->bytes_up && r->bytes_down == alone->bytes_down);
}

/* Trains `steps` steps, on the ranks and on rank 0 alone. */
static void train_both(Trainer *t, Trainer *alone, size_t steps)
{
    for (size_t i = 0; i < steps; i++) {
        const uint64_t sent_before = sent, received_before = received;
        StepRecord r, q = {0};
        check_ok(trainer_step(t, &r, &err), &err);
        if (alone)
            check_ok(trainer_step(alone, &q, &err), &err);
        compare_records(&r, &q, sent_before, received_before);
    }
    compare_weights(t, alone);
}

static Trainer *open_ranks(const TrainSetup *s)
{
    Trainer *t;
    TrainSetup ranks = *s;
    ranks.net = net;
    check_ok(trainer_open(&t, &ranks, &err), &err);
    return t;
}

static void open_both(const TrainSetup *s, Trainer **t, Trainer **alone)
{
    TrainSetup one = *s;
    one.arrival = false;
    *t = open_ranks(s);
    if (net->rank)
        return;
    check_ok(trainer_open(alone, &one, &err), &err);
    /* the workers that have arrived first on the ranks */
    (*alone)->arrived = s->arrival ? (*t)->sends : NULL;
}

/* Saves a checkpoint, loads it on the ranks into new trainers, and trains on; the single process trains without a break. */
static void resume(const TrainSetup *s, Trainer *t, Trainer *alone)
{
    check_ok(trainer_collect(t, true, &err), &err);
    if (alone) {
        compare_files(alone, t);
        for (size_t w = 0; w < s->workers; w++)
            check(!memcmp(t->gradient[w], alone->gradient[w], t->floats * sizeof(float)));
    }
    Trainer *later = open_ranks(s);
    if (alone) {
        check_ok(checkpoint_load(later, step_file(folder, 2, arena), &err), &err);
        alone->arrived = s->arrival ? later->sends : NULL;
    }
    check_ok(trainer_spread(later, &err), &err);
    train_both(later, alone, 2);
    trainer_close(later);
}

static void run_case(const TrainSetup *s, bool resumes)
{
    const ArenaMark mark = arena_mark(arena);
    Trainer *t, *alone = NULL;
    open_both(s, &t, &alone);
    train_both(t, alone, 2);
    if (resumes)
        resume(s, t, alone);
    trainer_close(t);
    trainer_close(alone);
    arena_rewind(arena, mark);
}

/* No bucket; some tensors in a bucket; one bucket. */
static const size_t bucket_bytes[] = {0, 3000, 1 << 30};
static size_t runs;

/* True where gradients are gathered, the codec keeps a state, and half of the workers do not send. */
static bool has_idle_state(const TrainSetup *s)
{
    return s->topology == TOPOLOGY_ALLGATHER && s->aggregate < s->workers && codec_keeps_state(s->codec);
}

/* With each topology there are three runs; a codec that is not `whole` makes the one whose turn it is. */
static void train_case(const Case *c, LocalSteps local, bool whole, size_t turn)
{
    const size_t ranks = (size_t)net->ranks;
    for (Topology topology = TOPOLOGY_PS; topology <= TOPOLOGY_HIER; topology++) {
        /* as many workers as ranks, and all of them send; then more or fewer, and half of them send; then one of
         * both with overlap */
        const size_t workers[] = {ranks, ranks == 8 ? 5 : ranks + 3, runs % 2 ? ranks : 5};
        for (size_t k = 0; k < 3 && (c->adds || !topology_needs_sums(topology)); k++) {
            if (topology == TOPOLOGY_HIER ? k > 0 : !whole && (turn + topology + k) % 3)
                continue;
            TrainSetup s = setup_of(c->spec, topology, workers[k], k != 1);
            s.local = local;
            s.overlap = k == 2 || (topology == TOPOLOGY_HIER && turn % 2);
            s.node = 2;
            check_ok(codec_open(&s.within, "ef+qsgd:bits=6", arena, &err), &err);
            s.owner_feedback = !c->adds && topology_shots(topology) && k;
            Error refused;
            if (topology_shots(topology) && train_check(&s, &refused) != OK)
                continue; /* of several rounds, or decoded with states */
            s.aggregate = k == 2 && runs % 4 < 2 ? (workers[k] + 1) / 2 : s.aggregate;
            s.bucket_bytes = bucket_bytes[runs++ % countof(bucket_bytes)];
            run_case(&s, local.steps || (topology + k) % 3 == 0 || has_idle_state(&s));
        }
    }
}

static void train_cases(void)
{
    for (size_t i = 0; i < (net->ranks < 8 ? countof(cases) : FIRST); i += net->ranks == 2 ? 2 : 1)
        train_case(&cases[i], (LocalSteps){0}, net->ranks == 4 ? i < FIRST : net->ranks == 8 && i == WHOLE_CASE,
                   i);
    for (size_t i = 0; i < countof(local_cases); i++)
        train_case(&local_cases[i].codec, local_cases[i].local, net->ranks == 4, i);
}

/* On a ring with one worker on each of P ranks, each rank sends (P - 1) / P of a payload and of the merged payload.
 * All other messages of a step are shorter than 100 bytes for each rank. */
static void ring_sends_segments(void)
{
    static const char *const specs[] = {"none", "bf16", "sign", "intsgd"};
    for (size_t i = 0; i < countof(specs); i++) {
        TrainSetup s = setup_of(specs[i], TOPOLOGY_RING, (size_t)net->ranks, true);
        Trainer *t;
        StepRecord r;
        s.net = net;
        s.grouping = GROUP_ALL;
        check_ok(trainer_open(&t, &s, &err), &err);
        check_ok(trainer_step(t, &r, &err), &err);
        check(r.rank[RANK_SENT].mean >= r.bytes_up && r.rank[RANK_SENT].mean < r.bytes_up + 100 * net->ranks);
        trainer_close(t);
    }
}

/* Buckets change the number of messages, and nothing else: the sizes of each bucket's payloads are one message, with 8 bytes
 * that say whether the rank has failed, and its payloads another one. */
static void buckets_share_messages(void)
{
    static const size_t buckets[countof(bucket_bytes)] = {6, 3, 1};
    size_t calls[countof(bucket_bytes)];
    double bytes[countof(bucket_bytes)];
    for (size_t i = 0; i < countof(bucket_bytes); i++) {
        TrainSetup s = setup_of("qsgd", TOPOLOGY_ALLGATHER, (size_t)net->ranks, true);
        Trainer *t;
        StepRecord r;
        s.net = net;
        s.bucket_bytes = bucket_bytes[i];
        check_ok(trainer_open(&t, &s, &err), &err);
        const size_t before = gathers;
        check_ok(trainer_step(t, &r, &err), &err);
        calls[i] = gathers - before;
        bytes[i] = r.rank[RANK_SENT].mean;
        trainer_close(t);
        check(calls[0] - calls[i] == 2 * (buckets[0] - buckets[i]) &&
              bytes[0] - bytes[i] == (double)(8 * (buckets[0] - buckets[i])));
    }
}

/* A rank that fails: all ranks get its error. */
static void fail_together(bool overlap)
{
    TrainSetup s = setup_of("none", TOPOLOGY_ALLGATHER, (size_t)net->ranks, true);
    Trainer *t;
    StepRecord r;
    s.net = net;
    s.overlap = overlap;
    check_ok(trainer_open(&t, &s, &err), &err);
    if (net->rank == 1)
        t->weights[0] = (float)NAN;
    check(trainer_step(t, &r, &err) == ERR_NUMERIC);
    check(strstr(err.text, "step 1: worker 1"));
    check(net->failed);
    net_continue(net);
    trainer_close(t);
}

/* A layer that takes long. */
static bool slow_layer(void)
{
    pause_for(0.03);
    return false;
}

/* Returns the time that the rank which waits least has waited in one step on a slow link. */
static double wait_on_slow_link(bool overlap)
{
    TrainSetup s = setup_of("qsgd", TOPOLOGY_ALLGATHER, (size_t)net->ranks, true);
    Trainer *t;
    StepRecord r;
    s.net = net;
    s.overlap = overlap;
    s.stopped = slow_layer;
    check_ok(trainer_open(&t, &s, &err), &err);
    delay = 0.02;
    check_ok(trainer_step(t, &r, &err), &err);
    delay = 0;
    trainer_close(t);
    return r.rank[RANK_WAIT].least;
}

/* Only in `make torture`, as it measures times. Each of the six tensors takes two messages. With overlap, those of the last two follow the backward pass, so about
 * three fifths of the time are hidden. On a busy machine the ranks may wait longer, so some tries may fail. */
static void overlap_hides_messages(void)
{
    bool hides = false;
    for (int i = 0; i < 6 && !hides; i++) {
        const double off = wait_on_slow_link(false), on = wait_on_slow_link(true);
        check(off > 0.2);
        hides = on < 0.6 * off;
    }
    check(hides);
}

/* `stopped` is called before and after each layer of the forward and the backward pass, and between a layer's pieces. From
 * call number `calls` on it stops the pass, or at this call it `spoils` a weight. -1: neither. */
static int calls = -1;
static float *spoils;

static bool stop_at_call(void)
{
    if (calls) {
        calls -= calls > 0;
        return false;
    }
    if (!spoils)
        return true;
    *spoils = (float)NAN;
    calls = -1;
    return false;
}

static bool same_on_all_ranks(const void *data, size_t size);

/* ---- the first workers to arrive ---- */

/* One process that takes the same workers as the ranks, and drops what the others have computed, has the same weights,
 * losses, codec states and checkpoints. */
static void train_on_arrival(void)
{
    static const char *const specs[] = {"none", "ef+topk:ratio=0.05", "powersgd", "diana+qsgd", "cas"};
    const size_t ranks = (size_t)net->ranks;
    for (size_t i = 0; i < countof(specs); i++) {
        const size_t workers[] = {ranks - 1, ranks + 2};
        for (size_t k = 0; k < 2; k++) {
            TrainSetup s = setup_of(specs[i], TOPOLOGY_PS, workers[k], k == 0);
            s.arrival = true;
            s.aggregate = (workers[k] + 1) / 2;
            run_case(&s, true);
        }
    }
}

static int naps;
static bool slow;

static bool nap(void)
{
    naps++;
    if (slow)
        usleep(100000);
    return false;
}

/* Only in `make torture`, as it measures times. The last rank takes 0.1 s for each layer. The step does not wait for the end of its passes. */
static void late_workers_leave(void)
{
    const size_t workers = (size_t)net->ranks - 1;
    if (workers < 2)
        return;
    TrainSetup s = setup_of("none", TOPOLOGY_PS, workers, true);
    Trainer *t;
    StepRecord r;
    bool late = false;
    s.net = net;
    s.stopped = nap;
    s.arrival = true;
    s.aggregate = workers;
    check_ok(trainer_open(&t, &s, &err), &err);
    check_ok(trainer_step(t, &r, &err), &err);
    const int all = naps;
    t->s.aggregate = workers - 1;
    slow = net->rank == net->ranks - 1;
    naps = 0;
    for (int i = 0; i < 3; i++) {
        size_t senders = 0;
        check_ok(trainer_step(t, &r, &err), &err);
        for (size_t w = 0; w < workers; w++)
            senders += t->sends[w];
        check(senders == workers - 1 && same_on_all_ranks(t->sends, workers));
        late = late || !t->sends[workers - 1];
    }
    check(late && (!slow || naps < 3 * all));
    slow = false;
    check(same_on_all_ranks(t->weights, trainer_parameters(t) * sizeof(float)));
    trainer_close(t);
}

static bool same_on_all_ranks(const void *data, size_t size)
{
    char *all = NEW(arena, char, size *(size_t)net->ranks);
    bool same = true;
    PMPI_Allgather(data, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < net->ranks; r++)
        same = same && !memcmp(all + (size_t)r * size, data, size);
    return same;
}

/* Rank 1 fails at each layer in turn, while its payloads are on their way. All ranks fail with the same error, and then
 * make the step as if nothing had been. */
static void fail_in_flight(const char *spec, Topology topology, bool spoil)
{
    enum { CONV2 = 80 }; /* conv2.weight's first element */
    TrainSetup s = setup_of(spec, topology, (size_t)net->ranks, true);
    Trainer *t, *alone = NULL;
    StepRecord r;
    int failed = 0;
    s.overlap = true;
    s.stopped = stop_at_call;
    s.bucket_bytes = 100;
    open_both(&s, &t, &alone);
    train_both(t, alone, 1);
    const float weight = t->weights[CONV2];
    for (Status status = ERR_STOPPED; status != OK;) {
        spoils = spoil ? &t->weights[CONV2] : NULL;
        calls = net->rank == 1 ? failed : -1;
        status = trainer_step(t, &r, &err);
        calls = -1;
        check(status == OK || status == (spoil ? ERR_NUMERIC : ERR_STOPPED));
        check(same_on_all_ranks(&status, sizeof status));
        check(status == OK || same_on_all_ranks(err.text, sizeof err.text));
        check(net->failed == (status != OK));
        net_continue(net);
        failed += status != OK;
        if (status != OK)
            t->weights[CONV2] = weight;
    }
    check(failed > 6);
    if (!spoil) {
        if (alone)
            check_ok(trainer_step(alone, &r, &err), &err);
        train_both(t, alone, 2);
    }
    trainer_close(t);
    trainer_close(alone);
}

static void fail_in_all_flights(void)
{
    static const char *const specs[] = {"ef+topk:ratio=0.05", "powersgd", "joint"};
    for (size_t i = 0; i < countof(specs); i++)
        for (Topology topology = TOPOLOGY_PS; topology <= TOPOLOGY_TREE; topology++)
            if (i == 1 || !topology_adds(topology)) {
                fail_in_flight(specs[i], topology, false);
                fail_in_flight(specs[i], topology, true);
            }
}

static int run_rank(const char *dir)
{
    arena = arena_open(0);
    check_ok(net_open(&net, arena, &err), &err);
    snprintf(folder, sizeof folder, "%s", dir);
    train_data = tiny_data(SPLIT_TRAIN, 360, arena);
    test_data = tiny_data(SPLIT_TEST, 100, arena);
    train_on_arrival();
    if (getenv("TORTURE"))
        late_workers_leave();
    train_cases();
    ring_sends_segments();
    buckets_share_messages();
    fail_together(false);
    fail_together(true);
    if (net->ranks < 8)
        fail_in_all_flights();
    if (net->ranks == 2 && getenv("TORTURE"))
        overlap_hides_messages();
    return net_close(net, 0);
}

/* ---- the tests ---- */

static void train_on(int ranks)
{
    char command[1200], self[300] = {0}, place[300];
    check(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    snprintf(
        command, sizeof command,
        "mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 -x LD_PRELOAD=%s/../../rest.so "
        "--timeout 600 -n %d %s %s 2>&1",
        dirname(strcpy(place, self)), ranks, self, scratch_dir);
    check(system(command) == 0);
}

TEST(two_ranks_train_as_two_workers)
{
    train_on(2);
}

TEST(four_ranks_train_as_four_workers)
{
    train_on(4);
}

TEST(eight_ranks_train_as_eight_workers)
{
    train_on(8);
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return run_rank(argv[1]);
    if (system("mpirun --version >/dev/null 2>&1") != 0) {
        puts("skip: exchange/test_ranks: needs mpirun (make deps-mpi)");
        return 0;
    }
    return check_run(scratch_open, scratch_close);
}

#else

int main(void)
{
    puts("skip: exchange/test_ranks: needs MPI (make deps-mpi), and a build without sanitizers");
    return 0;
}

#endif
