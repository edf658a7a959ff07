/* gradient_parcels.c -- the parcels of a gradient, and the buckets that they are joined to; for gradient_buckets.h. */
#include "exchange/gradient_buckets.h"

#include "base/text.h"

#include <string.h>

/* ---- parcels ---- */

static bool is_small(const ParcelList *l, size_t tensor)
{
    return l->tensor[tensor].shape.n < l->min_elements;
}

static bool parcel_holds(const ParcelList *l, const Parcel *p, size_t tensor)
{
    return p->count == 1 || !is_small(l, tensor);
}

static void add_parcel(ParcelList *l, size_t first, size_t count, bool raw)
{
    const GradientTensor *t = &l->tensor[first];
    Parcel *p = &l->item[l->count++];
    *p = (Parcel){.name = t->name, .shape = t->shape, .raw = raw, .first = first, .count = count};
    if (count > 1) {
        size_t n = 0;
        for (size_t i = first; i < first + count; i++)
            n += is_small(l, i) ? 0 : l->tensor[i].shape.n;
        p->name = "all";
        p->shape = shape_vector(n);
    }
    if (p->shape.n > l->largest)
        l->largest = p->shape.n;
}

void parcels_make(ParcelList *l, Grouping grouping)
{
    size_t large = 0;
    l->count = l->largest = 0;
    for (size_t i = 0; i < l->tensors; i++) {
        const bool small = is_small(l, i);
        large += !small;
        if (small || grouping == GROUP_TENSOR)
            add_parcel(l, i, 1, small);
    }
    if (large && grouping == GROUP_ALL)
        add_parcel(l, 0, l->tensors, false);
}

static Status add_shards(ParcelList *l, const Codec *codec, const Parcel *whole, size_t *load, size_t workers, Arena *a, Error *err)
{
    for (size_t s = 0; s < workers; s++) {
        Parcel p = *whole;
        p.skip = shots_cut(codec, whole->shape.n, workers, s);
        const size_t n = shots_cut(codec, whole->shape.n, workers, s + 1) - p.skip;
        if (!n)
            continue;
        if (n < whole->shape.n) {
            p.shape = shape_vector(n);
            p.name = text_format(a, "%s[%zu]", whole->name, s);
            TRY(arena_check(p.name, a, err));
        }
        for (size_t w = 0; w < workers; w++)
            p.owner = load[w] < load[p.owner] ? w : p.owner;
        load[p.owner] += n;
        l->item[l->count++] = p;
        l->largest = n > l->largest ? n : l->largest;
    }
    return OK;
}

Status parcels_cut(ParcelList *l, const Codec *codec, size_t workers, Arena *a, Error *err)
{
    const ParcelList whole = *l;
    size_t *load = NEW_ZERO(a, size_t, workers);
    l->item = NEW(a, Parcel, whole.count * workers);
    l->count = l->largest = 0;
    TRY(arena_check(load && l->item, a, err));
    for (const Parcel *p = whole.item; p < whole.item + whole.count; p++)
        if (p->raw) {
            l->item[l->count++] = *p;
            l->largest = p->shape.n > l->largest ? p->shape.n : l->largest;
        } else {
            TRY(add_shards(l, codec, p, load, workers, a, err));
        }
    return OK;
}

/* The part of a tensor that a parcel holds: `count` elements from `from` on, which stand at `to` in the parcel. */
typedef struct {
    size_t from, to, count;
} Piece;

/* `at`: where the tensor begins in the vector of the parcel's tensors. */
static Piece piece_of(const Parcel *p, const GradientTensor *t, size_t at)
{
    const size_t low = at > p->skip ? at : p->skip, end = p->skip + p->shape.n,
                 high = at + t->shape.n < end ? at + t->shape.n : end;
    return low < high ? (Piece){low - at, low - p->skip, high - low} : (Piece){0};
}

void parcel_load(const ParcelList *l, const Parcel *p, const float *gradient, double gain, float *to)
{
    for (size_t i = p->first, at = 0; i < p->first + p->count; i++) {
        const GradientTensor *t = &l->tensor[i];
        if (!parcel_holds(l, p, i))
            continue;
        const Piece piece = piece_of(p, t, at);
        const float *from = gradient + t->offset + piece.from;
        if (gain == 1)
            memcpy(to + piece.to, from, piece.count * sizeof *to);
        else
            for (size_t j = 0; j < piece.count; j++)
                to[piece.to + j] = (float)(gain * (double)from[j]);
        at += t->shape.n;
    }
}

void parcel_store(const ParcelList *l, const Parcel *p, const float *from, float *gradient)
{
    for (size_t i = p->first, at = 0; i < p->first + p->count; i++) {
        const GradientTensor *t = &l->tensor[i];
        if (!parcel_holds(l, p, i))
            continue;
        const Piece piece = piece_of(p, t, at);
        memcpy(gradient + t->offset + piece.from, from + piece.to, piece.count * sizeof *from);
        at += t->shape.n;
    }
}

const float *bucket_load(const GradientExchange *x, const Parcel *p, size_t w, const Workspace *ws)
{
    parcel_load(&x->parcels, p, x->gradient[w], x->weight[w] * (double)x->senders, ws->x);
    return ws->x;
}

Exchange bucket_exchange(const GradientExchange *x, const Parcel *p, const Workspace *ws)
{
    const Codec *codec = p->raw ? x->none : x->spec.node ? x->spec.within : x->spec.codec;
    const size_t senders = x->spec.node && !p->raw ? x->spec.node : x->senders ? x->senders : x->spec.workers;
    return (Exchange){.call = {.self = codec,
                               .shape = &p->shape,
                               .workers = (int)senders,
                               .leader = x->leader,
                               .threads = ws->threads,
                               .scratch = ws->scratch,
                               .err = ws->err},
                      .seed = x->spec.seed,
                      .tensor = rng_hash(p->name),
                      .step = (int64_t)x->step,
                      .senders = x->spec.senders && !p->raw,
                      .keep = true,
                      .y = ws->y,
                      .clock = ws->clock,
                      .rounds = codec_rounds(codec)};
}

ExchangeWorker *bucket_worker(const GradientExchange *x, const Parcel *p, size_t w)
{
    return &x->worker[w * x->parcels.count + (size_t)(p - x->parcels.item)];
}

Status bucket_blame(const GradientExchange *x, const char *name, size_t w, Status status, Error *err)
{
    return status == OK ? OK : error_at(err, "step %zu: worker %zu: %s", x->step, w, name);
}

const Parcel *bucket_parcel(const GradientExchange *x, const Bucket *b, size_t j)
{
    return &x->parcels.item[b->low + b->count - 1 - j];
}

/* Adds parcels to a bucket while their gradients have at most `bucket_bytes` bytes together. */
void buckets_make(GradientExchange *x, RelayTensor *tensor)
{
    size_t bytes = 0;
    x->buckets = 0;
    for (size_t i = x->parcels.count; i-- > 0;) {
        const Parcel *p = &x->parcels.item[i];
        const size_t size = p->shape.n * sizeof(float);
        const bool joined = i + 1 < x->parcels.count && p[1].skip > 0; /* shards of a tensor stay together */
        if (!joined && (!x->buckets || bytes + size > x->spec.bucket_bytes)) {
            x->bucket[x->buckets++] =
                (Bucket){.first = p->first, .tensor = tensor + (x->parcels.count - 1 - i)};
            bytes = 0;
        }
        Bucket *b = &x->bucket[x->buckets - 1];
        b->low = i;
        b->first = p->first < b->first ? p->first : b->first;
        b->count++;
        bytes += size;
    }
}

Status bucket_take(const GradientExchange *x, const Parcel *p, RelayTensor *t)
{
    const int round = t->x.call.round;
    for (size_t w = 0; w < x->spec.workers; w++)
        if (x->sends[w])
            TRY(bucket_blame(x, t->name, w, exchange_take(&t->x, bucket_worker(x, p, w), t->sent[w][round]),
                             t->x.call.err));
    return exchange_end_round(&t->x);
}
