/* metrics.h -- measures a codec on a vector. Measurements of several vectors can be added, as if the vectors
 * were one long vector.
 *
 * A Tally holds sums, from which the table `metrics` computes results. Sums are doubles, added in the order
 * of blocks of elements, so they do not depend on the number of threads. */
#ifndef ATOMO_METRICS_H
#define ATOMO_METRICS_H

#include "base/arena.h"
#include "math/stats.h"
#include "math/vec/kernels.h"

/* Which vectors a record is about. Each RecordLevel has its own 95th percentile of |g|, which separates
 * large elements of the gradient g from small ones. */
typedef enum {
    LEVEL_VECTOR, /* a single vector */
    LEVEL_CELL,   /* all vectors of one step and worker, as one long vector */
    LEVEL_RUN,    /* all selected vectors, as one long vector */
    LEVELS,
} RecordLevel;
_Static_assert((int)LEVELS == (int)THRESHOLDS, "one threshold for each level");

enum { DECILES = 10, DECILE_PARTS = 3 };

typedef struct {
    RecordLevel level;
    size_t repeats;          /* number of repeats; R in formulas */
    size_t decoded;          /* repeats that are decoded: R, or 1 if the codec is not random */
    double (*error)[E_SUMS]; /* for each decoded repeat: sums over its estimate */
    /* For each decoded repeat: by how much it makes spread[S_M2] grow */
    double *grown;
    /* For each decoded repeat: `sent` is the bytes of its payload (0 in merges), `distance` its Wasserstein
     * distance W1 (NaN: not measured). `tally_save` writes neither array. */
    double *sent, *distance;
    /* number of (step, worker) pairs, by which sums of sizes and times are divided */
    double cells;
    double wasserstein;   /* Wasserstein distance W1 of repeat 0; NaN: unknown */
    Moments distances;    /* W1 of the first repeats, as many as memory and time allow */
    /* for tenths of the elements by |g|, small ones first: the 10th, 50th and 90th percentile of |estimate_i - g_i| / |g_i| in
     * repeat 0, of a sample of the elements; the first NaN: not measured */
    double decile[DECILES][DECILE_PARTS];
    double residual2;     /* squared norm of the residual; NaN: none */
    double scratch;       /* peak bytes of working memory */
    double largest;       /* largest |estimate_i - g_i| over elements and repeats */
    double none;          /* probability that an estimate is all zeros, as far as the codec knows it */
    /* 1: each worker draws its own random numbers, so that averaging P estimates divides their variance by P; 0: all
     * workers draw the same numbers; NaN: between both, or the estimates are means over workers already */
    double own_draws;

    /* Sums over vectors: `tally_append` adds each from `n` to `spread`. */
    double n; /* number of elements */
    double bytes, bytes_min, bytes_max;
    double encode, encode_min, decode, decode_min; /* seconds */
    double entropy; /* bits, mean over repeats; NaN: the codec does not report them */
    /* `entropies`: variance of the entropy over repeats; `entropy_sizes`: covariance of the entropy and the
     * payload's bytes */
    double entropies, entropy_sizes;
    double raw;      /* number of tensors sent as raw floats, mean over repeats */
    double expected; /* variance from codec_variance; NaN: unknown */
    /* variance of `expected` over repeats, if the codec has GIVEN_DRAWS, else 0; NaN: one repeat does not show it */
    double expected_spread;
    /* mean and variance over repeats of the payload's bytes minus an excess, which the repeat's random draw causes (harness.h) */
    double size, size_spread;
    double squares;  /* sum of v^2 over the variances v of elements or atoms (harness.h); NaN: unknown */
    double fourths;  /* sum of the fourth cumulants of atoms (harness.h); 0: unknown */
    double weighted; /* closed-form variance of <estimate, g>; 0: unknown */
    /* sum of (v g^2)^2 over those elements g whose variances v are measured, not known */
    double weighted_squares;
    double sizes; /* variance of the payload's bytes over repeats */
    /* third central moments over repeats, like the variances size_spread, sizes and entropies */
    double size_third, sizes_third, entropies_third;
    double encode_spread, decode_spread; /* variances of the medians `encode` and `decode`, seconds^2 */
    /* for merges, seconds. `merge`: time to merge all payloads (NaN: the codec cannot merge). `each`: time
     * to decode all payloads one by one and to add the estimates. */
    double merge, each;
    double merge_spread, each_spread; /* variances of the medians `merge` and `each`, seconds^2 */
    /* for merges: bytes of the merged payloads of all rounds; NaN: the codec cannot merge */
    double merged;
    double merged_spread; /* variance of `merged` over repeats */
    double early; /* bytes of all rounds but the last: of merged payloads in merges, else of payloads */
    double gradient[G_SUMS];
    /* Sums (S_... in math/vec/kernels.h) that measure how estimates deviate from their mean over repeats, and how
     * this mean deviates from g. */
    double spread[S_SUMS];

    /* `tally_append` keeps each from `unbiased` to `spread_known` that holds for both tallies. */
    bool unbiased;         /* the codec promises that the estimate's mean is g */
    bool along_known;      /* spread[S_M2_WEIGHTED] / (R - 1) is the variance of <estimate, g> */
    bool signs_known;      /* the errors of elements are independent, and `expected` is known */
    bool fixed_size;       /* no draw changes the payload's size */
    bool size_known;       /* `size` is the expected size, whatever the repeats have drawn */
    bool spread_known;     /* false: the codec is random and there is only one repeat */
    bool percentile_known; /* true: the 95th percentile of |g| for the tally's RecordLevel is known */
} Tally;

/* Opens an empty tally, with its sums in the arena. If `random` is false, one repeat is decoded and counts
 * for all. */
Status tally_open(Tally *t, RecordLevel level, size_t repeats, bool random, Arena *a, Error *err);

/* Says that repeat 0 alone is decoded, although the codec is random: standard errors over repeats are unknown. */
static inline void tally_one_draw(Tally *t)
{
    t->spread_known = t->spread_known && t->decoded == 1;
    t->decoded = 1;
}

/* The measured vector g. `half` and `root` have n elements each, or are NULL if only one repeat is decoded.
 * `half` holds half of each element's mean error over the repeats so far. `root` holds the square root of
 * each element's summed squared deviations. Storing the arrays as float32 changes results over up to 1000 repeats
 * by at most 1e-6 of their value, or by 1e-9 times the ratio of bias to spread. */
typedef struct {
    const float *x;
    size_t n;
    double above[LEVELS]; /* 95th percentiles of |g|; NaN: unknown */
    float *half, *root;
    int threads;
    Arena *scratch;
    Error *err;
} MeasuredVector;

/* Computes the sums over g. Called before `tally_repeat`. */
Status tally_gradient(Tally *t, const MeasuredVector *s);

/* Adds the sums over the estimate y (s->n) of repeat r. Called for r = 0, 1, ... in order. */
Status tally_repeat(Tally *t, const MeasuredVector *s, size_t r, const float *y);

/* Fills `spread`. Called after the last `tally_repeat`. */
Status tally_spread(Tally *t, const MeasuredVector *s);

/* Adds the tally `part` to `total`. `part` may have a lower RecordLevel. Leaves `wasserstein`, `distance`,
 * `distances`, `decile`, `cells` and `percentile_known` of `total` unchanged. */
void tally_append(Tally *total, const Tally *part);

/* Multiplies the sums of a tally of one vector, a sample, by `by`: by how many elements each of its elements stands for. */
void tally_scale(Tally *t, double by);

/* A tally as an array of tally_numbers(t) numbers, which FILE.part keeps: all but `level`, `sent` and `distance`. tally_load
 * takes an open tally of as many decoded repeats. */
size_t tally_numbers(const Tally *t);
void tally_save(const Tally *t, double *to);
void tally_load(Tally *t, const double *from);

/* ---- standard errors (metrics_errors.c) ----
 *
 * Repeats are independent draws, so the standard error of a mean over them is their standard deviation /
 * sqrt(R). It is NaN if `errors_known` is false, and 0 if the codec is not random. Callers multiply it by a
 * quantile of Student's t for R - 1 degrees of freedom. Values of few repeats that are skewed give too short
 * intervals, so `moments_se` and `values_se` return more than standard deviation / sqrt(R). */

/* Returns true if all draws give the same values for certain: the codec is not random, or makes no error. */
static inline bool never_varies(const Tally *t)
{
    return (t->decoded == 1 && t->spread_known) || t->expected == 0;
}

/* Returns true if the repeats show how results vary. Returns false for one repeat of a random codec, and for
 * repeats with equal errors unless the codec's variance is known to be 0. In the second case no repeat may have drawn any
 * of the rare atoms. */
bool errors_known(const Tally *t);

/* Returns the standard deviation / sqrt(R) of the error sum `sum` (E_...), for the tests of bias. NaN where equal sums may be
 * chance. */
double sum_se(const Tally *t, int sum);

/* Returns by how much the standard error of the mean of n values of this skewness is widened.
 *
 * The factor 1 + 2 G^2 / n allows for the skewness G of the n values. The second term of
 * Edgeworth's expansion of t widens a 95 % interval by 1.08 G^2 / n (Hall, Annals of Probability 15 (1987)
 * 920). The factor has 2 instead of 1.08 because the skewness of a small sample is estimated too small: ten
 * exponential values have half of the true G^2 on average. The symmetric bootstrap-t (Hall, J. R. Statist.
 * Soc. B 50 (1988) 35) covers about as often. */
static inline double skew_factor(double skewness, double n)
{
    return 1 + 2 * skewness * skewness / n;
}

/* Returns the standard error of the mean of m->n values, one for each of n repeats. It exceeds standard
 * deviation / sqrt(n) if the values are skewed, or if n < R. */
double moments_se(const Tally *t, const Moments *m);

/* Returns the standard error of the mean of value(t, r) over the decoded repeats, without NaN values. It is
 * the result of `moments_se`, unless the codec may decode to all zeros with a known probability. */
double values_se(const Tally *t, double (*value)(const Tally *t, size_t r));

/* Returns the standard error of the mean cosine of h and g over the decoded repeats: the result of
 * `values_se`, but larger if the measured variance of <h, g> is below the codec's closed form. */
double cosine_se(const Tally *t, double (*cosine)(const Tally *t, size_t r));

/* Returns the standard error of the metric `variance`. `mse_se` is that of the mean squared error. */
double spread_se(const Tally *t, double mse_se);

/* Returns the standard error of mse - variance, an unbiased estimate of |E h - g|^2. */
double bias2_se(const Tally *t);

/* Returns the smallest b for which the test finds the factor 1 + b on every estimate h with probability 0.9, and the shift
 * h + b g with 0.9 or more. `se` and `freedom` are those of the gain without the bias (freedom NaN: normal tails), `known` says
 * that `se` is no estimate, `level` is the significance level of the test. NaN: no factor shows, or `freedom` is too low to say. */
double bias_detectable(double se, double freedom, bool known, double level);

/* ---- the table ---- */

typedef enum {
    FORM_REAL,
    FORM_COUNT, /* printed without a fraction if the value is an integer */
    FORM_TIME,  /* a time: NaN unless the comparison measures times */
} MetricForm;

typedef struct {
    const char *name; /* name of the field; report/fields.h has its heading and its meaning */
    MetricForm form;
    /* The first of these that is set gives the value: `of` the sums, `among` the sums for a number of workers, `each` the standard
     * error of the mean over repeats of this function's results, `mean` the mean of `draw`; else the member of the Tally at offset
     * `at`, in seconds for FORM_TIME */
    double (*of)(const Tally *t);
    double (*among)(const Tally *t, double workers);
    double workers;
    double (*each)(const Tally *t, size_t r);
    double least; /* of `each`: there is none if g has fewer non-zero elements, or large ones for `big`, and the repeats differ */
    bool big;
    bool mean;
    size_t at;
    bool per_cell, root, rate; /* of `at`: divided by Tally.cells; its square root; 1e9 raw bytes over it */
    /* the value is half of that, for data of 16 bits; or that over |g|^2; or that, bytes of a cell, as bits an element */
    enum { ALL_OF_IT, HALF, OF_NORM, BITS_AN_ELEMENT } share;
    /* computes the value for decoded repeat r; NULL: the metric is not a mean over repeats */
    double (*draw)(const Tally *t, size_t r);
} Metric;

extern const Metric metrics[]; /* in the order in which results are printed; ends in {0} */
/* returns the metric's value (times in ms); NaN: it does not exist */
double metric_value(const Metric *m, const Tally *t);
const Metric *metric_find(const char *name); /* returns NULL if there is no such metric */
/* a callback for text_nearest that returns the name of metric i; ignores `data` */
const char *metric_name(const void *data, size_t i);

#endif
