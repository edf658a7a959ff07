/* report_against.h -- what compare --against writes: for each codec and metric the paired difference to one codec.
 *
 * The reference is codec 0 of the comparison, so its records come first. A row is a metric of another codec, on one
 * vector or on several measured as one. Rows are ordered by place (compare.h), codec, metric. */
#ifndef ATOMO_REPORT_AGAINST_H
#define ATOMO_REPORT_AGAINST_H

#include "measure/paired.h"
#include "report/report_compare.h"

/* The family-wise level: the probability that a table calls any of the differences one, where all are chance. */
#define AGAINST_LEVEL 0.05

/* The metrics compared without --metrics. */
extern const char against_usual[];

/* A codec's metric on the vectors of one record. */
typedef struct {
    Draws draws;     /* count 0: the codec failed, or has not run */
    double mean, se; /* the metric and its standard error; NaN: unknown */
} Drawn;

typedef struct {
    Paired paired;
    Drawn own; /* its draws are not kept */
} Contrast;

typedef struct {
    const Metric **metric; /* (metrics) */
    size_t metrics;
    Drawn *reference;   /* [places][metrics] */
    double *drawn;      /* [places][metrics][repeats] the reference's draws */
    double *draw;       /* (repeats) draws of the codec at hand */
    Contrast *contrast; /* [places][codecs][metrics] */
    const Results *results;
} Against;

/* Takes the metrics from the comma-separated names, which view_check has passed. ERR_USAGE for a metric that is no mean
 * over repeats; the hint lists those that are. */
Status against_metrics(Against *g, const char *names, Arena *a, Error *err);

/* Takes memory for the records of `results`, which is open, and must outlive g. */
Status against_open(Against *g, const Results *results, Arena *a, Error *err);

/* Keeps or compares a record's draws; call it for each record, after results_put. */
void against_put(Against *g, const Record *record);

/* Sets the columns of `spec`, and writes all rows whose two records are there. `per_tensor`: tables have each tensor. */
Status against_write(const Against *g, bool per_tensor, ReportSpec spec, Arena *a, Error *err);

#endif
