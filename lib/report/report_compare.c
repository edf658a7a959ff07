/* report_compare.c -- see report_compare.h. */
#include "report/report_compare.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEP, WORKER, TENSOR, KIND, SHAPE, N, COMPRESSOR, REPEATS, IDENTITY };

static const Column identity[IDENTITY] = {
    [STEP] = {"step", "step", 0},
    [WORKER] = {"worker", "worker", 0},
    [TENSOR] = {"tensor", "tensor", 0},
    [KIND] = {"kind", NULL, 0},
    [SHAPE] = {"shape", "shape", 0},
    [N] = {"n", NULL, 0},
    [COMPRESSOR] = {"compressor", "compressor", 0},
    [REPEATS] = {"repeats", NULL, 0},
};

static size_t count_metrics(void)
{
    size_t n = 0;
    while (metrics[n].name)
        n++;
    return n;
}

/* ---- rows ---- */

static size_t row_index(const Results *r, size_t place, size_t codec)
{
    return place * r->codecs + codec;
}

static Value *row_at(const Results *r, size_t place, size_t codec)
{
    return r->rows + row_index(r, place, codec) * r->column_count;
}

/* Which record stands where. */
static void map_places(Results *r)
{
    const Vector *v = r->vectors->item;
    size_t place = 0, cells = 0;
    for (size_t i = 0, from = 0; i < r->vectors->count; i++) {
        r->first[place] = &v[i];
        r->level[place++] = LEVEL_VECTOR;
        if (i + 1 == r->vectors->count || !compare_same_cell(&v[i], &v[i + 1])) {
            r->first[place] = &v[from];
            r->level[place++] = LEVEL_CELL;
            from = i + 1;
            cells++;
        }
    }
    if (cells > 1) {
        r->first[place] = v;
        r->level[place++] = LEVEL_RUN;
    }
    assert(place == r->places);
}

Status results_open(Results *r, const VectorList *vectors, const char *const *codec, size_t codecs,
                    size_t repeats, Fields own, Arena *a, Error *err)
{
    const size_t metric_count = count_metrics(), places = compare_places(vectors);
    *r = (Results){.vectors = vectors,
                   .codec = codec,
                   .codecs = codecs,
                   .places = places,
                   .repeats = repeats,
                   .column_count = IDENTITY + metric_count + 1 + own.count,
                   .compressor = COMPRESSOR,
                   .error = IDENTITY + metric_count,
                   .leading = own.leading,
                   .a = a};
    Column *columns = NEW_ZERO(a, Column, 1 + r->column_count);
    r->rows = arena_zeroed(a, places * codecs, r->column_count * sizeof *r->rows);
    r->have = NEW_ZERO(a, bool, places *codecs);
    r->first = NEW(a, const Vector *, places);
    r->level = NEW(a, RecordLevel, places);
    if (!columns || !r->rows || !r->have || !r->first || !r->level)
        return arena_fail(a, err);
    columns->name = "place"; /* the journal's own column, in front of the results' */
    r->columns = ++columns;
    memcpy(columns, identity, sizeof identity);
    for (size_t m = 0; m < metric_count; m++)
        columns[IDENTITY + m] = (Column){metrics[m].name, metrics[m].title, 0};
    columns[r->error] = (Column){"error", "error", 0};
    for (size_t i = 0; i < own.count; i++)
        columns[r->error + 1 + i] = own.column[i];
    map_places(r);
    return OK;
}

/* Who the row is about. */
static void put_identity(const Results *r, size_t place, size_t codec, Value *row)
{
    const Vector *v = r->first[place];
    const RecordLevel level = r->level[place];
    const bool all = level == LEVEL_RUN, single = level == LEVEL_VECTOR;
    row[STEP] = all ? value_text("*") : v->step_group ? value_int(v->step) : value_none();
    row[WORKER] = all ? value_text("*") : v->worker_group ? value_int(v->worker) : value_none();
    row[TENSOR] = value_text(single ? v->name : "*");
    row[KIND] = single ? value_text(kind_names[v->kind]) : value_none();
    row[SHAPE] = single ? value_shape(&v->shape) : value_none();
    if (single)
        row[N] = value_int((int64_t)v->shape.n);
    row[COMPRESSOR] = value_text(r->codec[codec]);
    row[REPEATS] = value_int((int64_t)r->repeats);
}

static Value number(double v, bool whole)
{
    if (isnan(v))
        return value_none();
    return whole && v == floor(v) && fabs(v) < 0x1p53 ? value_int((int64_t)v) : value_real(v);
}

static void fill_row(const Results *r, const Record *record, Value *row)
{
    const Tally *t = &record->tally;
    if (record->vectors)
        row[N] = number(t->n / t->cells, true);
    put_identity(r, record->place, record->codec, row);
    for (size_t m = 0; record->vectors && metrics[m].name; m++)
        row[IDENTITY + m] = number(metrics[m].of(t), metrics[m].form == FORM_COUNT);
    row[r->error] = value_text(record->error);
}

Status results_put(Results *r, const Record *record, Error *err)
{
    Value *row = row_at(r, record->place, record->codec);
    memset(row, 0, r->column_count * sizeof *row);
    fill_row(r, record, row);
    if (record->error) {
        row[r->error] = value_text(text_copy(r->a, record->error));
        if (row[r->error].type == VALUE_NONE)
            return arena_fail(r->a, err);
    }
    r->have[row_index(r, record->place, record->codec)] = true;
    return OK;
}

/* ---- fields by themselves ---- */

bool results_have(const Results *r, size_t place, size_t codec)
{
    return r->have[row_index(r, place, codec)];
}

double results_number(const Results *r, size_t place, size_t codec, const char *field)
{
    const Value *row = row_at(r, place, codec);
    for (size_t i = 0; i < r->column_count; i++)
        if (!strcmp(r->columns[i].name, field))
            return row[i].type == VALUE_INT    ? (double)row[i].whole
                   : row[i].type == VALUE_REAL ? row[i].real
                                               : NAN;
    return NAN;
}

bool results_failed(const Results *r, size_t place, size_t codec)
{
    return row_at(r, place, codec)[r->error].type != VALUE_NONE;
}

void results_set(Results *r, size_t place, size_t codec, size_t field, Value v)
{
    row_at(r, place, codec)[r->error + 1 + field] = v;
}

/* ---- journal ---- */

char *results_line(const Results *r, const Record *record, Arena *a)
{
    Value *row = NEW_ZERO(a, Value, 1 + r->column_count);
    if (!row)
        return NULL;
    row[0] = value_int((int64_t)record->place);
    fill_row(r, record, row + 1);
    return report_json_row(r->columns - 1, 1 + r->error + 1, row, a);
}

/* Places a journal's record among the rows; lines of codecs that this run does not have are passed over. */
static Status resume_record(Results *r, const Json *record, const bool *done, Error *err)
{
    const Json *place = json_member(record, "place"), *name = json_member(record, "compressor");
    if (json_member(record, "solve")) /* no record, but how a compressor's rate was found */
        return OK;
    if (!place || !name || place->type != JSON_NUMBER || !place->is_whole || name->type != JSON_TEXT ||
        place->whole < 0 || (uint64_t)place->whole >= r->places)
        return FAIL(err, ERR_CORRUPT, "a record of nothing that is compared here");
    for (size_t k = 0; k < r->codecs; k++)
        if (!done[k] && r->codec[k] && !strcmp(r->codec[k], name->text)) {
            const size_t at = (size_t)place->whole;
            TRY(journal_row(record, r->columns, r->error + 1, row_at(r, at, k), r->a, err));
            put_identity(r, at, k, row_at(r, at, k));
            r->have[row_index(r, at, k)] = true;
        }
    return OK;
}

Status results_resume(Results *r, const Journal *j, bool *done, Error *err)
{
    for (size_t i = 0; i < j->old_count; i++)
        if (resume_record(r, j->old[i], done, err) != OK)
            return error_at(err, "%s: line %zu", j->path, i + 2);
    for (size_t k = 0; k < r->codecs; k++) {
        size_t have = 0;
        for (size_t place = 0; place < r->places; place++)
            have += r->have[row_index(r, place, k)];
        done[k] = have == r->places;
        for (size_t place = 0; place < r->places && !done[k]; place++)
            r->have[row_index(r, place, k)] = false;
    }
    return OK;
}

char *results_failures(const Results *r, Arena *a)
{
    char *text = text_copy(a, "");
    size_t failed = 0;
    for (size_t place = 0; place < r->places; place++)
        for (size_t k = 0; k < r->codecs; k++) {
            const Value *row = row_at(r, place, k), *why = &row[r->error];
            if (r->level[place] != LEVEL_VECTOR || !r->have[row_index(r, place, k)] ||
                why->type != VALUE_TEXT)
                continue;
            if (failed++ == 0)
                text = text_format(a, "%s on %s: %s", r->codec[k], row[TENSOR].text, why->text);
        }
    return failed > 1 && text ? text_format(a, "%s (and %zu more failed)", text, failed - 1) : text;
}

size_t results_finished(const Results *r)
{
    size_t finished = 0;
    for (size_t i = 0; i < r->places * r->codecs; i++)
        finished += r->have[i];
    return finished;
}
