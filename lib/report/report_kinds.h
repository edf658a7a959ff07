/* report_kinds.h -- recognises which command wrote a stored result: in JSON by the schema, in CSV by the names
 * of the columns. Says which rows and columns are shown first. */
#ifndef ATOMO_REPORT_KINDS_H
#define ATOMO_REPORT_KINDS_H

#include "report/report_stored.h"

typedef enum {
    ROW_LEAD,  /* rows shown first: results over the whole selection */
    ROW_MORE,  /* rows shown on request: single tensors, steps with a test */
    ROW_COUNT, /* not shown but counted, as there are too many: steps between tests */
} RowRank;

typedef struct {
    const char *name;                          /* such as "compare"; also the anchor on a page */
    const char *schema;                        /* "atomo-compare/1" */
    const char *marks;                         /* comma-separated columns that identify the kind */
    const char *heading;                       /* "Comparisons" */
    const char *says;                          /* a sentence about the rows of this kind */
    const char *usual;                         /* columns shown by default; NULL: all, in tables without `spec` */
    const char *figures;                       /* kinds of figures that show the result; NULL: none */
    void (*rank)(const Csv *t, RowRank *rank); /* sets rank[row] for each row */
} ResultKind;

bool result_known(const char *schema);  /* true if this program reads results of this schema and version */
extern const ResultKind result_kinds[]; /* all kinds, in their order on the page; ends in {0} */

/* True if a column is a field that a command of this program writes, also where no command writes such a table. */
bool result_has_field(const Csv *t);

/* Returns the kind of the stored result. NULL: no command writes such a result; *why is the reason. */
const ResultKind *result_kind(const Stored *s, const char **why);

#endif
