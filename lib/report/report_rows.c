/* report_rows.c -- reads one field of a comparison's results; declared in report_compare.h. */
#include "report/report_compare.h"

#include <string.h>

double results_number(const Results *r, size_t place, size_t codec, const char *field)
{
    const Value *row = r->rows + (place * r->codecs + codec) * r->column_count;
    for (size_t i = 0; i < r->column_count; i++)
        if (!strcmp(r->columns[i].name, field))
            return value_number(&row[i]);
    return NAN;
}
