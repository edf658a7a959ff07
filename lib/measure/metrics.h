/* metrics.h -- what is measured of a codec on a vector, and how vectors' figures make those of one long vector.
 *
 * A Tally holds sums, not results: those of one vector, or of several end to end. Sums are in double, block
 * by block in the order of the blocks, whatever the number of threads. The table `metrics` turns a tally into
 * results. */
#ifndef ATOMO_METRICS_H
#define ATOMO_METRICS_H

#include "base/arena.h"
#include "vec/kernels.h"

/* What a record is about. Each level has its own 95th percentile of |g|, which divides big elements from small. */
typedef enum {
    LEVEL_VECTOR, /* one vector */
    LEVEL_CELL,   /* all vectors of one step and worker */
    LEVEL_RUN,    /* everything selected */
    LEVELS,
} Level;
_Static_assert((int)LEVELS == (int)THRESHOLDS, "one threshold for each level");

typedef struct {
    Level level;
    size_t repeats;  /* R */
    size_t decoded;  /* how many of them were really decoded: 1 where nothing is random */
    double n, cells; /* elements; steps and workers that sizes and times are spread over */
    double bytes, bytes_min, bytes_max;
    double encode, encode_min, decode, decode_min; /* seconds */
    double entropy;                                /* bits, mean over repeats; NaN: not told */
    double raw;                                    /* tensors sent raw */
    double expected;                               /* the codec's own variance; NaN: unknown */
    double residual2;                              /* NaN: there is none */
    double scratch;                                /* bytes */
    double wasserstein;                            /* NaN: unknown */
    double largest;                                /* max |d| */
    double merge,
        each;      /* merging: seconds that payloads take undecoded (NaN: they cannot), and decoded each */
    double merged; /* merging: bytes of the aggregate; NaN: there is none */
    double early;  /* bytes that all hear in the rounds before the last */
    double gradient[G_SUMS];
    double (*error)[E_SUMS]; /* (decoded) */
    double spread[S_SUMS];   /* of repeats around their mean, and of that mean around g */
    bool spread_known;       /* false when one random repeat is all there is */
    bool percentile_known;   /* of its own level */
} Tally;

/* An empty tally. Where nothing is random one decoding stands for all repeats. */
Status tally_open(Tally *t, Level level, size_t repeats, bool random, Arena *a, Error *err);

/* The vector that is measured, and where: `half` and `root` (n each) hold what repeats add up to
 * (spread_add), NULL where one decoding stands for all. With repeats up to 1000, float32 there costs results
 * 1e-6 of their value at most; of a codec whose bias is far above its spread, 1e-9 times that ratio. */
typedef struct {
    const float *x;
    size_t n;
    double above[LEVELS]; /* 95th percentiles of |g|, NaN where unknown */
    float *half, *root;
    int threads;
    Arena *scratch;
    Error *err;
} Subject;

Status tally_gradient(Tally *t, const Subject *s);

/* Decoded vector y of repeat r; to be called for r = 0, 1, .. in order. */
Status tally_repeat(Tally *t, const Subject *s, size_t r, const float *y);

/* After the last repeat. */
Status tally_spread(Tally *t, const Subject *s);

/* Puts `part`, which may be of a lower level, behind what `total` has; `wasserstein` and `cells` are left alone. */
void tally_append(Tally *total, const Tally *part);

typedef enum {
    FORM_REAL,
    FORM_COUNT, /* prints without a fraction, where it has none */
    FORM_TIME,  /* a clock must have run for it */
} MetricForm;

typedef struct {
    const char *name;  /* field name */
    const char *title; /* heading in human tables; NULL: too special for them */
    const char *brief;
    MetricForm form;
    double (*of)(const Tally *t); /* NaN: the value does not exist */
} Metric;

extern const Metric metrics[];                       /* in the order of results; ends in {0} */
const Metric *metric_find(const char *name);         /* NULL: no such metric */
const char *metric_name(const void *data, size_t i); /* for text_nearest; data is not used */

#endif
