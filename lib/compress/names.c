/* names.c -- finds compressors by name, and makes hints for wrong names and keys in a spec (names.h). */
#include "compress/names.h"

#include "base/text.h"

#include <ctype.h>

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); /* tolower depends on the locale */
}

/* True if `name`, in any case, is a codec's name, which has no capitals. */
static bool is_name(const char *codec, const char *name)
{
    while (*codec && *codec == lower(*name))
        codec++, name++;
    return !*codec && !*name;
}

const Compressor *compressor_find(const char *name)
{
    for (size_t i = 0; compressors[i]; i++)
        if (is_name(compressors[i]->name, name))
            return compressors[i];
    return NULL;
}

static const char *compressor_name(const void *data, size_t i)
{
    (void)data;
    return compressors[i] ? compressors[i]->name : NULL;
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

/* Finds "gtopk-sgd", too, for which the title is without SGD. */
static const Literature *literature_find(const char *name)
{
    char asked[NAME_ROOM];
    const size_t length = strlen(plain(asked, name));
    const Literature *row = find_title(asked);
    if (row || length <= 3 || strcmp(asked + length - 3, "sgd") != 0)
        return row;
    asked[length - 3] = 0;
    return find_title(asked);
}

bool literature_has(const char *name)
{
    return literature_find(name);
}

const Literature *literature_alias(const char *name)
{
    const Literature *row = compressor_find(name) ? NULL : literature_find(name);
    return row && !row->note ? row : NULL;
}

static Status hint_literature(Error *err, const char *name)
{
    const Literature *row = literature_find(name);
    return row && row->note ? error_hint(err, "try %s; %s", row->spec, row->note) : OK;
}

const char *compressor_left_out(const char *spec)
{
    /* SCIENCE in the Makefile */
    return strcspn(spec, ":+") == 3 && !strncmp(spec, "zfp", 3) && !compressor_find("zfp") ? "zfp" : NULL;
}

static Status hint_library(Error *err, const char *name)
{
    const char *codec = compressor_left_out(name);
    return codec ? error_hint(err, "this build lacks lib%s: install lib%s-dev, then build atomo anew", codec,
                              codec)
                 : OK;
}

/* Hint for "topk-ef", "eftopk", "EF_topk": error feedback written as a part of the name. */
static Status hint_feedback(Error *err, const char *name)
{
    char asked[NAME_ROOM];
    const size_t length = strlen(plain(asked, name));
    if (length <= 2)
        return OK;
    const bool first = !strncmp(asked, "ef", 2), last = !strcmp(asked + length - 2, "ef");
    if (last && !first)
        asked[length - 2] = 0;
    const char *codec = first ? asked + 2 : asked;
    const bool codec_known = (first || last) && compressor_find(codec);
    return codec_known ? error_hint(err, "error feedback is a wrapper: ef+%s", codec) : OK;
}

/* Returns the codec whose name is the first `length` characters of `name`. */
static const Compressor *find_start(const char *name, size_t length)
{
    for (size_t i = 0; compressors[i]; i++)
        if (strlen(compressors[i]->name) == length && !strncmp(compressors[i]->name, name, length))
            return compressors[i];
    return NULL;
}

/* Hint for "qsgd,terngrad" and "qsgd terngrad": several codecs in one spec. */
static Status hint_several(Error *err, const char *name)
{
    const size_t length = strcspn(name, ", ;");
    const char *next = name + length + strspn(name + length, ", ;");
    const Compressor *first = find_start(name, length), *second = find_start(next, strcspn(next, ", ;:"));
    return first && second && next > name + length
               ? error_hint(err, "for several codecs: %s/%s, or one -c for each", first->name, second->name)
               : OK;
}

/* Hint for "qsgd4", "svd-3", "qsgd(bits=4)": keys that are not after a colon. */
static Status hint_colon(Error *err, const char *name)
{
    for (size_t length = strlen(name); length > 1; length--) {
        const Compressor *ops = find_start(name, length);
        const Param *rate = ops ? param_rate(ops->params) : NULL;
        if (!ops || !name[length])
            continue;
        const char *value = name + length + strspn(name + length, "-_ =@");
        const size_t digits = strspn(value, "0123456789.");
        if (rate && digits && !value[digits])
            return error_hint(err, "keys follow a colon: %s:%s=%s", ops->name, rate->key, value);
        if (strchr("([{", name[length]) && rate)
            return error_hint(err, "keys follow a colon: %s:%s=%s", ops->name, rate->key,
                              rate->fallback ? rate->fallback : "VALUE");
    }
    return OK;
}

Status compressor_unknown(Error *err, const char *name)
{
    static Status (*const hints[])(Error *, const char *) = {hint_literature, hint_library, hint_feedback,
                                                             hint_several, hint_colon};
    FAIL(err, ERR_USAGE, "no codec is called \"%s\"", name);
    for (size_t i = 0; i < countof(hints); i++)
        if (hints[i](err, name) != OK)
            return err->status;
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

/* Values that went with version 2.0, and what is smaller. */
static const struct {
    const char *codec, *item, *instead;
} gone[] = {
    {"qsgd", "code=huffman", "code=rans"},
    {"nuqsgd", "code=huffman", "code=rans"},
    {"zipml", "solver=greedy", "solver=exact"},
    {"cas", "index=fixed", "index=huffman"},
    {"cas", "index=bitmap", "index=huffman"},
};

static const char *instead_of(const Compressor *ops, const char *item)
{
    for (size_t i = 0; i < countof(gone); i++)
        if (!strcmp(gone[i].codec, ops->name) && !strcmp(gone[i].item, item))
            return gone[i].instead;
    return NULL;
}

/* Hint for a key without a value: "topk:0.01", "ef:topk", "qsgd:bits=4,terngrad". */
static Status hint_bare(Error *err, const Compressor *ops, const char *item)
{
    const Compressor *other = find_start(item, strcspn(item, ":"));
    const Param *rate = param_rate(ops->params);
    if (other)
        return ops->wraps ? error_hint(err, "a wrapper is followed by a plus: %s+%s", ops->name, item)
                          : error_hint(err, "each codec takes its own -c: -c %s", item);
    if (!rate)
        return err->status;
    double real;
    return error_hint(err, "%s:%s=%s", ops->name, rate->key, text_to_real(item, &real) ? item : "VALUE");
}

Status compressor_wrong_keys(Error *err, const Compressor *ops, const char *keys)
{
    for (size_t length; *keys; keys += length + (keys[length] == ',')) {
        char item[NAME_ROOM];
        length = strcspn(keys, ",");
        snprintf(item, sizeof item, "%.*s", (int)length, keys);
        const char *instead = instead_of(ops, item);
        if (instead)
            return error_hint(err, "%s went in 2.0; write %s:%s", item, ops->name, instead);
        char *value = strchr(item, '=');
        if (!value)
            return hint_bare(err, ops, item);
        *value++ = 0;
        if (!param_find(ops->params, item))
            return hint_key(err, ops, item, value);
    }
    return err->status;
}
