/* bench_cost.c -- cost FILE.h5 -c SPEC... --workers 2,4,8,16: iteration time under a network model. */
#include "bench.h"

#include "bench_cost.h"

#include "../lib/report_stored.h"
#include "../lib/stats.h"

#include <string.h>

/* Without -c; none and fp16 are always there. */
static const char *const usual_set[] = {"sign", "qsgd", "terngrad", "svd", "powersgd", "ef+topk"};
static const char *const yardsticks[] = {"none", "fp16"};

/* ---- what was asked for ---- */

/* The text's items with commas between them, each through `take`. */
static Status each_item(Cost *c, const char *text, Status (*take)(Cost *c, const char *item))
{
    char *rest = NULL, *copy = text_copy(c->job.a, text);
    if (!copy)
        return arena_fail(c->job.a, c->job.err);
    for (char *item = strtok_r(copy, ",", &rest); item; item = strtok_r(NULL, ",", &rest))
        TRY(take(c, item));
    return OK;
}

static const char *topology_name(const void *data, size_t i)
{
    (void)data;
    return i == TOPOLOGY_AUTO ? "auto" : i < TOPOLOGY_AUTO ? topology_names[i] : NULL;
}

static Status take_topology(Cost *c, const char *item)
{
    for (int t = 0; t <= TOPOLOGY_AUTO; t++)
        if (!strcmp(topology_name(NULL, (size_t)t), item)) {
            if (c->topologies == TOPOLOGIES_MOST)
                return FAIL(c->job.err, ERR_USAGE, "--topology: more than %d", TOPOLOGIES_MOST);
            c->topology[c->topologies++] = t;
            return OK;
        }
    const char *near = text_nearest(item, topology_name, NULL);
    return FAIL(c->job.err, ERR_USAGE, "--topology: \"%.40s\"%s%s%s: want auto, ps, allgather, ring or tree",
                item, near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
}

enum { LINKS_MOST = 64 };

static Status take_link(Cost *c, const char *item)
{
    if (c->links == LINKS_MOST)
        return FAIL(c->job.err, ERR_USAGE, "--link: more than %d", LINKS_MOST);
    return link_read(&c->link[c->links++], item, c->job.a, c->job.err);
}

/* A link of one's own has commas inside. */
static Status read_links(Cost *c)
{
    c->link = NEW(c->job.a, Link, LINKS_MOST);
    if (!c->link)
        return arena_fail(c->job.a, c->job.err);
    for (size_t i = 0; i < c->link_texts.count; i++) {
        const char *text = c->link_texts.item[i];
        TRY(strchr(text, '=') ? take_link(c, text) : each_item(c, text, take_link));
    }
    return c->links ? OK : FAIL(c->job.err, ERR_USAGE, "--link: there is none");
}

/* The median step of a training run; the same for all of its compressors. */
static Status read_compute(Cost *c)
{
    Job *j = &c->job;
    Stored stored;
    size_t steps = 0;
    if (!c->compute_from) {
        if (c->compute_ms == 0)
            progress_note(&j->progress,
                          "note: no --compute-ms or --compute-from: times are those of the exchange");
        return OK;
    }
    if (c->compute_ms > 0)
        return FAIL(j->err, ERR_USAGE, "--compute-ms and --compute-from: want one of them");
    TRY(stored_load(&stored, c->compute_from, j->a, j->err));
    const Csv *run = &stored.table;
    double *ms = NEW(j->a, double, run->rows);
    if (!ms)
        return arena_fail(j->a, j->err);
    for (size_t i = 0; i < run->rows; i++) {
        const double v = csv_real(run, i, "compute_ms");
        if (!strcmp(csv_cell(run, i, "record"), "step") && v >= 0)
            ms[steps++] = v;
    }
    if (steps == 0) {
        FAIL(j->err, ERR_CORRUPT, "%s: it has no step with a compute_ms", c->compute_from);
        return error_hint(j->err, "--compute-from reads what atomo-train run writes with -o FILE.csv");
    }
    c->compute_ms = stats_median(ms, steps);
    return OK;
}

static Status read_arguments(Cost *c)
{
    TRY(counts_read(&c->workers, "--workers", c->workers_text, COST_WORKERS_MOST, c->job.err));
    TRY(each_item(c, c->topology_text, take_topology));
    if (!c->topologies)
        return FAIL(c->job.err, ERR_USAGE, "--topology: there is none");
    TRY(read_links(c));
    return cost_check_sort(c);
}

/* none, fp16, and what was asked for. */
static Status read_codecs(Cost *c, const Codec ***codec, size_t *count)
{
    const Job *j = &c->job;
    const TextList usual = {(const char **)(uintptr_t)usual_set, countof(usual_set)},
                   asked = j->specs.count ? j->specs : usual;
    const size_t first = countof(yardsticks);
    TextList all = {NEW(j->a, const char *, first + asked.count), first + asked.count};
    if (!all.item)
        return arena_fail(j->a, j->err);
    memcpy(all.item, yardsticks, sizeof yardsticks);
    memcpy(all.item + first, asked.item, asked.count * sizeof *asked.item);
    return codec_list(codec, count, &all, j->a, j->err);
}

/* ---- running ---- */

static Status measure(Cost *c, const Codec *const *codec, size_t count)
{
    TRY(job_codecs(&c->job, codec, count, 0));
    return cost_measure(c);
}

static Status run(Job *j)
{
    Cost *c = (Cost *)j;
    const Codec **codec;
    size_t count;
    TRY(read_arguments(c));
    TRY(read_codecs(c, &codec, &count));
    TRY(job_open(j));
    TRY(read_compute(c));
    return job_finish(j, measure(c, codec, count), "atomo-cost/1");
}

int bench_cost(int argc, char **argv)
{
    static const char *usual_link[] = {"lan10g"};
    char names[200], link[300];
    snprintf(link, sizeof link,
             "alpha=50us,beta=10Gbit, or presets with commas between them, default %s; repeatable: %s",
             *usual_link, text_names(names, sizeof names, link_name, NULL));
    Cost c = {.job = {.keeps_no_journal = true, .sums_up = true, .write = cost_write, .repeats = 5},
              .workers_text = "2,4,8,16",
              .topology_text = "auto",
              .link_texts = {usual_link, 1}};
    const Option options[] = {
        OPTION(0, "workers", "LIST", &c.workers_text,
               "numbers of workers; 2,4,...,64 goes on by the same factor"),
        OPTION(0, "link", "LINK", &c.link_texts, link),
        OPTION(0, "topology", "LIST", &c.topology_text, "who sends to whom: auto, ps, allgather, ring, tree"),
        OPTION(0, "compute-ms", "X", &c.compute_ms, "what a worker computes in a step", .low = 0,
               .high = 1e9),
        OPTION(0, "compute-from", "RUN", &c.compute_from,
               "the same from atomo-train's CSV or JSON: the median step"),
        OPTION(0, "overlap", NULL, &c.overlap, "send each layer while the next ones are computed"),
        OPTION(0, "sort", "FIELD", &c.sort, "sort the rows by a field; FIELD:desc turns the order round"),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "cost",
        .usage = "FILE.h5 [-c SPEC]...",
        .brief = "iteration time under a network model: compute, encode, communicate, decode",
        .details = "Encode, decode and bytes are measured; the network is a latency alpha and a bandwidth "
                   "beta. With payload S, "
                   "parameters D and P workers a step's exchange takes\n"
                   "  ps         2 alpha + P (S + D) / beta             a server hears all, and sends the "
                   "parameters\n"
                   "  allgather  (P - 1) (alpha + S / beta)             everyone hears everyone\n"
                   "  ring       2 (P - 1) alpha + 2 (P - 1)/P S / beta  payloads that add; S is the "
                   "aggregate's size\n"
                   "  tree       2 ceil(log2 P) (alpha + S / beta)      payloads that add; the same\n"
                   "auto is a ring for codecs whose payloads add (list CODEC: mergeable), allgather for "
                   "others. Rounds beyond the "
                   "first take the latencies again. none and fp16 are always in the table. docs/cost.md has "
                   "the model in full.\n"
                   "Fields (--sort takes them):\n"
                   "  compute_ms           as given, for any number of workers\n"
                   "  encode_ms            a worker's\n"
                   "  comm_ms              the exchange\n"
                   "  decode_ms            one receiver's: P payloads, or the aggregate and the merging\n"
                   "  total_ms             their sum; with --overlap less\n"
                   "  break_even_gbps      GB/s (10^9 bytes) at which it costs what plain floats cost, on a "
                   "ring or by ps or tree\n"
                   "  pays                 below or above that bandwidth, always, or never\n"
                   "  speedup              the plain floats' total_ms over its own\n"
                   "  bytes_up             of a worker's payloads; bytes_merged of the aggregate\n"
                   "  rounds               exchanges that a step takes\n"
                   "  alpha_ms, beta_gbps  of the link\n"
                   "  error                why there are no figures\n"
                   "Without -c: sign, qsgd, terngrad, svd, powersgd, ef+topk. plot iteration-time, runtime "
                   "and break-even draw it.\n",
        .options = options,
    };
    return job_main(&c.job, &command, argc, argv, run);
}
