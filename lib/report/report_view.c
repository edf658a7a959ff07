/* report_view.c -- writes a comparison with the fields, rows and order that the user asked for
 * (report_compare.h). */
#include "report/report_compare.h"
#include "report/fields.h"
#include "report/report_sort.h"
#include "report/report_steps.h"

#include <stdio.h>
#include <math.h>
#include <string.h>

/* The metrics in tables without --metrics. */
static const char usual[] = "bytes,ratio,bits_per_element,encode_ms,decode_ms,"
                            "relative_error,relative_error_steps,"
                            "wasserstein_mean,bias";

/* The fields that are always written, whatever --metrics lists. */
static const char fixed[] = "step,worker,tensor,kind,shape,n,compressor,spec,repeats,seed,error";

/* ---- checking names from the command line ---- */

static bool is_own(OwnFields own, const char *name)
{
    for (size_t i = 0; i < own.count; i++)
        if (!strcmp(own.column[i].name, name))
            return true;
    return false;
}

static bool is_among(const Column *c, const char *name)
{
    while (c->name && strcmp(c->name, name) != 0)
        c++;
    return c->name;
}

static Status check_metric(const char *name, size_t length, const char *option, OwnFields own, Error *err)
{
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)(length < 60 ? length : 60), name);
    if (metric_find(text) || is_among(results_verdicts, text) || is_among(steps_columns, text) ||
        is_own(own, text))
        return OK;
    text_unknown(err, text, metric_name, NULL, "%s: no metric is called \"%s\"", option, text);
    return error_hint(err, "--help lists them");
}

Status view_check(const View *v, OwnFields own, Error *err)
{
    for (const char *at = v->metrics, *next; at; at = next ? next + 1 : NULL) {
        char name[64] = "";
        next = strchr(at, ',');
        const size_t length = next ? (size_t)(next - at) : strlen(at);
        if (length < sizeof name)
            memcpy(name, at, length);
        if (!text_listed(fixed, name))
            TRY(check_metric(at, length, "--metrics", own, err));
    }
    if (!v->sort)
        return OK;
    TRY(sort_check(v->sort, err));
    return check_metric(v->sort, strcspn(v->sort, ":"), "--sort", own, err);
}

bool view_times(const View *v, OwnFields own)
{
    if (!v->metrics || own.timed)
        return true;
    for (const Metric *m = metrics; m->name; m++)
        if (m->form == FORM_TIME && (text_listed(v->metrics, m->name) || sort_is_by(v->sort, m->name)))
            return true;
    for (const Column *c = steps_columns; c->name; c++)
        if (strstr(c->name, "_ms_") && text_listed(v->metrics, c->name))
            return true;
    return false;
}

bool view_distances(const View *v)
{
    static const char name[] = "wasserstein";
    return !v->metrics || strstr(v->metrics, name) || (v->sort && strstr(v->sort, name));
}

/* ---- columns ---- */

typedef struct {
    const Results *r;
    const View *v;
    size_t *from; /* index of each written column in the results */
    Column *columns;
    size_t count;
    bool people;    /* true: a table (text, Markdown, LaTeX), not CSV or JSON */
    SortKey *order; /* the codecs in the order of --sort */
    size_t key;     /* index of the column to sort by */
    Value *row;
} Sheet;

/* Tables show the last record, which is over all vectors, and with `per_tensor` the record of each tensor. */
static bool is_shown(const Sheet *s, size_t place)
{
    return place + 1 == s->r->places || (s->v->per_tensor && s->r->level[place] == LEVEL_VECTOR);
}

/* Returns the index in the results of the i-th written column. The command's leading fields are written after
 * the compressor. */
static size_t written(const Results *r, size_t i)
{
    const size_t from = r->compressor + 1, own = r->error + 1;
    if (i < from)
        return i;
    if (i < from + r->leading)
        return own + (i - from);
    return i < own + r->leading ? i - r->leading : i;
}

static bool is_column_shown(const Sheet *s, size_t i, bool errors)
{
    const char *name = s->r->columns[i].name;
    const bool several = s->r->level[s->r->places - 1] == LEVEL_RUN, tensors = s->v->per_tensor;
    if (!strcmp(name, "step") || !strcmp(name, "worker"))
        return tensors && several;
    if (!strcmp(name, "tensor"))
        return tensors;
    if (!several && is_among(steps_columns, name))
        return false;
    if (!strcmp(name, "compressor"))
        return true;
    if (!strcmp(name, "error"))
        return errors;
    if (i > s->r->error) /* the fields that the command adds */
        return s->r->columns[i].shown || text_listed(s->v->metrics, name);
    return text_listed(s->v->metrics ? s->v->metrics : s->v->usual ? s->v->usual : usual, name);
}

/* True if the column `name` has the standard errors, or the expected values in closed form, of a field in
 * the list `listed`. Tables print them in the cells of the field. */
static bool is_beside(const char *name, const char *listed)
{
    for (const Field *f = fields; f->name; f++)
        if (text_listed(listed, f->name) && field_is_beside(f->name, name))
            return true;
    return false;
}

static void choose_columns(Sheet *s)
{
    const Results *r = s->r;
    bool errors = false;
    for (size_t i = 0; i < r->places * r->codecs; i++)
        errors = errors || r->rows[i * r->column_count + r->error].type != VALUE_NONE;
    for (size_t at = 0; at < r->column_count; at++) {
        const size_t i = written(r, at);
        const char *name = r->columns[i].name;
        if (s->v->metrics && i <= r->error && !text_listed(fixed, name) &&
            !text_listed(s->v->metrics, name) && !(s->people && is_beside(name, s->v->metrics)))
            continue;
        Column *column = &s->columns[s->count];
        s->from[s->count++] = i;
        *column = r->columns[i];
        column->shown = is_column_shown(s, i, errors);
    }
}

/* ---- rows ---- */

static const Value *cell(const Sheet *s, size_t place, size_t codec, size_t column)
{
    return &s->r->rows[(place * s->r->codecs + codec) * s->r->column_count + column];
}

static void order_codecs(Sheet *s, size_t place)
{
    for (size_t k = 0; k < s->r->codecs; k++)
        s->order[k] = (SortKey){*cell(s, place, k, s->key), k};
    if (s->v->sort)
        sort_keys(s->order, s->r->codecs, s->v->sort);
}

static void choose_key(Sheet *s)
{
    for (size_t i = 0; i < s->r->column_count; i++)
        if (sort_is_by(s->v->sort, s->r->columns[i].name))
            s->key = i;
}

static Status write_rows(Sheet *s, Report *report, Error *err)
{
    for (size_t place = 0; place < s->r->places; place++) {
        order_codecs(s, place);
        for (size_t k = 0; k < s->r->codecs; k++) {
            const size_t codec = s->order[k].row;
            if (!s->r->have[place * s->r->codecs + codec])
                continue;
            for (size_t i = 0; i < s->count; i++)
                s->row[i] = *cell(s, place, codec, s->from[i]);
            TRY(report_row(report, s->row, is_shown(s, place), err));
        }
    }
    return OK;
}

static Sheet open_sheet(const Results *r, const View *v, bool people)
{
    return (Sheet){.r = r,
                   .v = v,
                   .people = people,
                   .from = NEW(r->a, size_t, r->column_count),
                   .columns = NEW(r->a, Column, r->column_count),
                   .order = NEW(r->a, SortKey, r->codecs),
                   .row = NEW(r->a, Value, r->column_count)};
}

Status results_write(Results *r, const View *v, ReportSpec spec, Error *err)
{
    Report *report;
    Sheet s = open_sheet(r, v, spec.format != FORMAT_CSV && spec.format != FORMAT_JSON);
    TRY(arena_check(s.from && s.columns && s.order && s.row, r->a, err));
    TRY(results_judge(r, err));
    choose_columns(&s);
    choose_key(&s);
    spec.columns = s.columns;
    spec.column_count = s.count;
    TRY(report_open(&report, &spec, r->a, err));
    return report_finish(report, write_rows(&s, report, err), err);
}
