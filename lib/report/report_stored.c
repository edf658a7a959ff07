/* report_stored.c -- reads a stored result from CSV or JSON into a table, and finds its kind (report_stored.h). */
#include "report/report_stored.h"

#include "base/file.h"
#include "dump/file_kind.h"
#include "report/fields.h"
#include "report/report_part.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* Returns an array of whole numbers as a shape, "64x3x3x3"; "" if an element is not a whole number. */
static const char *shape_of(const Json *array, Arena *a)
{
    TextBuf out = {.arena = a};
    for (const Json *v = array->first; v; v = v->next) {
        if (!v->is_whole)
            return "";
        text_addf(&out, "%s%lld", v == array->first ? "" : "x", (long long)v->whole);
    }
    return text_done(&out);
}

/* Returns a JSON value as a CSV field: "" for null, for objects, and for arrays that are not shapes. NULL:
 * out of memory. */
static const char *cell_of(const Json *v, Arena *a)
{
    if (v && v->type == JSON_BOOL)
        return v->on ? "true" : "false";
    if (v && v->type == JSON_ARRAY)
        return shape_of(v, a);
    return v && v->text ? v->text : "";
}

/* The fields of a record; behind them, a line of FILE.part has what only --resume reads, from "part_row" on. */
static bool is_field(const Json *v)
{
    return v && strcmp(v->name, "part_row") != 0;
}

/* The table's columns are the fields of the first record. Records mostly have the same fields in the same
 * order, so the field after the last one found is tried first. */
static bool put_record(const char **cell, const Csv *out, const Json *record, Arena *a)
{
    const Json *at = record->first;
    for (size_t i = 0; i < out->columns; i++) {
        const bool next = at && !strcmp(at->name, out->name[i]);
        cell[i] = cell_of(next ? at : json_member(record, out->name[i]), a);
        if (!cell[i])
            return false;
        at = next ? at->next : at;
    }
    return true;
}

typedef struct {
    Csv *table;
    size_t room; /* capacity in rows */
    bool other;  /* the first element of "results" is no object: the file is no result */
    Arena *a;
    Error *err;
} Records;

static Status name_columns(Records *r, const Json *record)
{
    Csv *t = r->table;
    for (const Json *field = record->first; is_field(field); field = field->next)
        t->columns++;
    if (t->columns > COLUMNS_MOST)
        return FAIL(r->err, ERR_CORRUPT, "more than %d columns", COLUMNS_MOST);
    t->name = NEW(r->a, const char *, t->columns);
    t->cell = arena_take(r->a, r->room, t->columns * sizeof *t->cell);
    TRY(arena_check(t->name && t->cell, r->a, r->err));
    size_t i = 0;
    for (const Json *field = record->first; is_field(field); field = field->next)
        t->name[i++] = field->name;
    return OK;
}

static Status take_record(Records *r, const Json *record)
{
    Csv *t = r->table;
    if (t->rows == 0) {
        r->other = r->other || record->type != JSON_OBJECT;
        if (r->other)
            return OK;
        TRY(name_columns(r, record));
    }
    if (record->type != JSON_OBJECT)
        return FAIL(r->err, ERR_CORRUPT, "record %zu is no object", t->rows + 1);
    TRY(arena_check(put_record(t->cell + t->rows * t->columns, t, record, r->a), r->a, r->err));
    t->rows++;
    return OK;
}

static Status parse_json(Stored *out, const char *path, char *text, size_t length, Arena *a, Error *err)
{
    const Json *all;
    Records r = {.table = &out->table, .a = a, .err = err};
    if (json_read(&all, text, length, a, err) != OK)
        return error_at(err, "%s", path);
    const Json *results = json_member(all, "results"), *schema = json_member(all, "schema"), *meta = json_member(all, "meta");
    const Json *first = results && results->type == JSON_ARRAY ? results->first : NULL;
    for (const Json *v = first; v; v = v->next)
        r.room++;
    for (const Json *v = first; v; v = v->next)
        if (take_record(&r, v) != OK)
            return error_at(err, "%s", path);
    out->whole = results && results->type == JSON_ARRAY && !r.other;
    if (!out->whole)
        return OK;
    out->schema = schema && schema->type == JSON_TEXT ? schema->text : NULL;
    out->meta = meta && meta->type == JSON_OBJECT ? meta : NULL;
    return OK;
}

/* Reads FILE.part, the records that a run has finished so far; returns false if the text is something else. */
static bool parse_part(Stored *out, const char *path, const char *text, size_t length, Arena *a, Error *err)
{
    size_t at = 0;
    const Json *line;
    Records r = {.table = &out->table, .a = a, .err = err};
    if (!part_line(&line, text, length, &at, a, err))
        return err->status != OK;
    const Json *schema = json_member(line, "part");
    if (!schema || schema->type != JSON_TEXT)
        return false;
    out->schema = schema->text;
    out->whole = out->unfinished = true;
    for (size_t i = 0; i < length; i++)
        r.room += text[i] == '\n';
    while (part_line(&line, text, length, &at, a, err))
        if (take_record(&r, line) != OK)
            break;
    if (err->status != OK)
        error_at(err, "%s", path);
    return true;
}

/* Refuses a file of gradients, which a user may take for a result. */
static Status load_text(char **text, size_t *length, const char *path, Arena *a, Error *err)
{
    const bool piped = !strcmp(path, "-");
    FileKind kind = piped ? FILE_UNKNOWN : file_kind_at(path);
    if (kind == FILE_UNKNOWN) {
        if ((piped ? file_read(text, length, STDIN_FILENO, SIZE_MAX, a, err) : file_load(text, length, path, SIZE_MAX, a, err)) != OK)
            return error_at(err, "%s", piped ? "standard input" : path);
        kind = file_kind_in(*text, *length);
    }
    if (kind == FILE_UNKNOWN)
        return OK;
    FAIL(err, ERR_USAGE, "%s: a file of tensors, not a result", path);
    return error_hint(err, "atomo-bench compare %.150s -o result.csv makes a result of gradients", piped ? "FILE" : path);
}

Status stored_load(Stored *out, const char *path, Arena *a, Error *err)
{
    char *text;
    size_t length;
    *out = (Stored){0};
    TRY(load_text(&text, &length, path, a, err));
    path = strcmp(path, "-") ? path : "standard input";
    const bool json = text[strspn(text, " \t\r\n")] == '{';
    err->status = OK;
    if (json && parse_part(out, path, text, length, a, err))
        return err->status;
    out->whole = !json;
    return json ? parse_json(out, path, text, length, a, err)
                : csv_parse(&out->table, path, text, length, a, err);
}

/* Returns a JSON value as a Value: none for NULL, null, arrays and objects. The text is borrowed. */
static Value stored_json(const Json *v)
{
    if (!v)
        return value_none();
    return v->type == JSON_TEXT     ? value_text(v->text)
           : v->type == JSON_BOOL   ? value_bool(v->on)
           : v->type != JSON_NUMBER ? value_none()
           : v->is_whole            ? value_int(v->whole)
                                    : value_real(v->number);
}

void stored_row(const Json *record, const Column *columns, size_t count, Value *row)
{
    for (size_t i = 0; i < count; i++)
        row[i] = stored_json(json_member(record, columns[i].name));
}

Value stored_value(const char *cell, bool text)
{
    int64_t whole;
    double real;
    if (!*cell)
        return value_none();
    if (text)
        return value_text(cell);
    if (!strcmp(cell, "true") || !strcmp(cell, "false"))
        return value_bool(*cell == 't');
    if (text_to_int(cell, &whole))
        return value_int(whole);
    return text_to_real(cell, &real) && isfinite(real) ? value_real(real) : value_text(cell);
}

Status stored_facts(ReportSpec *spec, const Json *meta, const char *own, Arena *a, Error *err)
{
    size_t count = 1;
    for (const Json *v = meta ? meta->first : NULL; v; v = v->next)
        count++;
    Fact *facts = NEW(a, Fact, count);
    TRY(arena_check(facts, a, err));
    spec->meta = facts;
    spec->facts = 0;
    for (const Json *v = meta ? meta->first : NULL; v; v = v->next)
        if (!own || strcmp(v->name, "report") != 0)
            facts[spec->facts++] = (Fact){v->name, stored_json(v)};
    if (own)
        facts[spec->facts++] = (Fact){"report", value_text(own)};
    return OK;
}

/* ---- choosing the rows that are shown first ---- */

enum { FEW = 60 };

void result_rank(const ResultKind *kind, const Csv *t, RowRank *rank)
{
    const bool whole = kind->lead && !strcmp(kind->lead, "tensor"), run = !strcmp(kind->name, "run");
    bool pooled = false; /* there are rows about all steps together */
    for (size_t i = 0; i < t->rows; i++)
        pooled |= whole && !strcmp(csv_cell(t, i, "step"), "*");
    for (size_t i = 0; i < t->rows; i++) {
        const char *cell = kind->lead ? csv_cell(t, i, kind->lead) : "";
        const bool lead = !kind->lead ? !kind->few || t->rows <= FEW : kind->value ? !strcmp(cell, kind->value) : *cell;
        rank[i] = lead && (!pooled || !strcmp(csv_cell(t, i, "step"), "*")) ? ROW_LEAD
                  : run && !*csv_cell(t, i, "test_accuracy")                 ? ROW_COUNT
                                                                             : ROW_MORE;
    }
}

/* ---- the kinds of results ---- */

#define COMPARED "tensor,compressor,repeats"
#define WHOSE    "step,worker,tensor,compressor,"

const ResultKind result_kinds[] = {
    {"compare", "atomo-compare/1", COMPARED, "Comparisons",
     "Each codec on the same gradients: what it sends, how long it takes, how far off it is.",
     WHOSE
     "error,target_bits,reached,bytes,ratio,bits_per_element,encode_ms,decode_ms,relative_error,variance,"
     "bias,wasserstein_mean,cosine",
     "pareto,errors", .lead = "tensor", .value = "*"},
    {"against", "atomo-against/1", "tensor,compressor,against,metric,difference", "Paired differences",
     "Each codec against one of them, with the same random numbers in each repeat.", NULL, NULL,
     .lead = "tensor", .value = "*"},
    {"sample", "atomo-sample/1", "compressor,metric,result_low", "Estimates from samples",
     "Each codec on random rows of a model; intervals for the whole model.", NULL, NULL, .lead = NULL},
    {"sweep", "atomo-sweep/1", COMPARED ",rate,pareto", "Size against error",
     "Each codec at many rates. On the front are those that no other one of their kind beats in both.",
     WHOSE
     "error,rate,pareto,pareto_certain,unbiased,bytes,bits_per_element,encode_ms,decode_ms,relative_error,wasserstein_mean",
     "pareto", .lead = "tensor", .value = "*"},
    {"merge", "atomo-merge/1", COMPARED ",workers,synthetic", "Many workers",
     "The gradients of many workers, encoded, aggregated and averaged.",
     WHOSE
     "error,workers,synthetic,bytes_up,bytes_merged,encode_ms,merge_ms,decode_ms,decode_each_ms,relative_error",
     "merge", .lead = "tensor", .value = "*"},
    {"cost", "atomo-cost/1", "compressor,workers,topology,comm_ms", "Iteration time",
     "What an iteration costs with measured codecs on a modelled network.", NULL,
     "iteration-time,runtime,break-even", .few = false},
    {"advise", "atomo-advise/1", "compressor,total_ms,speedup16,mean_error,travels", "Advice",
     "Which codec makes an iteration fastest on one network, and why others lose.",
     "rank,compressor,error,total_ms,speedup16,bytes_up,mean_error,feedback,travels,why", NULL, .lead = "rank"},
    {"link", "atomo-link/1", "record,exchange,alpha_ms,beta_gbps", "Links",
     "The latency and bandwidth of a network, by the times of exchanges between processes.", NULL, NULL,
     .lead = "record", .value = "fit"},
    {"run", "atomo-run/1", "record,compressor,step,sim_seconds", "Training",
     "Runs from the same weights on the same batches, one with each codec between the workers.", NULL,
     "convergence", .lead = "record", .value = "summary"},
    {"tune", "atomo-tune/1", "compressor,lr,validation_loss", "Step sizes",
     "The step size that suits each codec, by the loss on images that were held out.", NULL, NULL, .few = false},
    {"eval", "atomo-eval/1", "step,compressor,test_loss", "Checkpoints", "Checkpoints on the test data.",
     NULL, NULL, .few = true},
    {"verify", "atomo-verify/1", "statement,left,right,passed", "Statements of the paper",
     "The ATOMO paper's statements, checked on these tensors.", NULL, NULL, .lead = "passed", .value = "false"},
    {"published", "atomo-published/1", "compressor,setting", "Published values",
     "Values from the literature, beside values measured here where there are any. `how known` says whether the source prints them; a value that a fault explains has its cause and the corrected value.",
     NULL, NULL, .few = true},
    {"pivot", "atomo-pivot/1", "repeats", "Side by side", "Results of several codecs, a row for each tensor.",
     NULL, NULL, .few = true},
    {"means", "atomo-means/1", "compressor,seeds", "Over seeds", "Means of runs with several seeds.", NULL,
     NULL, .few = true},
    {"inspect", "atomo-inspect/1", "tensor,stable_rank", "Gradients", "What the tensors are like.", NULL,
     NULL, .few = true},
    {"histogram", "atomo-inspect/1", "tensor,bin_low,bin_high,count", "Distributions",
     "How many elements of each tensor are how large.", NULL, "histogram", .few = true},
    {"spectrum", "atomo-inspect/1", "tensor,index,value", "Singular values",
     "How the singular values of each tensor fall.", NULL, "spectrum", .few = true},
    {"list", "atomo-list/1", "codec,flags,brief", "Codecs", "What can be compared.", NULL, NULL, .few = false},
    {"keys", "atomo-list/1", "key,type,default", "Keys of a codec", "What can be set.", NULL, NULL, .few = false},
    {"doctor", "atomo-doctor/1", "what,found,advice", "The machine", "What the machine gives.", NULL, NULL,
     .few = false},
    {0},
};

/* ---- finding the kind of a result ---- */

/* Returns the number of names in the list `marks` if the table has all these columns, else 0. */
static size_t marks_there(const char *marks, const Csv *t)
{
    size_t count = 0;
    for (const char *at = marks, *next; at; at = next) {
        char name[32];
        const size_t length = strcspn(at, ",");
        next = at[length] ? at + length + 1 : NULL;
        if (length >= sizeof name)
            return 0;
        memcpy(name, at, length);
        name[length] = 0;
        if (!csv_has(t, name))
            return 0;
        count++;
    }
    return count;
}

bool result_known(const char *schema)
{
    for (const ResultKind *k = result_kinds; k->name; k++)
        if (!strcmp(k->schema, schema))
            return true;
    return false;
}

/* Of the kinds whose `marks` are all columns of the result, takes the kind with the most: a sweep has all
 * columns of a comparison and more. A result without records has no columns, so the schema alone decides. */
const ResultKind *result_kind(const Stored *s, const char **why)
{
    const ResultKind *best = NULL;
    size_t most = 0;
    *why = s->schema && !result_known(s->schema) ? "its schema is none of those known here"
           : s->schema                           ? "its fields are not those of its schema"
                                                 : "its columns are those of no command's results";
    for (const ResultKind *k = result_kinds; k->name; k++) {
        const size_t marks = marks_there(k->marks, &s->table);
        if (s->schema && strcmp(k->schema, s->schema) != 0)
            continue;
        if (s->schema && s->table.columns == 0)
            return k;
        if (marks > most) {
            most = marks;
            best = k;
        }
    }
    return best;
}
