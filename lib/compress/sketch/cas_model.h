/* cas_model.h -- the cluster-aware sketch (cas.c): its keys, the limits that they set for a shape, and the learning of
 * clusters. */
#ifndef ATOMO_CAS_MODEL_H
#define ATOMO_CAS_MODEL_H

#include "codec/compressor.h"
#include "compress/sketch/clusters.h"

typedef struct {
    int64_t clusters, buckets, bins, sample, min, period;
    double bits, percentile;
    int allocate, index;
    char sizes[96];
} Cas;

enum { BY_ENTROPY, BY_ENTROPY_CENTRE, BY_DENSITY, BY_HAND };

static inline const Cas *cas_params(const Call *c)
{
    return c->self->params;
}

/* What encoder and decoder know from the spec and the shape. */
typedef struct {
    size_t clusters;  /* of both signs, at most */
    uint64_t buckets; /* at most */
    size_t bytes;     /* of a payload, at most */
    bool raw;         /* the tensor is sent as floats */
} CasLimits;

Status cas_check(const Codec *codec, Error *err);
CasLimits cas_limits(const Call *c);

/* Learns clusters within the limits from x, and shares out their buckets. */
Status cas_learn(const Call *c, const float *x, ClusterModel *m);

/* Whether a model, learned or read, is within the limits. */
bool cas_fits(const ClusterModel *m, const CasLimits *l);

#endif
