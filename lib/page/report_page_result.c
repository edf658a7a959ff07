/* report_page_result.c -- see report_page_result.h. */
#include "page/report_page_result.h"

#include "plot/plot.h"
#include "page/report_html.h"
#include "page/report_page_table.h"
#include "report/report_speedup.h"

#include <string.h>

typedef struct {
    TextBuf *out;
    const Entry *e;
    const char *id;
    Stored stored;
    PageState *state;
    Arena *a;
    Error *err;
} Part;

/* ---- how it was made ---- */

static const char *fact_text(const Json *v, Arena *a)
{
    char number[32];
    switch (v->type) {
    case JSON_TEXT:
        return v->text;
    case JSON_NUMBER:
        return text_copy(a, text_double(number, v->number));
    case JSON_BOOL:
        return v->on ? "yes" : "no";
    default:
        return NULL;
    }
}

static void put_facts(Part *p)
{
    const Json *command = json_member(p->stored.meta, "command");
    if (command && command->type == JSON_TEXT) {
        text_add(p->out, "<p class=\"command\">");
        html_text(p->out, command->text);
        text_add(p->out, "</p>\n");
    }
    if (!p->stored.meta) {
        text_add(p->out, "<p class=\"soft\">CSV does not say how it was made; a JSON result does.</p>\n");
        return;
    }
    text_add(p->out, "<details><summary>How it was made</summary><dl>\n");
    for (const Json *v = p->stored.meta->first; v; v = v->next) {
        const char *text = v == command ? NULL : fact_text(v, p->a);
        if (!text)
            continue;
        text_add(p->out, "<dt>");
        html_text(p->out, v->name);
        text_add(p->out, "</dt><dd>");
        html_text(p->out, text);
        text_add(p->out, "</dd>\n");
    }
    text_add(p->out, "</dl></details>\n");
}

/* ---- figures ---- */

static void put_reason(Part *p, const char *kind, const char *why)
{
    text_addf(p->out, "<p class=\"soft\">No %s figure: ", kind);
    html_text(p->out, why);
    text_add(p->out, "</p>\n");
}

/* A drawing of ours stands in the page itself, so that its text can be found; anything else as a picture. */
static void put_drawing(Part *p, const char *kind, const Drawing *d)
{
    const char *prefix = text_format(p->a, "%s-%s-", p->id, kind),
               *label = text_format(p->a, "%s of %s", kind, p->e->name);
    p->out->failed |= !prefix || !label;
    if (p->out->failed)
        return;
    text_add(p->out, "<figure>");
    if (!html_svg(p->out, d->data, d->size, prefix, label)) {
        text_add(p->out, "<img alt=\"");
        html_text(p->out, label);
        text_add(p->out, "\" src=\"");
        html_data_uri(p->out, "image/svg+xml", d->data, d->size);
        text_add(p->out, "\">");
    }
    text_addf(p->out, "<figcaption>%s</figcaption></figure>\n", kind);
}

/* A figure that cannot be drawn costs itself alone. */
static Status put_figure(Part *p, const char *kind)
{
    Drawing d;
    Error why = p->state->gnuplot;
    if (why.status == OK && plot_svg(&d, kind, &p->stored.table, p->state->stopped, p->a, &why) == OK) {
        put_drawing(p, kind, &d);
        return OK;
    }
    if (why.status == ERR_STOPPED || why.status == ERR_MEMORY) {
        *p->err = why;
        return why.status;
    }
    put_reason(p, kind, why.text);
    return OK;
}

static Status put_figures(Part *p)
{
    text_add(p->out, "<div class=\"figures\">\n");
    for (const PlotKind *const *kind = plot_kinds; *kind; kind++)
        if (text_listed(p->e->kind->figures, (*kind)->name))
            TRY(put_figure(p, (*kind)->name));
    text_add(p->out, "</div>\n");
    return OK;
}

/* ---- what only some kinds have ---- */

static Status put_speedups(Part *p, const PageTable *like)
{
    static const char baseline[] = "none";
    Csv times;
    if (speedup_rows(&times, &p->stored.table, baseline, p->a, p->err) != OK)
        return p->err->status == ERR_MEMORY ? ERR_MEMORY : OK; /* no targets, or nothing to compare with */
    RowRank *rank = NEW_ZERO(p->a, RowRank, times.rows);
    if (!rank)
        return arena_fail(p->a, p->err);
    const PageTable t = {
        .id = like->id, .file = like->file, .rows = &times, .rank = rank, .used = like->used};
    text_addf(p->out, "<h4>Speed-up over %s to each test accuracy, in simulated time</h4>\n", baseline);
    page_table(p->out, &t, p->a);
    return OK;
}

static Status put_verdict(Part *p, const PageTable *t)
{
    const size_t failed = page_count(t, ROW_LEAD);
    text_addf(p->out, "<p%s>%zu checks, %zu of them failed.</p>\n", failed ? " class=\"bad\"" : "",
              t->rows->rows, failed);
    return OK;
}

static const struct {
    const char *kind;
    Status (*put)(Part *p, const PageTable *t);
} extras[] = {{"run", put_speedups}, {"verify", put_verdict}};

static Status put_extras(Part *p, const PageTable *t)
{
    for (size_t i = 0; i < countof(extras); i++)
        if (!strcmp(extras[i].kind, p->e->kind->name))
            TRY(extras[i].put(p, t));
    return OK;
}

/* ---- the result ---- */

static Status put_records(Part *p)
{
    const Csv *rows = &p->stored.table;
    RowRank *rank = NEW(p->a, RowRank, rows->rows);
    if (!rank)
        return arena_fail(p->a, p->err);
    if (rows->rows == 0) {
        text_add(p->out, "<p class=\"soft\">It has no records.</p>\n");
        return OK;
    }
    p->e->kind->rank(rows, rank);
    const PageTable t = {.id = p->id,
                         .file = p->e->name,
                         .rows = rows,
                         .rank = rank,
                         .usual = p->e->kind->usual,
                         .used = p->state->used};
    TRY(put_figures(p));
    TRY(put_extras(p, &t));
    page_table(p->out, &t, p->a);
    return OK;
}

Status page_result(TextBuf *out, const Entry *e, size_t number, PageState *state, Arena *a, Error *err)
{
    Part p = {.out = out, .e = e, .id = text_format(a, "r%zu", number), .state = state, .a = a, .err = err};
    if (!p.id)
        return arena_fail(a, err);
    TRY(stored_load(&p.stored, e->path, a, err));
    text_addf(out, "<article id=\"%s\">\n<h3>", p.id);
    html_text(out, e->name);
    text_add(out, "</h3>\n");
    put_facts(&p);
    TRY(put_records(&p));
    text_add(out, "</article>\n");
    return OK;
}
