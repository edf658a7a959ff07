/* report_page.c -- writes the HTML page of a folder of results. `folder_read` loads one result at a time;
 * while the result is in memory it is turned into an HTML article. The page has the articles in the order of
 * `result_kinds`. */
#include "report/report_page.h"

#include "base/file.h"
#include "base/outfile.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the files of a folder: results, figures, damaged files and other files ---- */

typedef enum {
    ENTRY_RESULT,  /* written by a command of atomo */
    ENTRY_FIGURE,  /* svg or png */
    ENTRY_OTHER,   /* `why`: what kind of file it is */
    ENTRY_DAMAGED, /* `why`: what is wrong with it */
} EntryType;

typedef struct {
    const char *name, *path;
    EntryType type;
    const char *why;
    const ResultKind *kind; /* of an ENTRY_RESULT */
    const char *media;      /* of an ENTRY_FIGURE, such as "image/png" */
    const char *article;    /* of an ENTRY_RESULT, as HTML */
} Entry;

typedef struct {
    Entry *entry; /* sorted by name */
    size_t count, results, figures, damaged;
} Folder;

typedef struct {
    const PageSpec *spec;
    Folder folder;
    Arena *a;
    Error *err;
} Page;

/* One result of the page. */
typedef struct {
    Page *page;
    TextBuf *out;
    const Entry *e;
    const Stored *stored;
    const char *id; /* anchor */
    Arena *a;       /* memory that is freed after the result */
} Part;

/* ---- command and settings ---- */

static void put_facts(Part *p)
{
    const Json *command = json_member(p->stored->meta, "command"),
               *verdict = json_member(p->stored->meta, "verdict");
    if (verdict && verdict->type == JSON_TEXT)
        html_addf(p->out, "<p class=\"verdict\">%s</p>\n", verdict->text);
    if (command && command->type == JSON_TEXT)
        html_addf(p->out, "<p class=\"command\">%s</p>\n", command->text);
    if (!p->stored->meta) {
        text_add(p->out, "<p class=\"soft\">CSV does not say how it was made; a JSON result does.</p>\n");
        return;
    }
    text_add(p->out, "<details><summary>How it was made</summary><dl>\n");
    for (const Json *v = p->stored->meta->first; v; v = v->next) {
        const char *text = v->type == JSON_BOOL ? (v->on ? "yes" : "no") : v->text;
        if (text && v != command && v != verdict)
            html_addf(p->out, "<dt>%s</dt><dd>%s</dd>\n", v->name, text);
    }
    text_add(p->out, "</dl></details>\n");
}

/* ---- the article about one result ---- */

static Status put_records(Part *p)
{
    const Csv *rows = &p->stored->table;
    RowRank *rank = NEW(p->a, RowRank, rows->rows);
    TRY(arena_check(rank, p->a, p->page->err));
    if (rows->rows == 0) {
        text_add(p->out, "<p class=\"soft\">It has no records.</p>\n");
        return OK;
    }
    result_rank(p->e->kind, rows, rank);
    const PageTable t = {.id = p->id,
                         .file = p->e->name,
                         .rows = rows,
                         .rank = rank,
                         .usual = p->e->kind->usual};
    page_table(p->out, &t, p->a);
    const Json *command = json_member(p->stored->meta, "command");
    const PageData data = {.id = p->id,
                           .file = p->e->name,
                           .kind = p->e->kind->name,
                           .command = command && command->type == JSON_TEXT ? command->text : NULL,
                           .rows = rows};
    page_data(p->out, &data, p->a);
    return OK;
}

static Status put_result(Page *p, Entry *e, size_t number, const Stored *s, Error *err)
{
    TextBuf out = {.arena = p->a};
    Part part = {.page = p, .out = &out, .e = e, .stored = s, .id = text_format(p->a, "r%zu", number)};
    TRY(arena_check(part.id, p->a, err));
    html_addf(&out, "<article id=\"%s\">\n<h3>%s</h3>\n", part.id, e->name);
    part.a = arena_open(0);
    put_facts(&part);
    const Status status = put_records(&part);
    arena_close(part.a);
    TRY(status);
    text_add(&out, "</article>\n");
    e->article = text_done(&out);
    return arena_check(e->article, p->a, err);
}

/* ---- reading the folder ---- */

static int by_name(const struct dirent **x, const struct dirent **y)
{
    return strcmp((*x)->d_name, (*y)->d_name);
}

/* Lists the files of the folder except hidden ones and the file `without`, sorted by name. */
static Status list(Folder *f, const char *path, const char *without, Arena *a, Error *err)
{
    struct dirent **found;
    const int count = scandir(path, &found, NULL, by_name);
    if (count < 0)
        return FAIL(err, ERR_IO, "%s: cannot be listed: %s", path, strerror(errno));
    f->entry = NEW(a, Entry, (size_t)count);
    bool full = !f->entry;
    for (int i = 0; i < count; free(found[i++])) {
        const char *name = found[i]->d_name;
        if (full || *name == '.')
            continue;
        Entry *e = &f->entry[f->count];
        *e = (Entry){.name = text_copy(a, name), .path = text_format(a, "%s/%s", path, name)};
        full = !e->name || !e->path;
        f->count += !full && !(without && file_same(e->path, without));
    }
    free(found);
    return full ? arena_fail(a, err) : OK;
}

static Status put_damage(Entry *e, Arena *a, Error *err)
{
    /* cuts off the path at the start of the message: the page names the file already */
    const size_t path = strlen(e->path);
    const bool named = !strncmp(err->text, e->path, path) && !strncmp(err->text + path, ": ", 2);
    e->type = ENTRY_DAMAGED;
    e->why = text_copy(a, named ? err->text + path + 2 : err->text);
    return arena_check(e->why, a, err);
}

static Status look_at_result(Page *p, size_t number, Arena *a, Error *err)
{
    Entry *e = &p->folder.entry[number];
    Stored s;
    const char *why;
    const Status status = stored_load(&s, e->path, a, err);
    if (status != OK)
        return status == ERR_MEMORY || status == ERR_STOPPED ? status : put_damage(e, a, err);
    e->kind = s.whole ? result_kind(&s, &why) : NULL;
    e->type = e->kind ? ENTRY_RESULT : ENTRY_OTHER;
    e->why = e->kind ? NULL : s.whole ? why : "it has no list of \"results\"";
    return e->kind ? put_result(p, e, number, &s, err) : OK;
}

static Status look_at(Page *p, size_t number, Arena *a, Error *err)
{
    static const char *const pictures[][2] = {{".svg", "image/svg+xml"}, {".png", "image/png"}};
    Entry *e = &p->folder.entry[number];
    struct stat now;
    e->type = ENTRY_OTHER;
    e->why = stat(e->path, &now) || !S_ISREG(now.st_mode) ? "no regular file" : NULL;
    if (e->why)
        return OK;
    if (text_ends(e->name, ".csv") || text_ends(e->name, ".json") || text_ends(e->name, ".part"))
        return look_at_result(p, number, a, err);
    for (size_t i = 0; i < countof(pictures) && !e->media; i++)
        e->media = text_ends(e->name, pictures[i][0]) ? pictures[i][1] : NULL;
    e->type = e->media ? ENTRY_FIGURE : ENTRY_OTHER;
    e->why = e->media ? NULL : "no result, and no figure that a page can show";
    return OK;
}

/* Reads the files in the folder, except subfolders, hidden files and the page. A damaged file is not an error. */
static Status folder_read(Page *p, Arena *a, Error *err)
{
    Folder *f = &p->folder;
    TRY(list(f, p->spec->folder, p->spec->path, a, err));
    for (size_t i = 0; i < f->count; i++) {
        Entry *e = &f->entry[i];
        if (file_stopped && file_stopped())
            return FAIL(err, ERR_STOPPED, "stopped");
        Arena *room = arena_open(0);
        const Status status = look_at(p, i, room, err);
        if (status == OK && e->why)
            e->why = text_copy(a, e->why);
        arena_close(room);
        TRY(status);
        f->results += e->type == ENTRY_RESULT;
        f->figures += e->type == ENTRY_FIGURE;
        f->damaged += e->type == ENTRY_DAMAGED;
    }
    return OK;
}

/* ---- the page's head and table of contents ---- */

/* The Content-Security-Policy allows only two scripts and one style, by their hashes, and images as data:
 * URIs. So browsers fetch nothing. */
static void put_head(TextBuf *t, const PageSpec *spec)
{
    text_add(t, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    text_addf(t,
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
              "style-src 'sha256-%s'; script-src 'sha256-%s' 'sha256-%s'; base-uri 'none'; form-action "
              "'none'\">\n",
              page_css.hash, page_js.hash, explore_js.hash);
    text_add(t, "<meta name=\"generator\" content=\"atomo-bench report\">\n");
    html_addf(
        t,
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>%s</title>\n<style>",
        spec->title);
    text_add(t, page_css.text);
    html_addf(t, "</style>\n</head>\n<body>\n<header><h1>%s</h1></header>\n", spec->title);
}

static void put_contents(TextBuf *t, const Folder *f)
{
    text_add(t, "<nav aria-label=\"Results\"><ul>\n");
    for (const ResultKind *k = result_kinds; k->name; k++)
        for (size_t i = 0; i < f->count; i++)
            if (f->entry[i].type == ENTRY_RESULT && f->entry[i].kind == k) {
                text_addf(t, "<li><a href=\"#r%zu\">", i);
                html_addf(t, "%s</a></li>\n", f->entry[i].name);
            }
    if (f->figures)
        text_add(t, "<li><a href=\"#figures\">Figures</a></li>\n");
    if (f->count > f->results + f->figures)
        text_add(t, "<li><a href=\"#left-out\">Left out</a></li>\n");
    text_add(t, "</ul></nav>\n<main>\n<section id=\"explore\" hidden></section>\n");
}

/* ---- results ---- */

static void put_section(TextBuf *t, const Folder *f, const ResultKind *kind)
{
    bool any = false;
    for (size_t i = 0; i < f->count; i++) {
        if (f->entry[i].type != ENTRY_RESULT || f->entry[i].kind != kind)
            continue;
        if (!any)
            text_addf(t, "<section id=\"%s\">\n<h2>%s</h2>\n<p class=\"says\">%s</p>\n", kind->name, kind->heading, kind->says);
        any = true;
        text_add(t, f->entry[i].article);
    }
    text_add(t, any ? "</section>\n" : "");
}

/* ---- pictures of the folder ---- */

static Status put_figures(Page *p, TextBuf *t)
{
    char *data;
    size_t size;
    if (!p->folder.figures)
        return OK;
    text_add(t, "<section id=\"figures\">\n<h2>Figures</h2>\n<p class=\"says\">As they stand in the folder.</p>\n"
                "<div class=\"figures\">\n");
    for (const Entry *e = p->folder.entry; e < p->folder.entry + p->folder.count; e++) {
        if (e->type != ENTRY_FIGURE)
            continue;
        if (file_load(&data, &size, e->path, SIZE_MAX, p->a, p->err) != OK)
            return error_at(p->err, "%s", e->path);
        html_picture(t, e->media, data, size, e->name);
    }
    text_add(t, "</div>\n</section>\n");
    return OK;
}

/* ---- files left out ---- */

static void put_left_out(TextBuf *t, const Folder *f)
{
    if (f->count == f->results + f->figures)
        return;
    text_add(t, "<section id=\"left-out\">\n<h2>Left out</h2>\n<dl>\n");
    for (size_t i = 0; i < f->count; i++) {
        const Entry *e = &f->entry[i];
        if (e->type == ENTRY_RESULT || e->type == ENTRY_FIGURE)
            continue;
        html_addf(t,
                  e->type == ENTRY_DAMAGED ? "<dt>%s</dt><dd class=\"bad\">damaged: %s</dd>\n"
                                           : "<dt>%s</dt><dd>%s</dd>\n",
                  e->name, e->why);
    }
    text_add(t, "</dl>\n</section>\n");
}

static void put_scripts(TextBuf *t)
{
    text_add(t, "</main>\n<footer>Made by atomo-bench report. Sizes are decimal: 1 kB is 1000 bytes.</footer>\n<script>");
    text_add(t, page_js.text);
    text_add(t, "</script>\n<script>");
    text_add(t, explore_js.text);
    text_add(t, "</script>\n</body>\n</html>\n");
}

static Status put_page(Page *p, TextBuf *t)
{
    put_head(t, p->spec);
    put_contents(t, &p->folder);
    for (const ResultKind *k = result_kinds; k->name; k++)
        put_section(t, &p->folder, k);
    TRY(put_figures(p, t));
    put_left_out(t, &p->folder);
    put_scripts(t);
    return arena_check(text_done(t), p->a, p->err);
}

/* ---- writing the page ---- */

static Status open_folder(Page *p)
{
    const PageSpec *s = p->spec;
    TRY(folder_read(p, p->a, p->err));
    if (p->folder.results + p->folder.figures + p->folder.damaged)
        return OK;
    FAIL(p->err, ERR_IO, "%s: no result there", s->folder);
    return error_hint(
        p->err, "results come with -o, as in: atomo-bench compare FILE -o %.80s/compare.json", s->folder);
}

static Status tell_damage(const Page *p)
{
    for (size_t i = 0; i < p->folder.count; i++)
        if (p->folder.entry[i].type == ENTRY_DAMAGED)
            return FAIL(p->err, ERR_CORRUPT, "%s: %s", p->folder.entry[i].path, p->folder.entry[i].why);
    return OK;
}

Status page_write(const PageSpec *spec, Arena *a, Error *err)
{
    Page p = {.spec = spec, .a = a, .err = err};
    TextBuf page = {.arena = a};
    TRY(open_folder(&p));
    TRY(put_page(&p, &page));
    TRY(outfile_save(spec->path, page.data, page.size, a, err));
    return tell_damage(&p);
}
