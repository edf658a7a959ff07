/* test_param.c -- the keys of codecs (key=value), and codec specs: stages joined by '+', alternatives separated
 * by '/', and their canonical text. */
#include "rig/check.h"
#include "base/param.c"
#include "compress/spec.h"

typedef struct {
    int64_t bits, levels;
    double ratio, tau;
    bool shared;
    int norm;
} Params;

static const char *const norms[] = {"l2", "linf", NULL};
static const Param schema[] = {
    PARAM(Params, bits, "4", 1, 16, "bits", .rate = true, .group = 1),
    PARAM(Params, levels, NULL, 1, 65535, "levels", .group = 1),
    PARAM(Params, ratio, "0.01", 0, 1, "share", .above = true),
    PARAM(Params, tau, NULL, -10, INFINITY, "threshold"),
    PARAM_SWITCH(Params, shared, "on", "shared"),
    PARAM_OF(Params, norm, "l2", norms, "norm"),
    {0},
};

static Error err;

static Status parse(Params *p, const char *keys)
{
    return param_parse(schema, p, "codec", keys, &err);
}

TEST(defaults_hold_until_named)
{
    Params p;
    check_ok(parse(&p, ""), &err);
    check(p.bits == 4 && p.levels == PARAM_NONE && p.ratio == 0.01 && isnan(p.tau) && p.shared &&
          p.norm == 0);
    check_ok(parse(&p, "bits=7,ratio=1,tau=inf,shared=off,norm=linf"), &err);
    check(p.bits == 7 && p.ratio == 1 && isinf(p.tau) && !p.shared && p.norm == 1);
}

TEST(naming_a_key_unsets_those_it_excludes)
{
    Params p;
    check_ok(parse(&p, "levels=3"), &err);
    check(p.bits == PARAM_NONE && p.levels == 3);
    check_ok(param_set(schema, &p, "codec", "bits", "2", &err), &err);
    check(p.bits == 2 && p.levels == PARAM_NONE);
}

TEST(wrong_keys_say_what_is_wrong)
{
    static const char *const wrong[][2] = {
        {"bist=3", "did you mean bits?"},
        {"bits", "\"bits\" has no value: want KEY=VALUE"},
        {"bits=", "want a whole number, 1 to 16"},
        {"bits=3.5", "want a whole number, 1 to 16"},
        {"bits=0", "out of range: want 1 to 16"},
        {"bits=17", "out of range: want 1 to 16"},
        {"bits=99999999999999999999", "want a whole number"},
        {"bits=3,bits=3", "bits is given twice"},
        {"bits=3,levels=3", "bits and levels exclude each other"},
        {"ratio=0", "out of range: want above 0, to 1"},
        {"ratio=-0.0", "out of range: want above 0, to 1"},
        {"ratio=nan", "want a number"},
        {"ratio=1.0000001", "out of range"},
        {"norm=l3", "want l2|linf (did you mean l2?)"},
        {"shared=yes", "want off|on"},
        {",bits=3", "a comma too many"},
        {"bits=3,", "a comma too many"},
        {"bits=3,,norm=l2", "a comma too many"},
        {"=3", "has no key \"\""},
    };
    for (size_t i = 0; i < countof(wrong); i++) {
        Params p;
        assert_int_equal(parse(&p, wrong[i][0]), ERR_USAGE);
        if (!strstr(err.text, wrong[i][1]))
            print_error("%s: \"%s\" lacks \"%s\"\n", wrong[i][0], err.text, wrong[i][1]);
        check(strstr(err.text, wrong[i][1]));
    }
}

/* Returns the keys that differ from their defaults, as ":key=value,..." */
static const char *changed(const Param *keys, const void *params, Arena *a)
{
    TextBuf text = {.arena = a};
    char value[32];
    for (const Param *p = keys; p->key; p++)
        if (!param_is_default(p, params))
            text_addf(&text, "%c%s=%s", text.size ? ',' : ':', p->key, param_value(p, params, value));
    return text.size ? text_done(&text) : "";
}

TEST(the_canonical_text_has_what_differs_in_schema_order)
{
    static const char *const pairs[][2] = {
        {"", ""},
        {"bits=4", ""},
        {"norm=linf,bits=2", ":bits=2,norm=linf"},
        {"levels=15", ":levels=15"},
        {"ratio=1e-2", ""},
        {"ratio=0.010000000000000002", ":ratio=0.010000000000000002"},
        {"tau=-0", ":tau=0"},
        {"tau=1e+3", ":tau=1000"},
        {"tau=1e30", ":tau=1e+30"},
        {"shared=on,norm=l2", ""},
        {"shared=off", ":shared=off"},
    };
    Arena *a = arena_open(0);
    for (size_t i = 0; i < countof(pairs); i++) {
        Params p, again;
        check_ok(parse(&p, pairs[i][0]), &err);
        const char *text = changed(schema, &p, a);
        assert_string_equal(text, pairs[i][1]);
        check_ok(parse(&again, *text ? text + 1 : text), &err);
        assert_string_equal(changed(schema, &again, a), text);
    }
    arena_close(a);
}

typedef struct {
    int64_t bits;
    char list[6];
} WithText;

/* ---- specs ---- */

TEST(every_schema_is_sound)
{
    for (size_t c = 0; compressor_number(c); c++) {
        int rates = 0;
        char params[4096];
        const Param *first = compressor_number(c)->params;
        check(params_size(first) <= sizeof params);
        for (const Param *p = first; p && p->key; p++) {
            check(p - first < 64);
            check(p->help && *p->help);
            check(p->offset < params_size(first));
            check(p->choices || p->type == PARAM_BOOL || p->low <= p->high);
            /* only keys of these three types may lack a default */
            check(p->fallback || p->type == PARAM_INT || p->type == PARAM_REAL || p->type == PARAM_TEXT);
            check(!p->group || p->type == PARAM_INT || p->type == PARAM_REAL);
            for (const Param *other = p + 1; other->key; other++)
                check(strcmp(p->key, other->key) != 0);
            rates += p->rate;
        }
        check(rates <= 1);
        param_defaults(first, params); /* asserts that each default is in its range */
    }
}

TEST(every_codec_prints_back)
{
    Arena *a = arena_open(0);
    for (size_t c = 0; compressor_number(c); c++) {
        const Codec *codec, *again;
        const char *name = compressor_number(c)->name;
        const char *spec = compressor_number(c)->wraps ? text_format(a, "%s+none", name) : name;
        if (codec_open(&codec, spec, a, &err) != OK)
            continue; /* a key without a default is missing, so the name alone is no spec */
        const char *text = codec_text(codec, a);
        assert_string_equal(text, spec);
        check_ok(codec_open(&again, text, a, &err), &err);
        assert_string_equal(codec_text(again, a), text);
    }
    arena_close(a);
}

TEST(wrong_specs_say_what_is_wrong)
{
    static const char *const wrong[][2] = {
        {"", "no codec is called \"\""},
        {"nona", "did you mean none?"},
        {"none:bits=3", "none has no key \"bits\""},
        {"none+none", "none wraps nothing"},
        {"ef", "ef needs a codec to wrap"},
        {"+none", "no codec is called \"\""},
        {"ef+none+", "no codec is called \"none+\""},
        {"ef:decay=2+none", "decay=2 is out of range: want 0 to 1"},
        {"ef+ef+ef+ef+ef+ef+ef+ef+none", "more than 8 stages"},
        {"none:", NULL},
        {"induced:with=qsgd:bits=2,bucket=64+topk", NULL},
        {"induced:with=+topk", "induced: with: codec : no codec is called"},
        {"induced:with=qsgd:bots=2+topk", "induced: with: codec qsgd:bots=2: qsgd has no key \"bots\""},
        {"induced:without=qsgd+topk", "induced has no key \"without\""},
        {"induced:with=qsgd", "induced needs a codec to wrap"},
        {"induced:with=ef+topk", "with=ef is a wrapper"},
        {"ef+", "ef needs a codec to wrap"},
        {"induced:with=zstd:level=3+topk", "is a wrapper"},
        {"induced:with=joint+topk", "with=joint is a wrapper"},
        {"induced:with=terngrad:share=on+topk", "takes 2 rounds"},
        {"induced:with=dgc+topk", "keeps a state"},
        {"induced+ef21+topk", "learns from what it decodes to"},
        {"zstd", "zstd needs a codec to wrap"},
        {"blosc:level=0+none", "level=0 is out of range"},
    };
    Arena *a = arena_open(0);
    for (size_t i = 0; i < countof(wrong); i++) {
        const Codec *codec;
        const Status status = codec_open(&codec, wrong[i][0], a, &err);
        assert_int_equal(status, wrong[i][1] ? ERR_USAGE : OK);
        if (wrong[i][1] && !strstr(err.text, wrong[i][1]))
            print_error("%s: \"%s\" lacks \"%s\"\n", wrong[i][0], err.text, wrong[i][1]);
        check(!wrong[i][1] || strstr(err.text, wrong[i][1]));
    }
    arena_close(a);
}

/* Each case: a spec with alternatives, and then the specs that it expands to. */
TEST(alternatives_are_every_combination_in_order_each_once)
{
    static const char *const cases[][6] = {
        {"none", "none"},
        {"ef:decay=0.5/0.25+none", "ef:decay=0.5+none", "ef:decay=0.25+none"},
        {"ef:decay=1/0.5/1.0+none", "ef+none", "ef:decay=0.5+none"},
        {"ef:decay=0.5/1e+0+none", "ef:decay=0.5+none", "ef+none"},
        {"ef:decay=1e+0/5e-1+none", "ef+none", "ef:decay=0.5+none"},
        {"ef:decay=0.5/0.25+ef:decay=0/0.75+none", "ef:decay=0.5+ef:decay=0+none",
         "ef:decay=0.5+ef:decay=0.75+none", "ef:decay=0.25+ef:decay=0+none",
         "ef:decay=0.25+ef:decay=0.75+none"},
        {"none/svd", "none", "svd"},
        /* keys after ':' apply to all alternatives before it: both are svd:rank=2, kept once */
        {"svd/svd:rank=2", "svd:rank=2"},
        {"ef+none/svd", "ef+none", "ef+svd"},
        {"ef+svd/svd:rank=2", "ef+svd:rank=2"},
    };
    Arena *a = arena_open(0);
    for (size_t i = 0; i < countof(cases); i++) {
        const Codec **codecs;
        const char *spec = cases[i][0];
        size_t count, want = 1;
        check_ok(codec_list(&codecs, &count, &(TextList){&spec, 1}, a, &err), &err);
        for (; want < 6 && cases[i][want]; want++)
            assert_string_equal(want - 1 < count ? codec_text(codecs[want - 1], a) : "nothing",
                                cases[i][want]);
        assert_int_equal(count, want - 1);
    }
    arena_close(a);
}

TEST(alternatives_beyond_measure_are_refused)
{
    enum { SIDE = 300 }; /* 90,000 alternatives, all equal */
    Arena *a = arena_open(0);
    TextBuf spec = {.arena = a};
    for (int i = 0; i < 2 * SIDE; i++)
        text_add(&spec, i < SIDE - 1 ? "ef/" : i == SIDE - 1 ? "ef+" : i < 2 * SIDE - 1 ? "none/" : "none");
    const Codec **codecs;
    const char *text = text_done(&spec);
    size_t count;
    assert_int_equal(codec_list(&codecs, &count, &(TextList){&text, 1}, a, &err), ERR_USAGE);
    static const char *const empty[] = {"ef:decay=/+none", "/", "none/", "ef:decay=1/+none", "ef:/+none"};
    for (size_t i = 0; i < countof(empty); i++)
        assert_int_equal(codec_list(&codecs, &count, &(TextList){(const char *[]){empty[i]}, 1}, a, &err),
                         ERR_USAGE);
    arena_close(a);
}

CHECK_ALL(NULL, NULL)
