/* library_measure.c -- the functions of atomo.h that compute metrics of two vectors, or run a whole
 * comparison. */
#include "library/library_parts.h"

#include "base/host.h"
#include "compress/spec.h"
#include "measure/timing.h"
#include "math/blockwise.h"
#include "math/linalg.h"
#include "math/radix.h"
#include "report/report_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- metrics of a pair of vectors ---- */

const char *atomo_metric(size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (!metrics[i].name)
            return NULL;
    return metrics[index].name;
}

static Status check_pair(const float *x, const float *y, size_t n, Error *err)
{
    const float *const both[] = {x, y};
    for (size_t i = 0; i < countof(both); i++) {
        const size_t bad = first_nonfinite(both[i], n, NULL);
        if (bad < n)
            return FAIL(err, ERR_NUMERIC, "%s: element %zu is NaN or infinite", i ? "estimate" : "tensor",
                        bad);
    }
    return OK;
}

static Status measure(const MeasuredVector *s, const float *y, size_t bytes, double *value)
{
    const size_t n = s->n;
    Tally t;
    TRY(tally_open(&t, LEVEL_VECTOR, 1, false, s->scratch, s->err));
    t.bytes = t.bytes_min = t.bytes_max = (double)bytes;
    t.encode = t.encode_min = t.decode = t.decode_min = t.encode_spread = t.decode_spread = NAN;
    t.entropy = t.raw = t.expected = t.squares = t.scratch = t.merge = t.each = t.merged = NAN;
    TRY(tally_gradient(&t, s));
    TRY(tally_repeat(&t, s, 0, y));
    TRY(tally_spread(&t, s));
    float *sorted = NEW(s->scratch, float, n), *work = NEW(s->scratch, float, 2 * n);
    if (!sorted || !work)
        return arena_fail(s->scratch, s->err);
    if (n) {
        memcpy(sorted, y, n * sizeof *y);
        TRY(radix_wasserstein(s->x, sorted, n, work, s->threads, &t.wasserstein, s->scratch, s->err));
    }
    for (const Metric *m = metrics; m->name; m++)
        value[m - metrics] = metric_value(m, &t);
    return OK;
}

typedef struct {
    MeasuredVector vector;
    const float *y;
    size_t bytes;
    double *value;
    size_t values;
} Pair;

static Status measure_pair(void *arg, Visit *v)
{
    const Pair *p = arg;
    MeasuredVector vector = p->vector, *s = &vector;
    size_t count = 0;
    s->err = v->err;
    while (metrics[count].name)
        count++;
    if (p->values < count)
        return FAIL(s->err, ERR_USAGE, "room for %zu numbers: there are %zu metrics", p->values, count);
    TRY(check_pair(s->x, p->y, s->n, s->err));
    const double above = s->n ? radix_magnitude_quantile(s->x, s->n, 0.95, s->threads) : NAN;
    for (int level = 0; level < LEVELS; level++)
        s->above[level] = above;
    return measure(s, p->y, p->bytes, p->value);
}

atomo_status atomo_measure(const float *x, const float *y, size_t n, size_t bytes, int threads, double *value,
                           size_t values, atomo_error *err)
{
    Arena *scratch = arena_open(0);
    Pair p = {.vector = {.x = x,
                         .n = n,
                         .threads = threads > 0 ? threads : parallel_cores(),
                         .scratch = scratch},
              .y = y,
              .bytes = bytes,
              .value = value,
              .values = values};
    const atomo_status status = library_call(measure_pair, &p, err);
    arena_close(scratch);
    return status;
}

/* ---- comparisons ---- */

typedef struct {
    const atomo_comparison *want;
    const atomo_gradient **gradient; /* in the order of the vectors; NULL: the tensors of `dump` */
    Dump *dump;
    VectorList vectors;
    const Codec **codec;
    const char **spec; /* as they were typed */
    size_t codecs;
    Results results;
    Arena *arena;
    Error *err;
    Visit *visit;
} Job;

/* The thread's comparison, for Comparison.stopped, which has no argument. */
static _Thread_local Job *running;

static bool host_stops(void)
{
    if (!running->want->stopped)
        return false;
    library_call_host(running->visit);
    const int stopped = running->want->stopped(running->want->data);
    library_return(running->visit);
    return stopped;
}

static Status check_stopped(Error *err)
{
    return host_stops() ? FAIL(err, ERR_STOPPED, "stopped") : OK;
}

static Status load(void *data, const Vector *v, float *x, Error *err)
{
    const Job *j = data;
    TRY(check_stopped(err));
    if (j->dump)
        return vector_load(j->dump, v, x, err);
    memcpy(x, j->gradient[v - j->vectors.item]->x, v->shape.n * sizeof *x);
    return OK;
}

static Status keep(void *data, const Record *record, Error *err)
{
    Job *j = data;
    TRY(results_put(&j->results, record, err));
    return check_stopped(err);
}

static Status open_codecs(Job *j)
{
    for (size_t i = 0; i < j->want->specs; i++)
        if (!j->want->spec[i])
            return FAIL(j->err, ERR_USAGE, "spec %zu is NULL", i);
    const TextList specs = {NEW(j->arena, const char *, j->want->specs), j->want->specs};
    if (!specs.item)
        return arena_fail(j->arena, j->err);
    memcpy(specs.item, j->want->spec, specs.count * sizeof *specs.item);
    TRY(codec_list(&j->codec, &j->codecs, &specs, j->arena, j->err));
    j->spec = NEW(j->arena, const char *, j->codecs);
    for (size_t i = 0; j->spec && i < j->codecs; i++)
        if (!(j->spec[i] = codec_typed(j->codec[i], j->arena)))
            return arena_fail(j->arena, j->err);
    return j->spec ? OK : arena_fail(j->arena, j->err);
}

static Status run(Job *j)
{
    size_t failures = 0;
    const Comparison c = {.codec = j->codec,
                          .codecs = j->codecs,
                          .vectors = &j->vectors,
                          .repeats = j->want->repeats,
                          .seed = j->want->seed,
                          .memory = host_memory() / 2,
                          .threads = j->want->threads > 0 ? j->want->threads : parallel_cores(),
                          .sample = SAMPLE_LEAST,
                          .untimed = !j->want->timed,
                          .data = j,
                          .load = load,
                          .record = keep,
                          .stopped = host_stops};
    Arena *work = arena_open(0);
    const Status status = compare_run(&c, &failures, work, j->err);
    arena_close(work);
    return status;
}

static Status write_json(Job *j, char **json)
{
    Fact *facts;
    const char *text;
    size_t count;
    TRY(report_about(&facts, &count, true, j->arena, j->err));
    facts[count++] = (Fact){"seed", value_int((int64_t)j->want->seed)};
    facts[count++] = (Fact){"repeats", value_int((int64_t)j->want->repeats)};
    const ReportSpec spec = {
        .schema = "atomo-compare/1", .meta = facts, .facts = count, .format = FORMAT_JSON, .text = &text};
    TRY(results_write(&j->results, &(View){0}, spec, j->err));
    *json = strdup(text);
    return *json ? OK : FAIL(j->err, ERR_MEMORY, "out of memory");
}

static Status compare(Job *j, char **json)
{
    if (!j->want->repeats || !j->want->specs)
        return FAIL(j->err, ERR_USAGE, "repeats=%zu, specs=%zu: want 1 or more of both", j->want->repeats,
                    j->want->specs);
    TRY(open_codecs(j));
    TRY(results_open(&j->results, &j->vectors, j->spec, j->codecs, j->want->repeats, j->want->seed,
                     (OwnFields){0}, j->arena, j->err));
    TRY(run(j));
    return write_json(j, json);
}

/* ---- comparisons of tensors in memory ---- */

static int by_cell(const void *left, const void *right)
{
    const atomo_gradient *a = *(const atomo_gradient *const *)left,
                         *b = *(const atomo_gradient *const *)right;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    if (a->worker != b->worker)
        return a->worker < b->worker ? -1 : 1;
    /* tensors of equal step and worker stay in the caller's order, as qsort is not stable */
    return a < b ? -1 : a > b;
}

static Status add_vector(Job *j, const atomo_gradient *g)
{
    Vector *v = &j->vectors.item[j->vectors.count++];
    if (!g->name)
        return FAIL(j->err, ERR_USAGE, "a tensor has no name");
    *v = (Vector){.name = g->name,
                  .step_group = "step",
                  .worker_group = "worker",
                  .step = g->step,
                  .worker = g->worker,
                  .step_address = g->step,
                  .worker_address = g->worker,
                  .members = 1};
    TRY(library_shape(&v->shape, *g->name ? g->name : "tensor", g->rank, g->dim, j->err));
    v->kind = kind_guess(g->name, &v->shape);
    if (first_nonfinite(g->x, v->shape.n, NULL) < v->shape.n)
        return FAIL(j->err, ERR_NUMERIC, "%s: element %zu is NaN or infinite", g->name,
                    first_nonfinite(g->x, v->shape.n, NULL));
    j->vectors.largest = v->shape.n > j->vectors.largest ? v->shape.n : j->vectors.largest;
    j->vectors.elements += v->shape.n;
    j->vectors.tensors++;
    return OK;
}

static Status take_gradients(Job *j, const atomo_gradient *gradient, size_t count)
{
    if (!count)
        return FAIL(j->err, ERR_USAGE, "no tensor to compare on");
    j->gradient = NEW(j->arena, const atomo_gradient *, count);
    j->vectors.item = NEW(j->arena, Vector, count);
    if (!j->gradient || !j->vectors.item)
        return arena_fail(j->arena, j->err);
    for (size_t i = 0; i < count; i++)
        j->gradient[i] = &gradient[i];
    qsort(j->gradient, count, sizeof(const atomo_gradient *), by_cell);
    for (size_t i = 0; i < count; i++)
        TRY(add_vector(j, j->gradient[i]));
    return OK;
}

/* ---- both comparisons ---- */

/* `path` NULL: a comparison of the `count` tensors at `gradient`. */
typedef struct {
    const atomo_comparison *want;
    const atomo_gradient *gradient;
    size_t count;
    const char *path;
    char **json;
} Contest;

static Status take_file(Job *j, const char *path)
{
    TRY(dump_open(&j->dump, path, j->arena, j->err));
    return groups_make(&j->vectors, j->dump, &(GroupSpec){0}, j->arena, j->err);
}

static Status hold_contest(void *arg, Visit *v)
{
    const Contest *c = arg;
    Job j = {.want = c->want, .arena = arena_open(0), .err = v->err, .visit = v};
    Job *const outer = running; /* `stopped` may compare, too */
    running = &j;
    linalg_borrow();
    Status status = c->path ? take_file(&j, c->path) : take_gradients(&j, c->gradient, c->count);
    if (status == OK)
        status = compare(&j, c->json);
    linalg_return();
    running = outer;
    if (status != OK) {
        free(*c->json);
        *c->json = NULL;
    }
    dump_close(j.dump);
    arena_close(j.arena);
    return status;
}

atomo_status atomo_compare(const atomo_comparison *c, const atomo_gradient *gradient, size_t count,
                           char **json, atomo_error *err)
{
    *json = NULL;
    return library_call(hold_contest, &(Contest){c, gradient, count, NULL, json}, err);
}

atomo_status atomo_compare_file(const atomo_comparison *c, const char *path, char **json, atomo_error *err)
{
    *json = NULL;
    return library_call(hold_contest, &(Contest){c, NULL, 0, path ? path : "", json}, err);
}

void atomo_free(void *json)
{
    free(json);
}
