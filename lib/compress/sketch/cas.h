/* cas.h -- the parts of the cluster-aware sketch: what its spec says of a shape, how its clusters are learned, and
 * its payloads (compress/cas.c has the layout). */
#ifndef ATOMO_CAS_H
#define ATOMO_CAS_H

#include "compress/sketch/cluster_index.h"
#include "compress/sketch/cas_table.h"

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

/* What both sides know of the shape. */
typedef struct {
    size_t clusters;  /* of both signs, at most */
    uint64_t buckets; /* at most */
    size_t bytes;     /* of a payload, at most */
    bool raw;
} CasLimits;

Status cas_check(const Codec *codec, Error *err);
CasLimits cas_limits(const Call *c);

/* Clusters that the spec allows, from x; and whether some are such. */
Status cas_learn(const Call *c, const float *x, ClusterModel *m);
bool cas_fits(const ClusterModel *m, const CasLimits *l);

ClusterIndex cas_index(const Call *c, size_t clusters);
void cas_put_model(const ClusterModel *m, Buf *out);

/* The hooks for payloads that there are. */
Status cas_decode(const Call *c, Bytes in, float *x);
Status cas_merge(const Call *c, const Bytes *in, size_t count, Buf *out);

#endif
