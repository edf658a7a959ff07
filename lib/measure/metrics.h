/* metrics.h -- measurements of a codec on a vector, and their sums over several vectors taken as one.
 *
 * A Tally holds sums, from which the table `metrics` computes results. Sums are in double and added in the order of the
 * blocks, so they are equal for any number of threads. */
#ifndef ATOMO_METRICS_H
#define ATOMO_METRICS_H

#include "base/arena.h"
#include "vec/kernels.h"

/* The vectors of a record. Each level has its own 95th percentile of |g|, which separates big elements from small. */
typedef enum {
    LEVEL_VECTOR, /* one vector */
    LEVEL_CELL,   /* all vectors of one step and worker, as one */
    LEVEL_RUN,    /* all vectors selected, as one */
    LEVELS,
} RecordLevel;
_Static_assert((int)LEVELS == (int)THRESHOLDS, "one threshold for each level");

typedef struct {
    RecordLevel level;
    size_t repeats;  /* R */
    size_t decoded;  /* repeats decoded: R, or 1 if the codec is not random */
    double n, cells; /* elements; cells, over which sizes and times are averaged */
    double bytes, bytes_min, bytes_max;
    double encode, encode_min, decode, decode_min; /* seconds */
    double entropy;                                /* bits, mean over repeats; NaN: not reported */
    double raw;                                    /* tensors sent raw, mean over repeats */
    double expected;                               /* codec_variance; NaN: unknown */
    double residual2;                              /* squared norm of the residual; NaN: none */
    double scratch;                                /* most bytes of working memory */
    double wasserstein;                            /* NaN: unknown */
    double largest;                                /* max |h_i - g_i| over repeats */
    double merge,
        each;      /* merge: seconds to merge all payloads (NaN: they do not merge); to decode and add each */
    double merged; /* merge: bytes of the merged payloads, all rounds; NaN: none */
    double early;  /* bytes of the merged payloads of the rounds before the last */
    double gradient[G_SUMS];
    double (*error)[E_SUMS]; /* (decoded) */
    double spread[S_SUMS];   /* repeats around their mean, and their mean around g */
    bool spread_known;       /* false: random, with one repeat */
    bool percentile_known;   /* of the tally's level */
} Tally;

/* An empty tally; its sums live in the arena. Not random: one decoding for all repeats. */
Status tally_open(Tally *t, RecordLevel level, size_t repeats, bool random, Arena *a, Error *err);

/* The vector g that is measured. `half` and `root` (n each) accumulate the repeats (spread_add); NULL where one decoding
 * serves for all. They are float32, which with up to 1000 repeats costs results at most 1e-6 of their value, or 1e-9 times
 * the ratio of bias to spread. */
typedef struct {
    const float *x;
    size_t n;
    double above[LEVELS]; /* 95th percentiles of |g|, NaN where unknown */
    float *half, *root;
    int threads;
    Arena *scratch;
    Error *err;
} MeasuredVector;

/* The sums of g; before the others. */
Status tally_gradient(Tally *t, const MeasuredVector *s);

/* The sums of repeat r's estimate y (n); for r = 0, 1, .. in order. */
Status tally_repeat(Tally *t, const MeasuredVector *s, size_t r, const float *y);

/* The sums over repeats; after the last. */
Status tally_spread(Tally *t, const MeasuredVector *s);

/* Adds `part`, which may be of a lower level, to `total`, except for `wasserstein` and `cells`. */
void tally_append(Tally *total, const Tally *part);

typedef enum {
    FORM_REAL,
    FORM_COUNT, /* prints without a fraction, where it has none */
    FORM_TIME,  /* a clock must have run for it */
} MetricForm;

typedef struct {
    const char *name; /* of the field; report/fields.h has its heading and its meaning */
    MetricForm form;
    double (*of)(const Tally *t); /* NaN: the value does not exist */
} Metric;

extern const Metric metrics[];                       /* in the order of results; ends in {0} */
const Metric *metric_find(const char *name);         /* NULL: no such metric */
const char *metric_name(const void *data, size_t i); /* for text_nearest; data is not used */

#endif
