/* compare_mean.c -- computes the mean gradient of the workers of a merge. */
#include "measure/compare_parts.h"

#include "exchange/mean.h"

Status merge_mean(const Comparison *c, const Vector *v, const Buffers *b, Error *err)
{
    const size_t n = v->shape.n;
    const ArenaMark mark = arena_mark(b->payloads);
    double *sum = NEW_ZERO(b->payloads, double, n);
    TRY(arena_check(sum, b->payloads, err));
    for (size_t w = 0; w < c->workers; w++) {
        if (comparison_stopped(c))
            return FAIL(err, ERR_STOPPED, "stopped");
        TRY(c->load_worker(c->data, v, w, b->g, err));
        mean_add(sum, b->g, n, c->threads);
    }
    mean_of_sum(b->x, sum, n, (double)c->workers, c->threads);
    arena_rewind(b->payloads, mark);
    arena_trim(b->payloads); /* payloads and another sum may not fit into the chunk of this sum */
    return OK;
}
