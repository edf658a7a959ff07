/* compare_mean.c -- computes the mean gradient of the workers of a merge. A lean merge (merges_lean) sums a window of
 * elements at a time, from gradients that are handed on part by part. */
#include "measure/compare_parts.h"

#include "exchange/mean.h"

#include <string.h>

/* The sums of the elements from .. to - 1. */
typedef struct {
    double *sum;
    size_t from, to;
    int threads;
} WindowSum;

static void add_part(void *data, size_t at, const float *x, size_t n)
{
    const WindowSum *s = data;
    const size_t from = at > s->from ? at : s->from, to = at + n < s->to ? at + n : s->to;
    if (from < to)
        mean_add(s->sum + (from - s->from), x + (from - at), to - from, s->threads);
}

/* Computes the mean gradient of the elements from .. to - 1, whose sums take its memory first. */
static Status mean_of_window(const Comparison *c, const Vector *v, float *x, size_t from, size_t to,
                             Error *err)
{
    WindowSum s = {(double *)(void *)(x + from), from, to, c->threads};
    memset(s.sum, 0, (to - from) * sizeof *s.sum);
    for (size_t w = 0; w < c->workers; w++) {
        if (comparison_stopped(c))
            return FAIL(err, ERR_STOPPED, "stopped");
        TRY(c->load_worker_parts(c->data, v, w, from, to, add_part, &s, err));
    }
    mean_in_place(s.sum, NULL, to - from, (double)c->workers, c->threads);
    return OK;
}

static Status mean_in_windows(const Comparison *c, const Vector *v, const Buffers *b, Error *err)
{
    const size_t n = v->shape.n;
    for (size_t from = 0, to; from < n; from = to) {
        to = from + merge_window(b->room, n, from);
        TRY(mean_of_window(c, v, b->x, from, to, err));
    }
    return OK;
}

Status merge_mean(const Comparison *c, const Vector *v, const Buffers *b, Error *err)
{
    const size_t n = v->shape.n;
    if (merges_lean(c))
        return mean_in_windows(c, v, b, err);
    memset(b->sum, 0, n * sizeof *b->sum);
    for (size_t w = 0; w < c->workers; w++) {
        if (comparison_stopped(c))
            return FAIL(err, ERR_STOPPED, "stopped");
        TRY(c->load_worker(c->data, v, w, b->g, err));
        mean_add(b->sum, b->g, n, c->threads);
    }
    mean_of_sum(b->x, b->sum, n, (double)c->workers, c->threads);
    return OK;
}
