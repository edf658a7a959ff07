/* report.h -- results as rows of typed columns, written as table, csv, json, md or latex.
 *
 * A row is an array of Values in column order. A value that does not exist is VALUE_NONE: null in JSON,
 * empty in CSV, "-" in tables; never 0 or NaN. CSV and JSON print numbers with enough digits to read the
 * same value back. A report is written when it is closed, as a whole or not at all. */
#ifndef ATOMO_REPORT_H
#define ATOMO_REPORT_H

#include "dump/tensor.h"

#include <math.h>
#include <stdio.h>

typedef enum { VALUE_NONE, VALUE_TEXT, VALUE_INT, VALUE_REAL, VALUE_BOOL, VALUE_SHAPE } ValueType;

typedef struct {
    ValueType type;
    union {
        const char *text; /* borrowed until report_close */
        int64_t whole;
        double real; /* NaN and infinities are written as none */
        bool on;
        const Shape *shape; /* written as an array in JSON, as "64x3x3x3" in CSV */
    };
} Value;

static inline Value value_none(void)
{
    return (Value){0};
}
static inline Value value_text(const char *s)
{
    return s ? (Value){VALUE_TEXT, {.text = s}} : value_none();
}
static inline Value value_int(int64_t v)
{
    return (Value){VALUE_INT, {.whole = v}};
}
static inline Value value_real(double v)
{
    return (Value){VALUE_REAL, {.real = v}};
}
static inline Value value_bool(bool v)
{
    return (Value){VALUE_BOOL, {.on = v}};
}
static inline Value value_shape(const Shape *s)
{
    return (Value){VALUE_SHAPE, {.shape = s}};
}

/* returns the value as a number; NaN unless it is an integer or a real number */
static inline double value_number(const Value *v)
{
    return v->type == VALUE_INT ? (double)v->whole : v->type == VALUE_REAL ? v->real : (double)NAN;
}

typedef struct {
    const char *name; /* the field: JSON key, CSV header (fields.h) */
    bool shown;       /* true: in all formats; false: only in CSV and JSON */
} Column;

/* Returns the index of the column called `name`. The column must exist. */
size_t report_column(const Column *columns, const char *name);

typedef enum { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON, FORMAT_MD, FORMAT_LATEX } Format;

extern const char *const report_formats[]; /* names of the formats in the order of `Format`; ends in NULL */

/* One fact about the run, such as its seed. */
typedef struct {
    const char *name;
    Value value;
} Fact;

typedef struct {
    const char *schema; /* "atomo-compare/1" */
    const Fact *meta;
    size_t facts;
    const Column *columns;
    size_t column_count;
    Format format;
    const char *path;   /* the file to write; NULL: stdout */
    FILE *say;          /* where report_close says that it wrote the file; NULL: nowhere */
    const char **text;  /* receives the output instead, of the arena's memory; NULL: it is written */
    const char *absent; /* text in tables for a value that does not exist; NULL: "-" */
    bool color;
    size_t width;       /* characters per line for FORMAT_TABLE; 0: no limit */
} ReportSpec;

typedef struct Report Report;

/* Begins a report. The arena must not be rewound before the report is closed. */
Status report_open(Report **out, const ReportSpec *spec, Arena *a, Error *err);

/* Adds a row. If `shown` is false, the row is in CSV and JSON only. */
Status report_row(Report *r, const Value *row, bool shown, Error *err);

/* Writes the output. A path that exists but is no regular file, such as /dev/stdout, is written in place. */
Status report_close(Report *r, Error *err);
/* Closes the report if `written` is OK. */
Status report_finish(Report *r, Status written, Error *err);

/* ---- rows of cells: chosen columns, in the order of --sort FIELD or FIELD:desc ---- */

/* Fails with ERR_USAGE unless `sort` is FIELD or FIELD:desc. */
Status sort_check(const char *sort, Error *err);

/* true when `sort` is by this field; false if `sort` is NULL */
bool sort_is_by(const char *sort, const char *field);

/* A column that is written: the cell `at` of a row, or where that has no value the cell `instead`. */
typedef struct {
    Column column;
    size_t at, instead;
} Written;

typedef struct {
    const Column *columns; /* (stride) of the cells of a row */
    size_t stride;
    const Value *cell; /* (rows x stride) */
    size_t rows, group; /* each `group` consecutive rows are sorted among themselves */
    const bool *have, *shown; /* (rows) the rows to write, and those that tables show; NULL: all */
    const Written *written;
    size_t count; /* of written columns */
    const char *sort; /* by a field of `columns`; NULL: the order of the rows */
} RowSet;

/* Writes the rows, and sets the columns of `spec`. Numbers come first, then texts, then missing values, also with
 * :desc; rows of equal values keep their order. */
Status rows_write(const RowSet *s, ReportSpec spec, Arena *a, Error *err);

/* ---- texts and facts ---- */

/* Returns a report of `count` rows as text; ignores the spec's path. NULL: out of memory. */
char *report_text(const ReportSpec *spec, const Value *rows, size_t count, Arena *a);

/* Returns a row as one JSON object without a newline. NULL: out of memory. */
char *report_json_row(const Column *columns, size_t count, const Value *row, Arena *a);

/* Sets facts to the program's version and revision, CPU model, instruction set, OS, library versions and BLAS
 * kernels, with room for FACTS_SPARE more facts. Facts about OpenBLAS are known once it is loaded, which takes 10 ms;
 * without `with_blas` it is not loaded for them, and they have no value. */
Status report_about(Fact **facts, size_t *count, bool with_blas, Arena *a, Error *err);

/* Returns the command line, quoted for a shell. argv[0] is the command's name. NULL: out of memory. */
char *report_command(int argc, char **argv, Arena *a);

/* room for facts that the caller appends */
enum { FACTS_SPARE = 64 };

/* Sets facts to those of `report_about`, followed by command line, seed, threads and start time. argv[0] is
 * the command's name. `format` is the report's: only JSON and LaTeX show facts about OpenBLAS. */
Status report_meta(Fact **facts, size_t *count, Format format, int argc, char **argv, int64_t seed,
                   int64_t threads, Arena *a, Error *err);

#endif
