/* test_plot_dress.c -- styles and labels of curves. A spec must have the same style in every figure. The
 * lines of one figure must have different styles. Labels are the specs as typed, unless --label changes
 * them. Also tests --width. */
#include "compress/spec.h"
#include "report/plot_look.h"
#include "rig/plot_rig.h"

#include <stdlib.h>

static bool same_look(const Look *x, const Look *y)
{
    return !strcmp(x->colour, y->colour) && x->mark == y->mark && x->dash == y->dash;
}

static void every_codec_has_a_look_of_its_own(void **state)
{
    const char *name[64] = {0};
    const Codec *codec;
    size_t count = 0;
    for (size_t i = 0; compressors[i]; i++)
        if (codec_open(&codec, compressors[i]->name, a, &err) == OK) /* fails for wrappers, which need another
                                                                      * codec */
            name[count++] = compressors[i]->name;
    check(count > 30);
    const Look *look = plot_looks(name, count, a);
    for (size_t i = 0; i < count; i++) {
        const Look alone = plot_look(name[i], a);
        check(same_look(&look[i], &alone));
        for (size_t k = 0; k < i; k++)
            check(!same_look(&look[i], &look[k]));
    }
}

/* With keys, wrappers, and the topology and link behind the names of cost's figures. */
static void a_codec_has_one_colour_in_every_figure(void **state)
{
    static const struct {
        const char *codec, *spec[4];
    } cases[] = {{"entry", {"entry:bits=0.6", "entry:bits=1", "zstd+entry:bits=0.6", "entry:bits=0.6 ring"}},
                 {"svd", {"svd:rank=1", "svd:rank=2", "svd:vectors=qsgd", "svd:rank=2 ring lan1g"}},
                 {"topk", {"zstd+ef+topk:ratio=0.001", "ef+topk", "topk:ratio=0.5", "ef+topk mesh lan10g"}},
                 {"qsgd", {"qsgd:bits=1", "diana+qsgd:bits=2,bucket=128", "qsgd:bits=8", "zstd+qsgd tree"}}};
    for (size_t i = 0; i < countof(cases); i++)
        for (size_t k = 0; k < 4; k++)
            assert_string_equal(plot_look(cases[i].spec[k], a).colour, plot_look(cases[i].codec, a).colour);
    /* the columns that the scripts read */
    static const struct {
        const char *kind, *head, *row;
    } kinds[] = {
        {"pareto", "compressor,bits_per_element,relative_error\n", ",1,0.5\n"},
        {"merge", "compressor,workers,merge_ms,decode_ms,decode_each_ms\n", ",4,1,1,3\n"},
        {"convergence", "compressor,step,test_accuracy,sim_seconds\n", ",1,0.3,1\n"},
        {"break-even",
         "compressor,workers,compute_ms,encode_ms,comm_ms,decode_ms,total_ms,break_even_gbps,pays,bytes_up\n",
         ",2,1,1,1,1,4,1,below,4\n"}};
    for (size_t i = 0; i < countof(kinds) && !no_gnuplot(); i++) {
        TextBuf data = {.arena = a};
        text_add(&data, kinds[i].head);
        text_addf(&data, "entry:bits=0.6%s", kinds[i].row);
        drawn(kinds[i].kind, text_done(&data), "f.svg");
        const char *colour = strstr(contents("f.plot.csv"), ",#");
        check(colour);
        assert_int_equal(atoi(colour + strlen(",#rrggbb,")), plot_look("entry", a).mark);
    }
}

static void a_spec_looks_the_same_in_every_order(void **state)
{
    static const char *const one[] = {"qsgd:bits=2", "qsgd", "qsgd:bits=8", "svd:rank=1", "ef+topk", "topk"};
    static const char *const other[] = {"topk",        "svd:rank=1",  "ef+topk",
                                        "qsgd:bits=8", "qsgd:bits=2", "qsgd"};
    const Look *x = plot_looks(one, countof(one), a), *y = plot_looks(other, countof(other), a);
    for (size_t i = 0; i < countof(one); i++)
        for (size_t k = 0; k < countof(one); k++)
            check(strcmp(one[i], other[k]) != 0 || same_look(&x[i], &y[k]));
    /* a codec that is typed in several ways has one look, also where another codec has its own */
    static const char *const typed[] = {"topk", "TopK:ratio=0.010", "qsgd", "EF-signSGD", "ef+scaledsign",
                                        "qsgd:levels=15", "topk ring", "topk:ratio=1e-2 ring", "qsgd:bits=4"};
    x = plot_looks(typed, countof(typed), a);
    check(same_look(&x[0], &x[1]) && same_look(&x[3], &x[4]) && same_look(&x[6], &x[7]) && same_look(&x[2], &x[8]));
    check(!same_look(&x[0], &x[2]) && !same_look(&x[0], &x[6]) && !same_look(&x[2], &x[5]));
}

#define HEAD "compressor,workers,merge_ms,decode_ms,decode_each_ms\n"

static Status draw_with(const char *label, const char *width)
{
    static const char *const files[] = {"data.csv"};
    const PlotJob job = {.kind = "merge",
                         .data = {(const char **)files, 1},
                         .figure = "f.svg",
                         .width = width,
                         .labels = {&label, label ? 1 : 0}};
    write_file("data.csv", HEAD "qsgd:bits=2,4,1,1,3\nQSGD,4,1,1,3\nqsgd:bits=8,4,1,1,3\nsvd:rank=1,4,1,1,3\n"
                                "\"qsgd:bits=2,bucket=64\",4,1,1,3\ntopk,4,1,1,3\n");
    return plot_draw(&job, a, &err);
}

static void a_label_replaces_the_spec_and_must_have_one(void **state)
{
    if (!no_gnuplot()) {
        check_ok(draw_with("svd:rank=1=SVD, s = 1", NULL), &err);
        check_has(contents("f.svg"), "<text>SVD, s = 1</text>");
        check(!strstr(contents("f.svg"), "svd:rank"));
        check_ok(draw_with("qsgd:bits=4=four bits", NULL), &err); /* however the codec was typed */
        check_has(contents("f.svg"), "<text>four bits</text>");
    }
    assert_int_equal(draw_with("svd:rank=2=SVD", NULL), ERR_USAGE);
    check(strstr(err.text, "SPEC=TEXT") && strstr(err.hint, "qsgd:bits=2"));
    assert_int_equal(draw_with("svd:rank=1=", NULL), ERR_USAGE);
}

static void a_figure_is_as_wide_as_asked(void **state)
{
    static const char *const bad[] = {"3cm", "0in", "1.9in", "100in", "in", "", "nan"};
    for (size_t i = 0; i < countof(bad); i++) {
        assert_int_equal(draw_with(NULL, bad[i]), ERR_USAGE);
        check(strstr(err.hint, "3.25in"));
    }
    if (no_gnuplot())
        return;
    check_ok(draw_with(NULL, "6.75in"), &err);
    check_has(contents("f.svg"), "viewBox=\"0 0 648 ");
    check_has(contents("f.svg"), "font-size=\"10.67\""); /* 8 points */
    check_ok(draw_with(NULL, NULL), &err);
    check_has(contents("f.svg"), "viewBox=\"0 0 312 ");
    check_has(contents("f.svg"), "font-size=\"9.33\""); /* 7 points */
}

static const struct CMUnitTest tests[] = {
    IN_FOLDER(a_codec_has_one_colour_in_every_figure),
    IN_FOLDER(every_codec_has_a_look_of_its_own),
    IN_FOLDER(a_spec_looks_the_same_in_every_order),
    IN_FOLDER(a_label_replaces_the_spec_and_must_have_one),
    IN_FOLDER(a_figure_is_as_wide_as_asked),
};
CHECK_MAIN(tests)
