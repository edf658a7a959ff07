/* report_verify.h -- the results of the command `verify` as rows. CSV, JSON and --per-tensor have a row for
 * each verdict (a statement on a vector). Other tables have a row for each statement, with the vector on which
 * it holds by the least margin. */
#ifndef ATOMO_REPORT_VERIFY_H
#define ATOMO_REPORT_VERIFY_H

#include "report/report.h"
#include "measure/verify.h"

/* The verdicts on one statement, or on all statements. */
typedef struct {
    size_t checked, failed, absent; /* `absent`: vectors to which the statement does not apply */
    VerifyVerdict worst;
    const Vector *at;
} VerifyTally;

typedef struct {
    Report *report;
    bool each, people;  /* `each`: a row for each verdict; `people`: a table, not CSV or JSON */
    bool several;       /* true: more than one step or worker */
    VerifyTally *tally; /* (statements) */
    VerifyTally all;
    Arena *a;
} VerifyReport;

/* Sets the columns of `spec`. The vectors must outlive the report. */
Status verify_report_open(VerifyReport *r, ReportSpec spec, bool per_tensor, bool several, Arena *a,
                          Error *err);
Status verify_report_put(VerifyReport *r, size_t statement, const Vector *vector, const VerifyVerdict *v,
                         Error *err);

/* Writes the summary, if the report has one. Frees the report, also on failure. */
Status verify_report_close(VerifyReport *r, Error *err);

/* Returns a sentence about the worst failure of the first failed statement; "": all hold. NULL: out of
 * memory. */
char *verify_failures(const VerifyReport *r, Arena *a);

#endif
