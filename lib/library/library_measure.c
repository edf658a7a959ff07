/* library_measure.c -- the functions of atomo.h that compute metrics of two vectors, or run a whole
 * comparison. */
#include "library/library_parts.h"

#include "base/host.h"
#include "compress/spec.h"
#include "measure/timing.h"
#include "num/finite.h"
#include "num/linalg.h"
#include "num/radix.h"
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

atomo_status atomo_measure(const float *x, const float *y, size_t n, size_t bytes, int threads, double *value,
                           atomo_error *err)
{
    Error own = {0}, *e = error_of(err, &own);
    Arena *scratch = arena_open(0);
    MeasuredVector s = {
        .x = x, .n = n, .threads = threads > 0 ? threads : parallel_cores(), .scratch = scratch, .err = e};
    Status status = check_pair(x, y, n, e);
    if (status == OK) {
        const double above = n ? radix_magnitude_quantile(x, n, 0.95, s.threads) : NAN;
        for (int level = 0; level < LEVELS; level++)
            s.above[level] = above;
        status = measure(&s, y, bytes, value);
    }
    arena_close(scratch);
    return status_of(status);
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
} Job;

static Status check_stopped(const Job *j, Error *err)
{
    return j->want->stopped && j->want->stopped(j->want->data) ? FAIL(err, ERR_STOPPED, "stopped") : OK;
}

static Status load(void *data, const Vector *v, float *x, Error *err)
{
    const Job *j = data;
    TRY(check_stopped(j, err));
    if (j->dump)
        return vector_load(j->dump, v, x, err);
    memcpy(x, j->gradient[v - j->vectors.item]->x, v->shape.n * sizeof *x);
    return OK;
}

static Status keep(void *data, const Record *record, Error *err)
{
    Job *j = data;
    TRY(results_put(&j->results, record, err));
    return check_stopped(j, err);
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
                          .name = j->spec,
                          .codecs = j->codecs,
                          .vectors = &j->vectors,
                          .repeats = j->want->repeats,
                          .seed = j->want->seed,
                          .memory = host_memory() / 2,
                          .threads = j->want->threads > 0 ? j->want->threads : parallel_cores(),
                          .sample = sample_least(),
                          .untimed = !j->want->timed,
                          .data = j,
                          .load = load,
                          .record = keep};
    Arena *work = arena_open(0);
    const Status status = compare_run(&c, &failures, work, j->err);
    arena_close(work);
    return status;
}

static Status write_json(Job *j, char **json)
{
    Fact *facts;
    size_t count, size;
    TRY(report_about(&facts, &count, true, j->arena, j->err));
    facts[count++] = (Fact){"seed", value_int((int64_t)j->want->seed)};
    facts[count++] = (Fact){"repeats", value_int((int64_t)j->want->repeats)};
    FILE *to = open_memstream(json, &size);
    if (!to)
        return FAIL(j->err, ERR_MEMORY, "out of memory");
    const ReportSpec spec = {
        .schema = "atomo-compare/1", .meta = facts, .facts = count, .format = FORMAT_JSON, .to = to};
    const Status status = results_write(&j->results, &(View){0}, spec, j->err);
    if (fclose(to) != 0 && status == OK)
        return FAIL(j->err, ERR_MEMORY, "out of memory");
    return status;
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

static atomo_status finish(Job *j, Status status, char **json)
{
    if (status != OK) {
        free(*json);
        *json = NULL;
    }
    dump_close(j->dump);
    arena_close(j->arena);
    return status_of(status);
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

atomo_status atomo_compare(const atomo_comparison *c, const atomo_gradient *gradient, size_t count,
                           char **json, atomo_error *err)
{
    Error own = {0};
    Job j = {.want = c, .arena = arena_open(0), .err = error_of(err, &own)};
    *json = NULL;
    linalg_borrow();
    Status status = take_gradients(&j, gradient, count);
    if (status == OK)
        status = compare(&j, json);
    linalg_return();
    return finish(&j, status, json);
}

/* ---- comparisons of a gradient dump ---- */

atomo_status atomo_compare_file(const atomo_comparison *c, const char *path, char **json, atomo_error *err)
{
    Error own = {0};
    Job j = {.want = c, .arena = arena_open(0), .err = error_of(err, &own)};
    *json = NULL;
    linalg_borrow();
    Status status = dump_open(&j.dump, path, j.arena, j.err);
    if (status == OK)
        status = groups_make(&j.vectors, j.dump, &(GroupSpec){0}, j.arena, j.err);
    if (status == OK)
        status = compare(&j, json);
    linalg_return();
    return finish(&j, status, json);
}

void atomo_free(void *json)
{
    free(json);
}
