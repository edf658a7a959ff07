/* report_stored.h -- reads a stored result from CSV or JSON, or the records so far from FILE.part (report_part.h). */
#ifndef ATOMO_REPORT_STORED_H
#define ATOMO_REPORT_STORED_H

#include "base/csv.h"
#include "base/json.h"
#include "report/report.h"
#include "base/text.h"

typedef struct {
    const char *schema; /* such as "atomo-compare/1"; NULL: CSV, which has no schema */
    const Json *meta;   /* facts about the run, an object; NULL: there are none */
    bool whole;         /* true: the result has a list of records; false: JSON without "results" */
    bool unfinished;    /* true: a FILE.part, the records so far */
    Csv table;          /* one row per record, values as CSV fields; "" if a value does not exist */
} Stored;

/* Reads the file at `path`, or standard input if `path` is "-". */
Status stored_load(Stored *out, const char *path, Arena *a, Error *err);

/* Copies the values of the columns from a record to `row`, but for shapes; VALUE_NONE for columns that the record lacks. */
void stored_row(const Json *record, const Column *columns, size_t count, Value *row);

/* Converts a CSV field to a number, a boolean or a text; always to a text if `text` is true. */
Value stored_value(const char *cell, bool text);

/* Sets the facts of `spec` to a stored result's meta (NULL: none), with `own` (NULL: nothing) as "report" in place of an
 * earlier entry of this name. */
Status stored_facts(ReportSpec *spec, const Json *meta, const char *own, Arena *a, Error *err);

/* ---- kinds of results ----
 *
 * Recognises which command wrote a stored result: in JSON by the schema, in CSV by the names
 * of the columns. Says which rows and columns are shown first. */

typedef enum {
    ROW_LEAD,  /* rows shown first: results over the whole selection */
    ROW_MORE,  /* rows shown on request: single tensors, steps with a test */
    ROW_COUNT, /* not shown but counted, as there are too many: steps between tests */
} RowRank;

typedef struct {
    const char *name;                          /* such as "compare"; also the anchor on a page */
    const char *schema;                        /* "atomo-compare/1" */
    const char *marks;                         /* comma-separated columns that identify the kind */
    const char *heading;                       /* "Comparisons" */
    const char *says;                          /* a sentence about the rows of this kind */
    const char *usual;                         /* columns shown by default; NULL: all, in tables without `spec` */
    const char *figures;                       /* kinds of figures that show the result; NULL: none */
    /* the rows shown first: those whose cell in the column `lead` is `value`, or if that is NULL is there; without a column all, or
     * with `few` all if they are few */
    const char *lead, *value;
    bool few;
} ResultKind;

/* Sets rank[row] for each row. Where rows are about all tensors together (lead "tensor"), those about all steps together come first,
 * if there are any. */
void result_rank(const ResultKind *kind, const Csv *t, RowRank *rank);

bool result_known(const char *schema);  /* true if this program reads results of this schema and version */
extern const ResultKind result_kinds[]; /* all kinds, in their order on the page; ends in {0} */

/* Returns the kind of the stored result. NULL: no command writes such a result; *why is the reason. */
const ResultKind *result_kind(const Stored *s, const char **why);

/* ---- choosing rows and columns ---- */

typedef struct {
    /* names of columns, separated by commas; NAME/OTHER shows the value of OTHER where NAME is empty; NULL:
     * the usual columns for this kind of result */
    const char *columns;
    /* conditions FIELD=VALUE or FIELD!=VALUE that rows must meet; without conditions only rows of rank
     * ROW_LEAD are chosen, or all rows if none has this rank */
    TextList where;
    const char *sort; /* FIELD or FIELD:desc; NULL: the stored order */
    bool all;         /* true: rows of every rank */
    bool empty;       /* true: columns without values, too */
    /* true: cells also show the field's standard error and exact value */
    bool people;
    bool remark; /* true: the last column of the result is shown behind the others */
} Query;

/* Writes the chosen rows and columns of t, and sets the columns of `spec`. If `kind` is NULL, takes all rows, and all
 * columns with a value. An unknown column is ERR_USAGE. */
Status query_write(const Query *q, const Csv *t, const ResultKind *kind, ReportSpec spec, Arena *a, Error *err);

/* ---- speed-ups ---- */

/* The speed-up of each run of atomo-train over a baseline run, for each target accuracy:
 * Tables 3, 4 and 6 of the ATOMO paper. */

/* Makes a row for each run in `run`. A cell is the speed-up to one target accuracy: the baseline's simulated
 * time to the target, divided by the run's time. A cell is "" if the run or the baseline never reached the
 * target. Of several runs of the baseline, the first is used.
 *
 * If the runs have several seeds, makes a row for each compressor instead. Each of the compressor's runs is
 * compared with the baseline's run of the same seed. A cell is the mean of these speed-ups, and the next
 * column has the mean's standard error. A cell is "" unless all these runs exist and reached the target. The
 * column `seeds` counts the compressor's runs. */
Status speedup_rows(Csv *out, const Csv *run, const char *baseline, Arena *a, Error *err);

#endif
