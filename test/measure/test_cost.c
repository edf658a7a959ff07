/* test_cost.c -- the network cost model: links, the time of an exchange and of a training iteration, and
 * break-even bandwidths, against numbers computed by hand. */
#include "measure/cost.c"
#include "rig/check.h"

static Arena *a;
static Error err;

static int open_arena(void **state)
{
    a = arena_open(0);
    return 0;
}

static int close_arena(void **state)
{
    arena_close(a);
    return 0;
}

/* ---- links ---- */

TEST(links_of_ones_own_are_read)
{
    static const struct {
        const char *text;
        double alpha, beta;
    } good[] = {{"alpha=50us,beta=10Gbit", 50e-6, 1.25e9}, {"beta=1.5MB,alpha=2ms", 2e-3, 1.5e6},
                {"alpha=0s,beta=8kbit", 0, 1000},          {"alpha=7ns,beta=1e3B", 7e-9, 1e3},
                {"alpha=1s,beta=2Tbit", 1, 2.5e11},        {"alpha=1us,beta=16bit", 1e-6, 2},
                {"alpha=1s,beta=10Gbps", 1, 1.25e9},       {"alpha=1s,beta=10Gb/s", 1, 1.25e9},
                {"alpha=1s,beta=8Mbit/s", 1, 1e6},         {"alpha=1s,beta=2GBps", 1, 2e9}};
    static const struct {
        const char *text, *why;
    } bad[] = {{"alpha=50us,beta=10gbps", "kbps, Mbps, Gbps"},
               {"alpha=50ps,beta=10Gbps", "in s, ms, us or ns"},
               {"alpha=50,beta=10Gbit", "in s, ms, us or ns"},
               {"alpha=50us,beta=10", "kbit, Mbit, Gbit"},
               {"alpha=50us,beta=0bit", "1 to 1e15"},
               {"alpha=-1us,beta=1MB", "0 to 1000 s"},
               {"alpha=2000s,beta=1MB", "0 to 1000 s"},
               {"alpha=nans,beta=1MB", "0 to 1000 s"},
               {"alpha=us,beta=1MB", "0 to 1000 s"},
               {"alpha=50us", "beta is missing"},
               {"beta=1MB", "alpha is missing"},
               {"alpha=1us,alpha=2us,beta=1MB", "twice"},
               {"alpha=1us,gamma=2,beta=1MB", "gamma=2"},
               {"=", "want alpha=TIME"},
               {"alpha", "no such preset"},
               {"lan10", "no such preset"},
               {"", "no such preset"},
               {"link.csv", "no such preset"}};
    Link l, again;
    for (size_t i = 0; i < countof(good); i++) {
        check_ok(link_read(&l, good[i].text, a, &err), &err);
        check_near(l.latency, good[i].alpha, 1e-18);
        check_rel(l.bandwidth, good[i].beta, 1e-12);
        check(!strchr(l.name, ',') && strlen(l.name) == strlen(good[i].text));
        check_ok(link_read(&again, l.name, a, &err), &err);
        check(again.latency == l.latency && again.bandwidth == l.bandwidth);
    }
    for (size_t i = 0; i < countof(bad); i++) {
        check(link_read(&l, bad[i].text, a, &err) == ERR_USAGE);
        check(strstr(err.text, bad[i].why));
    }
    link_read(&l, "lan10", a, &err);
    check(strstr(err.hint, "lan1") && strstr(err.hint, "alpha="));
}

/* ---- traffic ---- */

/* Returns the seconds that an exchange takes over a link of 1 ms and 1 MB/s. Payloads have 100 kB and
 * parameters 200 kB; the merged payloads of all rounds but the last have `early` bytes. */
static double seconds(Topology topology, double workers, double rounds, double early)
{
    const Link l = {"x", 1e-3, 1e6};
    const Traffic t = {topology, workers, rounds, 1e5, early, 2e5, 1};
    return link_seconds(&l, &t);
}

TEST(exchanges_take_what_their_messages_take)
{
    check_rel(seconds(TOPOLOGY_PS, 4, 1, 0), 1.202, 1e-12);
    check_rel(seconds(TOPOLOGY_ALLGATHER, 4, 1, 0), 0.303, 1e-12);
    check_rel(seconds(TOPOLOGY_RING, 4, 1, 0), 0.156, 1e-12);
    check_rel(seconds(TOPOLOGY_TREE, 4, 1, 0), 0.404, 1e-12);
    check_rel(seconds(TOPOLOGY_TREE, 5, 1, 0), 0.606, 1e-12);
    check_rel(seconds(TOPOLOGY_TREE, 8, 1, 0), 0.606, 1e-12);
}

TEST(one_worker_has_nobody_to_send_to_but_a_server)
{
    check_rel(seconds(TOPOLOGY_PS, 1, 1, 0), 0.302, 1e-12);
    check(seconds(TOPOLOGY_ALLGATHER, 1, 1, 0) == 0);
    check(seconds(TOPOLOGY_RING, 1, 1, 0) == 0);
    check(seconds(TOPOLOGY_TREE, 1, 1, 0) == 0);
}

TEST(each_round_waits_again_and_a_server_answers_it)
{
    check_rel(seconds(TOPOLOGY_PS, 4, 2, 4e4), 1.204 + 0.16, 1e-12);
    check_rel(seconds(TOPOLOGY_ALLGATHER, 4, 2, 4e4), 0.306, 1e-12);
    check_rel(seconds(TOPOLOGY_RING, 4, 2, 4e4), 0.162, 1e-12);
    check_rel(seconds(TOPOLOGY_TREE, 4, 3, 4e4), 0.412, 1e-12);
}

/* ---- iterations ---- */

static const CostLayer two_layers[] = {
    {.n = 100, .encode = 0.1, .decode = 0.05, .merge = 0.1, .bytes = 100, .merged = 160, .early = 10},
    {.n = 300, .encode = 0.2, .decode = 0.1, .merge = 0.1, .bytes = 200, .merged = 240, .early = 30},
};

static Iteration two_workers(Topology topology, bool adds, bool overlap)
{
    return (Iteration){.layer = two_layers,
                       .layers = 2,
                       .rounds = 1,
                       .workers = 2,
                       .adds = adds,
                       .topology = topology,
                       .compute = 3,
                       .latency = 0.5,
                       .overlap = overlap};
}

static void check_times(const Iteration *it, double bandwidth, double encode, double comm, double decode,
                        double total)
{
    const IterationTime t = iteration_time(it, bandwidth);
    check_rel(t.compute, it->compute, 1e-12);
    check_rel(t.encode, encode, 1e-12);
    check_near(t.comm, comm, 1e-12);
    check_rel(t.decode, decode, 1e-12);
    check_rel(t.total, total, 1e-12);
}

TEST(parts_follow_one_another)
{
    Iteration it = two_workers(TOPOLOGY_ALLGATHER, false, false);
    /* all-gather: each worker sends one message of 300 bytes. Each worker decodes two payloads in 0.15 s each,
     * and adds the two estimates in 0.2 s. */
    check_times(&it, 100, 0.3, 3.5, 0.5, 7.3);
    it = two_workers(TOPOLOGY_PS, false, false);
    /* parameter server: for each worker, 300 bytes of payloads go to the server, and 1600 bytes of parameters
     * and 40 bytes of earlier rounds come back */
    check_times(&it, 100, 0.3, 1 + 2 * 19.4, 0.5, 43.6);
    it = two_workers(TOPOLOGY_RING, true, false);
    /* the merged payload has 400 bytes; each worker merges half of the payload and decodes it once */
    check_times(&it, 100, 0.3, 1 + 4, 0.25, 8.55);
    it = two_workers(TOPOLOGY_TREE, true, false);
    check_times(&it, 100, 0.3, 1 + 8, 0.35, 12.65);
    it.topology = TOPOLOGY_PS;
    it.workers = 1;
    check_times(&it, 100, 0.3, 1 + 19.4, 0.35, 24.05);
}

TEST(a_ring_adds_a_share_and_a_tree_level_by_level)
{
    /* a layer takes 1 s to decode, and 15 s to merge the payloads of all 16 workers */
    const CostLayer l = {.decode = 1, .merge = 15};
    Iteration it = {.layer = &l, .layers = 1, .rounds = 1, .workers = 16, .adds = true};
    const double want[] = {16, 16, 1 + 15. / 16, 5};
    for (int t = 0; t < 4; t++) {
        it.topology = (Topology)t;
        check_rel(layer_decode(&it, &l), want[t], 1e-12);
    }
    it.workers = 11; /* a tree of 4 levels, 10 additions in all */
    check_rel(layer_decode(&it, &l), 1 + 15 * 4 / 10., 1e-12);
    it.workers = 16;
    it.adds = false;
    it.topology = TOPOLOGY_ALLGATHER;
    check_rel(layer_decode(&it, &l), 31, 1e-12);
}

/* With overlap, in seconds from the start of the iteration: the forward pass ends at 1.
 *
 * Last layer: the backward pass takes 1.5, so the gradient is ready at 2.5. It is encoded at 2.7, sent from 2.7
 * to 5.2, and decoded from 5.2 to 5.5.
 *
 * First layer: the gradient is ready at 3.2 and encoded at 3.3. It is sent from 5.2 to 6.7 and decoded from 6.7
 * to 6.9. */
TEST(with_overlap_layers_travel_while_others_are_computed)
{
    Iteration it = two_workers(TOPOLOGY_ALLGATHER, false, true);
    check_times(&it, 100, 0.3, 4, 0.5, 6.9);
    it.latency = 0;
    /* with infinite bandwidth, sending takes no time */
    check_times(&it, INFINITY, 0.3, 0, 0.5, 3.8);
    it.latency = 0.5;
    it.plan = 0.4; /* the two layers are planned at 3.4, encoded at 3.6 and 3.7, and sent at 6.1 and 7.6 */
    check_times(&it, 100, 0.7, 4, 0.5, 7.8);
}

TEST(an_iteration_never_takes_less_than_its_processor)
{
    for (int t = 0; t < 4; t++)
        for (double b = 1; b < 1e6; b *= 10) {
            const Iteration it = two_workers((Topology)t, topology_adds((Topology)t), true);
            const IterationTime time = iteration_time(&it, b);
            check(time.total >= time.compute + time.encode + time.decode - 1e-12);
            check(time.total <= time.compute + time.encode + time.comm + time.decode + 1e-12);
        }
}

TEST(sizes_of_more_workers_go_on_by_doublings)
{
    const CostLayer half = {.n = 8,
                            .merge = 7,
                            .bytes = 9,
                            .merged = 13,
                            .early = 1.5,
                            .bytes_se = 4,
                            .merged_se = 2},
                    full = {.n = 8,
                            .encode = 3,
                            .decode = 4,
                            .merge = 15,
                            .bytes = 10,
                            .merged = 14,
                            .early = 2,
                            .merge_se = 0.5,
                            .bytes_se = 2,
                            .merged_se = 1};
    const CostLayer l = cost_more_workers(&half, &full, 16, 64),
                    odd = cost_more_workers(&half, &full, 16, 33);
    check(l.n == 8 && l.encode == 3 && l.decode == 4 && l.bytes == 12 && l.early == 3);
    check(l.merged == 16 && l.merge == 63);
    check(odd.merged == 16 && odd.merge == 32);
    /* 3 full - 2 half, of independent errors; the time to merge grows by 63 / 15 */
    check(l.merge_se == 0.5 * 63 / 15 && l.bytes_se == hypot(3 * 2, 2 * 4) && l.merged_se == hypot(3 * 1, 2 * 2));
}

/* ---- standard errors ---- */

/* Without overlap, a time is the sum of the times of its layers and parts (computing, encoding, sending,
 * decoding). So its squared standard error is the sum of their squared standard errors. */
TEST(errors_of_independent_parts_add_in_squares)
{
    static const CostLayer layer[] = {
        {.n = 100,
         .encode = 0.1,
         .decode = 0.05,
         .bytes = 100,
         .encode_se = 3e-3,
         .decode_se = 1e-3,
         .bytes_se = 0.3},
        {.n = 300,
         .encode = 0.2,
         .decode = 0.1,
         .bytes = 200,
         .encode_se = 4e-3,
         .decode_se = 2e-3,
         .bytes_se = 0.4},
    };
    CostLayer scratch[4];
    Iteration it = two_workers(TOPOLOGY_ALLGATHER, false, false),
              plain = two_workers(TOPOLOGY_RING, true, false);
    it.layer = layer;
    const CostFigures f = cost_figures(&it, &plain, 100),
                      se = cost_errors(&it, &plain, false, 0.01, 100, scratch);
    check_rel(f.time.total, iteration_time(&it, 100).total, 1e-15);
    check_rel(f.speedup, iteration_time(&plain, 100).total / f.time.total, 1e-15);
    check_rel(se.time.compute, 0.01, 1e-9);
    check_rel(se.time.encode, 5e-3, 1e-9);
    check_rel(se.time.comm, 0.5 / 100, 1e-9);
    check_rel(se.time.decode, 2 * sqrt(5) * 1e-3, 1e-9); /* each worker decodes two payloads */
    const double parts = 25e-6 + 25e-6 + 20e-6, total = sqrt(1e-4 + parts);
    check_rel(se.time.total, total, 1e-9);
    /* The compressed and the uncompressed iteration have the same computing time. An error e of it changes the
     * speed-up s by (1 - s) e / total. */
    const double moved = (1 - f.speedup) * 0.01, rest = f.speedup * sqrt(parts);
    check_rel(se.speedup, hypot(moved, rest) / f.time.total, 0.01); /* a first-order formula */
}

TEST(one_codec_beside_itself_gains_nothing_and_the_unknown_stays_unknown)
{
    CostLayer layer[] = {two_layers[0], two_layers[1]}, scratch[4];
    Iteration it = two_workers(TOPOLOGY_RING, true, false);
    layer[1].encode_se = 0.01;
    it.layer = layer;
    check(cost_errors(&it, &it, true, 0, 100, scratch).speedup == 0);
    check_rel(cost_errors(&it, &it, true, 0, 100, scratch).time.total, 0.01, 1e-9);
    layer[0].encode_se = NAN;
    check(isnan(cost_errors(&it, &it, true, 0, 100, scratch).time.total));
    check(cost_errors(&it, &it, true, 0, 100, scratch).time.decode == 0);
    check_rel(layer[1].encode, two_layers[1].encode, 0); /* measurements stay as they were */
}

/* ---- break-even ---- */

/* Two layers of 1000 floats: plain_layer is sent uncompressed; small_layer takes `coding` seconds to encode and
 * is compressed to `share` of its size. */
static CostLayer plain_layer, small_layer;

static void set_pair(double share, double coding)
{
    plain_layer = (CostLayer){.n = 1000, .bytes = 4000, .merged = 4000};
    small_layer = (CostLayer){.n = 1000, .bytes = 4000 * share, .merged = 4000 * share, .encode = coding};
}

static Iteration of(const CostLayer *layer, Topology topology, double workers, double latency, bool overlap)
{
    return (Iteration){.layer = layer,
                       .layers = 1,
                       .rounds = 1,
                       .workers = workers,
                       .adds = topology != TOPOLOGY_ALLGATHER,
                       .topology = topology,
                       .compute = 0.5,
                       .latency = latency,
                       .overlap = overlap};
}

TEST(break_even_is_where_both_cost_the_same)
{
    static const Topology plain[] = {TOPOLOGY_PS, TOPOLOGY_RING, TOPOLOGY_RING, TOPOLOGY_TREE};
    set_pair(1. / 100, 2e-3);
    for (int t = 0; t < 4; t++)
        for (int overlap = 0; overlap < 2; overlap++) {
            const Iteration it = of(&small_layer, (Topology)t, 8, 1e-5, overlap),
                            other = of(&plain_layer, plain[t], 8, 1e-5, overlap);
            double b;
            check(iteration_pays(&it, &other, &b) == PAYS_BELOW);
            check(isfinite(b) && b > 0);
            check_rel(iteration_time(&it, b).total, iteration_time(&other, b).total, 1e-9);
            check(iteration_time(&it, b / 2).total < iteration_time(&other, b / 2).total);
            check(iteration_time(&it, b * 2).total > iteration_time(&other, b * 2).total);
        }
    /* Encoding costs 2 ms. In a ring of 8 workers, compression saves 2 (7/8) (4000 - 40) bytes, which take 2 ms
     * to send at 3.465 MB/s. */
    const Iteration it = of(&small_layer, TOPOLOGY_RING, 8, 0, false),
                    other = of(&plain_layer, TOPOLOGY_RING, 8, 0, false);
    double b;
    check(iteration_pays(&it, &other, &b) == PAYS_BELOW);
    check_rel(b, 3.465e6, 1e-9);
}

static Pays pays(Topology topology, double workers, double latency, double *b)
{
    const Iteration it = of(&small_layer, topology, workers, latency, false),
                    plain = of(&plain_layer, TOPOLOGY_RING, workers, latency, false);
    return iteration_pays(&it, &plain, b);
}

TEST(what_has_no_break_even_says_which_way)
{
    double b = 1;
    set_pair(0.5, 0);
    check(pays(TOPOLOGY_RING, 4, 1e-5, &b) == PAYS_ALWAYS && isnan(b));
    /* a single worker sends nothing, so compression never pays */
    check(pays(TOPOLOGY_RING, 1, 1e-5, &b) == PAYS_NEVER);
    set_pair(2, 1e-3);
    check(pays(TOPOLOGY_RING, 4, 1e-5, &b) == PAYS_NEVER && isnan(b));
    set_pair(1, 0);
    check(pays(TOPOLOGY_RING, 4, 1e-5, &b) == PAYS_NEVER);
    /* An all-gather of payloads of 3000 bytes is compared with a ring of uncompressed gradients. With 8 workers
     * the all-gather takes 7 latencies fewer, and carries 7 x 3000 - 7000 bytes more. It pays above the
     * bandwidth at which these bytes take 7 latencies of 1 ms each. */
    set_pair(0.75, 0);
    check(pays(TOPOLOGY_ALLGATHER, 8, 1e-3, &b) == PAYS_ABOVE);
    check_rel(b, (7 * 3000 - 7000) / 7e-3, 1e-9);
}

/* With P workers and a gradient of D bytes, an all-gather of payloads of rho D bytes carries (P - 1) rho D
 * bytes. A ring of uncompressed gradients carries 2 (P - 1)/P D bytes. So the all-gather is faster if P < 2 /
 * rho. */
TEST(an_allgather_loses_to_a_ring_once_its_ratio_is_over_two_in_p)
{
    static const double ratios[] = {1. / 2, 1. / 4, 1. / 32, 1. / 100};
    double b;
    for (size_t i = 0; i < countof(ratios); i++) {
        const double most = 2 / ratios[i];
        set_pair(ratios[i], 0);
        check(pays(TOPOLOGY_ALLGATHER, most - 1, 0, &b) == PAYS_ALWAYS);
        check(pays(TOPOLOGY_ALLGATHER, most + 1, 0, &b) == PAYS_NEVER);
    }
}

CHECK_ALL(open_arena, close_arena)
