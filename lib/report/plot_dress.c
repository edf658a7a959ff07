/* plot_dress.c -- the lines of a figure: their points, names, labels and looks, and which of them are drawn.
 *
 * The label of a line is the first of these that applies: the text of --label; the whole spec, as it was typed, if the line
 * has no other; the line's name. */
#include "report/plot_figure.h"

#include "compress/spec.h"
#include "math/pareto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const bar_part_names[BAR_PARTS] = {"compute", "encode", "communicate", "decode"};

/* ---- data ---- */

double plot_real(const Csv *data, size_t row, const char *column)
{
    const double v = csv_real(data, row, column);
    return isfinite(v) ? v : NAN;
}

static bool any_is_whole(const Csv *data, const char *column)
{
    for (size_t i = 0; i < data->rows; i++)
        if (!strcmp(csv_cell(data, i, column), "*"))
            return true;
    return false;
}

Status plot_selection(const Csv *data, size_t **row, size_t *count, Arena *a, Error *err)
{
    const bool whole = any_is_whole(data, "tensor"), steps = any_is_whole(data, "step");
    *count = 0;
    *row = NEW(a, size_t, data->rows);
    TRY(arena_check(*row, a, err));
    for (size_t i = 0; i < data->rows; i++)
        if ((!whole || !strcmp(csv_cell(data, i, "tensor"), "*")) &&
            (!steps || !strcmp(csv_cell(data, i, "step"), "*")))
            (*row)[(*count)++] = i;
    return OK;
}

/* ---- lines and points ---- */

/* Returns the array with room for one more element of `size` bytes; NULL: out of memory. */
static void *grown(void *array, size_t count, size_t *room, size_t size, Arena *a)
{
    if (count < *room)
        return array;
    const size_t more = *room ? 2 * *room : 8;
    void *out = arena_take(a, more, size);
    if (out && count)
        memcpy(out, array, count * size);
    *room = out ? more : *room;
    return out;
}

static PlotLine *add_line(PlotFigure *f, Arena *a)
{
    PlotLine *all = grown(f->line, f->count, &f->room, sizeof *all, a);
    if (!all)
        return NULL;
    f->line = all;
    f->line[f->count] = (PlotLine){0};
    return &f->line[f->count++];
}

PlotLine *figure_line(PlotFigure *f, const char *name, Arena *a)
{
    for (size_t i = f->count; i-- > 0;) /* mostly the last one */
        if (f->line[i].name && !f->line[i].same && !strcmp(f->line[i].name, name))
            return &f->line[i];
    PlotLine *l = add_line(f, a);
    if (l && !(l->name = text_printable(a, name)))
        return NULL;
    return l;
}

PlotLine *figure_guide(PlotFigure *f, LineStyle style, Arena *a)
{
    PlotLine *l = add_line(f, a);
    if (l)
        *l = (PlotLine){.style = style, .look = {"#777777", 0, 0}};
    return l;
}

bool line_add(PlotLine *l, PlotPoint p, Arena *a)
{
    PlotPoint *all = grown(l->point, l->count, &l->room, sizeof *all, a);
    if (!all)
        return false;
    l->point = all;
    l->point[l->count++] = p;
    return true;
}

void figure_sort(PlotFigure *f)
{
    for (size_t k = 0; k < f->count; k++) /* by insertion: results are mostly sorted */
        for (size_t i = 1; i < f->line[k].count; i++) {
            PlotPoint *p = f->line[k].point, one = p[i];
            size_t to = i;
            for (; to > 0 && p[to - 1].x > one.x; to--)
                p[to] = p[to - 1];
            p[to] = one;
        }
}

Status figure_front(PlotFigure *f, const PlotPoint *p, size_t count, double sign, bool solid, Arena *a, Error *err)
{
    ParetoPoint *all = NEW(a, ParetoPoint, count);
    TRY(arena_check(all, a, err));
    for (size_t i = 0; i < count; i++)
        all[i] = (ParetoPoint){.size = p[i].x, .error = sign * p[i].y};
    pareto_mark(all, count);
    PlotLine *l = figure_guide(f, LINE_GUIDE, a);
    TRY(arena_check(l, a, err));
    l->look = (Look){"#777777", solid, 0};
    for (size_t i = 0; i < count; i++)
        if (all[i].front)
            TRY(arena_check(line_add(l, point_at(all[i].size, sign * all[i].error), a), a, err));
    figure_sort(f);
    const PlotLine corner = *l;
    l->count = l->room = 0;
    for (size_t i = 0; i < corner.count; i++) {
        const PlotPoint *q = &corner.point[i];
        TRY(arena_check((!i || line_add(l, point_at(q->x, q[-1].y), a)) && line_add(l, *q, a), a, err));
    }
    return OK;
}

bool figure_bars(const PlotFigure *f)
{
    for (size_t k = 0; k < f->count; k++)
        for (size_t i = 0; i < f->line[k].count && !f->line[k].band; i++)
            if (!isnan(f->line[k].point[i].low))
                return true;
    return false;
}

/* ---- series ---- */

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
    *rate = NULL;
    if (codec_open(&codec, spec, a, &err) != OK)
        return text_copy(a, spec);
    const Codec *last = last_stage(codec);
    const Param *key = rate_key(last);
    const char *text = key ? param_value(key, last->params, value) : NULL;
    *rate = text ? text_format(a, "%s=%s", key->key, text) : NULL;
    for (; codec; codec = codec_alone(codec) ? NULL : codec->inner) {
        text_add(&out, codec->ops->name);
        add_keys(&out, codec);
        text_add(&out, codec->inner && !codec_alone(codec) ? "+" : "");
    }
    return text_done(&out);
}

/* ---- labels ---- */

static bool is_named(const PlotLine *l, const char *name)
{
    return l->name && (!strcmp(l->name, name) || (l->spec && spec_equal(l->spec, name)));
}

/* Returns the line that the start of "SPEC=TEXT" names, and sets *text to TEXT; NULL: none. SPEC may contain '=', so
 * every '=' is tried. */
static PlotLine *line_said(PlotFigure *f, const char *said, const char **text, Arena *a)
{
    for (const char *equals = strchr(said, '='); equals; equals = strchr(equals + 1, '=')) {
        const char *spec = text_slice(a, said, (size_t)(equals - said)), *ignored;
        const char *series = spec ? plot_series(spec, &ignored, a) : NULL;
        *text = equals + 1;
        for (size_t pass = 0; series && equals[1] && pass < 2; pass++) /* first the spec itself, then the line of its rates */
            for (size_t i = 0; i < f->count; i++) {
                PlotLine *l = &f->line[i];
                if (!l->same && is_named(l, pass ? series : spec))
                    return l;
            }
    }
    return NULL;
}

static Status refuse_said(const PlotFigure *f, const char *option, const char *said, const char *want, Arena *a, Error *err)
{
    FAIL(err, ERR_USAGE, "%s %s: want %s, with the spec of a line of the figure", option, said, want);
    TextBuf lines = {.arena = a};
    for (size_t i = 0; i < f->count; i++)
        if (f->line[i].name && !f->line[i].same)
            text_addf(&lines, "%s%s", lines.size ? "; " : "", f->line[i].name);
    const char *names = text_done(&lines);
    TRY(arena_check(names, a, err));
    return error_hint(err, "the lines are: %s", names);
}

static Status apply_labels(PlotFigure *f, Arena *a, Error *err)
{
    const TextList *labels = &f->o->labels, *colours = &f->o->colours;
    const char *text;
    for (size_t i = 0; i < labels->count; i++) {
        PlotLine *l = line_said(f, labels->item[i], &text, a);
        if (!l)
            return refuse_said(f, "--label", labels->item[i], "SPEC=TEXT", a, err);
        l->label = text_printable(a, text);
        TRY(arena_check(l->label, a, err));
    }
    for (size_t i = 0; i < colours->count; i++) {
        PlotLine *l = line_said(f, colours->item[i], &text, a);
        if (!l || strlen(text) != 7 || *text != '#' || strspn(text + 1, "0123456789abcdefABCDEF") != 6)
            return refuse_said(f, "--color", colours->item[i], "SPEC=#RRGGBB", a, err);
        l->look.colour = text;
    }
    return OK;
}

/* ---- which lines, in which order ---- */

static bool bears(const char *glob, const PlotLine *l)
{
    return text_glob(glob, l->name) || (l->spec && text_glob(glob, l->spec));
}

static bool is_kept(const TextList *only, const PlotLine *l)
{
    for (size_t i = 0; i < only->count; i++)
        if (bears(only->item[i], l))
            return true;
    return false;
}

static bool names_any(const PlotFigure *f, const char *glob)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->line[i].name && bears(glob, &f->line[i]))
            return true;
    return false;
}

static Status keep_only(PlotFigure *f, Error *err)
{
    const TextList *only = &f->o->only;
    for (size_t i = 0; i < only->count; i++)
        if (!names_any(f, only->item[i]))
            return FAIL(err, ERR_USAGE, "--only %s: no line of the figure has such a name", only->item[i]);
    size_t kept = 0;
    bool keep = false;
    for (size_t i = 0; i < f->count; i++) {
        const PlotLine *l = &f->line[i];
        if (!l->same)
            keep = !l->name || is_kept(only, l);
        if (keep)
            f->line[kept++] = *l;
    }
    f->count = kept;
    return OK;
}

/* The place of a line in --order, a list of names with commas or blanks between them; infinite: it is not there. */
static double place_in(const char *order, const PlotLine *l)
{
    const size_t length = l->name ? strlen(l->name) : 0;
    for (const char *at = length ? strstr(order, l->name) : NULL; at; at = strstr(at + 1, l->name))
        if ((at == order || strchr(", ", at[-1])) && strchr(", ", at[length]))
            return (double)(at - order);
    return INFINITY;
}

void figure_order(PlotFigure *f, double *place)
{
    for (size_t i = 1; i < f->count; i++) {
        const PlotLine one = f->line[i];
        const double at = place[i];
        size_t to = i;
        for (; to > 0 && place[to - 1] > at; to--) {
            f->line[to] = f->line[to - 1];
            place[to] = place[to - 1];
        }
        f->line[to] = one;
        place[to] = at;
    }
}

static Status put_in_order(PlotFigure *f, Arena *a, Error *err)
{
    double *place = NEW(a, double, f->count);
    TRY(arena_check(place, a, err));
    for (size_t i = 0; i < f->count; i++)
        place[i] = f->line[i].same && i ? place[i - 1] : place_in(f->o->order, &f->line[i]);
    figure_order(f, place);
    return OK;
}

static Status highlight(PlotFigure *f, Arena *a, Error *err)
{
    bool any = false, on = false;
    for (size_t i = 0; i < f->count; i++) {
        PlotLine *l = &f->line[i];
        if (!l->name)
            continue;
        on = l->same ? on : is_named(l, f->o->highlight) || text_glob(f->o->highlight, l->name);
        l->thick = on;
        l->grey = !on;
        any |= on;
    }
    return any ? OK : refuse_said(f, "--highlight", f->o->highlight, "SPEC", a, err);
}

/* ---- looks ----
 *
 * The last codec of a spec, whatever its wrappers and keys, gives the colour (Compressor.look). Of the specs of one codec
 * in a figure the shortest has the codec's mark and dashes, too; the others take the next pairs that are free. */

/* Pair i has mark i % MARKS and dashes i % DASHES, so that neighbours differ in both. */
enum { MARKS = 6, DASHES = 5, PAIRS = MARKS * DASHES };

/* Opens the spec that a line's name begins with; cost's figures put a topology or a link behind it, as in "qsgd ring". Sets *rest
 * to what is behind the spec. NULL: it begins with no spec. */
static const Codec *codec_of(const char *name, const char **rest, Arena *a)
{
    Error err;
    const Codec *codec;
    const size_t length = strcspn(name, " ");
    const char *spec = text_slice(a, name, length);
    *rest = name + length;
    return spec && codec_open(&codec, spec, a, &err) == OK ? codec : NULL;
}

/* A line whose look is sought: its name with its codec as the canonical spec, so that a codec has one look however it is typed, its
 * codec's look, and its place in the figure. */
typedef struct {
    const char *name;
    Look own;
    size_t at;
} Seeker;

/* A name that is no spec has the colour of codecs without a family. */
static Seeker seeker_of(const char *name, size_t at, Arena *a)
{
    const char *rest;
    const Codec *codec = codec_of(name, &rest, a);
    const char *text = codec ? codec_text(codec, a) : NULL;
    const Look *look = codec ? &last_stage(codec)->ops->look : NULL;
    return (Seeker){text ? text_format(a, "%s%s", text, rest) : name, look && look->colour ? *look : (Look){HUE_NONE, 0, 0}, at};
}

/* True if one of the looks has this mark and these dashes, whatever its colour or in the colour of `look`. */
static bool is_taken(const Look *used, size_t count, const Look *look, bool any_colour)
{
    for (size_t i = 0; i < count; i++)
        if (used[i].mark == look->mark && used[i].dash == look->dash && (any_colour || !strcmp(used[i].colour, look->colour)))
            return true;
    return false;
}

/* Returns the codec's own look if no line has it, else the next pair of mark and dashes that no line has, or no line of
 * this colour. */
static Look free_look(const Look *used, size_t count, Look own)
{
    if (!is_taken(used, count, &own, false))
        return own;
    for (int k = 1; k < 2 * PAIRS; k++) {
        const Look next = {own.colour, (own.mark + k) % MARKS, (own.dash + k) % DASHES};
        if (!is_taken(used, count, &next, k < PAIRS))
            return next;
    }
    return own;
}

static int shortest_first(const void *x, const void *y)
{
    const Seeker *a = x, *b = y;
    const size_t m = strlen(a->name), n = strlen(b->name);
    return m == n ? strcmp(a->name, b->name) : m < n ? -1 : 1;
}

Look *plot_looks(const char *const *name, size_t count, Arena *a)
{
    Look *look = NEW(a, Look, count + 1), *used = NEW(a, Look, count + 1);
    Seeker *line = NEW(a, Seeker, count + 1);
    size_t uses = 0;
    if (!look || !used || !line)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        line[i] = seeker_of(name[i], i, a);
        if (!line[i].name)
            return NULL;
    }
    qsort(line, count, sizeof *line, shortest_first);
    for (size_t i = 0; i < count; i++) {
        if (!i || strcmp(line[i].name, line[i - 1].name) != 0) {
            used[uses] = free_look(used, uses, line[i].own);
            uses++;
        }
        look[line[i].at] = used[uses - 1];
    }
    return look;
}

static Status give_looks(PlotFigure *f, bool of_tensors, Arena *a, Error *err)
{
    static const char *const usual[] = {HUE_ATOMS, HUE_LEVELS, HUE_SPARSE, HUE_SIGNS, HUE_LOWRANK, HUE_ROTATIONS, HUE_SKETCH, HUE_NONE};
    const char **name = NEW(a, const char *, f->count + 1);
    TRY(arena_check(name, a, err));
    for (size_t i = 0; i < f->count; i++)
        name[i] = f->line[i].name ? f->line[i].name : "none";
    const Look *look = plot_looks(name, f->count, a);
    TRY(arena_check(look, a, err));
    for (size_t i = 0, k = 0; i < f->count; i++) {
        PlotLine *l = &f->line[i];
        if (!l->name || l->grey || l->look.colour)
            continue;
        l->label = l->same ? NULL : l->spec ? text_printable(a, l->spec) : l->name;
        l->look = l->same && i ? f->line[i - 1].look : of_tensors ? (Look){usual[k % 8], (int)k % 6, (int)(k % 5)} : look[i];
        k += !l->same;
    }
    return OK;
}

Status plot_dress(PlotFigure *f, const PlotKind *kind, Arena *a, Error *err)
{
    if (f->o->only.count)
        TRY(keep_only(f, err));
    if (f->o->order)
        TRY(put_in_order(f, a, err));
    TRY(give_looks(f, kind->of_tensors, a, err));
    TRY(apply_labels(f, a, err));
    for (size_t i = 1; i < f->count; i++)
        if (f->line[i].same)
            f->line[i].look = f->line[i - 1].look;
    return f->o->highlight ? highlight(f, a, err) : OK;
}

/* ---- axes ---- */

void axis_numbers_at(PlotAxis *axis, const Csv *data, const char *column)
{
    for (size_t i = 0; i < data->rows; i++) {
        const double v = plot_real(data, i, column);
        size_t k = 0;
        while (k < axis->ats && axis->at[k] != v)
            k++;
        if (v > 0 && k == axis->ats && k < countof(axis->at))
            axis->at[axis->ats++] = v;
    }
}

double time_unit(PlotAxis *axis, double ms, const char *what, Arena *a)
{
    const bool seconds = ms >= 1000;
    axis->title = text_format(a, "%s, %s", what, seconds ? "s" : "ms");
    axis->title = axis->title ? axis->title : "";
    axis->tex = NULL;
    return seconds ? 1000 : 1;
}
