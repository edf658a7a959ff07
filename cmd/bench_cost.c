/* bench_cost.c -- cost FILE -c SPEC... --workers 2,4,8,16: computes the time of a training iteration under a network model.
 * The records are written by link, number of workers, codec and topology, or in the order of --sort. */
#include "bench_commands.h"

#include "bench_cost_job.h"
#include "compress/spec.h"
#include "report/fields.h"
#include "report/report.h"

#include <math.h>
#include <string.h>

static const Column cost_columns[] = {
    {"compressor", true},
    {"workers", true},
    {"topology", true},
    {"link", true},
    {"compute_ms", true},
    {"encode_ms", true},
    {"comm_ms", true},
    {"decode_ms", true},
    {"total_ms", true},
    {"break_even_gbps", true},
    {"pays", true},
    {"speedup", true},
    {"bytes_up", false},
    {"bytes_merged", false},
    {"rounds", false},
    {"alpha_ms", true},
    {"beta_gbps", true},
    {"error", true},
    {"compute_ms_se", false},
    {"encode_ms_se", false},
    {"comm_ms_se", false},
    {"decode_ms_se", false},
    {"total_ms_se", false},
    {"break_even_gbps_se", false},
    {"speedup_se", false},
    {"bytes_up_se", false},
    {"bytes_merged_se", false},
    {"repeats", false},
    {"seed", false},
    {"speedup16", true},
    {"speedup16_se", false},
    {"spec", false},
};
enum { COST_FIELDS = countof(cost_columns) };

/* The codecs that `cost` always measures, before those of -c, and the index of fp16 among them. */
static const char *const yardsticks[] = {"none", "fp16", "bf16:code=rans"};
enum { COST_NONE, COST_HALF, YARDSTICKS = countof(yardsticks) };

typedef struct {
    const CostJob *cost;
    Value *row; /* (rows x COST_FIELDS) */
    size_t rows;
    bool errors;         /* true: a row has the text of a failure instead of times */
    const char *refused; /* the first codec of -c, or plain floats, that cannot be exchanged so; NULL: all can */

    /* fields of the row that is being made */
    const Link *link;
    size_t workers;
    const CostLayer *plain, *half, *layer; /* plain: of the codec none; half: of fp16 */
    CostLayer *moved;                      /* scratch: (2 x layers) */
    size_t codec;
} Sheet;

/* ---- the fields of one record ---- */

static Value *cell(Value *row, const char *field)
{
    return row + report_column(cost_columns, field);
}

/* Compression with topology t is compared with an exchange of uncompressed floats. Returns the topology of that
 * exchange: a ring if t is an all-gather, twoshot or hier, otherwise t (for TOPOLOGY_AUTO, the fastest for floats). */
static int plain_topology(int t)
{
    return t == TOPOLOGY_ALLGATHER || t == TOPOLOGY_TWOSHOT || t == TOPOLOGY_HIER ? TOPOLOGY_RING : t;
}

/* Writes the five times of an iteration to `times`, which are in neighbouring columns. */
static void put_figures(const CostFigures *f, Value *times, Value *speedup)
{
    times[0] = value_real(1e3 * f->time.compute);
    times[1] = value_real(1e3 * f->time.encode);
    times[2] = value_real(1e3 * f->time.comm);
    times[3] = value_real(1e3 * f->time.decode);
    times[4] = value_real(1e3 * f->time.total);
    *speedup = value_real(f->speedup);
}

/* Writes the speed-up over an exchange of 16-bit floats. */
static void put_over_half(const Sheet *s, const Iteration *it, int topology, Value *row)
{
    const CostJob *c = s->cost;
    const double b = s->link->bandwidth;
    const Iteration half = cost_iteration(c, COST_HALF, s->half, s->workers, s->link, topology);
    const bool same = s->codec == COST_HALF && it->topology == half.topology;
    if (cost_error(c, COST_HALF))
        return;
    *cell(row, "speedup16") = value_real(cost_figures(it, &half, b).speedup);
    *cell(row, "speedup16_se") =
        value_real(cost_errors(it, &half, same, c->compute_se / 1e3, b, s->moved).speedup);
}

static const char *const pays_names[] = {"below", "above", "always", "never"}; /* in the order of Pays */

static void put_times(const Sheet *s, const Iteration *it, int asked, Value *row)
{
    const CostJob *c = s->cost;
    const Iteration plain = cost_iteration(c, COST_NONE, s->plain, s->workers, s->link, plain_topology(asked));
    const double b = s->link->bandwidth;
    const CostFigures f = cost_figures(it, &plain, b),
                      se = cost_errors(it, &plain, s->codec == COST_NONE, c->compute_se / 1e3, b, s->moved);
    double even;
    put_figures(&f, cell(row, "compute_ms"), cell(row, "speedup"));
    put_figures(&se, cell(row, "compute_ms_se"), cell(row, "speedup_se"));
    put_over_half(s, it, plain_topology(asked), row);
    if (s->codec == COST_NONE && it->topology == plain.topology)
        return;
    *cell(row, "pays") = value_text(pays_names[iteration_pays(it, &plain, &even)]);
    *cell(row, "break_even_gbps") = value_real(f.break_even / 1e9); /* NaN is written as an empty field */
    *cell(row, "break_even_gbps_se") = value_real(se.break_even / 1e9);
}

static void put_sizes(const Sheet *s, Value *row)
{
    const Codec *codec = s->cost->job.codec[s->codec];
    double bytes = 0, merged = 0, bytes_se = 0, merged_se = 0;
    for (size_t i = 0; i < s->cost->layers; i++) {
        bytes += s->layer[i].bytes;
        merged += s->layer[i].merged;
        bytes_se = hypot(bytes_se, s->layer[i].bytes_se);
        merged_se = hypot(merged_se, s->layer[i].merged_se);
    }
    *cell(row, "bytes_up") = value_real(bytes);
    *cell(row, "bytes_merged") = codec_adds(codec) ? value_real(merged) : value_none();
    *cell(row, "bytes_up_se") = value_real(bytes_se);
    *cell(row, "bytes_merged_se") = codec_adds(codec) ? value_real(merged_se) : value_none();
}

/* Adds the row of the iteration `it`. `asked` is the value of --topology from which cost_iteration computed
 * `it`: a topology, or TOPOLOGY_AUTO, for which cost_iteration chose it->topology. */
static Status add_row(Sheet *s, const Iteration *it, int asked)
{
    const CostJob *c = s->cost;
    const CompareJob *j = &c->job;
    const char *error = cost_error(c, s->codec), *topology = it->topology == TOPOLOGY_HIER ? c->hier : topology_names[it->topology];
    Value *row = s->row + s->rows++ * COST_FIELDS;
    *cell(row, "compressor") = value_text(j->name[s->codec]);
    *cell(row, "spec") = value_text(codec_complete(j->codec[s->codec], j->a));
    *cell(row, "workers") = value_int((int64_t)s->workers);
    *cell(row, "topology") = value_text(topology);
    *cell(row, "link") = value_text(s->link->name);
    *cell(row, "repeats") = value_int((int64_t)j->repeats);
    *cell(row, "seed") = value_int((int64_t)j->common.seed);
    *cell(row, "rounds") = value_int(codec_rounds(j->codec[s->codec]));
    *cell(row, "alpha_ms") = value_real(1e3 * s->link->latency);
    *cell(row, "beta_gbps") = value_real(s->link->bandwidth / 1e9);
    if (!error)
        put_sizes(s, row);
    const char *refusal = error ? NULL : cost_refusal(c, j->codec[s->codec], it->topology, s->workers);
    if (!error && !refusal)
        put_times(s, it, asked, row);
    *cell(row, "error") = value_text(error ? error : refusal);
    s->errors = s->errors || error || refusal;
    const bool wanted = s->codec <= COST_HALF || (j->specs.count && s->codec >= YARDSTICKS);
    if (!refusal || !wanted || s->refused)
        return OK;
    s->refused = text_format(j->a, "%s by %s, %zu workers: %s", j->name[s->codec], topology, s->workers, refusal);
    return arena_check(s->refused, j->a, j->err);
}

/* ---- making all records ---- */

static Status add_codec(Sheet *s)
{
    const CostJob *c = s->cost;
    bool done[TOPOLOGY_AUTO] = {false};
    s->layer = cost_layers(c, s->codec, s->workers);
    TRY(arena_check(s->layer, c->job.a, c->job.err));
    for (size_t t = 0; t < c->topologies; t++) {
        const int asked = c->topology[t];
        const Iteration it = cost_iteration(c, s->codec, s->layer, s->workers, s->link, asked);
        if (!done[it.topology])
            TRY(add_row(s, &it, asked));
        done[it.topology] = true;
    }
    return OK;
}

static Status add_all(Sheet *s)
{
    const CostJob *c = s->cost;
    for (size_t l = 0; l < c->links; l++)
        for (size_t p = 0; p < c->workers.count; p++) {
            s->link = &c->link[l];
            s->workers = c->workers.number[p];
            s->plain = cost_layers(c, COST_NONE, s->workers);
            s->half = cost_layers(c, COST_HALF, s->workers);
            TRY(arena_check(s->plain && s->half, c->job.a, c->job.err));
            for (s->codec = 0; s->codec < c->job.codecs; s->codec++)
                TRY(add_codec(s));
        }
    return OK;
}

/* ---- writing ---- */

static const char *column_name(const void *data, size_t i)
{
    (void)data;
    return i < COST_FIELDS ? cost_columns[i].name : NULL;
}

static Status check_sort(const CostJob *c)
{
    if (!c->sort)
        return OK;
    TRY(sort_check(c->sort, c->job.err));
    for (size_t i = 0; i < COST_FIELDS; i++)
        if (sort_is_by(c->sort, cost_columns[i].name))
            return OK;
    const char *name = text_slice(c->job.a, c->sort, strcspn(c->sort, ":"));
    TRY(arena_check(name, c->job.a, c->job.err));
    text_unknown(c->job.err, name, column_name, NULL, "--sort: no field is called \"%.60s\"", name);
    return error_hint(c->job.err, "--help lists them");
}

static Status cost_write(CompareJob *j, ReportSpec spec)
{
    const CostJob *c = (const CostJob *)j;
    Written written[COST_FIELDS];
    const size_t most = c->links * c->workers.count * c->job.codecs * c->topologies;
    Sheet s = {.cost = c, .row = NEW_ZERO(j->a, Value, most * COST_FIELDS), .moved = NEW(j->a, CostLayer, 2 * c->layers)};
    TRY(arena_check(s.row && s.moved, j->a, j->err));
    TRY(add_all(&s));
    for (size_t i = 0; i < COST_FIELDS; i++)
        written[i] = (Written){cost_columns[i], i, i};
    written[report_column(cost_columns, "error")].column.shown = s.errors;
    j->facts[spec.facts++] = (Fact){"compute_from", value_text(c->compute_from)};
    j->facts[spec.facts++] = (Fact){"overlap", value_bool(c->overlap)};
    const RowSet rows = {.columns = cost_columns,
                         .stride = COST_FIELDS,
                         .cell = s.row,
                         .rows = s.rows,
                         .group = s.rows,
                         .written = written,
                         .count = COST_FIELDS,
                         .sort = c->sort};
    TRY(rows_write(&rows, spec, j->a, j->err));
    return s.refused ? FAIL(j->err, ERR_NUMERIC, "%s: %s", j->file, s.refused) : OK;
}

/* ---- the command ---- */

/* The codecs that `cost` measures if the user gives no -c. */
static const char *const usual_set[] = {"sign", "qsgd", "terngrad", "svd", "powersgd", "ef+topk"};

/* Opens the yardsticks, and then those of the option -c, or a default set if -c is not given. */
static Status open_codecs(const CostJob *c, const Codec ***codec, size_t *count)
{
    const CompareJob *j = &c->job;
    const TextList usual = {(const char **)(uintptr_t)usual_set, countof(usual_set)},
                   asked = j->specs.count ? j->specs : usual;
    TextList all = {NEW(j->a, const char *, YARDSTICKS + asked.count), YARDSTICKS + asked.count};
    TRY(arena_check(all.item, j->a, j->err));
    memcpy(all.item, yardsticks, sizeof yardsticks);
    memcpy(all.item + YARDSTICKS, asked.item, asked.count * sizeof *asked.item);
    return codec_list(codec, count, &all, j->a, j->err);
}

static Status measure(CostJob *c, const Codec *const *codec, size_t count)
{
    TRY(compare_job_codecs(&c->job, codec, count));
    TRY(cost_find_within(c));
    return cost_measure(c);
}

static Status run(CompareJob *j)
{
    CostJob *c = (CostJob *)j;
    const Codec **codec;
    size_t count;
    TRY(cost_read(c));
    TRY(check_sort(c));
    TRY(open_codecs(c, &codec, &count));
    TRY(compare_job_open(j, codec, count));
    TRY(cost_read_compute(c));
    return compare_job_finish(j, measure(c, codec, count), cost_write);
}

static const char details[] =
    "Encoding, decoding and bytes are measured; the network is a latency alpha and a bandwidth beta. With payloads "
    "of S bytes, D bytes of parameters and P workers an exchange takes\n"
    "  ps         2 alpha + P (S + D) / beta             through a server, which returns parameters\n"
    "  allgather  (P - 1) (alpha + S / beta)             everyone sends to everyone\n"
    "  ring       2 (P - 1) alpha + 2 (P - 1)/P S / beta  if payloads add, S of the aggregate\n"
    "  tree       2 ceil(log2 P) (alpha + S / beta)      payloads that add; S of the aggregate\n"
    "  twoshot    2 (P - 1) alpha + 2 (P - 1)/P S / beta  each owns 1/P: it averages payloads, and encodes again\n"
    "  hier       2 (N - 1) alpha + 2 (N - 1)/N S / (K beta), N = P/K, and twoshot of --within on --link-within\n"
    "On a ring, sums of payloads that do not add are decoded and encoded at each hop. "
    "auto is the faster of ring and tree for codecs whose payloads add (list CODEC: mergeable), else allgather. "
    "The break-even keeps the topologies of its row. Codecs of several rounds pay the latencies in each round. "
    "none, fp16 and bf16:code=rans are always in the table. docs/cost.md has the model in full.\n"
    "A number with +- has the standard error of the median over this run's repeats, which follow each other within "
    "milliseconds. On a busy machine another run differs by more: repeat the command to see by how much.\n"
    "--sort takes the fields below, and FIELD:desc. With --overlap total_ms is less than the sum of its parts. The exit "
    "code is 1 if a codec of -c cannot be exchanged in a topology that is asked for.\n"
    "Without -c: sign, qsgd, terngrad, svd, powersgd, ef+topk. plot iteration-time, runtime and break-even draw "
    "the results.\n";

int bench_cost(int argc, char **argv)
{
    static const char *usual_link[] = {"lan10g"};
    char names[200], link[300];
    snprintf(
        link, sizeof link,
        "alpha=50us,beta=10Gbit, or presets or FILE.json of link separated by commas (default %s); repeatable; presets: "
        "%s",
        *usual_link, text_names(names, sizeof names, link_name, NULL));
    CostJob c = {.job = {.schema = "atomo-cost/1",
                         .keeps_no_part = true,
                         .sums_up = true,
                         .repeats = 5},
                 .workers_text = "2,4,8,16",
                 .topology_text = "auto",
                 .within_text = "fp16",
                 .near_text = "lan100g",
                 .link_texts = {usual_link, 1}};
    const Option options[] = {
        OPTION(0, "workers", "LIST", &c.workers_text,
               "numbers of workers, with hier by default of nodes; 2,4,...,64 continues at the same ratio"),
        OPTION(0, "link", "LINK", &c.link_texts, link, .names = link_name, .listed = true),
        OPTION(0, "topology", "LIST", &c.topology_text,
               "how workers exchange payloads: auto, ps, allgather, ring, tree, twoshot, hier:node=K", .names = cost_topology_name,
               .listed = true),
        OPTION(0, "within", "SPEC", &c.within_text, "with hier: the codec within nodes; none, fp16 or one of -c"),
        OPTION(0, "link-within", "LINK", &c.near_text, "with hier: the link within nodes, as for --link",
               .names = link_name),
        OPTION(0, "compute-ms", "X", &c.compute_ms, "time that a worker computes in a step", .low = 0,
               .high = 1e9),
        OPTION(0, "compute-from", "RUN", &c.compute_from,
               "take --compute-ms from a result of atomo-train run: its median step"),
        OPTION(0, "overlap", NULL, &c.overlap, "send each layer while the next ones are computed"),
        OPTION(0, "sort", "FIELD", &c.sort, "sort the rows by a field; FIELD:desc: largest first",
               .names = field_name),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "cost",
        .usage = "FILE... [-c SPEC]...",
        .brief = "iteration time under a network model: compute, encode, communicate, decode",
        .examples = "FILE --link lan10g --workers 2,4,8,16\n"
                    "FILE -c qsgd -c ef+topk --compute-ms 20 -o cost.csv\n",
        .details = details,
        .options = options,
        .fields =
            "compute_ms,encode_ms,comm_ms,decode_ms,total_ms,break_even_gbps,pays,speedup,speedup16,bytes_up,bytes_merged,rounds,"
            "alpha_ms,beta_gbps,error,",
    };
    return compare_job_main(&c.job, &command, argc, argv, run);
}
