/* report_view.c -- writes a comparison with the fields, rows and order that the user asked for
 * (report_compare.h). */
#include "report/report_compare.h"
#include "report/fields.h"

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

/* `also`: further names that are allowed. */
static Status check_metric(const char *name, size_t length, const char *option, const char *also, OwnFields own, Error *err)
{
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)(length < 60 ? length : 60), name);
    if (text_listed(also, text) || metric_find(text) || is_among(results_verdicts, text) || is_among(steps_columns, text) || is_own(own, text))
        return OK;
    text_unknown(err, text, metric_name, NULL, "%s: no metric is called \"%s\"", option, text);
    return error_hint(err, "--help lists them");
}

Status view_check(const View *v, OwnFields own, Error *err)
{
    for (const char *at = v->metrics, *next; at; at = next) {
        const size_t length = strcspn(at, ",");
        next = at[length] ? at + length + 1 : NULL;
        TRY(check_metric(at, length, "--metrics", fixed, own, err));
    }
    if (!v->sort)
        return OK;
    TRY(sort_check(v->sort, err));
    return check_metric(v->sort, strcspn(v->sort, ":"), "--sort", NULL, own, err);
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

/* True if a field with this part in its name is listed or sorted by; without --metrics all are. */
static bool wants(const View *v, const char *part)
{
    return !v->metrics || strstr(v->metrics, part) || (v->sort && strstr(v->sort, part));
}

bool view_distances(const View *v)
{
    return wants(v, "wasserstein") || view_deciles(v);
}

bool view_deciles(const View *v)
{
    return wants(v, "elem_error_deciles");
}

/* ---- columns ---- */

typedef struct {
    const Results *r;
    const View *v;
    Written *written;
    size_t count;
    bool people; /* true: a table (text, Markdown, LaTeX), not CSV or JSON */
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
        if (text_listed(listed, f->name) && field_beside(f->name, name))
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
        Written *w = &s->written[s->count++];
        *w = (Written){r->columns[i], i, i};
        w->column.shown = is_column_shown(s, i, errors);
    }
}

/* ---- writing ---- */

Status results_write(Results *r, const View *v, ReportSpec spec, Error *err)
{
    const size_t rows = r->places * r->codecs;
    Sheet s = {.r = r,
               .v = v,
               .people = spec.format != FORMAT_CSV && spec.format != FORMAT_JSON,
               .written = NEW(r->a, Written, r->column_count)};
    bool *shown = NEW(r->a, bool, rows);
    TRY(arena_check(s.written && shown, r->a, err));
    TRY(results_judge(r, wants(v, "bias"), err));
    choose_columns(&s);
    for (size_t i = 0; i < rows; i++)
        shown[i] = is_shown(&s, i / r->codecs);
    return rows_write(&(RowSet){.columns = r->columns,
                                .stride = r->column_count,
                                .cell = r->rows,
                                .rows = rows,
                                .group = r->codecs,
                                .have = r->have,
                                .shown = shown,
                                .written = s.written,
                                .count = s.count,
                                .sort = v->sort},
                      spec, r->a, err);
}
