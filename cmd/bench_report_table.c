/* bench_report_table.c -- report RESULT: its rows, another result's beside them, as a table. */
#include "bench_report.h"

#include "report/report_beside.h"
#include "report/report_sheet.h"
#include "report/report_speedup.h"

#include <string.h>

static Status speedups(const ReportOptions *o, Csv *rows)
{
    const Csv run = *rows;
    return speedup_rows(rows, &run, o->baseline ? o->baseline : "none", o->a, o->err);
}

static Status load(const ReportOptions *o, const char *path, Stored *from, const ResultKind **kind)
{
    const char *why;
    TRY(stored_load(from, path, o->a, o->err));
    *kind = from->whole ? result_kind(from, &why) : NULL;
    if (*kind && !from->table.rows)
        return FAIL(o->err, ERR_CORRUPT, "%s: the result has no rows", path);
    if (*kind)
        return OK;
    FAIL(o->err, ERR_CORRUPT, "%s: %s", path, from->whole ? why : "it has no list of \"results\"");
    return error_hint(o->err,
                      "a table is made of what a command of atomo-bench or atomo-train wrote with -o");
}

/* What would do nothing. */
static Status refuse_idle(const ReportOptions *o, const char *path)
{
    if (o->title)
        return FAIL(o->err, ERR_USAGE, "%s: --title: a table has none; want a directory for a page", path);
    if (o->baseline && !o->speedup)
        return FAIL(o->err, ERR_USAGE, "%s: --baseline: want --speedup, whose baseline it is", path);
    if (o->on && !o->beside)
        return FAIL(o->err, ERR_USAGE, "%s: --on: want --beside FILE, whose rows it chooses", path);
    if (o->beside && !o->on) {
        FAIL(o->err, ERR_USAGE, "%s: --beside: want --on FIELD,.. in which rows of both agree", path);
        return error_hint(o->err, "as in --on compressor");
    }
    return OK;
}

typedef struct {
    Stored from, other; /* other: what stands beside it */
    ResultKind kind;    /* whose leading rows and usual columns count */
    const char *schema; /* of what is written: other's, where there is one, for the table is about that */
    Csv rows;
} Table;

/* Without --columns those come that either kind shows. */
static Status widen_usual(const ReportOptions *o, Table *t, const ResultKind *other, size_t own)
{
    static const char both[] = "other ";
    TextBuf all = {.arena = o->a};
    if (!t->kind.usual)
        return OK;
    text_add(&all, t->kind.usual);
    for (size_t i = own; i < t->rows.columns; i++) {
        const char *name = t->rows.name[i];
        const size_t before = strncmp(name, both, sizeof both - 1) ? 0 : sizeof both - 1;
        if (!other->usual || text_listed(other->usual, name + before))
            text_addf(&all, ",%s", name);
    }
    t->kind.usual = text_done(&all);
    return t->kind.usual ? OK : arena_fail(o->a, o->err);
}

/* Which of the other's rows lead. NULL where rows of every sort are asked for: then none goes before another. */
static Status leading_rows(const ReportOptions *o, const ResultKind *kind, const Csv *rows, bool **leads)
{
    RowRank *rank = NEW_ZERO(o->a, RowRank, rows->rows);
    *leads = NULL;
    if (o->query.all || o->query.where.count)
        return OK;
    *leads = NEW(o->a, bool, rows->rows);
    if (!rank || !*leads)
        return arena_fail(o->a, o->err);
    kind->rank(rows, rank);
    for (size_t i = 0; i < rows->rows; i++)
        (*leads)[i] = rank[i] == ROW_LEAD;
    return OK;
}

static Status put_beside(const ReportOptions *o, Table *t)
{
    const Csv own = t->rows;
    const ResultKind *kind;
    bool *leads;
    TRY(load(o, o->beside, &t->other, &kind));
    TRY(leading_rows(o, kind, &t->other.table, &leads));
    t->schema = kind->schema;
    if (beside_rows(&t->rows, &own, &t->other.table, leads, o->on, o->a, o->err) != OK)
        return error_at(o->err, "--beside %s", o->beside);
    return widen_usual(o, t, kind, own.columns);
}

static Status read_table(const ReportOptions *o, const char *path, Table *t)
{
    const ResultKind *kind;
    TRY(load(o, path, &t->from, &kind));
    TRY(refuse_idle(o, path));
    t->kind = *kind;
    t->schema = kind->schema;
    t->rows = t->from.table;
    if (o->speedup && speedups(o, &t->rows) != OK)
        return error_at(o->err, "%s", path);
    return o->beside ? put_beside(o, t) : OK;
}

/* What made either result. */
static Status put_facts(const ReportOptions *o, const Table *t, ReportSpec *spec)
{
    const Fact beside = {"beside", value_text(o->beside)};
    TRY(sheet_facts(spec, "", t->from.meta, o->a, o->err));
    if (!o->beside)
        return OK;
    Fact *facts = NEW(o->a, Fact, spec->facts + 1);
    if (!facts)
        return arena_fail(o->a, o->err);
    memcpy(facts, spec->meta, spec->facts * sizeof *facts);
    facts[spec->facts++] = beside;
    spec->meta = facts;
    return sheet_facts(spec, "beside ", t->other.meta, o->a, o->err);
}

/* A target that no run reached is a column of N/A, not one that is left out. */
static const char *every_column(const Csv *rows, Arena *a)
{
    TextBuf all = {.arena = a};
    for (size_t i = 0; i < rows->columns; i++)
        text_addf(&all, "%s%s", i ? "," : "", rows->name[i]);
    return text_done(&all);
}

Status report_table_write(ReportOptions *o, const char *path)
{
    const Common *c = &o->common;
    Table t = {0};
    Csv shown;
    Query query = o->query;
    if (c->output && text_glob("*.html", c->output)) {
        FAIL(o->err, ERR_USAGE, "%s: a result makes a table; want a directory for a page", path);
        return error_hint(o->err, "name the directory, or -o TABLE.tex (or .md, .csv, .json, .txt)");
    }
    TRY(read_table(o, path, &t));
    if (o->speedup && !o->beside && !query.columns && !(query.columns = every_column(&t.rows, o->a)))
        return arena_fail(o->a, o->err);
    if (query_run(&shown, &query, &t.rows, o->speedup ? NULL : &t.kind, o->a, o->err) != OK)
        return error_at(o->err, "%s", path);
    ReportSpec spec = {.schema = t.schema,
                       .format = (Format)c->format,
                       .path = c->output,
                       .absent = o->speedup ? "N/A" : NULL,
                       .color = !c->output && cli_color(c)};
    TRY(put_facts(o, &t, &spec));
    return sheet_write(&shown, spec, o->a, o->err);
}
