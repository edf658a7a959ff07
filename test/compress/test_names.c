/* test_names.c -- hints for names of methods in the literature. */
#include "rig/codec_rig.h"
#include "compress/spec.h"

#include <ctype.h>

/* Returns the letters and digits of a text, in lower case. */
static const char *plain_ref(const char *text, Arena *a)
{
    const char *out = "";
    for (; *text; text++)
        if (isalnum((unsigned char)*text))
            out = text_format(a, "%s%c", out, tolower((unsigned char)*text));
    return out;
}

TEST(names_of_the_literature_lead_to_specs)
{
    Arena *a = arena_open(0);
    Error err;
    for (const Literature *row = literature; row->title; row++) {
        const Codec *codec;
        check_ok(codec_open(&codec, row->spec, a, &err), &err);
        assert_string_equal(codec_text(codec, a), row->spec);
        if (compressor_find(plain_ref(row->title, a))) { /* the codec takes the row's place */
            check(!literature_find(row->title));
            continue;
        }
        for (const Literature *other = literature; other < row; other++)
            check(strcmp(plain_ref(other->title, a), plain_ref(row->title, a)) != 0);
        const char *const ways[] = {row->title, plain_ref(row->title, a)};
        for (size_t i = 0; i < countof(ways) && !row->note; i++) {
            check_ok(codec_open(&codec, ways[i], a, &err), &err);
            assert_string_equal(codec_text(codec, a), row->spec);
            assert_string_equal(codec_typed(codec, a), ways[i]);
            assert_string_equal(codec->alias, row->title);
        }
        for (size_t i = 0; i < countof(ways) && row->note; i++) {
            assert_int_equal(codec_open(&codec, ways[i], a, &err), ERR_USAGE);
            check(strstr(err.hint, row->spec) && strstr(err.hint, row->note));
            check(!strstr(err.text, "did you mean"));
        }
    }
    arena_close(a);
}

TEST(a_name_of_the_literature_takes_keys_and_wrappers)
{
    static const char *const cases[][2] = {
        {"ef+signSGD", "ef+sign"},
        {"gradient dropping:ratio=0.1", "ef+topk:ratio=0.1"},
        {"threshold-v:tau=0.5", "threshold:tau=0.5"},
        {"clt-k:ratio=0.1", "ef+topk:ratio=0.1,share=leader"},
        {"ScaleCom:", "ef:lowpass=0.1+topk:share=leader"},
        {"zstd:level=4+ARC-Top-K:share=off,ratio=0.2", "zstd:level=4+ef+topk:ratio=0.2"},
        {"zstd:level=4+natural-dithering:bits=2", "zstd:level=4+nuqsgd:bits=2"},
        {"induced:with=Ternary+TopK", "induced:with=terngrad+topk"},
        {"QSGD:bits=2", "qsgd:bits=2"},
        {"Ef+TopK", "ef+topk"},
    };
    Arena *a = arena_open(0);
    for (size_t i = 0; i < countof(cases); i++) {
        const Codec *codec;
        Error err;
        check_ok(codec_open(&codec, cases[i][0], a, &err), &err);
        assert_string_equal(codec_text(codec, a), cases[i][1]);
        assert_string_equal(codec_typed(codec, a), cases[i][0]);
    }
    arena_close(a);
}

TEST(hints_mend_the_spec)
{
    static const char *const cases[][2] = {
        {"gTopK-SGD", "try topk; gTop-k merges"},
        {"0/1 Adam", "try ef+scaledsign; 0/1 Adam sends a momentum"},
        {"qsgd:bits=4,terngrad", "each codec takes its own -c: -c terngrad"},
        {"qsgd+terngrad", "each codec takes its own -c: -c qsgd -c terngrad"},
        {"qsgd:bits=2+zstd", "write zstd+qsgd:bits=2"},
        {"topk+ef:decay=0.9", "write ef:decay=0.9+topk"},
        {"qsgd:quantum_num=64", "qsgd:levels=64"},
        {"topk:compress_ratio=0.05", "topk:ratio=0.05"},
        {"topk:k=100",
         "topk has ratio, which is k/n, a share of each tensor's n elements, such as topk:ratio=0.01"},
        {"topk:sparsity=0.99", "topk has ratio, which is 1 - sparsity, such as topk:ratio=0.01"},
        {"topk:0.01", "topk:ratio=0.01"},
        {"topk:top", "topk:ratio=VALUE"},
        {"qsgd:s=15", "qsgd:levels=15"},
        {"ef:topk", "a wrapper is followed by a plus: ef+topk"},
        /* no better hint exists */
        {"topk:ratio=1e-3,foo=2", "atomo-bench list topk shows its keys"},
        {"qsgd:bits=1.5b", ""},
        {"", "atomo-bench list shows them all"},
    };
    Arena *a = arena_open(0);
    for (size_t i = 0; i < countof(cases); i++) {
        const Codec *codec;
        Error err;
        assert_int_equal(codec_open(&codec, cases[i][0], a, &err), ERR_USAGE);
        if (strncmp(err.hint, cases[i][1], strlen(cases[i][1])) != 0 || (!*cases[i][1] && *err.hint))
            print_error("%s: the hint is \"%s\", want \"%s\"\n", cases[i][0], err.hint, cases[i][1]);
        check(!strncmp(err.hint, cases[i][1], strlen(cases[i][1])) && (*cases[i][1] || !*err.hint));
    }
    arena_close(a);
}

CHECK_ALL(NULL, NULL)
