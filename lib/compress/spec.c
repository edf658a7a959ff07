/* spec.c -- finds compressors by name, parses and prints specs of codecs, and makes hints for wrong names and keys
 * (spec.h). A stage of a spec is one codec with its keys. */
#include "compress/spec.h"
#include "base/text.h"

#include <ctype.h>

/* ---- names of compressors and of the literature ---- */

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); /* tolower depends on the locale */
}

/* Returns the compressor whose name, in any case, is `text` up to the first character of `stops`. */
static const Compressor *compressor_at(const char *text, const char *stops)
{
    const size_t length = strcspn(text, stops);
    for (size_t i = 0; compressor_number(i); i++) {
        const char *name = compressor_number(i)->name; /* it has no capitals */
        size_t same = 0;
        while (same < length && name[same] == lower(text[same]))
            same++;
        if (same == length && !name[same])
            return compressor_number(i);
    }
    return NULL;
}

const Compressor *compressor_find(const char *name)
{
    return compressor_at(name, "");
}

static const char *compressor_name(const void *data, size_t i)
{
    (void)data;
    return compressor_number(i) ? compressor_number(i)->name : NULL;
}

enum { NAME_ROOM = 64 };

/* Writes the letters and digits of `name` to `out`, in lower case, cut to NAME_ROOM - 1 characters. Returns
 * `out`. */
static const char *plain(char out[NAME_ROOM], const char *name)
{
    size_t used = 0;
    for (; *name && used + 1 < NAME_ROOM; name++)
        if (isalnum((unsigned char)*name))
            out[used++] = lower(*name);
    out[used] = 0;
    return out;
}

/* ---- hints for names ---- */

static const Literature *find_title(const char *asked)
{
    char title[NAME_ROOM];
    for (const Literature *row = literature; row->title && *asked; row++)
        if (!strcmp(asked, plain(title, row->title)))
            return compressor_find(title) ? NULL : row; /* a codec of this name takes its place */
    return NULL;
}

const Literature *literature_find(const char *name)
{
    char asked[NAME_ROOM];
    const size_t length = strlen(plain(asked, name));
    const Literature *row = find_title(asked);
    if (row || length <= 3 || strcmp(asked + length - 3, "sgd") != 0)
        return row;
    asked[length - 3] = 0;
    return find_title(asked);
}

const Literature *literature_alias(const char *name)
{
    const Literature *row = compressor_find(name) ? NULL : literature_find(name);
    return row && !row->note ? row : NULL;
}

const char *compressor_left_out(const char *spec)
{
    /* SCIENCE in the Makefile */
    return strcspn(spec, ":+") == 3 && !strncmp(spec, "zfp", 3) && !compressor_find("zfp") ? "zfp" : NULL;
}

Status compressor_unknown(Error *err, const char *name)
{
    const Literature *row = literature_find(name);
    const char *codec = compressor_left_out(name);
    FAIL(err, ERR_USAGE, "no codec is called \"%s\"", name);
    if (row && row->note)
        return error_hint(err, "try %s; %s", row->spec, row->note);
    if (codec)
        return error_hint(err, "this build lacks lib%s: install lib%s-dev, then build atomo anew", codec, codec);
    text_unknown(err, name, compressor_name, NULL, "no codec is called \"%s\"", name);
    return error_hint(err, "atomo-bench list shows them all");
}

/* ---- hints for keys ---- */

/* Keys of the literature and of other programs. For a key, the hint takes the first row whose key `here`
 * belongs to the codec. */
static const struct {
    const char *key, *here;
    const char *how; /* the value of `here` in terms of the value of `key`; NULL: the same value */
} other_keys[] = {
    {"k", "ratio", "k/n, a share of each tensor's n elements"},
    {"k", "density", "k/n, a share of each tensor's n elements"},
    {"k", "rank", NULL},
    {"n", "ratio", "k/n, a share of each tensor's n elements"},
    {"sparsity", "ratio", "1 - sparsity"},
    {"sparsity", "density", "1 - sparsity"},
    {"density", "ratio", NULL},
    {"fraction", "ratio", NULL},
    {"share", "ratio", NULL},
    {"p", "ratio", NULL},
    {"ratio", "density", NULL},
    {"r", "rank", NULL},
    {"s", "budget", NULL},
    {"s", "levels", NULL},
    {"s", "rank", NULL},
    {"q", "levels", NULL},
    {"b", "bits", NULL},
    {"nbits", "bits", NULL},
    {"num_bits", "bits", NULL},
    {"quantum_num", "levels", NULL},
    {"quantization_level", "levels", NULL},
    {"compress_ratio", "ratio", NULL},
    {"compression_ratio", "ratio", NULL},
    {"d", "bucket", NULL},
    {"bucket_size", "bucket", NULL},
    {"bucketsize", "bucket", NULL},
    {"threshold", "tau", NULL},
};

static Status hint_key(Error *err, const Compressor *ops, const char *key, const char *value)
{
    for (size_t i = 0; i < countof(other_keys); i++) {
        const char *here = other_keys[i].here, *how = other_keys[i].how;
        if (strcmp(other_keys[i].key, key) != 0 || !param_find(ops->params, here))
            continue;
        return how ? error_hint(err, "%s has %s, which is %s, such as %s:%s=0.01", ops->name, here, how,
                                ops->name, here)
                   : error_hint(err, "%s:%s=%s", ops->name, here, value);
    }
    return err->status;
}

/* Hint for a key without a value: "topk:0.01", "ef:topk", "qsgd:bits=4,terngrad". */
static Status hint_bare(Error *err, const Compressor *ops, const char *item)
{
    const Compressor *other = compressor_at(item, ":");
    const Param *rate = param_rate(ops->params);
    if (other)
        return ops->wraps ? error_hint(err, "a wrapper is followed by a plus: %s+%s", ops->name, item)
                          : error_hint(err, "each codec takes its own -c: -c %s", item);
    if (!rate)
        return err->status;
    double real;
    return error_hint(err, "%s:%s=%s", ops->name, rate->key, text_to_real(item, &real) ? item : "VALUE");
}

/* Adds a hint to the error `err` of a spec whose keys are wrong. `keys` is the text after the codec's name and
 * colon. Without a better hint, `err` is unchanged. Returns the status of `err`. */
static Status compressor_wrong_keys(Error *err, const Compressor *ops, const char *keys)
{
    for (size_t length; *keys; keys += length + (keys[length] == ',')) {
        char item[NAME_ROOM];
        length = strcspn(keys, ",");
        snprintf(item, sizeof item, "%.*s", (int)length, keys);
        char *value = strchr(item, '=');
        if (!value)
            return hint_bare(err, ops, item);
        *value++ = 0;
        if (!param_find(ops->params, item))
            return hint_key(err, ops, item, value);
    }
    return err->status;
}

/* ---- parsing ---- */

/* Returns the end of the stage that begins at s. A stage ends at a '+' before a letter, or at the end of the
 * text. */
static const char *stage_end(const char *s)
{
    while (*s && !(s[0] == '+' && isalpha((unsigned char)s[1])))
        s++;
    return s;
}

enum { STAGES_MAX = 8 };

/* Cuts the key `p`, whose value is a spec, and everything behind it off `keys`. Returns the value of `p`, or
 * NULL if `keys` does not set `p`. */
static char *cut_spec(char *keys, const Param *p)
{
    const size_t length = strlen(p->key);
    for (char *at = keys; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, p->key, length) && at[length] == '=') {
            at[at > keys ? -1 : 0] = 0;
            return at + length + 1;
        }
    return NULL;
}

static bool wrapper_at(const char *text, const char *stops)
{
    const Compressor *ops = compressor_at(text, stops);
    return ops && ops->wraps;
}

/* Opens the codec whose spec is the value of key `p`, and replaces the value by the codec's canonical spec. */
static Status open_named(Codec *codec, const Param *p, const char *spec, Arena *a, Error *err)
{
    const char **text = (const char **)(uintptr_t)((const char *)codec->params + p->offset);
    if (spec && wrapper_at(spec, ":+,"))
        return FAIL(err, ERR_USAGE, "%s: %s=%s is a wrapper: want a codec", codec->ops->name, p->key, spec);
    if (codec_open(&codec->other, spec ? spec : p->fallback, a, err) != OK)
        return error_at(err, "%s: %s", codec->ops->name, p->key);
    if (spec)
        codec->named |= UINT64_C(1) << (p - codec->ops->params);
    *text = codec_text(codec->other, a);
    return arena_check(*text, a, err);
}

/* Returns the set of keys that are named in `keys` ("key=value,key=value"): bit i stands for schema[i]. */
static uint64_t param_named(const Param *schema, const char *keys)
{
    uint64_t named = 0;
    for (const char *at = keys; *at; at += strcspn(at, ","), at += *at == ',') {
        const size_t length = strcspn(at, "=,");
        for (const Param *p = schema; p && p->key; p++)
            if (!strncmp(p->key, at, length) && !p->key[length])
                named |= UINT64_C(1) << (p - schema);
    }
    return named;
}

static Status open_stage(Codec *codec, const char *stage, size_t length, Arena *a, Error *err)
{
    char *text = text_slice(a, stage, length);
    TRY(arena_check(text, a, err));
    char *keys = strchr(text, ':');
    if (keys)
        *keys++ = 0;
    codec->ops = compressor_find(text);
    if (!codec->ops && text[0] && text[strlen(text) - 1] == '+' && wrapper_at(text, "+")) {
        FAIL(err, ERR_USAGE, "%.*s needs a codec to wrap", (int)strlen(text) - 1, text);
        return error_hint(err, "write %snone, or another codec after the +", text);
    }
    if (!codec->ops)
        return compressor_unknown(err, text);
    void *params = NEW_ZERO(a, char, params_size(codec->ops->params));
    TRY(arena_check(params, a, err));
    codec->params = params;
    const Param *last = codec->ops->params;
    while (last && last->key && last->type != PARAM_SPEC)
        last++;
    const bool holds = last && last->key;
    const char *spec = holds && keys ? cut_spec(keys, last) : NULL;
    codec->named = param_named(codec->ops->params, keys ? keys : "");
    if (param_parse(codec->ops->params, params, text, keys ? keys : "", err) != OK)
        return compressor_wrong_keys(err, codec->ops, keys ? keys : "");
    char part[PART_SPEC];
    if (codec->ops->part && codec->ops->part(codec, part))
        TRY(codec_open(&codec->other, part, a, err));
    return holds ? open_named(codec, last, spec, a, err) : OK;
}

/* Fails: the codec from `stage` to `end` is no wrapper, but another stage follows. */
static Status wraps_nothing(const char *spec, const char *stage, const char *end, Error *err)
{
    const int before = (int)(end - stage), name = (int)strcspn(stage, ":+");
    const char *next = end + 1;
    FAIL(err, ERR_USAGE, "codec %s: %.*s wraps nothing; a wrapper such as ef stands first", spec, name,
         stage);
    return wrapper_at(next, ":+")
               ? error_hint(err, "write %s+%.*s", next, before, stage)
               : error_hint(err, "each codec takes its own -c: -c %.*s -c %s", before, stage, next);
}

static bool stage_begins(const char *spec, const char *s)
{
    return s == spec || (s[-1] == '+' && isalpha((unsigned char)*s));
}

/* Finds the alternatives (a/b/c) around the first '/' of `spec`, and sets *from and *to to their beginning and
 * end. Alternatives are names of codecs, which end at ':', or values of a key, in which ':' may occur. */
static bool find_alternatives(const char *spec, size_t *from, size_t *to)
{
    const char *slash = strchr(spec, '/');
    if (!slash || literature_find(spec)) /* "0/1 Adam" is one name */
        return false;
    const char *start = slash, *end = slash;
    while (!stage_begins(spec, start) && start[-1] != '=' && start[-1] != ',')
        start--;
    const bool names = stage_begins(spec, start);
    while (*end && *end != ',' && !(names && *end == ':') &&
           !(end[0] == '+' && isalpha((unsigned char)end[1])))
        end++;
    *from = (size_t)(start - spec);
    *to = (size_t)(end - spec);
    return true;
}

static Status refuse_alternatives(const char *spec, size_t from, size_t to, Error *err)
{
    FAIL(err, ERR_USAGE, "codec %s: %.*s are alternatives, and one codec is wanted here", spec,
         (int)(to - from), spec + from);
    return error_hint(err, "write %.*s%.*s%s", (int)from, spec, (int)strcspn(spec + from, "/"), spec + from,
                      spec + to);
}

/* Returns a row's spec with the keys `typed` ("key=value,key=value") added to its last stage. They replace its own. */
static char *with_keys(const char *spec, const char *typed, Arena *a)
{
    const char *last = spec;
    while (*stage_end(last))
        last = stage_end(last) + 1;
    const size_t name = strcspn(last, ":");
    const Compressor *ops = compressor_at(last, ":");
    const Param *schema = ops ? ops->params : NULL;
    const uint64_t named = param_named(schema, typed);
    TextBuf out = {.arena = a};
    char before = ':';
    text_addf(&out, "%.*s", (int)(last - spec + (ptrdiff_t)name), spec);
    for (const char *own = last + name; schema && *own++;) {
        const size_t length = strcspn(own, ",");
        const char *key = text_slice(a, own, strcspn(own, "="));
        if (!key)
            return NULL;
        const Param *p = param_find(schema, key);
        if (p && !(named >> (p - schema) & 1)) {
            text_addf(&out, "%c%.*s", before, (int)length, own);
            before = ',';
        }
        own += length;
    }
    text_addf(&out, "%c%s", before, typed);
    return text_done(&out);
}

/* Returns `spec` with the first name of the literature that is another name of a codec replaced by the codec's spec, and
 * sets *alias to the name; `spec` itself if there is none. */
static const char *without_alias(const char *spec, const char **alias, Arena *a)
{
    for (const char *stage = spec, *end;; stage = end + 1) {
        end = stage_end(stage);
        const size_t whole = (size_t)(end - stage), colon = strcspn(stage, ":"), length = colon < whole ? colon : whole;
        const char *name = text_slice(a, stage, length), *keys = stage + length;
        const Literature *row = name ? literature_alias(name) : NULL;
        if (row) {
            const size_t colons = keys < end;
            const char *typed = text_slice(a, keys + colons, (size_t)(end - keys) - colons),
                       *known = typed && *typed ? with_keys(row->spec, typed, a) : typed ? row->spec : NULL;
            *alias = row->title;
            return known ? text_format(a, "%.*s%s%s", (int)(stage - spec), spec, known, end) : NULL;
        }
        if (!*end)
            return spec;
    }
}

static Status open_stages(Codec **out, const char *spec, Arena *a, Error *err)
{
    Codec *first = NULL, *outer = NULL;
    int stages = 0;
    for (const char *stage = spec, *end;; stage = end + 1) {
        if (stages++ == STAGES_MAX)
            return FAIL(err, ERR_USAGE, "codec %s: more than %d stages", spec, STAGES_MAX);
        end = stage_end(stage);
        Codec *codec = NEW_ZERO(a, Codec, 1);
        TRY(arena_check(codec, a, err));
        if (open_stage(codec, stage, (size_t)(end - stage), a, err) != OK)
            return error_at(err, "codec %s", spec);
        if (outer)
            outer->inner = codec;
        else
            first = codec;
        if (*end && !codec->ops->wraps)
            return wraps_nothing(spec, stage, end, err);
        if (!*end && codec->ops->alone[0]) {
            TRY(codec_open(&codec->inner, codec->ops->alone[0], a, err));
            TRY(codec_open(&codec->other, codec->ops->alone[1], a, err));
        } else if (!*end && codec->ops->wraps) {
            FAIL(err, ERR_USAGE, "codec %s: %s needs a codec to wrap", spec, codec->ops->name);
            return error_hint(err, "write %s+none, or another codec after the +", spec);
        }
        outer = codec;
        if (!*end)
            break;
    }
    for (const Codec *codec = first; codec; codec = codec->inner)
        if (codec->ops->check && codec->ops->check(codec, err) != OK)
            return error_at(err, "codec %s", spec);
    *out = first;
    return OK;
}

Status codec_open(const Codec **out, const char *spec, Arena *a, Error *err)
{
    Codec *codec = NULL;
    const char *alias = NULL, *known = without_alias(spec, &alias, a);
    size_t from, to;
    if (find_alternatives(spec, &from, &to))
        return refuse_alternatives(spec, from, to, err);
    TRY(arena_check(known, a, err));
    TRY(open_stages(&codec, known, a, err));
    codec->typed = text_copy(a, spec);
    codec->alias = alias;
    *out = codec;
    return arena_check(codec->typed, a, err);
}

bool codec_alone(const Codec *codec)
{
    return codec->other && codec->ops->alone[0];
}

/* ---- printing specs ---- */

/* Which keys a spec is printed with: those not at their defaults, all that are set, or those that the spec names. */
typedef enum { KEYS_CHANGED, KEYS_ALL, KEYS_NAMED } Keys;

static bool shows(const Codec *codec, const Param *p, Keys keys)
{
    return keys == KEYS_CHANGED ? !param_is_default(p, codec->params)
           : keys == KEYS_NAMED ? codec->named >> (p - codec->ops->params) & 1
                                : true;
}

static char *print_spec(const Codec *codec, Keys keys, Arena *a)
{
    TextBuf text = {.arena = a};
    char value[32];
    for (; codec; codec = codec_alone(codec) ? NULL : codec->inner) {
        char before = ':';
        text_addf(&text, "%s%s", text.size ? "+" : "", codec->ops->name);
        for (const Param *p = codec->ops->params; p && p->key; p++) {
            const char *is = !shows(codec, p, keys)    ? NULL
                             : p->type == PARAM_SPEC ? print_spec(codec->other, keys, a)
                                                     : param_value(p, codec->params, value);
            if (is)
                text_addf(&text, "%c%s=%s", before, p->key, is);
            before = is ? ',' : before;
        }
    }
    return text_done(&text);
}

char *codec_text(const Codec *codec, Arena *a)
{
    return print_spec(codec, KEYS_CHANGED, a);
}

char *codec_complete(const Codec *codec, Arena *a)
{
    return print_spec(codec, KEYS_ALL, a);
}

char *codecs_complete(const Codec *const *codec, size_t count, Arena *a)
{
    TextBuf text = {.arena = a};
    for (size_t k = 0; k < count; k++) {
        const char *spec = codec_complete(codec[k], a);
        text_addf(&text, "%s%s", k ? " " : "", spec ? spec : "");
    }
    return text_done(&text);
}

bool spec_equal(const char *spec, const char *other)
{
    Arena *a = arena_open(0);
    const Codec *one, *two;
    Error ignored;
    const char *text = codec_open(&one, spec, a, &ignored) == OK ? codec_text(one, a) : NULL,
               *second = codec_open(&two, other, a, &ignored) == OK ? codec_text(two, a) : NULL;
    const bool equal = text && second && !strcmp(text, second);
    arena_close(a);
    return equal;
}

const char *codec_typed(const Codec *codec, Arena *a)
{
    return codec->typed ? codec->typed : print_spec(codec, KEYS_NAMED, a);
}

char *codec_family(const Codec *codec, Arena *a)
{
    TextBuf text = {.arena = a};
    for (const Codec *c = codec; c; c = codec_alone(c) ? NULL : c->inner)
        text_addf(&text, "%s%s", text.size ? "+" : "", c->ops->name);
    return text_done(&text);
}

/* ---- alternatives: "qsgd:bits=1/2,bucket=64/128" is four specs ---- */

enum { CODECS_MAX = 4096, TRIED_MAX = 16 * CODECS_MAX };

typedef struct {
    const Codec **codec; /* room for TRIED_MAX codecs */
    size_t count;
} SpecSet;

static Status add_spec(SpecSet *set, const char *spec, Arena *a, Error *err)
{
    size_t from, to;
    if (find_alternatives(spec, &from, &to)) {
        for (size_t start = from, end; start <= to; start = end + 1) {
            for (end = start; end < to && spec[end] != '/'; end++)
                ;
            const char *one =
                text_format(a, "%.*s%.*s%s", (int)from, spec, (int)(end - start), spec + start, spec + to);
            TRY(arena_check(one, a, err));
            if (add_spec(set, one, a, err) != OK)
                return *err->hint || err->status != ERR_USAGE
                           ? err->status
                           : error_hint(err, "a slash separates alternatives; this one is %s", one);
        }
        return OK;
    }
    if (set->count == TRIED_MAX)
        return FAIL(err, ERR_USAGE, "the alternatives come to more than %d codecs", TRIED_MAX);
    return codec_open(&set->codec[set->count++], spec, a, err);
}

Status codec_alternatives(const Codec ***out, size_t *count, const TextList *specs, Arena *a, Error *err)
{
    SpecSet set = {NEW(a, const Codec *, TRIED_MAX), 0};
    TRY(arena_check(set.codec, a, err));
    for (size_t i = 0; i < specs->count; i++)
        TRY(add_spec(&set, specs->item[i], a, err));
    *out = set.codec;
    *count = set.count;
    return OK;
}

Status codec_unique(const Codec **codec, size_t *count, Arena *a, Error *err)
{
    const char **text = NEW(a, const char *, CODECS_MAX);
    size_t kept = 0, k;
    TRY(arena_check(text, a, err));
    for (size_t i = 0; i < *count; i++) {
        const char *name = codec_text(codec[i], a);
        TRY(arena_check(name, a, err));
        for (k = 0; k < kept && strcmp(text[k], name); k++)
            ;
        if (k < kept)
            continue;
        if (kept == CODECS_MAX)
            return FAIL(err, ERR_USAGE, "more than %d codecs in one run", CODECS_MAX);
        codec[kept] = codec[i];
        text[kept++] = name;
    }
    *count = kept;
    return OK;
}

Status codec_list(const Codec ***out, size_t *count, const TextList *specs, Arena *a, Error *err)
{
    TRY(codec_alternatives(out, count, specs, a, err));
    return codec_unique(*out, count, a, err);
}
