/* bench_cost_write.c -- cost's records in the order that --sort asks for, written. */
#include "bench_cost.h"

#include <math.h>
#include <string.h>

static size_t sort_length(const Cost *c)
{
    return strcspn(c->sort, ":");
}

static size_t sort_column(const Cost *c)
{
    size_t i = 0;
    while (i < COST_FIELDS && (strncmp(cost_columns[i].name, c->sort, sort_length(c)) != 0 ||
                               cost_columns[i].name[sort_length(c)]))
        i++;
    return i;
}

static const char *column_name(const void *data, size_t i)
{
    (void)data;
    return i < COST_FIELDS ? cost_columns[i].name : NULL;
}

Status cost_check_sort(const Cost *c)
{
    if (!c->sort)
        return OK;
    const char *rest = c->sort + sort_length(c);
    if (*rest && strcmp(rest, ":desc") != 0)
        return FAIL(c->job.err, ERR_USAGE, "--sort %.60s: want FIELD or FIELD:desc", c->sort);
    if (sort_column(c) < COST_FIELDS)
        return OK;
    const char *name = text_slice(c->job.a, c->sort, sort_length(c));
    const char *near = name ? text_nearest(name, column_name, NULL) : NULL;
    FAIL(c->job.err, ERR_USAGE, "--sort: no field is called \"%.60s\"%s%s%s", name ? name : "",
         near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
    return error_hint(c->job.err, "--help lists them");
}

static bool is_number(const Value *v)
{
    return v->type == VALUE_INT || (v->type == VALUE_REAL && isfinite(v->real));
}

static double number(const Value *v)
{
    return v->type == VALUE_INT ? (double)v->whole : v->real;
}

/* What does not exist comes last, whichever way round. */
static bool stands_before(const Value *a, const Value *b, bool descending)
{
    if (a->type == VALUE_TEXT && b->type == VALUE_TEXT)
        return (descending ? -1 : 1) * strcmp(a->text, b->text) < 0;
    if (is_number(a) && is_number(b))
        return descending ? number(a) > number(b) : number(a) < number(b);
    return (a->type == VALUE_TEXT || is_number(a)) && !(b->type == VALUE_TEXT || is_number(b));
}

/* By insertion: equal ones keep their order. */
static void sort_rows(const Cost *c, const CostRows *s, size_t *order)
{
    const size_t key = c->sort ? sort_column(c) : 0;
    for (size_t i = 0; i < s->rows; i++) {
        size_t at = i;
        for (; c->sort && at; at--) {
            const Value *mine = &s->row[i * COST_FIELDS + key],
                        *before = &s->row[order[at - 1] * COST_FIELDS + key];
            if (!stands_before(mine, before, strchr(c->sort, ':')))
                break;
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
}

static Status write_rows(const Job *j, const CostRows *s, const ReportSpec *spec, const size_t *order)
{
    Report *report;
    TRY(report_open(&report, spec, j->a, j->err));
    for (size_t i = 0; i < s->rows; i++)
        if (report_row(report, s->row + order[i] * COST_FIELDS, true, j->err) != OK) {
            report_abandon(report);
            return j->err->status;
        }
    return report_close(report, j->err);
}

Status cost_write(Job *j, ReportSpec spec)
{
    const Cost *c = (const Cost *)j;
    Column column[COST_FIELDS];
    CostRows s;
    TRY(cost_rows(&s, c));
    size_t *order = NEW(j->a, size_t, s.rows);
    if (!order)
        return arena_fail(j->a, j->err);
    sort_rows(c, &s, order);
    memcpy(column, cost_columns, sizeof column);
    if (!s.errors)
        column[COST_FIELDS - 1].title = NULL;
    spec.columns = column;
    spec.column_count = COST_FIELDS;
    j->facts[spec.facts++] = (Fact){"compute_from", value_text(c->compute_from)};
    j->facts[spec.facts++] = (Fact){"overlap", value_bool(c->overlap)};
    return write_rows(j, &s, &spec, order);
}
