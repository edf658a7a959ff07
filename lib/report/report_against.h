/* report_against.h -- writes the results of compare --against: for each codec and metric, the paired
 * difference to a reference codec.
 *
 * The reference is codec 0 of the comparison. A row is about one metric of another codec in one record of the
 * comparison (a tensor, a step or all steps). Rows are in the order of records, then codecs, then metrics. */
#ifndef ATOMO_REPORT_AGAINST_H
#define ATOMO_REPORT_AGAINST_H

#include "measure/paired.h"
#include "report/report_compare.h"

/* Family-wise error level: the probability that a table reports any difference although there are none. */
#define AGAINST_LEVEL 0.05

/* The metrics compared without --metrics. */
extern const char against_usual[];

/* The values of a codec's metric on the vectors of one record. */
typedef struct {
    Draws draws;     /* `draws.count` 0: the codec failed, or has not run */
    double mean, se; /* the metric and its standard error; NaN: unknown */
} Drawn;

typedef struct {
    Paired paired;
    Drawn own; /* `own.draws` is valid until the next record */
} Contrast;

typedef struct {
    const Metric **metric; /* (metrics) */
    size_t metrics;
    Drawn *reference;   /* [places][metrics]; a place is the position of a record (report_compare.h) */
    double *drawn;      /* [places][metrics][repeats] the reference's draws */
    double *draw;       /* (repeats) values of the codec that is compared with the reference */
    Contrast *contrast; /* [places][codecs][metrics] */
    const Results *results;
} Against;

/* Takes the metrics from their comma-separated names, which `view_check` has accepted. Returns ERR_USAGE if a
 * metric is not a mean over repeats. */
Status against_metrics(Against *g, const char *names, Arena *a, Error *err);

/* Allocates memory for all records of the comparison. `results` must be open, and must outlive g. */
Status against_open(Against *g, const Results *results, Arena *a, Error *err);

/* Stores the values of a record of the reference codec, or compares another codec's record with them. Called
 * for each record after `results_put`. */
void against_put(Against *g, const Record *record);

/* Sets the columns of `spec`, and writes the rows of all records that the other codecs have. A row has no numbers if
 * one of the two codecs failed. If `per_tensor`, tables also show rows of single tensors. */
Status against_write(const Against *g, bool per_tensor, ReportSpec spec, Arena *a, Error *err);

#endif
