/* codec_doc.c -- see codec_doc.h. */
#include "app/codec_doc.h"
#include "compress/spec.h"

#include "num/stats.h"

#include <math.h>
#include <string.h>

/* ---- promises of a codec: its traits ---- */

static const struct {
    unsigned trait;
    const char *name;
} promises[] = {{UNBIASED, "unbiased"}, {LINEAR, "linear"}, {MERGEABLE, "mergeable"}};

/* Returns the text to append to the spec of a wrapper that cannot be used alone: an inner codec. */
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

/* Appends how the promises change when parameter p is set to `choice` instead of its default. */
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

/* ---- the bias that repeats can detect ---- */

/* Sends and receives x once; *gain becomes <decoded, x> / |x|^2. */
static Status draw_gain(Call *c, uint64_t repeat, const float *x, Buf *payload, float *decoded, double *gain)
{
    Message message;
    double dot = 0, norm = 0;
    c->rng = rng_open(1, repeat, 0, 0, rng_hash("list"));
    c->rng_shared = rng_open(1, repeat, RNG_EVERYONE, 0, rng_hash("list"));
    payload->size = 0;
    TRY(codec_send(c, x, payload, &message));
    TRY(codec_receive(c, &message, decoded));
    for (size_t i = 0; i < c->shape->n; i++) {
        dot += (double)decoded[i] * (double)x[i];
        norm += (double)x[i] * (double)x[i];
    }
    *gain = dot / norm;
    return OK;
}

double codec_doc_gain_variance(const CodecDoc *doc, Arena *a)
{
    if (doc->stateful || !(doc->promises & UNBIASED) || !(doc->promises & RANDOM))
        return NAN;
    Error err;
    Shape shape;
    if (!shape_make(&shape, 2, (const size_t[]){DOC_SIDE, DOC_SIDE}))
        return NAN;
    Call c = {.self = doc->codec,
              .shape = &shape,
              .workers = 1,
              .threads = 1,
              .scratch = arena_open(0),
              .err = &err};
    const Rng data = rng_open(1, 0, 0, 0, rng_hash("list data"));
    float *x = NEW(a, float, shape.n), *decoded = NEW(a, float, shape.n);
    Buf payload = {.cap = codec_message_bound(&c)};
    payload.data = NEW(a, uint8_t, payload.cap);
    Status status = x && decoded && payload.data ? OK : ERR_MEMORY;
    for (size_t i = 0; status == OK && i < shape.n; i++)
        x[i] = (float)rng_normal(&data, USE_DATA, i);
    Moments gains = {0};
    for (uint64_t r = 0; status == OK && r < DOC_DRAWS; r++) {
        double gain = 0;
        status = draw_gain(&c, r, x, &payload, decoded, &gain);
        moments_add(&gains, gain);
    }
    arena_close(c.scratch);
    return status == OK ? moments_variance(&gains) : NAN;
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

/* Appends `text` with `indent` before each line. */
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

static void put_keys(TextBuf *out, const Compressor *ops, Format format, Arena *a)
{
    size_t count;
    const Value *rows = codec_doc_keys(ops, &count, a);
    const ReportSpec spec = {.columns = codec_doc_columns, .column_count = KEY_COLUMNS, .format = format};
    const char *table = rows && count ? report_text(&spec, rows, count, a) : "no keys\n";
    if (table)
        put_indented(out, "", table);
    out->failed |= !table || !rows;
}

static void put_sight(TextBuf *out, const CodecDoc *doc, Arena *a)
{
    const double v1 = codec_doc_gain_variance(doc, a);
    if (v1 > 0)
        text_addf(out,
                  "\nWhat repeats can see: on a %d x %d normal matrix one draw's gain has variance V1 = "
                  "%.2g, so with R\n"
                  "repeats a gain_z beyond 5 shows a bias of 5 sqrt(V1/R): %.2g at R = 10, %.2g at R = 1000. "
                  "V1 falls\n"
                  "as 1/n.\n",
                  DOC_SIDE, DOC_SIDE, v1, 5 * sqrt(v1 / 10), 5 * sqrt(v1 / 1000));
}

char *codec_doc_page(const CodecDoc *doc, Format format, Arena *a)
{
    const bool markdown = format == FORMAT_MD;
    const Compressor *ops = doc->ops;
    const char *flags = codec_doc_flags(doc, a), *choices = codec_doc_choices(doc, a);
    TextBuf out = {.arena = a};
    if (!flags || !choices)
        return NULL;
    text_addf(&out, "%s%s\n\n%s%s%s%s%s\n", markdown ? "## " : "", ops->name, ops->brief, *flags ? "; " : "",
              flags, *choices ? "; with " : "", choices);
    if (ops->formula) {
        text_add(&out, "\n");
        put_indented(&out, "    ", ops->formula);
    }
    text_add(&out, "\n");
    put_keys(&out, ops, format, a);
    put_sight(&out, doc, a);
    if (doc->codec && codec_caution(doc->codec))
        text_addf(&out, "\nCaution: %s\n", codec_caution(doc->codec));
    if (ops->paper)
        text_addf(&out, "\nReference: %s\n", ops->paper);
    return text_done(&out);
}
