/* bench_advise.c -- advise FILE --link LINK --workers P: answers which codec makes a training iteration fastest.
 *
 * All candidates are screened: measured with one worker and few repeats, which gives a lower bound on the time of an iteration.
 * The fastest of those that meet the limits are then measured as `cost` does. bench_advise_rank.c ranks them. */
#include "bench_advise_rank.h"
#include "bench_commands.h"

#include "bench_cost_job.h"
#include "compress/rate.h"
#include "compress/spec.h"

#include <math.h>
#include <string.h>

typedef struct {
    CostJob cost; /* must be first: hooks cast CompareJob to AdviseJob */
    bool all;
    AdviseLimits limits;

    Candidate *list; /* (candidates) */
    size_t candidates;
    const Candidate *baseline; /* bf16 in `list` */
    const char *verdict;
} AdviseJob;

/* ==== options and candidates ==== */

/* Candidates without -c: of each way to compress, the codecs that are most often fastest on the links of docs/cost.md.
 * Biased codecs stand under error feedback, without which training need not converge; bf16 loses too little to need it. */
static const char *const shortlist[] = {"qsgd",        "terngrad", "natural",       "eden", "intsgd",
                                        "ef+thc",      "randk",    "entry",         "svd",  "ef+topk",
                                        "ef+topk:share=leader", "ef+powersgd", "ef+stc",   "ef+minmax", "ef+scaledsign"};
static const char *const baselines[] = {"none", "bf16", "bf16:code=rans"};

enum {
    CANDIDATES_MOST = 1024,
    MEASURED_MOST = 5, /* candidates that are measured together, besides the baselines */
    SCREEN_REPEATS = 2,
    RUNNERS_UP = 3,  /* rows of the table besides the three fastest codecs and those of bf16: ten lines with the verdict */
};

static Status read_options(AdviseJob *j)
{
    CostJob *c = &j->cost;
    Error *err = c->job.err;
    TRY(cost_read(c));
    const char *lists = c->workers.count > 1 ? "--workers"
                        : c->links > 1       ? "--link"
                        : c->topologies > 1  ? "--topology"
                                             : NULL;
    if (lists) {
        FAIL(err, ERR_USAGE, "%s: want one", lists);
        return error_hint(err, "atomo-bench cost takes lists");
    }
    if (j->all && c->job.specs.count)
        return FAIL(err, ERR_USAGE, "--all and -c: want one of them");
    if (!cli_given(&c->job.common, "link"))
        progress_note(&c->job.progress, "note: no --link: the network is %s, with %zu workers", c->link[0].name, (size_t)c->workers.number[0]);
    return OK;
}

static Status add_spec(CodecSet *set, const char *spec, CompareJob *j)
{
    const TextList one = {(const char **)&spec, 1};
    const Codec **codec;
    size_t count, left_out;
    TRY(codec_alternatives(&codec, &count, &one, j->a, j->err));
    for (size_t i = 0; i < count; i++)
        TRY(rate_spread(set, codec[i], NULL, &left_out, j->a, j->err));
    return OK;
}

static bool keeps_residual(const Codec *codec)
{
    for (; codec; codec = codec->inner)
        if (codec->ops->residual)
            return true;
    return false;
}

/* Adds every codec that is no wrapper. A biased codec that keeps no residual is added as ef+CODEC. */
static Status add_all(CodecSet *set, CompareJob *j)
{
    const Compressor *c;
    for (size_t i = 0; (c = compressor_number(i)); i++) {
        const Codec *codec;
        if (c->wraps)
            continue;
        TRY(codec_open(&codec, c->name, j->a, j->err));
        const bool needs = !(codec_traits(codec) & UNBIASED) && !keeps_residual(codec);
        const char *spec = text_format(j->a, "%s%s", needs ? "ef+" : "", c->name);
        TRY(arena_check(spec, j->a, j->err));
        TRY(add_spec(set, spec, j));
    }
    return OK;
}

/* With --sample: leaves out the codecs whose results rows do not tell, and says how many; refuses those of -c. */
static Status keep_told(CompareJob *j, CodecSet *set)
{
    const size_t all = set->count;
    set->count = 0;
    for (size_t k = 0; k < all; k++)
        if (!j->hints.sample || sample_check(set->codec[k], j->a, j->err) == OK)
            set->codec[set->count++] = set->codec[k];
        else if (j->specs.count)
            return j->err->status;
    if (set->count < all)
        progress_note(&j->progress, "note: --sample: %zu candidates whose results rows do not tell are left out, such as codecs of whole matrices",
                      all - set->count);
    return OK;
}

static Status choose_codecs(AdviseJob *advise, CodecSet *set)
{
    CompareJob *j = &advise->cost.job;
    const TextList usual = {(const char **)(uintptr_t)shortlist, countof(shortlist)},
                   asked = j->specs.count ? j->specs : usual;
    *set = (CodecSet){NEW(j->a, const Codec *, CANDIDATES_MOST), 0, CANDIDATES_MOST};
    TRY(arena_check(set->codec, j->a, j->err));
    for (size_t i = 0; i < countof(baselines); i++)
        TRY(add_spec(set, baselines[i], j));
    if (advise->all)
        TRY(add_all(set, j));
    for (size_t i = 0; i < asked.count && !advise->all; i++)
        TRY(add_spec(set, asked.item[i], j));
    TRY(codec_unique(set->codec, &set->count, j->a, j->err));
    return keep_told(j, set);
}

/* ==== measuring ==== */

/* Relative error of the mean of P estimates of one gradient, which all workers share. Averaging divides the variance
 * by P, unless all workers draw the same numbers. If they share some numbers, the error is measured; a codec that is
 * only screened has a lower bound. */
static double error_of_mean(const CostJob *c, size_t k, double workers)
{
    const unsigned traits = codec_traits(c->job.codec[k]);
    const CostErrors *alone = &c->alone[k].errors, *together = cost_mean_errors(c, k, c->workers.number[0]);
    const double kept = traits & SHARED_DRAWS ? 1 : 1 / workers;
    const double error = alone->relative - alone->variance * (1 - kept);
    return traits & PART_SHARED && together ? together->relative : error < 0 ? 0 : error;
}

/* Returns the error of the mean in a topology (exchange/shots.h). Where the mean is quantised again, the codec's own error e is
 * added. On a ring the sum of the first j workers, j times the gradient, has the error e j^2 for j = 1 ... P - 1. */
static double error_in(const CostJob *c, size_t k, Topology topology)
{
    const double workers = (double)c->workers.number[0], once = error_of_mean(c, k, workers),
                 own = c->alone[k].errors.relative;
    return !shots_used(topology_shots(topology), c->job.codec[k]) ? once
           : topology == TOPOLOGY_TWOSHOT                         ? once + own
                                                                  : own * (1 + (workers - 1) * (2 * workers - 1) / (6 * workers));
}

/* Returns the iteration of codec k. With --topology auto it may be by twoshot: if that is faster, and the mean's error is
 * within the limit. */
static Iteration choose_exchange(const AdviseJob *advise, size_t k, const CostLayer *layer)
{
    const CostJob *c = &advise->cost;
    const size_t workers = c->workers.number[0];
    const Link *link = &c->link[0];
    const Iteration usual = cost_iteration(c, k, layer, workers, link, c->topology[0]),
                    two = cost_iteration(c, k, layer, workers, link, TOPOLOGY_TWOSHOT);
    const bool weighed = c->topology[0] == TOPOLOGY_AUTO && !usual.adds && !cost_refusal(c, c->job.codec[k], TOPOLOGY_TWOSHOT, workers);
    return weighed && error_in(c, k, TOPOLOGY_TWOSHOT) <= advise->limits.error &&
                   iteration_time(&two, link->bandwidth).total < iteration_time(&usual, link->bandwidth).total
               ? two
               : usual;
}

enum { BASELINE = 1 }; /* index of bf16 among the codecs of a measurement; none has index 0 */

/* Fills a candidate from codec k. `layer`: its measurements (c->layers). `moved`: scratch memory (2 x c->layers). */
static Status take(Candidate *out, const AdviseJob *advise, size_t k, const CostLayer *layer,
                   CostLayer *moved)
{
    const CostJob *c = &advise->cost;
    const CompareJob *j = &c->job;
    const Codec *codec = j->codec[k];
    const unsigned traits = codec_traits(codec);
    const CostErrors *e = &c->alone[k].errors;
    const Iteration it = choose_exchange(advise, k, layer);
    const bool adds = codec_adds(codec);
    const char *refusal = cost_refusal(c, codec, it.topology, c->workers.number[0]);
    *out = (Candidate){.codec = codec,
                       .name = j->name[k],
                       .family = codec_family(codec, j->a),
                       .plain = k < countof(baselines),
                       .unbiased = traits & UNBIASED,
                       .adds = adds,
                       .travels = it.topology == TOPOLOGY_TWOSHOT && !adds ? "by twoshot" : codec_travels(codec),
                       .feedback = traits & UNBIASED || e->relative < 1e-3 ? FEEDBACK_NONE
                                   : keeps_residual(codec)                 ? FEEDBACK_INSIDE
                                                                           : FEEDBACK_WANTED,
                       .topology = it.topology,
                       .repeats = (double)j->repeats,
                       .error = error_in(c, k, it.topology),
                       .error_se = e->relative_se,
                       .scratch = e->scratch,
                       .failure = refusal ? refusal : cost_error(c, k)};
    if (traits & UNBIASED && e->relative > 0)
        out->error_se *= out->error / e->relative;
    for (size_t i = 0; i < c->layers; i++) {
        out->bytes += layer[i].bytes;
        out->bytes_se = hypot(out->bytes_se, layer[i].bytes_se);
    }
    if (out->failure)
        return arena_check(out->family, j->a, j->err);
    out->time = iteration_time(&it, c->link[0].bandwidth);
    out->time_se = cost_errors(&it, &it, true, c->compute_se / 1e3, c->link[0].bandwidth, moved).time;
    return arena_check(out->family, j->a, j->err);
}

/* Returns the layers of codec k that bound the cost of an iteration from below: without merging. */
static const CostLayer *least_layers(const CostJob *c, size_t k)
{
    CostLayer *layer = NEW(c->job.a, CostLayer, c->layers);
    for (size_t i = 0; layer && i < c->layers; i++) {
        layer[i] = c->alone[k].layer[i];
        layer[i].merged = layer[i].bytes;
        layer[i].merged_se = layer[i].bytes_se;
    }
    return layer;
}

static Status take_all(AdviseJob *advise, Candidate *list, bool screened)
{
    const CostJob *c = &advise->cost;
    const CompareJob *j = &c->job;
    CostLayer *moved = NEW(j->a, CostLayer, 2 * c->layers);
    TRY(arena_check(moved, j->a, j->err));
    for (size_t k = 0; k < j->codecs; k++) {
        const CostLayer *layer = screened ? least_layers(c, k) : cost_layers(c, k, c->workers.number[0]);
        TRY(arena_check(layer, j->a, j->err));
        TRY(take(&list[k], advise, k, layer, moved));
        list[k].screened = screened;
    }
    return OK;
}

/* True for a candidate that was only screened and may be one of the three fastest. */
static bool may_lead(const AdviseJob *advise, const Candidate *c)
{
    const Candidate *third = advise->candidates > 2 ? &advise->list[2] : NULL;
    return c->screened && !c->failure && !c->limit && !c->plain &&
           !(third && third->rank && c->time.total >= third->time.total);
}

/* Sets `chosen` to the baselines and the first candidates that may lead. Returns false if there is none. */
static bool choose(CodecSet *chosen, const AdviseJob *advise, const CodecSet *set)
{
    const size_t most = countof(baselines) + MEASURED_MOST;
    chosen->count = 0;
    for (size_t i = 0; i < countof(baselines); i++)
        chosen->codec[chosen->count++] = set->codec[i];
    for (size_t i = 0; i < advise->candidates && chosen->count < most; i++)
        if (may_lead(advise, &advise->list[i]))
            chosen->codec[chosen->count++] = advise->list[i].codec;
    return chosen->count > countof(baselines);
}

static void replace(AdviseJob *advise, const Candidate *by)
{
    for (size_t i = 0; i < advise->candidates; i++)
        if (!strcmp(advise->list[i].name, by->name))
            advise->list[i] = *by;
}

/* Measures the chosen candidates as `cost` does, and ranks all again. */
static Status measure_chosen(AdviseJob *advise, const CodecSet *chosen)
{
    CompareJob *j = &advise->cost.job;
    TRY(compare_job_codecs(j, chosen->codec, chosen->count));
    TRY(cost_measure(&advise->cost));
    Candidate *measured = NEW_ZERO(j->a, Candidate, chosen->count);
    TRY(arena_check(measured, j->a, j->err));
    TRY(take_all(advise, measured, false));
    for (size_t k = 0; k < chosen->count; k++)
        replace(advise, &measured[k]);
    return advise_rank(advise->list, advise->candidates, &advise->limits, j->a, j->err);
}

/* Measures all candidates with one worker, and ranks those that break a limit apart. */
static Status screen(AdviseJob *advise, const CodecSet *set)
{
    CompareJob *j = &advise->cost.job;
    advise->list = NEW_ZERO(j->a, Candidate, set->count);
    TRY(arena_check(advise->list, j->a, j->err));
    advise->cost.measured.count = 0;
    j->repeats = SCREEN_REPEATS;
    TRY(compare_job_codecs(j, set->codec, set->count));
    TRY(cost_measure_alone(&advise->cost));
    TRY(take_all(advise, advise->list, true));
    advise->candidates = set->count;
    return advise_rank(advise->list, set->count, &advise->limits, j->a, j->err);
}

/* Measures, in rounds, the candidates whose lower bound is below the time of the candidate ranked third, until none is
 * left. Each round measures at least one candidate of those that were only screened, but for the baselines of the first. */
static Status measure_leaders(AdviseJob *advise, const CodecSet *set)
{
    CompareJob *j = &advise->cost.job;
    CodecSet chosen = {NEW(j->a, const Codec *, set->count), 0, set->count};
    TRY(arena_check(chosen.codec, j->a, j->err));
    choose(&chosen, advise, set);
    do
        TRY(measure_chosen(advise, &chosen));
    while (choose(&chosen, advise, set));
    return OK;
}

static Status measure_codecs(AdviseJob *advise, const CodecSet *set)
{
    CompareJob *j = &advise->cost.job;
    const int64_t repeats = j->repeats;
    if (j->hints.sample)
        TRY(sample_open(j));
    TRY(cost_read_compute(&advise->cost));
    TRY(screen(advise, set));
    j->repeats = repeats;
    TRY(measure_leaders(advise, set));
    advise->baseline = advise->list;
    while (strcmp(advise->baseline->name, baselines[BASELINE]) != 0)
        advise->baseline++;
    advise->verdict = advise_verdict(advise->list, advise->candidates, advise->baseline, j->a);
    return arena_check(advise->verdict, j->a, j->err);
}

/* ==== results ==== */

static const Column advise_columns[] = {
    {"rank", true},
    {"compressor", true},
    {"total_ms", true},
    {"speedup16", true},
    {"bytes_up", true},
    {"mean_error", true},
    {"feedback", true},
    {"travels", true},
    {"why", true},
    {"workers", false},
    {"link", false},
    {"topology", false},
    {"compute_ms", false},
    {"encode_ms", false},
    {"comm_ms", false},
    {"decode_ms", false},
    {"unbiased", false},
    {"screened", false},
    {"peak_scratch_bytes", false},
    {"total_ms_se", false},
    {"speedup16_se", false},
    {"bytes_up_se", false},
    {"mean_error_se", false},
    {"compute_ms_se", false},
    {"encode_ms_se", false},
    {"comm_ms_se", false},
    {"decode_ms_se", false},
    {"repeats", false},
    {"seed", false},
    {"spec", false},
};
enum { ADVISE_FIELDS = countof(advise_columns) };

static void put(Value *row, const char *field, Value v)
{
    row[report_column(advise_columns, field)] = v;
}

static void put_times(Value *row, const Candidate *c, const Candidate *baseline)
{
    const IterationTime *t = &c->time, *se = &c->time_se;
    const double speedup = baseline->time.total / t->total,
                 other = hypot(se->total / t->total, baseline->time_se.total / baseline->time.total);
    const struct {
        const char *field, *field_se;
        double seconds, seconds_se;
    } parts[] = {{"compute_ms", "compute_ms_se", t->compute, se->compute},
                 {"encode_ms", "encode_ms_se", t->encode, se->encode},
                 {"comm_ms", "comm_ms_se", t->comm, se->comm},
                 {"decode_ms", "decode_ms_se", t->decode, se->decode},
                 {"total_ms", "total_ms_se", t->total, se->total}};
    for (size_t i = 0; i < countof(parts); i++) {
        put(row, parts[i].field, value_real(1e3 * parts[i].seconds));
        put(row, parts[i].field_se, value_real(1e3 * parts[i].seconds_se));
    }
    put(row, "speedup16", value_real(speedup));
    put(row, "speedup16_se", value_real(c == baseline ? 0 : speedup * other));
}

static void put_candidate(Value *row, const AdviseJob *advise, const Candidate *c)
{
    const CostJob *cost = &advise->cost;
    put(row, "rank", c->rank ? value_int((int64_t)c->rank) : value_none());
    put(row, "compressor", value_text(c->name));
    put(row, "spec", value_text(codec_complete(c->codec, cost->job.a)));
    put(row, "feedback", value_text(feedback_names[c->feedback]));
    put(row, "travels", value_text(c->travels));
    put(row, "why", value_text(c->why));
    put(row, "workers", value_int((int64_t)cost->workers.number[0]));
    put(row, "link", value_text(cost->link[0].name));
    put(row, "topology", value_text(topology_names[c->topology]));
    put(row, "unbiased", value_bool(c->unbiased));
    put(row, "screened", value_bool(c->screened));
    put(row, "repeats", value_int((int64_t)c->repeats));
    put(row, "seed", value_int(cost->job.common.seed));
    if (c->failure)
        return;
    put(row, "bytes_up", value_real(c->bytes));
    put(row, "bytes_up_se", value_real(c->bytes_se));
    put(row, "mean_error", value_real(c->error));
    put(row, "mean_error_se", value_real(c->error_se));
    put(row, "peak_scratch_bytes", value_real(c->scratch));
    put_times(row, c, advise->baseline);
}

static Status write_rows(const AdviseJob *advise, const ReportSpec *spec, const bool *shown)
{
    const CompareJob *j = &advise->cost.job;
    Report *report;
    Status status = OK;
    TRY(report_open(&report, spec, j->a, j->err));
    for (size_t i = 0; i < advise->candidates && status == OK; i++) {
        Value row[ADVISE_FIELDS] = {{0}};
        put_candidate(row, advise, &advise->list[i]);
        status = report_row(report, row, shown[i], j->err);
    }
    return report_finish(report, status, j->err);
}

static Status advise_write(CompareJob *j, ReportSpec spec)
{
    const AdviseJob *advise = (const AdviseJob *)j;
    const bool text = spec.format == FORMAT_TABLE || spec.path; /* stdout has no csv or json */
    bool *shown = NEW(j->a, bool, advise->candidates);
    TRY(arena_check(shown, j->a, j->err));
    advise_shown(advise->list, advise->candidates, RUNNERS_UP, shown);
    spec.columns = advise_columns;
    spec.column_count = ADVISE_FIELDS;
    j->facts[spec.facts++] = (Fact){"verdict", value_text(advise->verdict)};
    j->facts[spec.facts++] = (Fact){"compute_from", value_text(advise->cost.compute_from)};
    j->facts[spec.facts++] = (Fact){"overlap", value_bool(advise->cost.overlap)};
    TextBuf verdict = {.arena = j->a};
    text_wrap(&verdict, advise->verdict, 0, spec.width ? spec.width : SIZE_MAX);
    const char *lines = text_done(&verdict);
    TRY(arena_check(lines, j->a, j->err));
    if (text)
        fprintf(stdout, "%s\n", lines);
    return write_rows(advise, &spec, shown);
}

/* ==== the command ==== */

static Status run(CompareJob *j)
{
    AdviseJob *advise = (AdviseJob *)j;
    CodecSet set;
    TRY(read_options(advise));
    TRY(choose_codecs(advise, &set));
    TRY(compare_job_open(j, NULL, 0));
    return compare_job_finish(j, measure_codecs(advise, &set), advise_write);
}

static const char details[] =
    "The first line is the answer. Then come the three fastest codecs, bf16, bf16:code=rans, and why others are not chosen. total is the "
    "predicted time of an iteration: compute, encode, communicate, decode, by the model of cost. Two codecs whose 95 % "
    "intervals overlap are not told apart, and both have rank 1. If no codec is faster than bf16 for certain, the answer is to send bf16.\n"
    "error is the relative error of the mean of all workers' estimates, if all have the same gradient: averaging divides a "
    "codec's variance by P, and leaves its bias. Biased codecs need error feedback, which the shortlist includes.\n"
    "Every codec whose spec does not set its rate is tried at several rates. All are screened with one worker and two "
    "repeats; the fastest within the limits are measured like cost does. csv and json have all of them.\n"
    "--sample reads other rows in each repeat: each row stands for others of its matrix, and the intervals have the choice of rows in them.\n";

int bench_advise(int argc, char **argv)
{
    static const char *usual_link[] = {"lan10g"};
    AdviseJob j = {.cost = {.job = {.schema = "atomo-advise/1",
                                    .keeps_no_part = true,
                                    .sums_up = true,
                                    .repeats = 3},
                            .workers_text = "16",
                            .topology_text = "auto",
                            .link_texts = {usual_link, 1}},
                   .limits = {.error = 0.5}};
    CostJob *c = &j.cost;
    const Option options[] = {
        OPTION(0, "all", NULL, &j.all, "try all codecs, biased ones under error feedback"),
        OPTION(0, "workers", "P", &c->workers_text, "number of workers"),
        OPTION(0, "link", "LINK", &c->link_texts,
               "alpha=50us,beta=10Gbit, FILE.json of link, or a preset, as in atomo-bench cost --help",
               .names = link_name),
        OPTION(0, "topology", "T", &c->topology_text,
               "how workers exchange payloads: auto, ps, allgather, ring, tree, twoshot", .names = cost_flat_topology),
        OPTION(0, "compute-ms", "X", &c->compute_ms, "time that a worker computes in a step", .low = 0,
               .high = 1e9),
        OPTION(0, "compute-from", "RUN", &c->compute_from,
               "take --compute-ms from a result of atomo-train run: its median step"),
        OPTION(0, "overlap", NULL, &c->overlap, "send each layer while the next ones are computed"),
        OPTION_SAMPLE(&c->job, "measure K random rows of each matrix, for all of it"),
        OPTION(0, "unbiased", NULL, &j.limits.unbiased, "only unbiased codecs"),
        OPTION(0, "allreduce", NULL, &j.limits.undecoded, "only codecs whose payloads add without decoding"),
        OPTION(0, "max-error", "E", &j.limits.error, "most relative error of the mean, less its 95 % interval", .low = 0,
               .high = 1e9),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "advise",
        .usage = "FILE... [-c SPEC]...",
        .brief = "which codec to use, at which rate, on this network",
        .examples = "FILE --link lan10g --workers 16 --compute-ms 20\n"
                    "FILE --link wan100m --workers 4 --unbiased\n",
        .details = details,
        .options = options,
        .fields = "rank,total_ms,speedup16,bytes_up,mean_error,feedback,travels,why,",
    };
    return compare_job_main(&j.cost.job, &command, argc, argv, run);
}
