/* cas_model.h -- the cluster-aware sketch (cas.c): its parameters, the limits that follow from parameters and
 * shape, and the learning of clusters. */
#ifndef ATOMO_CAS_MODEL_H
#define ATOMO_CAS_MODEL_H

#include "compress/compressor.h"
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

/* Limits that encoder and decoder compute from the spec and the shape. */
typedef struct {
    size_t clusters;  /* upper bound on the number of clusters of both signs together */
    uint64_t buckets; /* upper bound on the number of buckets */
    size_t bytes;     /* upper bound on the bytes of a payload */
    bool raw;         /* the tensor is sent as raw floats */
} CasLimits;

Status cas_check(const Codec *codec, Error *err);
CasLimits cas_limits(const Call *c);

/* Learns clusters from the values x, within cas_limits, and divides the buckets between the clusters. */
Status cas_learn(const Call *c, const float *x, ClusterModel *m);

/* True if a model, learned or read from a payload, is within the limits. */
bool cas_fits(const ClusterModel *m, const CasLimits *l);

#endif
