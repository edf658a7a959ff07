/* cas_payload.c -- payloads of the cluster-aware sketch, read and merged (compress/cas.c has the layout). */
#include "compress/sketch/cas.h"

#include "num/finite.h"

#include <float.h>
#include <math.h>

ClusterIndex cas_index(const Call *c, size_t clusters)
{
    return (ClusterIndex){.form = (IndexForm)cas_params(c)->index,
                          .n = c->shape->n,
                          .clusters = (uint32_t)clusters,
                          .threads = c->threads,
                          .scratch = c->scratch,
                          .err = c->err};
}

void cas_put_model(const ClusterModel *m, Buf *out)
{
    buf_u8(out, (uint8_t)m->minus);
    buf_u8(out, (uint8_t)m->plus);
    for (size_t j = 0; j < model_clusters(m); j++) {
        buf_f32(out, m->cluster[j].centre);
        buf_u32(out, m->cluster[j].buckets);
    }
}

/* ---- payloads of every kind ---- */

enum { FORM_SKETCH, FORM_FLOATS };

typedef struct {
    uint64_t workers;
    bool floats;
    const uint8_t *value; /* floats: n of them; else sums */
    bool wide;            /* sums are f64 */
    ClusterModel model;
    size_t buckets;
    Reader index; /* what is left: one index, or with sizes `workers` of them */
} Payload;

static bool take_model(Reader *r, ClusterModel *m)
{
    m->minus = take_u8(r);
    m->plus = take_u8(r);
    if (r->bad || m->minus > SIDE_MOST || m->plus > SIDE_MOST)
        return false;
    for (size_t j = 0; j < model_clusters(m); j++) {
        const float centre = take_f32(r);
        m->cluster[j] = (Cluster){centre, take_u32(r)};
    }
    return !r->bad;
}

/* Its parts are there; what sums and indices hold is looked at when they are read. */
static Status payload_open(const Call *c, Bytes in, Payload *p)
{
    const CasLimits l = cas_limits(c);
    Reader r = reader_open(in);
    const unsigned kind = take_u8(&r);
    TRY(payload_kind_or_merged(c, kind, l.raw ? PAYLOAD_RAW : PAYLOAD_METHOD));
    p->workers = kind == PAYLOAD_MERGED ? take_varint(&r) : 1;
    const unsigned form = kind == PAYLOAD_MERGED ? take_u8(&r) : l.raw ? FORM_FLOATS : FORM_SKETCH;
    if (r.bad || p->workers == 0 || form > FORM_FLOATS || (l.raw && form != FORM_FLOATS))
        return payload_bad(c, "form %u of %llu workers", form, (unsigned long long)p->workers);
    p->floats = form == FORM_FLOATS;
    p->wide = kind == PAYLOAD_MERGED;
    if (p->floats) {
        p->value = take_bytes(&r, 4 * c->shape->n);
        return reader_done(&r) ? OK : payload_bad(c, "%zu bytes, want %zu floats", in.size, c->shape->n);
    }
    if (!take_model(&r, &p->model) || !cas_fits(&p->model, &l))
        return payload_bad(c, "clusters that no encoder writes");
    p->buckets = (size_t)model_buckets(&p->model);
    p->value = take_bytes(&r, (p->wide ? 8 : 4) * p->buckets);
    p->index = r;
    return p->value ? OK : payload_bad(c, "%zu bytes, want %zu buckets", in.size, p->buckets);
}

/* The next worker's index. */
static Status take_index(const Call *c, const Payload *p, Reader *r, uint8_t *code)
{
    const ClusterIndex index = cas_index(c, model_clusters(&p->model));
    const char *why = "";
    Reader own = *r;
    if (p->wide) {
        const uint64_t size = take_varint(r);
        const uint8_t *at = size <= reader_left(r) ? take_bytes(r, (size_t)size) : NULL;
        if (!at)
            return payload_bad(c, "an index that is not there");
        own = reader_open((Bytes){at, (size_t)size});
    } else {
        take_bytes(r, reader_left(r));
    }
    const Status status = index_get(&index, &own, code, &why);
    return status == ERR_CORRUPT ? payload_bad(c, "%s", why) : status;
}

static double sum_at(const Payload *p, size_t b)
{
    return p->wide ? load_f64(p->value + 8 * b) : (double)load_f32(p->value + 4 * b);
}

/* Nobody's bucket is +0; others have their cluster's sign, where only values that are no more than zero may add up
 * to zero. */
static bool sum_good(double sum, uint64_t count, bool below)
{
    if (count == 0 || sum == 0)
        return sum == 0 && !signbit(sum) && (count == 0 || below);
    return isfinite(sum) && (below ? sum < 0 : sum > 0);
}

static Status take_means(const Call *c, const Payload *p, const uint64_t *count, double *mean)
{
    size_t b = 0;
    for (size_t j = 0; j < model_clusters(&p->model); j++)
        for (uint32_t k = 0; k < p->model.cluster[j].buckets; k++, b++) {
            const double sum = sum_at(p, b);
            if (!sum_good(sum, count[b], j < p->model.minus))
                return payload_bad(c, "bucket %zu of %llu elements sums to %g", b,
                                   (unsigned long long)count[b], sum);
            mean[b] = count[b] ? sum / (double)count[b] : 0;
        }
    return OK;
}

/* One worker's. */
static Status spread_one(const Call *c, const CasTable *s, const double *mean, const uint8_t *code, float *x)
{
    float *narrow = NEW(c->scratch, float, s->buckets);
    if (!narrow)
        return arena_fail(c->scratch, c->err);
    for (size_t b = 0; b < s->buckets; b++)
        narrow[b] = (float)mean[b];
    table_spread(s, narrow, code, x);
    return OK;
}

static Status narrow_sum(const Call *c, const double *sum, float *x)
{
    for (size_t i = 0; i < c->shape->n; i++) {
        if (!(fabs(sum[i]) <= (double)FLT_MAX))
            return payload_bad(c, "element %zu is beyond float32", i);
        x[i] = (float)sum[i];
    }
    return OK;
}

static Status spread_all(const Call *c, const Payload *p, const CasTable *s, const double *mean,
                         uint8_t *code, float *x)
{
    double *sum = NEW_ZERO(c->scratch, double, s->n);
    Reader r = p->index;
    if (!sum)
        return arena_fail(c->scratch, c->err);
    for (uint64_t w = 0; w < p->workers; w++) {
        TRY(take_index(c, p, &r, code));
        table_spread_onto(s, mean, code, sum);
    }
    return narrow_sum(c, sum, x);
}

/* All indices of a sketch, read for nothing but their being whole. */
static Status check_indices(const Call *c, const Payload *p)
{
    const ArenaMark mark = arena_mark(c->scratch);
    uint8_t *code = NEW(c->scratch, uint8_t, c->shape->n);
    Reader r = p->index;
    Status status = code ? OK : arena_fail(c->scratch, c->err);
    for (uint64_t w = 0; w < p->workers && status == OK; w++)
        status = take_index(c, p, &r, code);
    if (status == OK && !reader_done(&r))
        status = payload_bad(c, "more than its workers' indices");
    arena_rewind(c->scratch, mark);
    return status;
}

static Status decode_sketch(const Call *c, const Payload *p, float *x)
{
    CasTable s;
    table_open(&s, c, &p->model);
    uint8_t *code = NEW(c->scratch, uint8_t, s.n);
    uint64_t *count = NEW_ZERO(c->scratch, uint64_t, s.buckets);
    double *mean = NEW(c->scratch, double, s.buckets);
    Reader r = p->index;
    if (!code || !count || !mean)
        return arena_fail(c->scratch, c->err);
    for (uint64_t w = 0; w < p->workers; w++) {
        TRY(take_index(c, p, &r, code));
        TRY(table_counts(&s, code, count));
    }
    if (!reader_done(&r))
        return payload_bad(c, "more than its workers' indices");
    TRY(take_means(c, p, count, mean));
    return p->wide ? spread_all(c, p, &s, mean, code, x) : spread_one(c, &s, mean, code, x);
}

Status cas_decode(const Call *c, Bytes in, float *x)
{
    Payload p;
    TRY(payload_open(c, in, &p));
    if (!p.floats)
        return decode_sketch(c, &p, x);
    memcpy(x, p.value, 4 * c->shape->n);
    const size_t bad = first_nonfinite(x, c->shape->n, NULL);
    return bad == c->shape->n ? OK : payload_bad(c, "element %zu is not finite", bad);
}

/* ---- merging ---- */

typedef struct {
    const Call *c;
    const Payload *in;
    size_t count;
    uint64_t workers;      /* of all */
    const Payload *sketch; /* the first; NULL: there is none */
    bool floats;           /* there are some */
} Merge;

static bool same_model(const ClusterModel *a, const ClusterModel *b)
{
    return a->minus == b->minus && a->plus == b->plus &&
           !memcmp(a->cluster, b->cluster, model_clusters(a) * sizeof *a->cluster);
}

static Status look_at(Merge *m, const Payload *p)
{
    TRY(payload_add_workers(m->c, p->workers, &m->workers));
    m->floats |= p->floats;
    if (p->floats)
        return OK;
    if (m->sketch && !same_model(&m->sketch->model, &p->model)) {
        FAIL(m->c->err, ERR_USAGE, "cas: payloads of different clusters do not merge");
        return error_hint(m->c->err, "all workers need the state that one of them was trained to");
    }
    m->sketch = m->sketch ? m->sketch : p;
    return OK;
}

/* Bytes of the sketches as one. */
static size_t joined_size(const Merge *m)
{
    size_t size = 1 + VARINT_MAX + 3 + 8 * model_clusters(&m->sketch->model) + 8 * m->sketch->buckets;
    for (size_t i = 0; i < m->count; i++) {
        const size_t own = reader_left(&m->in[i].index);
        if (!m->in[i].floats)
            size += own + (m->in[i].wide ? 0 : varint_size(own));
    }
    return size;
}

static void join(const Merge *m, Buf *out)
{
    uint64_t workers = 0;
    for (size_t i = 0; i < m->count; i++)
        workers += m->in[i].floats ? 0 : m->in[i].workers;
    buf_u8(out, PAYLOAD_MERGED);
    buf_varint(out, workers);
    buf_u8(out, FORM_SKETCH);
    cas_put_model(&m->sketch->model, out);
    for (size_t b = 0; b < m->sketch->buckets; b++) {
        double sum = 0;
        for (size_t i = 0; i < m->count; i++)
            sum += m->in[i].floats ? 0 : sum_at(&m->in[i], b);
        buf_f64(out, sum);
    }
    for (size_t i = 0; i < m->count; i++) {
        const Payload *p = &m->in[i];
        if (p->floats)
            continue;
        if (!p->wide)
            buf_varint(out, reader_left(&p->index));
        buf_copy(out, p->index.at, reader_left(&p->index));
    }
}

/* What the sketches decode to together, and the floats. */
static Status add_up(const Merge *m, double *sum)
{
    const size_t n = m->c->shape->n;
    for (size_t i = 0; i < m->count; i++)
        for (size_t k = 0; m->in[i].floats && k < n; k++)
            sum[k] += (double)load_f32(m->in[i].value + 4 * k);
    if (!m->sketch)
        return OK;
    Buf joined = {.cap = joined_size(m)};
    joined.data = NEW(m->c->scratch, uint8_t, joined.cap);
    float *x = NEW(m->c->scratch, float, n);
    if (!joined.data || !x)
        return arena_fail(m->c->scratch, m->c->err);
    join(m, &joined);
    TRY(cas_decode(m->c, buf_bytes(&joined), x));
    for (size_t k = 0; k < n; k++)
        sum[k] += (double)x[k];
    return OK;
}

static Status put_floats(const Merge *m, Buf *out)
{
    const size_t n = m->c->shape->n;
    double *sum = NEW_ZERO(m->c->scratch, double, n);
    float *x = NEW(m->c->scratch, float, n);
    if (!sum || !x)
        return arena_fail(m->c->scratch, m->c->err);
    TRY(add_up(m, sum));
    TRY(narrow_sum(m->c, sum, x));
    buf_u8(out, PAYLOAD_MERGED);
    buf_varint(out, m->workers);
    buf_u8(out, FORM_FLOATS);
    buf_copy(out, x, 4 * n);
    return OK;
}

Status cas_merge(const Call *c, const Bytes *in, size_t count, Buf *out)
{
    Payload *p = NEW(c->scratch, Payload, count);
    Merge m = {.c = c, .in = p, .count = count};
    if (!p)
        return arena_fail(c->scratch, c->err);
    for (size_t i = 0; i < count; i++) {
        TRY(payload_open(c, in[i], &p[i]));
        if (!p[i].floats)
            TRY(check_indices(c, &p[i]));
        TRY(look_at(&m, &p[i]));
    }
    if (m.floats || joined_size(&m) > 4 * c->shape->n)
        return put_floats(&m, out);
    join(&m, out);
    return OK;
}
