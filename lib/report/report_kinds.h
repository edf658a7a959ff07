/* report_kinds.h -- which command wrote a stored result, and the rows and columns to show first.
 *
 * JSON names its schema; CSV is known by its columns. */
#ifndef ATOMO_REPORT_KINDS_H
#define ATOMO_REPORT_KINDS_H

#include "report/report_stored.h"

typedef enum {
    ROW_LEAD,  /* the results over the whole selection */
    ROW_MORE,  /* details: single tensors, steps with a test */
    ROW_COUNT, /* only counted, as there are too many: steps between tests */
} RowRank;

typedef struct {
    const char *name;    /* "compare"; a page's anchor */
    const char *schema;  /* "atomo-compare/1" */
    const char *marks;   /* the columns by which it is known, with commas between them */
    const char *heading; /* "Comparisons" */
    const char *says;    /* what its rows are */
    const char *usual;   /* columns shown by default; NULL: all */
    const char *figures; /* plot's kinds that draw it; NULL: none */
    void (*rank)(const Csv *t, RowRank *rank); /* (rows) */
} ResultKind;

bool result_known(const char *schema);  /* a schema and version that this program reads */
extern const ResultKind result_kinds[]; /* in the order of the page; ends in {0} */

/* NULL and a reason in `why`: none of our commands writes such a result. */
const ResultKind *result_kind(const Stored *s, const char **why);

#endif
