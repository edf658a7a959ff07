/* report_rows.c -- finds one field of a row by its name; declared in report.h and report_compare.h. */
#include "report/report_compare.h"

#include <string.h>

size_t report_column(const Column *columns, const char *name)
{
    size_t i = 0;
    while (strcmp(columns[i].name, name) != 0)
        i++;
    return i;
}

double results_number(const Results *r, size_t place, size_t codec, const char *field)
{
    const Value *row = r->rows + (place * r->codecs + codec) * r->column_count;
    for (size_t i = 0; i < r->column_count; i++)
        if (!strcmp(r->columns[i].name, field))
            return value_number(&row[i]);
    return NAN;
}
