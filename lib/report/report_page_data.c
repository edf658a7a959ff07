/* report_page_data.c -- writes the data of the charts. */
#include "report/report_page.h"

#include "base/json.h"
#include "compress/spec.h"
#include "report/plot_figure.h"
#include "report/report_stored.h"

#include <math.h>
#include <string.h>

enum { DISTINCT_MOST = 1000 };

/* Significant digits: tables show at most 4, and of a standard error 2. */
enum { DIGITS = 6, SE_DIGITS = 3 };

/* The distinct texts of a column, and the index of each row's text. */
typedef struct {
    const char **text; /* (DISTINCT_MOST) */
    size_t count;
    size_t *index; /* (rows) */
} Texts;

/* Returns false if there are more than DISTINCT_MOST texts. */
static bool texts_of(Texts *out, const Csv *t, size_t column)
{
    out->count = 0;
    for (size_t row = 0, i = 0; row < t->rows; row++) {
        const char *cell = csv_at(t, row, column);
        /* neighbouring rows often have the same text */
        if (!out->count || strcmp(out->text[i], cell) != 0)
            for (i = 0; i < out->count && strcmp(out->text[i], cell) != 0; i++)
                ;
        if (i == DISTINCT_MOST)
            return false;
        out->text[i] = cell;
        out->count += i == out->count;
        out->index[row] = i;
    }
    return true;
}

static void put_member(TextBuf *out, const char *name, const char *text)
{
    json_put_text(out, name);
    text_add(out, ":");
    if (text)
        json_put_text(out, text);
    else
        text_add(out, "null");
    text_add(out, ",");
}

static void put_texts(TextBuf *out, const Texts *t, size_t rows)
{
    text_add(out, "\"texts\":[");
    for (size_t i = 0; i < t->count; i++) {
        text_add(out, i ? "," : "");
        json_put_text(out, t->text[i]);
    }
    text_add(out, "]");
    for (size_t row = 0; t->count > 1 && row < rows; row++)
        text_addf(out, "%s%zu", row ? "," : ",\"index\":\"", t->index[row]);
    text_add(out, t->count > 1 ? "\"}" : "}");
}

/* Writes nothing if the cell has no number. */
static void put_number(TextBuf *out, const char *cell, int digits)
{
    const Value v = stored_value(cell, false);
    if (v.type == VALUE_INT)
        text_addf(out, "%lld", (long long)v.whole);
    if (v.type == VALUE_REAL && isfinite(v.real))
        text_addf(out, "%.*g", digits, v.real);
}

static bool all_same(const Csv *t, size_t column)
{
    size_t row = 1;
    while (row < t->rows && !strcmp(csv_at(t, row, column), csv_at(t, 0, column)))
        row++;
    return row >= t->rows;
}

static void put_numbers(TextBuf *out, const Csv *t, size_t column)
{
    const int digits = text_ends(t->name[column], "_se") ? SE_DIGITS : DIGITS;
    text_add(out, "\"values\":\"");
    for (size_t row = 0, rows = all_same(t, column) ? 1 : t->rows; row < rows; row++) {
        text_add(out, row ? "," : "");
        put_number(out, csv_at(t, row, column), digits);
    }
    text_add(out, "\"}");
}

/* Sets *numbers if every value is a number. Returns false if there is no value. */
static bool look_at(const Csv *t, size_t column, const Field *f, bool *numbers)
{
    bool any = false;
    *numbers = !f || !f->text;
    for (size_t row = 0; row < t->rows; row++) {
        const Value v = stored_value(csv_at(t, row, column), f && f->text);
        any |= v.type != VALUE_NONE;
        *numbers &= v.type == VALUE_NONE || v.type == VALUE_INT || v.type == VALUE_REAL;
    }
    return any;
}

/* Writes the name of the column with the expected values of `column`. Where the standard errors of the expected values
 * are all missing it is unknown whether they are exact, so that the means over repeats are shown, as in tables. */
static void put_exact(TextBuf *out, const Csv *t, size_t column)
{
    const char *exact = NULL;
    bool known = true, numbers;
    for (size_t i = 0; i < t->columns; i++) {
        const FieldBeside beside = field_beside(t->name[column], t->name[i]);
        if (beside == BESIDE_EXACT)
            exact = t->name[i];
        if (beside == BESIDE_EXACT_SE)
            known = look_at(t, i, field_of_column(t->name[i], NULL), &numbers);
    }
    if (exact && known)
        put_member(out, "exact", exact);
}

static void put_column(TextBuf *out, const Csv *t, size_t column, Texts *texts, Arena *a)
{
    const char *name = t->name[column];
    const Field *f = field_of_column(name, NULL);
    bool numbers;
    if (text_ends(name, "_deciles") || !look_at(t, column, f, &numbers) || (!numbers && !texts_of(texts, t, column)))
        return;
    const char *heading = field_heading(name, false, a);
    text_add(out, out->data[out->size - 1] == '[' ? "{" : ",{");
    put_member(out, "name", name);
    put_member(out, "heading", heading ? heading : name);
    put_member(out, "unit", f && f->unit ? f->unit : "");
    if (numbers) {
        put_exact(out, t, column);
        put_numbers(out, t, column);
    } else {
        put_texts(out, texts, t->rows);
    }
}

/* ---- codecs ---- */

static void put_flags(TextBuf *out, const Codec *codec)
{
    const unsigned traits = codec ? codec_traits(codec) : 0;
    const struct {
        bool on;
        const char *name;
    } flag[] = {{traits & UNBIASED, "unbiased"},
                {codec && codec_adds(codec), "adds"},
                {codec && codec_keeps_state(codec), "stateful"}};
    text_add(out, "\"flags\":[");
    for (size_t i = 0, put = 0; i < countof(flag); i++)
        if (flag[i].on)
            text_addf(out, "%s\"%s\"", put++ ? "," : "", flag[i].name);
    text_add(out, "]");
}

static void put_codecs(TextBuf *out, const Texts *specs, Arena *a)
{
    const Look *look = plot_looks((const char *const *)specs->text, specs->count, a);
    out->failed |= !look;
    for (size_t i = 0; i < specs->count && !out->failed; i++) {
        const Codec *codec;
        Error why;
        /* results may have specs of other versions, and values of the literature have patterns such as qsgd:* */
        const bool known = codec_open(&codec, specs->text[i], a, &why) == OK;
        const char *family =
            known ? codec_family(codec, a) : text_slice(a, specs->text[i], strcspn(specs->text[i], ":"));
        const char *rate, *series = plot_series(specs->text[i], &rate, a);
        out->failed |= !family || !series;
        if (out->failed)
            return;
        text_addf(out, "%s{\"colour\":\"%s\",\"mark\":%d,\"dash\":%d,", i ? "," : "", look[i].colour,
                  look[i].mark, look[i].dash);
        put_member(out, "family", family);
        put_member(out, "series", series);
        put_flags(out, known ? codec : NULL);
        text_add(out, "}");
    }
}

/* Appends JSON to HTML. A "<" occurs only within JSON's texts; there it becomes an escape, so that no text can end the
 * script element. */
static void put_safely(TextBuf *out, const char *json)
{
    for (const char *at = json;; at++) {
        const size_t length = strcspn(at, "<");
        text_add_bytes(out, at, length);
        at += length;
        if (!*at)
            return;
        text_add(out, "\\u003c");
    }
}

void page_data(TextBuf *out, const PageData *d, Arena *a)
{
    const Csv *t = d->rows;
    TextBuf json = {.arena = a};
    Texts texts = {NEW(a, const char *, DISTINCT_MOST), 0, NEW(a, size_t, t->rows)};
    out->failed |= !texts.text || !texts.index;
    if (out->failed || !csv_has(t, "compressor") || !texts_of(&texts, t, csv_find(t, "compressor")))
        return;
    text_add(&json, "{");
    put_member(&json, "id", d->id);
    put_member(&json, "file", d->file);
    put_member(&json, "kind", d->kind);
    put_member(&json, "command", d->command);
    text_addf(&json, "\"rows\":%zu,\"codecs\":[", t->rows);
    put_codecs(&json, &texts, a);
    text_add(&json, "],\"columns\":[");
    for (size_t i = 0; i < t->columns && !json.failed; i++)
        put_column(&json, t, i, &texts, a);
    text_add(&json, "]}");
    const char *done = text_done(&json);
    out->failed |= !done;
    text_add(out, "<script type=\"application/json\" class=\"data\">");
    put_safely(out, done ? done : "");
    text_add(out, "</script>\n");
}
