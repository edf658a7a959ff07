/* plot_dress.c -- adds to the data of a figure the look (colour, mark, dash) and the label of each line.
 *
 * The label of a line is the first of these that applies: the text of --label; the whole spec, as it was typed, if the line
 * has a single point; the line's name. */
#include "report/plot_look.h"
#include "report/plot_names.h"

#include "compress/spec.h"

#include <math.h>
#include <string.h>

const char *const plot_dress_columns[DRESS_COLUMNS] = {"colour", "mark", "dash", "label", "draws"};

/* True if key `p` sets the codec's rate (such as bits), which varies along a line of the figure. Several keys
 * of one group can set it. */
static bool is_rate(const Param *keys, const Param *p)
{
    const Param *rate = param_rate(keys);
    return rate && (p == rate || (p->group && p->group == rate->group));
}

/* Appends the keys of one codec that differ from their defaults, without the rate key, so that codecs with
 * different keys get different lines. */
static void add_keys(TextBuf *out, const Codec *codec)
{
    const Param *keys = codec->ops->params;
    char value[32], before = ':';
    for (const Param *p = keys; p && p->key; p++)
        if (!is_rate(keys, p) && !param_is_default(p, codec->params)) {
            text_addf(out, "%c%s=%s", before, p->key, param_value(p, codec->params, value));
            before = ',';
        }
}

/* Returns the codec's rate key; NULL: it has none. If several keys can set the rate, returns the one that is
 * set. */
static const Param *rate_key(const Codec *codec)
{
    const Param *keys = codec->ops->params, *rate = param_rate(keys);
    for (const Param *p = keys; rate && p->key; p++)
        if (is_rate(keys, p) && !param_is_default(p, codec->params))
            return p;
    return rate;
}

static const Codec *last_stage(const Codec *codec)
{
    while (codec->inner && !codec_alone(codec))
        codec = codec->inner;
    return codec;
}

char *plot_series(const char *spec, const char **rate, Arena *a)
{
    Error err;
    const Codec *codec;
    char value[32];
    TextBuf out = {.arena = a};
    *rate = "none";
    if (codec_open(&codec, spec, a, &err) != OK)
        return text_copy(a, spec);
    const Codec *last = last_stage(codec);
    const Param *key = rate_key(last);
    const char *text = key ? param_value(key, last->params, value) : NULL;
    *rate = text_copy(a, text ? text : "none");
    for (; codec; codec = codec_alone(codec) ? NULL : codec->inner) {
        text_add(&out, codec->ops->name);
        add_keys(&out, codec);
        text_add(&out, codec->inner && !codec_alone(codec) ? "+" : "");
    }
    return text_done(&out);
}

/* ---- labels ---- */

typedef struct {
    /* without the escapes of `plot_name` */
    const char *name;
    const char *label;
    size_t rows;
    const char *shown; /* the label as plot_name writes it */
} Line;

/* Returns the name of the line that has all rates of a spec at the start of "SPEC=TEXT", and sets *text to its TEXT; NULL:
 * no line has. */
static const char *line_of_rates(const char *said, const Line *line, size_t count, const char **text,
                                 Arena *a)
{
    const char *ignored;
    for (const char *equals = strchr(said, '='); equals; equals = strchr(equals + 1, '=')) {
        const char *spec = text_slice(a, said, (size_t)(equals - said)),
                   *series = spec ? plot_series(spec, &ignored, a) : NULL;
        *text = equals + 1;
        for (size_t i = 0; series && **text && i < count; i++)
            if (!strcmp(line[i].name, series))
                return line[i].name;
    }
    return NULL;
}

/* Returns `text` as it stands between apostrophes in a shell. NULL: out of memory. */
static const char *in_apostrophes(const char *text, Arena *a)
{
    TextBuf out = {.arena = a};
    for (; *text; text++)
        if (*text == '\'')
            text_add(&out, "'\\''");
        else
            text_add_bytes(&out, text, 1);
    return text_done(&out);
}

/* Applies one "SPEC=TEXT" of --label. SPEC may contain '=', so every '=' is tried until the text before it
 * names a line. */
static Status apply(const char *said, Line *line, size_t count, Arena *a, Error *err)
{
    for (const char *equals = strchr(said, '='); equals; equals = strchr(equals + 1, '=')) {
        const char *spec = text_slice(a, said, (size_t)(equals - said));
        TRY(arena_check(spec, a, err));
        for (size_t i = 0; i < count; i++)
            if (equals[1] && (!strcmp(line[i].name, spec) || !strcmp(line[i].label, spec) ||
                              spec_equal(line[i].name, spec))) {
                line[i].label = equals + 1;
                return OK;
            }
    }
    FAIL(err, ERR_USAGE, "--label %s: want SPEC=TEXT, with the spec of a line of the figure", said);
    const char *text, *name = line_of_rates(said, line, count, &text, a);
    if (name) {
        const char *quoted = in_apostrophes(text, a);
        TRY(arena_check(quoted, a, err));
        return error_hint(err, "the rates of %s are one line of this figure: --label '%s=%s'", name, name,
                          quoted);
    }
    TextBuf lines = {.arena = a};
    for (size_t i = 0; i < count; i++)
        text_addf(&lines, "%s%s", i ? "; " : "", line[i].name);
    const char *names = text_done(&lines);
    TRY(arena_check(names, a, err));
    return error_hint(err, "the lines are: %s", names);
}

/* ---- the text about random draws: "R = 10; seed 1" ---- */

/* Appends `one` and the number, or `several` and the range "least to most", of a column; nothing without
 * numbers. */
static void put_range(TextBuf *out, const Csv *data, const char *column, const char *one, const char *several)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t row = 0; row < data->rows; row++) {
        const double v = csv_real(data, row, column);
        least = v < least ? v : least;
        most = v > most ? v : most;
    }
    if (least > most)
        return;
    text_addf(out, "%s%s%.0f", out->size ? "; " : "", least == most ? one : several, least);
    if (least < most)
        text_addf(out, " to %.0f", most);
}

static bool draws_workers(const PlotKind *kind)
{
    const PlotColumn *c = kind->columns;
    while (c->name && strcmp(c->name, "workers") != 0)
        c++;
    return c->name;
}

const char *plot_draws(const PlotKind *kind, const Csv *data, Arena *a)
{
    TextBuf out = {.arena = a};
    for (size_t row = 0; row < data->rows; row++)
        if (*csv_cell(data, row, "draws"))
            return plot_name(csv_cell(data, row, "draws"), a);
    put_range(&out, data, "repeats", "R = ", "R = ");
    if (csv_has(data, "record") && !draws_workers(kind)) /* training */
        put_range(&out, data, "workers", "workers: ", "workers: ");
    put_range(&out, data, "seed", "seed ", "seeds ");
    return text_done(&out);
}

/* ---- rows ---- */

static size_t column_of(const PlotKind *kind, const char *name)
{
    size_t k = 0;
    while (strcmp(kind->columns[k].name, name) != 0)
        k++;
    return k;
}

/* Returns the name of the row's line, as plot_name writes it; NULL: the row belongs to no line. */
static const char *name_of_row(const Value *row, size_t named)
{
    return row[named].type == VALUE_TEXT ? row[named].text : NULL;
}

/* The scripts draw at most this many lines (`most` in plots/look.gp). */
enum { LINES_MOST = 400 };

static Status find_lines(const PlotKind *kind, const Value *rows, size_t count, Line **out, Names *names,
                         Arena *a, Error *err)
{
    const size_t columns = plot_columns(kind), named = column_of(kind, kind->named);
    Line *line = *out = NEW(a, Line, LINES_MOST);
    TRY(arena_check(line, a, err));
    TRY(names_open(names, count, a, err));
    for (size_t i = 0; i < count; i++) {
        const char *text = name_of_row(rows + i * columns, named);
        if (!text)
            continue;
        const size_t lines = names->count, k = names_number(names, text);
        if (k == LINES_MOST) {
            FAIL(err, ERR_CORRUPT, "it has over %d lines: a figure has at most that many", LINES_MOST);
            return error_hint(err, "atomo-bench report RESULT --where selects records");
        }
        if (k == lines) {
            const char *name = plot_plain(text, a),
                       *spec = plot_plain(rows[i * columns + columns - 1].text, a);
            TRY(arena_check(name && spec, a, err));
            line[k] = (Line){.name = name, .label = spec};
        }
        if (++line[k].rows > 1)
            line[k].label = line[k].name;
    }
    return OK;
}

Status plot_dress(const PlotKind *kind, const TextList *labels, const char *draws, Value **rows, size_t count,
                  Arena *a, Error *err)
{
    const size_t columns = plot_columns(kind), named = column_of(kind, kind->named),
                 all = columns + dress_columns(draws);
    Line *line;
    Names known;
    TRY(find_lines(kind, *rows, count, &line, &known, a, err));
    const size_t lines = known.count;
    for (size_t i = 0; labels && i < labels->count; i++)
        TRY(apply(labels->item[i], line, lines, a, err));
    const char **names = NEW(a, const char *, lines + 1);
    TRY(arena_check(names, a, err));
    for (size_t i = 0; i < lines; i++) {
        names[i] = line[i].name;
        line[i].shown = plot_name(line[i].label, a);
        TRY(arena_check(line[i].shown, a, err));
    }
    const Look *look = plot_looks(names, lines, a);
    Value *out = NEW(a, Value, (count + 1) * all);
    TRY(arena_check(look && out, a, err));
    for (size_t i = 0; i < count; i++) {
        Value *to = out + i * all;
        memcpy(to, *rows + i * columns, columns * sizeof *to);
        const char *name = name_of_row(to, named);
        const size_t k = name ? names_number(&known, name) : lines;
        to[columns] = name ? value_text(look[k].colour) : value_none();
        to[columns + 1] = name ? value_int(look[k].mark) : value_none();
        to[columns + 2] = name ? value_int(look[k].dash) : value_none();
        to[columns + 3] = name ? value_text(line[k].shown) : value_none();
        if (*draws)
            to[columns + 4] = value_text(draws);
    }
    *rows = out;
    return OK;
}
