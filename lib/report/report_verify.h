/* report_verify.h -- verdicts as rows: a row for each verdict in csv, in json and with --per-tensor; otherwise a row for each
 * statement, with the vector that has the least margin. */
#ifndef ATOMO_REPORT_VERIFY_H
#define ATOMO_REPORT_VERIFY_H

#include "report/report.h"
#include "verify/verify.h"

/* The verdicts on one statement, or on all. */
typedef struct {
    size_t checked, failed, absent; /* absent: vectors to which it does not apply */
    VerifyVerdict worst;
    const Vector *at;
} VerifyTally;

typedef struct {
    Report *report;
    bool each, people;  /* a row for each verdict; a table, not csv or json */
    bool several;       /* more than one step or worker */
    VerifyTally *tally; /* by statement */
    VerifyTally all;
    Arena *a;
} VerifyReport;

/* Sets the columns of `spec`. The vectors must outlive the report. */
Status verify_report_open(VerifyReport *r, ReportSpec spec, bool per_tensor, bool several, Arena *a,
                          Error *err);
Status verify_report_put(VerifyReport *r, size_t statement, const Vector *vector, const VerifyVerdict *v,
                         Error *err);

/* Writes the summary, where there is one. The report is freed, also on failure. */
Status verify_report_close(VerifyReport *r, Error *err);

/* The first statement that failed, with its worst failure, as a sentence; "" when all hold. NULL: out of memory. */
char *verify_failures(const VerifyReport *r, Arena *a);

#endif
