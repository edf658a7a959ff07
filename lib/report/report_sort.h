/* report_sort.h -- sorts rows as --sort FIELD or FIELD:desc asks. */
#ifndef ATOMO_REPORT_SORT_H
#define ATOMO_REPORT_SORT_H

#include "report/report.h"

/* Fails with ERR_USAGE unless `sort` is FIELD or FIELD:desc. */
Status sort_check(const char *sort, Error *err);

/* true when `sort` is by this field; false if `sort` is NULL */
bool sort_is_by(const char *sort, const char *field);

typedef struct {
    Value value;
    size_t row;
} SortKey;

/* Sorts by value as `sort` asks: numbers first, then texts, then missing values, also with :desc. Equal
 * values keep the order of their rows. */
void sort_keys(SortKey *key, size_t count, const char *sort);

#endif
