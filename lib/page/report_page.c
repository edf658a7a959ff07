/* report_page.c -- see report_page.h: the frame of the page, and what stands in it from top to bottom. */
#include "page/report_page.h"

#include "base/file.h"
#include "base/outfile.h"
#include "plot/plot.h"
#include "page/report_html.h"
#include "page/report_page_result.h"

#include <string.h>

typedef struct {
    const PageSpec *spec;
    Folder folder;
    PageState state;
    OutFile out;
    Arena *a; /* rewound after each part */
    Error *err;
} Page;

static Status put_out(Page *p, TextBuf *text)
{
    if (!text_done(text))
        return arena_fail(p->a, p->err);
    fwrite(text->data, 1, text->size, p->out.to); /* a failure shows at commit */
    return OK;
}

/* ---- head and contents ---- */

/* Only what the hashes name runs; pictures are in the page; nothing is fetched. */
static void put_head(TextBuf *t, const PageSpec *spec)
{
    text_add(t, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    text_addf(t,
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
              "style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n",
              page_css_hash, page_js_hash);
    text_add(t, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    html_text(t, spec->title);
    text_add(t, "</title>\n<style>");
    text_add(t, page_css);
    text_add(t, "</style>\n</head>\n<body>\n<header><h1>");
    html_text(t, spec->title);
    text_add(t, "</h1></header>\n");
}

/* A result's anchor is its place in the folder. */
static void put_link(TextBuf *t, const Folder *f, size_t i)
{
    text_addf(t, "<li><a href=\"#r%zu\">", i);
    html_text(t, f->entry[i].name);
    text_add(t, "</a></li>\n");
}

static void put_contents(TextBuf *t, const Folder *f)
{
    text_add(t, "<nav aria-label=\"Results\"><ul>\n");
    for (const ResultKind *k = result_kinds; k->name; k++)
        for (size_t i = 0; i < f->count; i++)
            if (f->entry[i].type == ENTRY_RESULT && f->entry[i].kind == k)
                put_link(t, f, i);
    if (f->figures)
        text_add(t, "<li><a href=\"#figures\">Figures</a></li>\n");
    if (f->count > f->results + f->figures)
        text_add(t, "<li><a href=\"#left-out\">Left out</a></li>\n");
    text_add(t, "</ul></nav>\n<main>\n");
}

static Status put_front(Page *p)
{
    TextBuf t = {.arena = p->a};
    put_head(&t, p->spec);
    put_contents(&t, &p->folder);
    return put_out(p, &t);
}

/* ---- results ---- */

static bool has_kind(const Folder *f, const ResultKind *kind)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->entry[i].type == ENTRY_RESULT && f->entry[i].kind == kind)
            return true;
    return false;
}

static Status put_section(Page *p, const ResultKind *kind)
{
    const Folder *f = &p->folder;
    if (!has_kind(f, kind))
        return OK;
    fprintf(p->out.to, "<section id=\"%s\">\n<h2>%s</h2>\n<p class=\"says\">%s</p>\n", kind->name,
            kind->heading, kind->says);
    for (size_t i = 0; i < f->count; i++) {
        if (f->entry[i].type != ENTRY_RESULT || f->entry[i].kind != kind)
            continue;
        TextBuf t = {.arena = p->a};
        const ArenaMark mark = arena_mark(p->a);
        Status status = page_result(&t, &f->entry[i], i, &p->state, p->a, p->err);
        if (status == OK)
            status = put_out(p, &t);
        arena_rewind(p->a, mark);
        TRY(status);
    }
    fputs("</section>\n", p->out.to);
    return OK;
}

/* ---- figures that were there ---- */

static Status put_figure(Page *p, const Entry *e)
{
    TextBuf t = {.arena = p->a};
    char *data;
    size_t size;
    if (file_load(&data, &size, e->path, PICTURE_MOST, p->a, p->err) != OK)
        return error_at(p->err, "%s", e->path);
    text_add(&t, "<figure><img alt=\"");
    html_text(&t, e->name);
    text_add(&t, "\" src=\"");
    html_data_uri(&t, e->media, data, size);
    text_add(&t, "\"><figcaption>");
    html_text(&t, e->name);
    text_add(&t, "</figcaption></figure>\n");
    return put_out(p, &t);
}

static Status put_figures(Page *p)
{
    if (!p->folder.figures)
        return OK;
    fputs("<section id=\"figures\">\n<h2>Figures</h2>\n<p class=\"says\">As they stand in the folder.</p>\n"
          "<div class=\"figures\">\n",
          p->out.to);
    for (size_t i = 0; i < p->folder.count; i++) {
        if (p->folder.entry[i].type != ENTRY_FIGURE)
            continue;
        const ArenaMark mark = arena_mark(p->a);
        const Status status = put_figure(p, &p->folder.entry[i]);
        arena_rewind(p->a, mark);
        TRY(status);
    }
    fputs("</div>\n</section>\n", p->out.to);
    return OK;
}

/* ---- the end ---- */

static void put_left_out(TextBuf *t, const Folder *f)
{
    if (f->count == f->results + f->figures)
        return;
    text_add(t, "<section id=\"left-out\">\n<h2>Left out</h2>\n<dl>\n");
    for (size_t i = 0; i < f->count; i++) {
        const Entry *e = &f->entry[i];
        if (e->type == ENTRY_RESULT || e->type == ENTRY_FIGURE)
            continue;
        text_add(t, "<dt>");
        html_text(t, e->name);
        text_addf(t, "</dt><dd%s>", e->type == ENTRY_DAMAGED ? " class=\"bad\"" : "");
        text_add(t, e->type == ENTRY_DAMAGED ? "damaged: " : "");
        html_text(t, e->why);
        text_add(t, "</dd>\n");
    }
    text_add(t, "</dl>\n</section>\n");
}

static void put_terms(TextBuf *t, const bool *used)
{
    text_add(t,
             "<section id=\"terms\">\n<h2>What the columns mean</h2>\n<details><summary>Definitions</summary>"
             "<dl>\n");
    for (size_t i = 0; terms[i].name; i++) {
        if (!used[i])
            continue;
        text_add(t, "<dt>");
        html_text(t, terms[i].title);
        text_addf(t, "%s%s%s</dt><dd>", terms[i].unit ? " (" : "", terms[i].unit ? terms[i].unit : "",
                  terms[i].unit ? ")" : "");
        html_text(t, terms[i].says);
        text_addf(t, " <code>%s</code></dd>\n", terms[i].name);
    }
    text_add(t, "</dl></details>\n</section>\n");
}

static Status put_back(Page *p)
{
    TextBuf t = {.arena = p->a};
    put_left_out(&t, &p->folder);
    if (p->folder.results)
        put_terms(&t, p->state.used);
    text_add(&t,
             "</main>\n<footer>Made by atomo-bench report. Sizes are decimal: 1 kB is 1000 bytes.</footer>\n"
             "<script>");
    text_add(&t, page_js);
    text_add(&t, "</script>\n</body>\n</html>\n");
    return put_out(p, &t);
}

static Status put_page(Page *p)
{
    TRY(put_front(p));
    for (const ResultKind *k = result_kinds; k->name; k++)
        TRY(put_section(p, k));
    TRY(put_figures(p));
    return put_back(p);
}

/* ---- the whole ---- */

static Status open_folder(Page *p)
{
    const PageSpec *s = p->spec;
    TRY(folder_read(&p->folder, s->folder, s->path, s->stopped, p->a, p->err));
    if (p->folder.results + p->folder.figures + p->folder.damaged)
        return OK;
    FAIL(p->err, ERR_IO, "%s: no result there", s->folder);
    return error_hint(
        p->err, "results come with -o, as in: atomo-bench compare FILE.h5 -o %.80s/compare.json", s->folder);
}

/* A page without figures is a page; that is said once. */
static Status ask_gnuplot(Page *p)
{
    char *version, *terminals;
    Error *why = &p->state.gnuplot;
    bool wanted = false;
    for (size_t i = 0; i < p->folder.count; i++)
        wanted = wanted || (p->folder.entry[i].kind && p->folder.entry[i].kind->figures);
    if (!wanted || gnuplot_ask(&version, &terminals, p->spec->stopped, p->a, why) == OK)
        return OK;
    if (why->status == ERR_STOPPED || why->status == ERR_MEMORY) {
        *p->err = *why;
        return why->status;
    }
    const char *text = text_format(p->a, "no figures: %s%s%s%s", why->text, *why->hint ? " (" : "", why->hint,
                                   *why->hint ? ")" : "");
    if (!text)
        return arena_fail(p->a, p->err);
    p->spec->note(p->spec->data, text);
    return OK;
}

/* Damage is the first file's that has it. */
static Status tell_damage(const Page *p)
{
    for (size_t i = 0; i < p->folder.count; i++)
        if (p->folder.entry[i].type == ENTRY_DAMAGED)
            return FAIL(p->err, ERR_CORRUPT, "%s: %s", p->folder.entry[i].path, p->folder.entry[i].why);
    return OK;
}

Status page_write(const PageSpec *spec, Arena *a, Error *err)
{
    size_t count = 0;
    while (terms[count].name)
        count++;
    Page p = {.spec = spec, .a = a, .err = err};
    p.state = (PageState){.stopped = spec->stopped, .used = NEW_ZERO(a, bool, count)};
    if (!p.state.used)
        return arena_fail(a, err);
    TRY(open_folder(&p));
    TRY(ask_gnuplot(&p));
    TRY(outfile_open(&p.out, spec->path, a, err));
    const Status status = put_page(&p);
    if (status != OK) {
        outfile_abandon(&p.out);
        return status;
    }
    TRY(outfile_commit(&p.out, err));
    return tell_damage(&p);
}
