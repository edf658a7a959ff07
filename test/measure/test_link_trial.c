/* test_link_trial.c -- the exchanges that measure a link carry the bytes and messages of the network model. The ranks
 * are made up: this process is rank 0 of three, and counts what it sends and receives. */
#include "rig/check.h"
#include "cmd/bench_link.c"

#include <signal.h>

enum { RANKS = 3 };

static Error err;

/* Bytes that rank 0 sent, in its last call of each function: of a move, to the last rank and from it; of a scatter; of a
 * gather, received. The flags and times that ranks agree by are shorter than SMALLEST, and not counted. */
enum { SMALLEST = 100 };
static struct {
    size_t to_last, from_last, scattered, gathered[NET_ROOT + 1];
} last;

static void gather(Net *n, NetWay way, uint8_t *data, const size_t *size)
{
    size_t all = 0;
    for (int r = 0; r < n->ranks; r++)
        all += size[r];
    if (all >= SMALLEST)
        last.gathered[way] = all - size[0];
    else
        for (int r = 1; r < n->ranks; r++) /* every rank has the flag, or the time, of rank 0 */
            memcpy(data + (size_t)r * size[0], data, size[0]);
}

static void scatter(Net *n, const uint8_t *out, const size_t *out_size, uint8_t *in, const size_t *in_size)
{
    (void)out;
    (void)in;
    last.scattered = 0;
    for (int r = 1; r < n->ranks; r++) {
        last.scattered += out_size[r];
        check(in_size[r] == out_size[0]);
    }
}

static void move(Net *n, int from, int to, uint8_t *data, size_t size)
{
    (void)data;
    check(from + to == n->ranks - 1 && from * to == 0);
    *(from == 0 ? &last.to_last : &last.from_last) = size;
}

static void broadcast(Net *n, int root, uint8_t *data, size_t size)
{
    (void)n;
    (void)data;
    check(root == 0 && size == sizeof(Error));
}

static size_t room[RANKS];
static bool flag[RANKS];
static Net ranks = {.ranks = RANKS,
                    .neighbours = RANKS,
                    .gather = gather,
                    .scatter = scatter,
                    .broadcast = broadcast,
                    .move = move,
                    .room = room,
                    .flag = flag};
static const size_t sizes[] = {3000, 30000};

static LinkJob job(Arena *a)
{
    return (LinkJob){.net = &ranks, .sizes = {countof(sizes), {sizes[0], sizes[1]}}, .repeats = 5, .a = a, .err = &err};
}

/* Compares the bytes of the last exchange with the model. An all-gather brings P - 1 payloads; each half of a ring carries
 * (P - 1) / P of a payload. */
static void check_bytes(LinkTrialKind kind, size_t size)
{
    if (kind == TRIAL_PING_PONG)
        check(last.to_last == size && last.from_last == size);
    if (kind == TRIAL_ALLGATHER)
        check(last.gathered[NET_ALL] == 2 * size && !last.gathered[NET_RING]);
    if (kind == TRIAL_RING)
        check(last.scattered == size * 2 / 3 && last.gathered[NET_RING] == size * 2 / 3);
    memset(&last, 0, sizeof last);
}

TEST(exchanges_carry_the_bytes_of_the_model)
{
    static const double messages[TRIALS] = {1, 2, 4}, bytes[TRIALS] = {1, 2, 4. / 3};
    Arena *a = arena_open(0);
    LinkJob j = job(a);
    check_ok(open_bench(&j), &err);
    for (size_t s = 0; s < countof(sizes); s++)
        for (int k = 0; k < TRIALS; k++) {
            const LinkTime time = take_time(&j, (LinkTrialKind)k, sizes[s]);
            check_bytes((LinkTrialKind)k, sizes[s]);
            check((int)time.kind == k && time.size == sizes[s] && time.point.messages == messages[k]);
            check_rel(time.point.bytes, bytes[k] * (double)sizes[s], 1e-12);
            check(time.point.seconds > 0 && time.samples >= 3 && time.samples <= 5);
        }
    arena_close(a);
}

TEST(all_exchanges_are_fitted_until_a_stop)
{
    Arena *a = arena_open(0);
    LinkJob j = job(a);
    const Status status = link_trial(&j);
    /* there may be no bandwidth, since the made-up ranks take no time */
    check((status == OK || status == ERR_NUMERIC) && j.times == countof(sizes) * TRIALS);
    ranks.failed = false;
    j = job(a);
    cli_catch_stop();
    raise(SIGINT);
    check(link_trial(&j) == ERR_STOPPED && j.times == 1);
    check(ranks.failed); /* so no rank is ended by another's exit code */
    arena_close(a);
}

CHECK_ALL(NULL, NULL)
