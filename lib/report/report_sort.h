/* report_sort.h -- the order of rows that --sort FIELD or FIELD:desc asks for. */
#ifndef ATOMO_REPORT_SORT_H
#define ATOMO_REPORT_SORT_H

#include "report/report.h"

/* ERR_USAGE where `sort` ends in something else than FIELD or FIELD:desc. */
Status sort_check(const char *sort, Error *err);

bool sort_is_by(const char *sort, const char *field); /* false for NULL */

typedef struct {
    Value value;
    size_t row;
} SortKey;

/* Sorts by value as `sort` asks: numbers, then texts, then values that do not exist, which stay last with :desc, too. Equal
 * values keep the order of their rows. */
void sort_keys(SortKey *key, size_t count, const char *sort);

#endif
