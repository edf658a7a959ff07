/* report_sort.c -- sorts rows by one field, for the option --sort (report_sort.h). */
#include "report/report_sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Status sort_check(const char *sort, Error *err)
{
    const char *rest = sort + strcspn(sort, ":");
    return !*rest || !strcmp(rest, ":desc")
               ? OK
               : FAIL(err, ERR_USAGE, "--sort %.60s: want FIELD or FIELD:desc", sort);
}

bool sort_is_by(const char *sort, const char *field)
{
    const size_t length = strlen(field);
    return sort && !strncmp(sort, field, length) && (!sort[length] || sort[length] == ':');
}

static double number(const Value *v)
{
    return v->type == VALUE_BOOL ? (double)v->on : value_number(v);
}

enum { NUMBER, TEXT, NOTHING };

static int class_of(const Value *v)
{
    return !isnan(number(v)) ? NUMBER : v->type == VALUE_TEXT ? TEXT : NOTHING;
}

static int compare(const SortKey *v, const SortKey *w, int sign)
{
    const int class = class_of(&v->value), other = class_of(&w->value);
    const double a = number(&v->value), b = number(&w->value);
    const int order = class != other    ? 0
                      : class == NUMBER ? (a > b) - (a < b)
                      : class == TEXT   ? strcmp(v->value.text, w->value.text)
                                        : 0;
    return class != other ? class - other : order ? sign * order : (v->row > w->row) - (v->row < w->row);
}

static int upwards(const void *v, const void *w)
{
    return compare(v, w, 1);
}

static int downwards(const void *v, const void *w)
{
    return compare(v, w, -1);
}

void sort_keys(SortKey *key, size_t count, const char *sort)
{
    qsort(key, count, sizeof *key, strchr(sort, ':') ? downwards : upwards);
}
