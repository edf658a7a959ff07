/* codec_doc.c -- implements codec_doc.h. */
#include "app/codec_doc.h"
#include "compress/names.h"
#include "compress/spec.h"

#include "measure/metrics_errors.h"
#include "math/stats.h"

#include <math.h>
#include <string.h>

/* ---- promises of a codec: its traits ---- */

static const struct {
    unsigned trait;
    const char *name;
} promises[] = {{UNBIASED, "unbiased"}, {LINEAR, "linear"}, {MERGEABLE, "mergeable"}};

/* Returns the text to append to the codec's spec: "+none" for a wrapper that needs an inner codec. */
static const char *wrapped(const CodecDoc *doc)
{
    return doc->alone ? "" : "+none";
}

CodecDoc codec_doc(const Compressor *ops, Arena *a)
{
    Error err;
    CodecDoc doc = {.ops = ops, .alone = !ops->wraps || ops->alone[0]};
    const char *bare = text_format(a, "%s%s", ops->name, wrapped(&doc));
    if (!bare || codec_open(&doc.codec, bare, a, &err) != OK)
        doc.codec = NULL;
    doc.promises = doc.codec && doc.alone ? codec_traits(doc.codec) : 0;
    doc.stateful = ops->state_size != NULL;
    return doc;
}

static void put_flag(TextBuf *out, const char *flag)
{
    text_addf(out, "%s%s", out->size ? ", " : "", flag);
}

char *codec_doc_flags(const CodecDoc *doc, Arena *a)
{
    TextBuf out = {.arena = a};
    for (size_t i = 0; i < countof(promises); i++)
        if (doc->promises & promises[i].trait)
            put_flag(&out, promises[i].name);
    if (doc->stateful)
        put_flag(&out, "stateful");
    if (doc->ops->wraps)
        put_flag(&out, "wrapper");
    return text_done(&out);
}

/* Appends the promises (such as "unbiased") that parameter `p` adds or removes if it is set to `choice`. */
static void put_difference(TextBuf *out, const CodecDoc *doc, const Param *p, const char *choice, Arena *a)
{
    Error err;
    const Codec *other;
    const char *spec = text_format(a, "%s:%s=%s%s", doc->ops->name, p->key, choice, wrapped(doc));
    if (!spec || codec_open(&other, spec, a, &err) != OK)
        return;
    const unsigned usual = codec_traits(doc->codec), now = codec_traits(other);
    for (size_t i = 0; i < countof(promises); i++)
        if ((usual ^ now) & promises[i].trait)
            text_addf(out, "%s%s=%s: %s%s", out->size ? ", " : "", p->key, choice,
                      now & promises[i].trait ? "" : "not ", promises[i].name);
}

char *codec_doc_choices(const CodecDoc *doc, Arena *a)
{
    static const char *const switches[] = {"off", "on", NULL};
    TextBuf out = {.arena = a};
    for (const Param *p = doc->ops->params; doc->codec && p && p->key; p++) {
        const char *const *choices = p->type == PARAM_BOOL     ? switches
                                     : p->type == PARAM_CHOICE ? p->choices
                                                               : NULL;
        for (; choices && *choices; choices++)
            put_difference(&out, doc, p, *choices, a);
    }
    return text_done(&out);
}

/* ---- the least bias that tests with a given number of repeats detect ---- */

enum { LANES = 4 }; /* partial sums, as a single one would wait for each addition */

/* What is needed to encode and decode a square matrix of normal random numbers repeatedly with one codec. */
typedef struct {
    Call call;
    Shape shape;
    float *x, *decoded; /* zeros behind their n elements, up to a multiple of LANES */
    double norm, magnitude; /* |x|^2 and |x|_1 */
    Buf payload;
    Error err;
} Draws;

static Status draws_open(Draws *d, const Codec *codec, size_t side, Arena *a)
{
    const Rng data = rng_open(1, 0, 0, 0, rng_hash("list data"));
    *d = (Draws){.call = {.self = codec, .workers = 1, .threads = 1}};
    if (!shape_make(&d->shape, 2, (const size_t[]){side, side}))
        return ERR_USAGE;
    d->call.shape = &d->shape;
    d->call.scratch = a;
    d->call.err = &d->err;
    d->x = NEW_ZERO(a, float, d->shape.n + LANES - 1);
    d->decoded = NEW_ZERO(a, float, d->shape.n + LANES - 1);
    d->payload.cap = codec_message_bound(&d->call);
    d->payload.data = NEW(a, uint8_t, d->payload.cap);
    if (!d->x || !d->decoded || !d->payload.data)
        return arena_fail(a, &d->err);
    for (size_t i = 0; i < d->shape.n; i++) {
        d->x[i] = (float)rng_normal(&data, USE_DATA, i);
        d->norm += (double)d->x[i] * (double)d->x[i];
        d->magnitude += fabs((double)d->x[i]);
    }
    return OK;
}

/* Encodes and decodes x once, and sets *gain to <y, x> / |x|^2 and *gain_l1 to <y, sign x> / |x|_1, where y is
 * the decoded vector. */
static Status draw(Draws *d, uint64_t repeat, double *gain, double *gain_l1)
{
    Message message;
    double dot[LANES] = {0}, along[LANES] = {0};
    d->call.rng = rng_open(1, repeat, 0, 0, rng_hash("list"));
    d->call.rng_shared = rng_open(1, repeat, RNG_EVERYONE, 0, rng_hash("list"));
    d->payload.size = 0;
    TRY(codec_send(&d->call, d->x, &d->payload, &message));
    TRY(codec_receive(&d->call, &message, d->decoded));
    for (size_t i = 0; i < d->shape.n; i += LANES)
        for (size_t l = 0; l < LANES; l++) {
            const double x = (double)d->x[i + l], y = (double)d->decoded[i + l];
            dot[l] += y * x;
            along[l] += x < 0 ? -y : y;
        }
    *gain = (dot[0] + dot[1] + dot[2] + dot[3]) / d->norm;
    *gain_l1 = (along[0] + along[1] + along[2] + along[3]) / d->magnitude;
    return OK;
}

CodecSight codec_doc_sight(const CodecDoc *doc, size_t side)
{
    Moments gains = {0}, along = {0};
    double gain = 0, gain_l1 = 0;
    Draws d;
    if (doc->stateful || !(doc->promises & UNBIASED) || !(doc->promises & RANDOM))
        return (CodecSight){NAN, NAN};
    Arena *a = arena_open(0);
    Status status = draws_open(&d, doc->codec, side, a);
    for (uint64_t r = 0; status == OK && r < DOC_DRAWS; r++) {
        status = draw(&d, r, &gain, &gain_l1);
        moments_add(&gains, gain);
        moments_add(&along, gain_l1);
    }
    arena_close(a);
    return status == OK ? (CodecSight){moments_variance(&gains), moments_variance(&along)}
                        : (CodecSight){NAN, NAN};
}

/* Suppose that decoded gradients have the mean (1 + b) g, where g is the true gradient. Returns the least b > 0
 * that a test of "unbiased" at significance DOC_LEVEL detects with probability 0.9. */
#define DOC_LEVEL 0.01
static double least_bias(CodecSight s, size_t repeats)
{
    const double r = (double)repeats;
    const double gain = sqrt(s.gain / r), gain_l1 = sqrt(s.gain_l1 / r);
    const double along = bias_detectable(gain_l1, r - 1, SE_MEASURED, DOC_LEVEL);
    /* eden, for example, makes the gain 1 in every draw, which cannot show a bias */
    return gain < 1e-3 * gain_l1 ? along : fmin(bias_detectable(gain, r - 1, SE_MEASURED, DOC_LEVEL), along);
}

/* ---- table of a codec's keys ---- */

const Column codec_doc_columns[KEY_COLUMNS] = {
    {"key", true},  {"type", true},     {"range", true},   {"default", true},
    {"rate", true}, {"excludes", true}, {"meaning", true},
};

static char *excludes_of(const Param *schema, const Param *p, Arena *a)
{
    TextBuf out = {.arena = a};
    for (const Param *other = schema; other->key; other++)
        if (other != p && p->group && other->group == p->group)
            put_flag(&out, other->key);
    return text_done(&out);
}

Value *codec_doc_keys(const Compressor *ops, size_t *count, Arena *a)
{
    static const char *const types[] = {
        [PARAM_INT] = "whole",     [PARAM_REAL] = "real", [PARAM_BOOL] = "switch",
        [PARAM_CHOICE] = "choice", [PARAM_SPEC] = "spec", [PARAM_TEXT] = "text"};
    size_t keys = 0;
    while (ops->params && ops->params[keys].key)
        keys++;
    Value *rows = NEW(a, Value, keys * KEY_COLUMNS + 1);
    for (size_t i = 0; rows && i < keys; i++) {
        char range[96];
        const Param *p = &ops->params[i];
        Value *row = rows + i * KEY_COLUMNS;
        const char *excludes = excludes_of(ops->params, p, a);
        row[0] = value_text(p->key);
        row[1] = value_text(types[p->type]);
        row[2] = value_text(text_copy(a, param_range(p, range)));
        row[3] = value_text(p->fallback);
        row[4] = value_bool(p->rate);
        row[5] = value_text(excludes && *excludes ? excludes : NULL);
        row[6] = value_text(p->help);
    }
    *count = keys;
    return rows;
}

/* ---- the page about a codec ---- */

static void put_indented(TextBuf *out, const char *indent, const char *text)
{
    while (*text) {
        const size_t length = strcspn(text, "\n");
        text_add(out, indent);
        text_add_bytes(out, text, length);
        text_add(out, "\n");
        text += length + (text[length] == '\n');
    }
}

/* Appends each line of the text behind `indent` spaces. Lines longer than `width` are folded, and continue two spaces
 * further in. `width` 0: no line is folded. */
static void put_folded(TextBuf *out, size_t indent, const char *text, size_t width)
{
    while (*text) {
        const size_t length = strcspn(text, "\n"), inner = strspn(text, " ");
        const char *line = text_slice(out->arena, text, length);
        out->failed |= !line;
        text_addf(out, "%*s", (int)indent, "");
        if (!line || !width || indent + text_characters(line, length) <= width) {
            text_add(out, line ? line : "");
        } else {
            text_addf(out, "%*s", (int)inner, "");
            text_wrap(out, line + inner, indent + inner + 2, width);
        }
        text_add(out, "\n");
        text += length + (text[length] == '\n');
    }
}

/* Appends the description for people who are new to the codec, and an example. */
static void put_guide(TextBuf *out, const Compressor *ops, size_t width, Arena *a)
{
    enum { LINE = 100 };
    const size_t most = width && width < LINE ? width : LINE;
    if (!ops->plain || !ops->use_when || !ops->example)
        return;
    const char *use = text_format(a, "Use it when %s", ops->use_when);
    text_add(out, "\n");
    text_wrap(out, ops->plain, 0, most);
    text_add(out, "\n\n");
    text_wrap(out, use ? use : "", 0, most);
    text_add(out, "\n\nExample:\n\n");
    put_indented(out, "    ", ops->example);
    out->failed |= !use;
}

static void put_keys(TextBuf *out, const Compressor *ops, Format format, size_t width, Arena *a)
{
    size_t count;
    const Value *rows = codec_doc_keys(ops, &count, a);
    const ReportSpec spec = {
        .columns = codec_doc_columns, .column_count = KEY_COLUMNS, .format = format, .width = width};
    const char *table = rows && count ? report_text(&spec, rows, count, a) : "no keys\n";
    if (table)
        put_indented(out, "", table);
    out->failed |= !table || !rows;
}

static void put_sight(TextBuf *out, const CodecDoc *doc)
{
    static const size_t sides[] = {64, 128};
    for (size_t i = 0; i < countof(sides); i++) {
        const CodecSight s = codec_doc_sight(doc, sides[i]);
        if (isnan(s.gain))
            return;
        text_addf(
            out,
            i ? "; of %zu x %zu: %.2g and %.2g"
              : "\nLeast bias that shows: E h = (1 + b) g is found with probability 0.9, by a test at p = 0.01, from this b on:\n"
                "on a normal matrix of %zu x %zu: %.2g with 10 repeats, %.2g with 1000",
            sides[i], sides[i], least_bias(s, 10), least_bias(s, 1000));
    }
    text_add(out, "\n");
}

char *codec_doc_page(const CodecDoc *doc, Format format, size_t width, Arena *a)
{
    const bool markdown = format == FORMAT_MD;
    const Compressor *ops = doc->ops;
    const char *flags = codec_doc_flags(doc, a), *choices = codec_doc_choices(doc, a);
    TextBuf out = {.arena = a}, last = {.arena = a};
    if (!flags || !choices)
        return NULL;
    const char *head = text_format(a, "%s%s%s%s%s", ops->brief, *flags ? "; " : "", flags,
                                   *choices ? "; with " : "", choices);
    text_addf(&out, "%s%s\n\n", markdown ? "## " : "", ops->name);
    put_folded(&out, 0, head ? head : "", width);
    put_guide(&out, ops, width, a);
    if (ops->formula) {
        text_add(&out, "\nDefinition:\n\n");
        put_folded(&out, 4, ops->formula, width);
    }
    text_add(&out, "\n");
    put_keys(&out, ops, format, width, a);
    put_sight(&last, doc);
    if (doc->codec && codec_caution(doc->codec))
        text_addf(&last, "\nCaution: %s\n", codec_caution(doc->codec));
    if (ops->paper)
        text_addf(&last, "\nReference: %s\n", ops->paper);
    const char *rest = text_done(&last);
    put_folded(&out, 0, rest ? rest : "", width);
    return head && rest ? text_done(&out) : NULL;
}
