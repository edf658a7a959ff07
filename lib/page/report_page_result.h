/* report_page_result.h -- one result on a page: how it was made, its figures, its tables. */
#ifndef ATOMO_REPORT_PAGE_RESULT_H
#define ATOMO_REPORT_PAGE_RESULT_H

#include "page/report_folder.h"
#include "report/report_terms.h"

/* What the results of a page share. */
typedef struct {
    bool (*stopped)(void);
    bool *used;    /* per term: whether some column needed it */
    Error gnuplot; /* OK: figures can be drawn */
} PageState;

/* `number` makes its anchor, "r7", and the ids in it. */
Status page_result(TextBuf *out, const Entry *e, size_t number, PageState *state, Arena *a, Error *err);

#endif
