/* report_verify.h -- verdicts as rows: each one of them in csv, json and --per-tensor; else, in the tables
 * that people read, a row for each statement with the vector that strains it most. */
#ifndef ATOMO_REPORT_VERIFY_H
#define ATOMO_REPORT_VERIFY_H

#include "report/report.h"
#include "verify/verify.h"

/* What came of one statement, or of all. */
typedef struct {
    size_t checked, failed, absent; /* absent: vectors that it says nothing of */
    VerifyVerdict worst;
    const Vector *at;
} VerifyTally;

typedef struct {
    Report *report;
    bool each, people;  /* a row for each verdict; a format that people read */
    bool several;       /* steps or workers */
    VerifyTally *tally; /* by statement */
    VerifyTally all;
    Arena *a;
} VerifyReport;

/* `spec` comes without columns. The vectors outlive the report. */
Status verify_report_open(VerifyReport *r, ReportSpec spec, bool per_tensor, bool several, Arena *a,
                          Error *err);
Status verify_report_put(VerifyReport *r, size_t statement, const Vector *vector, const VerifyVerdict *v,
                         Error *err);

/* The report is gone whatever happens. */
Status verify_report_close(VerifyReport *r, Error *err);

/* The first and worst failure in words; "" when all hold. NULL: out of memory. */
char *verify_failures(const VerifyReport *r, Arena *a);

#endif
