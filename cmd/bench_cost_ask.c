/* bench_cost_ask.c -- what cost was asked for: workers, topologies, links, compressors, and what a step computes. */
#include "bench_cost.h"

#include "report/report_stored.h"
#include "num/stats.h"
#include "compress/spec.h"

#include <string.h>

/* Without -c; none and fp16 are always there. */
static const char *const usual_set[] = {"sign", "qsgd", "terngrad", "svd", "powersgd", "ef+topk"};
static const char *const yardsticks[] = {"none", "fp16"};

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

Status cost_read_compute(Cost *c)
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

Status cost_read(Cost *c)
{
    TRY(counts_read(&c->workers, "--workers", c->workers_text, COST_WORKERS_MOST, c->job.err));
    TRY(each_item(c, c->topology_text, take_topology));
    if (!c->topologies)
        return FAIL(c->job.err, ERR_USAGE, "--topology: there is none");
    TRY(read_links(c));
    return cost_check_sort(c);
}

Status cost_codecs(Cost *c, const Codec ***codec, size_t *count)
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
