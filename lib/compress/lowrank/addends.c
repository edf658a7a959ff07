/* addends.c -- reads and merges payloads that are lists of floats (addends.h). */
#include "compress/lowrank/addends.h"

#include "math/vec/kernels.h"
#include "base/parallel.h"
#include "math/blockwise.h"
#include "math/finite.h"

#include <float.h>
#include <math.h>

const uint8_t *addends_open(const Call *c, Bytes in, unsigned own_kind, bool merges, size_t count,
                            const char *what, uint64_t *workers)
{
    Reader r = reader_open(in);
    const unsigned kind = take_u8(&r);
    *workers = merges && kind == PAYLOAD_MERGED ? take_varint(&r) : 1;
    const uint8_t *values = take_bytes(&r, 4 * count);
    if (in.size && (merges ? payload_kind_or_merged : payload_kind)(c, kind, own_kind) != OK)
        return NULL;
    if (!reader_done(&r))
        payload_bad(c, "%zu bytes, want %zu %ss", in.size, count, what);
    else if (*workers == 0)
        payload_bad(c, "the sum of no workers");
    else
        return values;
    return NULL;
}

Status addends_open_all(const Call *c, const Bytes *in, size_t workers, unsigned own_kind, size_t count,
                        const char *what, const uint8_t ***values, Buf *out)
{
    uint64_t total = 0, some;
    *values = NEW(c->scratch, const uint8_t *, workers);
    TRY(arena_check(*values, c->scratch, c->err));
    for (size_t w = 0; w < workers; w++) {
        (*values)[w] = addends_open(c, in[w], own_kind, true, count, what, &some);
        if (!(*values)[w])
            return ERR_CORRUPT;
        TRY(payload_add_workers(c, some, &total));
    }
    buf_u8(out, PAYLOAD_MERGED);
    buf_varint(out, total);
    return OK;
}

static Status not_finite(const Call *c, size_t i)
{
    return payload_bad(c, "value %zu is not finite", i);
}

Status addends_get(const Call *c, Bytes in, unsigned own_kind, size_t count, float *x)
{
    uint64_t workers;
    const uint8_t *values = addends_open(c, in, own_kind, true, count, "value", &workers);
    if (!values)
        return ERR_CORRUPT;
    return blockwise_load(values, count, c->threads, x) ? OK : not_finite(c, first_nonfinite(x, count, NULL));
}

typedef struct {
    const uint8_t *const *in;
    size_t workers, count;
    float part_most;
    double most;
    uint8_t *out;
    bool *good; /* for each block of 2^16 elements: false if a value or sum is out of range */
} AddendsJob;

static void add_block(void *data, size_t block)
{
    const AddendsJob *job = data;
    const size_t from = block * BLOCK;
    job->good[block] = kernels()->add_up(job->in, job->workers, from, from + block_size(job->count, block),
                                         job->part_most, job->most, job->out);
}

/* Fails with a message that names the first value or sum out of range. */
static Status refuse(const Call *c, const AddendsJob *job, const char *what)
{
    for (size_t i = 0; i < job->count; i++) {
        double sum = 0;
        for (size_t w = 0; w < job->workers; w++) {
            const float v = load_f32(job->in[w] + 4 * i);
            if (!(fabsf(v) <= job->part_most))
                return payload_bad(c, "%s %zu is %s", what, i, isfinite(v) ? "beyond float32" : "not finite");
            sum += (double)v;
        }
        if (!(fabs(sum) <= job->most))
            return FAIL(c->err, ERR_NUMERIC, "%s: the sum of %s %zu is beyond float32", c->self->ops->name,
                        what, i);
    }
    return OK;
}

Status addends_sum(const Call *c, const uint8_t *const *in, size_t workers, size_t count, double factor,
                   double most, const char *what, uint8_t *out)
{
    AddendsJob job = {.in = in, .workers = workers, .count = count, .most = most, .out = out};
    job.part_most = (float)((double)FLT_MAX / factor);
    while ((double)job.part_most * factor > (double)FLT_MAX)
        job.part_most = nextafterf(job.part_most, 0);
    job.good = NEW_ZERO(c->scratch, bool, blocks_of(count));
    TRY(arena_check(job.good, c->scratch, c->err));
    parallel_for(c->threads, blocks_of(count), add_block, &job);
    for (size_t b = 0; b < blocks_of(count); b++)
        if (!job.good[b])
            return refuse(c, &job, what);
    return OK;
}

Status addends_merge(const Call *c, const Bytes *in, size_t workers, unsigned own_kind, size_t count,
                     double most, Buf *out)
{
    const uint8_t **values;
    TRY(addends_open_all(c, in, workers, own_kind, count, "value", &values, out));
    return addends_sum(c, values, workers, count, 1, most, "value", buf_room(out, 4 * count));
}

static Status add(const Call *c, const Numbers *m, const uint8_t *const *in, size_t payloads, size_t n,
                  uint8_t *out)
{
    return addends_sum(c, in, payloads, n, m->factor, m->most, "value", out);
}

Numbers addends_numbers(size_t count, double factor, double most)
{
    return (Numbers){
        .count = count, .bits = 32, .merged_bits = 32, .factor = factor, .most = most, .add = add};
}
