/* gradient_buckets.h -- cuts a gradient into parcels, and joins runs of parcels whose payloads travel in one message; for the
 * files of this room only.
 * Buckets begin with the last parcel, because the backward pass computes the gradient of the last tensor first.
 *
 * A bucket is encoded, carried to all ranks, and finished; then the codec states are settled. Each of these functions is
 * called on all ranks for the same bucket. While one thread carries a bucket, another may handle other buckets, if both
 * have workspaces of their own. */
#ifndef ATOMO_GRADIENT_BUCKETS_H
#define ATOMO_GRADIENT_BUCKETS_H

#include "base/parallel.h"
#include "exchange/gradient.h"
#include "exchange/relay.h"

/* ---- parcels: the vectors that a codec encodes as a whole, each tensor, or all tensors end to end. Tensors under
 * min_elements are parcels of their own, and are sent as raw floats. ---- */

typedef struct {
    const char *name;
    Shape shape;
    bool raw; /* true: the vector is sent by the codec `none` */
    /* the tensors `first` .. `first` + `count` - 1; if `count` > 1, tensors under `min_elements` are left
     * out */
    size_t first, count;
    /* a parcel may be a shard of its tensors' vector (shots.h): the elements from `skip` on */
    size_t skip;
    size_t owner; /* the worker that quantises the shard's mean */
} Parcel;

typedef struct {
    const GradientTensor *tensor;
    size_t tensors, min_elements;
    Parcel *item;
    size_t count;
    size_t largest; /* elements of the largest parcel */
} ParcelList;

/* Makes the parcels. `l->item` has room for `l->tensors` + 1. */
void parcels_make(ParcelList *l, Grouping grouping);

/* Cuts parcels that are not raw into shards for this number of workers. An owner is the worker that owns the fewest elements so
 * far. */
Status parcels_cut(ParcelList *l, const Codec *codec, size_t workers, Arena *a, Error *err);

/* Copies the values of a parcel, times `gain`, from a gradient to `to` (p->shape.n). */
void parcel_load(const ParcelList *l, const Parcel *p, const float *gradient, double gain, float *to);

/* Copies the values of a parcel (p->shape.n) to a gradient. */
void parcel_store(const ParcelList *l, const Parcel *p, const float *from, float *gradient);

/* ---- buckets ---- */

/* The working memory of one thread. */
typedef struct {
    Arena *scratch;
    float *x, *y; /* room for the largest parcel */
    int threads;
    ExchangeClock clock;
    Error *err;
} Workspace;

typedef struct {
    size_t low, count;   /* the parcels low .. low + count - 1 */
    size_t first;        /* the first tensor of these parcels */
    RelayTensor *tensor; /* (count) tensor[j] is the parcel low + count - 1 - j */
    Arena *payloads;
    /* first the result of bucket_encode; the result of bucket_carry when the bucket has been carried */
    Status status;
} Bucket;

struct GradientExchange {
    Arena *arena;
    Arena *payloads; /* of all buckets, unless they overlap */
    ArenaMark empty; /* the mark of an empty arena */
    GradientSpec spec;
    const Codec *none;
    ParcelList parcels;
    Bucket *bucket;
    size_t buckets;
    RelayTensor *
        *part; /* (parcels) working memory of bucket_carry: the parcels of a bucket that have a round */
    CodecStates states;
    ExchangeWorker *worker; /* (workers, parcels) */
    char *plan;             /* (workers, parcels) records of `codec_plan`, `plan_size` bytes each */
    size_t plan_size;       /* 0: no plan, as the codec does not divide a budget between parcels */
    /* bytes that all workers sent in this step of tensors whose sums are quantised again; `near`: of them within nodes */
    double shot, near;
    Bytes (*nothing)[ROUNDS_MAX]; /* (workers) no payloads, of a bucket that could not be encoded */
    const Codec *again;     /* the codec of the second quantisation */
    void **owner_state;     /* (parcels) its states, of shards that this rank's workers own; NULL: none */
    void **leader_state;    /* (nodes, parcels) states of spec.codec between nodes, of shards that this rank's workers lead */
    size_t own, end;        /* this rank's workers: own .. end - 1 */
    Relay relay;

    /* Workspaces of the calling thread and of the thread that carries buckets. If the caller carries them, `carrier`
     * is NULL, and both are the same. */
    Workspace main, second, *carrying;
    struct Background *carrier; /* gradient.c */
    bool early;      /* true: a bucket may be encoded as soon as its tensors are complete */
    size_t posted;   /* buckets of this step that have been encoded and handed to bucket_carry */
    bool stuck;      /* true: the last posted bucket has failed on this rank */
    Status computed; /* status of this rank when all buckets have been posted */
    Status carried;  /* status of the buckets that have been carried; the same on all ranks */
    Status settled;  /* status of settling this rank's workers */
    double waited;   /* GradientBytes.waited of this step */

    /* The current step. */
    size_t step, senders, first, leader; /* `senders`: number of workers that send; `first`: the first one; `leader`: of Call */
    float *const *gradient;
    const double *weight;
    const bool *sends;
    float *agreed;
    GradientBytes bytes;
};

/* Returns worker w's values of a parcel, times weight[w] and the number of workers that send. The unweighted
 * mean over these workers is then the weighted mean of the gradients. The values are in ws->x. */
const float *bucket_load(const GradientExchange *x, const Parcel *p, size_t w, const Workspace *ws);

/* Returns the exchange of a parcel in the current step, without memory for its payloads. */
Exchange bucket_exchange(const GradientExchange *x, const Parcel *p, const Workspace *ws);

static inline int bucket_rank(const GradientExchange *x, size_t w)
{
    return relay_rank_of(x->spec.net, x->spec.way, x->spec.workers, w);
}

static inline bool bucket_is_own(const GradientExchange *x, size_t w)
{
    return w >= x->own && w < x->end;
}

ExchangeWorker *bucket_worker(const GradientExchange *x, const Parcel *p, size_t w);

/* Adds step, worker and tensor to an error. */
Status bucket_blame(const GradientExchange *x, const char *name, size_t w, Status status, Error *err);

/* Makes x->bucket from x->parcels. `tensor` has room for all parcels. */
void buckets_make(GradientExchange *x, RelayTensor *tensor);

const Parcel *bucket_parcel(const GradientExchange *x, const Bucket *b, size_t j); /* the parcel of tensor j */

/* Takes the payloads of all workers, in the order of workers. */
Status bucket_take(const GradientExchange *x, const Parcel *p, RelayTensor *t);

/* Names the bucket's tensors, for a step. */
void bucket_open(const GradientExchange *x, Bucket *b, const Workspace *ws);
/* Encodes one round of this rank's workers. */
Status bucket_encode(const GradientExchange *x, Bucket *b, int round, Workspace *ws);

/* Carries the payloads of all rounds, and encodes the later rounds. Errors are the same on all ranks, except
 * errors of merging and decoding. These two fail on all ranks or on none, unless one rank runs out of
 * memory. */
Status bucket_carry(GradientExchange *x, Bucket *b, Workspace *ws);

/* Decodes the payloads, and copies the mean to x->agreed. */
Status bucket_finish(GradientExchange *x, Bucket *b, Workspace *ws);

/* Settles the states of the workers that this rank follows. */
Status bucket_settle(const GradientExchange *x, Bucket *b, Workspace *ws);

/* ---- tensors whose sums are quantised again (gradient_shots.c), for the functions above ---- */

/* Finds the states of the owners' and leaders' codecs. */
Status shots_open(GradientExchange *x, Error *err);

/* Carries the bucket's tensors that have `shots`. `status`: of bucket_encode. */
Status shots_carry(GradientExchange *x, Bucket *b, Workspace *ws, Status status);

/* Decodes the mean of a tensor to t->x.y. */
Status shots_receive(const GradientExchange *x, const Parcel *p, RelayTensor *t);

/* Settles the states of this rank's owners and leaders. t->x.y has the mean. */
Status shots_settle(const GradientExchange *x, const Parcel *p, RelayTensor *t, const Workspace *ws);

#endif
