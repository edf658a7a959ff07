/* report_kinds.h -- which command wrote a stored result, and what of it is worth seeing first.
 *
 * JSON names its schema; CSV is known by its columns. */
#ifndef ATOMO_REPORT_KINDS_H
#define ATOMO_REPORT_KINDS_H

#include "report/report_stored.h"

typedef enum {
    ROW_LEAD,  /* what the result says */
    ROW_MORE,  /* what it says it of: single tensors, steps that were tested */
    ROW_COUNT, /* there are too many of its sort to show: steps between tests */
} RowRank;

typedef struct {
    const char *name;    /* "compare"; a page's anchor */
    const char *schema;  /* "atomo-compare/1" */
    const char *marks;   /* the columns by which it is known, with commas between them */
    const char *heading; /* "Comparisons" */
    const char *says;    /* what its rows are */
    const char *usual;   /* columns shown before anybody asks for all; NULL: all */
    const char *figures; /* plot's kinds that draw it; NULL: none */
    void (*rank)(const Csv *t, RowRank *rank); /* (rows) */
} ResultKind;

bool result_known(const char *schema);  /* one of these, in a version that is read here */
extern const ResultKind result_kinds[]; /* in the order people read them; ends in {0} */

/* NULL: no command of ours writes such a result; then `why` says so. */
const ResultKind *result_kind(const Stored *s, const char **why);

#endif
