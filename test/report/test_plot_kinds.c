/* test_plot_kinds.c -- what each kind of figure shows of its data: which lines, with which points, bars and bands, and what it
 * leaves out. */
#include "rig/plot_rig.h"

#define NEAR(x, y) check(fabs((double)(x) - (double)(y)) < 1e-9 * (1 + fabs((double)(y))))

static const PlotOptions usual = {0};

/* The row of the closed form, if there is one, and the rows over all tensors and steps. */
IN_FOLDER(pareto_shows_what_is_best_known)
{
    PlotFigure f = figure_of(&plot_pareto,
                             "step,tensor,compressor,bits_per_element,relative_error,relative_error_se,relative_error_expected\n"
                             "*,*,qsgd:bits=4,4,0.3,0.1,0.25\n*,*,qsgd:bits=2,2,0.5,0.1,\n1,a,qsgd:bits=8,8,9,,\n*,*,topk,1,0.9,,\n",
                             usual);
    const PlotLine *qsgd = line_of(&f, "qsgd");
    assert_string_equal(points_of(qsgd), "2:0.5 4:0.25");
    NEAR(qsgd->point[0].low, 0.5 - 0.196);
    check(isnan(qsgd->point[1].low));
    check(!qsgd->open && line_of(&f, "topk")->open);
    assert_int_equal(f.count, 2);
    assert_string_equal(line_of(&f, "topk")->label, "topk");
}

/* Points of one spec are named by the whole spec. */
IN_FOLDER(a_line_of_one_spec_has_its_name_as_typed)
{
    PlotFigure f = figure_of(&plot_pareto, "compressor,bits_per_element,relative_error\nqsgd:bits=3,3,1\nsvd:rank=1,1,2\nsvd:rank=2,2,1\n", usual);
    assert_string_equal(line_of(&f, "qsgd")->label, "qsgd:bits=3");
    assert_string_equal(line_of(&f, "svd")->label, "svd");
}

/* Against times a line is in the order of its rates, without points that noise has moved. */
IN_FOLDER(against_time_a_line_goes_from_rate_to_rate_without_noise)
{
    static const char *const text = "compressor,bits_per_element,relative_error,encode_ms,encode_ms_se,decode_ms\n"
                                    "qsgd:bits=2,2,0.5,1,0.1,9\nqsgd:bits=3,3,0.4,1.05,0.1,9\nqsgd:bits=4,4,0.25,3,0.1,9\n";
    PlotFigure f = figure_of(&plot_pareto, text, (PlotOptions){.x = "encode_ms"});
    assert_string_equal(points_of(line_of(&f, "qsgd")), "1:0.5 3:0.25");
    f = figure_of(&plot_pareto, text, (PlotOptions){.x = "decode_ms"});
    assert_string_equal(points_of(line_of(&f, "qsgd")), "9:0.5 9:0.4 9:0.25");
}

IN_FOLDER(errors_of_zero_and_outliers_are_said_not_shown)
{
    TextBuf out = {.arena = a};
    text_add(&out, "compressor,bits_per_element,relative_error\nnone,32,0\nsign,1,1e6\n");
    for (int i = 1; i < 9; i++)
        text_addf(&out, "qsgd:bits=%d,%d,%g\n", i, i, 1.0 / i / i);
    PlotFigure f = figure_of(&plot_pareto, text_done(&out), usual);
    assert_int_equal(f.count, 1);
    check(strstr(text_done(&f.caption), "not shown: none with error 0"));
    check(strstr(text_done(&f.caption), "not shown: sign with error 1e+06"));
}

/* At b bits a Gaussian's distortion is 4^-b; an unbiased estimate's variance is 1 / (4^b - 1). The front goes down in steps. */
IN_FOLDER(fronts_and_limits_are_drawn_on_demand)
{
    static const char *const text = "compressor,bits_per_element,relative_error,unbiased\na,1,1,true\na,2,0.5,true\nb,1.5,0.7,true\nb,3,0.6,true\nc,1,9,false\n";
    PlotFigure f = figure_of(&plot_pareto, text, usual);
    assert_int_equal(f.count, 3);
    f = figure_of(&plot_pareto, text, (PlotOptions){.front = true, .gaussian = true, .linear = true});
    assert_int_equal(f.count, 7);
    assert_string_equal(points_of(&f.line[3]), "1:1 1.5:1 1.5:0.7 2:0.7 2:0.5");
    NEAR(f.line[5].point[0].y, 0.25);
    NEAR(f.line[5].point[100].y, pow(4, -3));
    NEAR(f.line[6].point[0].y, 1 / 3.0);
}

IN_FOLDER(rates_are_written_with_their_key)
{
    PlotFigure f = figure_of(&plot_pareto, "compressor,bits_per_element,relative_error\nef+topk:ratio=0.01,1,2\nef+topk:ratio=0.1,2,1\nsign,1,1\n",
                             (PlotOptions){.rates = true});
    assert_string_equal(line_of(&f, "ef+topk")->point[0].rate, "ratio=0.01");
    check(!line_of(&f, "sign")->point[0].rate);
}

/* The mean over seeds at each step, with its standard error; bytes are summed over the steps of a run. */
IN_FOLDER(runs_of_a_codec_are_one_line_with_its_standard_error)
{
    static const char *const text = "record,compressor,step,test_accuracy,loss,bytes_up,sim_seconds\n"
                                    "step,none,1,,,100,1\nstep,none,2,0.5,3,100,2\nstep,none,4,0.9,1,100,4\nsummary,none,4,0.9,1,9,9\n"
                                    "step,none,2,0.7,5,100,2\nstep,none,4,0.8,1,100,4\nstep,sign,2,0.4,1,10,1\n";
    PlotFigure f = figure_of(&plot_training[0], text, usual);
    const PlotLine *none = line_of(&f, "none");
    assert_string_equal(points_of(none), "2:0.6 4:0.85");
    NEAR(none->point[0].high - 0.6, 0.1);
    check(none->band && !line_of(&f, "sign")->band && isnan(line_of(&f, "sign")->point[0].low));
    f = figure_of(&plot_training[0], text, (PlotOptions){.x = "bytes", .y = "error"});
    assert_string_equal(points_of(line_of(&f, "none")), "150:0.4 250:0.15");
    f = figure_of(&plot_training[0], text, (PlotOptions){.x = "step", .y = "loss"});
    assert_string_equal(points_of(line_of(&f, "none")), "2:4 4:1");
    f = figure_of(&plot_training[1], text, usual);
    assert_string_equal(points_of(line_of(&f, "none")), "250:0.85");
    assert_string_equal(points_of(line_of(&f, "sign")), "10:0.4");
}

#define COST "compressor,workers,compute_ms,encode_ms,comm_ms,decode_ms,total_ms,bytes_up\n"

/* With overlap, communicating adds less than its own time. The codec with the shortest last bar is at the top. */
IN_FOLDER(bars_are_in_parts_sorted_by_their_total)
{
    PlotFigure f = figure_of(&plot_costs[0], COST "none,4,10,20,30,40,100,4\nqsgd,8,10,2,8,4,17,1\nqsgd,4,10,2,8,4,16,1\n", usual);
    assert_string_equal(f.line[0].name, "qsgd");
    assert_string_equal(points_of(&f.line[0]), "4:16 8:17");
    assert_string_equal(points_of(&f.line[1]), "4:100");
    const double part[] = {10, 2, 1, 4, 1};
    for (size_t i = 0; i <= BAR_PARTS; i++)
        NEAR(f.line[0].point[1].part[i], part[i]);
    f = figure_of(&plot_costs[1], COST "none,4,10,20,30,40,100,4\nqsgd,8,10,2,8,4,17,1\nqsgd,4,10,2,8,4,16,1\n", usual);
    check(f.count == 1 && f.line[0].count == 1);
}

IN_FOLDER(names_tell_topologies_and_links_apart)
{
    PlotFigure f = figure_of(&plot_costs[0],
                             "compressor,topology,link,workers,compute_ms,encode_ms,comm_ms,decode_ms,total_ms,bytes_up\n"
                             "a,ring,x,4,1,1,1,1,4,9\na,ps,x,4,1,1,1,1,5,9\n",
                             usual);
    assert_string_equal(f.line[0].name, "a ring");
    assert_string_equal(f.line[1].name, "a ps");
}

IN_FOLDER(break_even_is_rows_for_one_number_of_workers)
{
    PlotFigure f = figure_of(&plot_costs[2], "compressor,workers,break_even_gbps,pays\na,4,0.5,below\nb,4,,never\nc,4,0.2,above\n", usual);
    check(f.shape == SHAPE_ROWS && f.count == 2 && line_of(&f, "c")->open);
    check(strstr(text_done(&f.caption), "b never pays on 4"));
    f = figure_of(&plot_costs[2], "compressor,workers,break_even_gbps,pays\na,8,0.4,below\nb,4,,never\na,4,0.5,below\nb,8,,never\n", usual);
    check(f.shape == SHAPE_LINES && strstr(text_done(&f.caption), "above which; b never pays on 4, 8."));
    assert_string_equal(points_of(line_of(&f, "a")), "4:0.5 8:0.4");
}

IN_FOLDER(merging_and_decoding_each_are_two_lines_of_one_look)
{
    static const char *const text = "compressor,workers,merge_ms,decode_ms,decode_each_ms,relative_error\nqsgd,2,1,2,9,0.5\nqsgd,4,3,4,18,0.25\nsvd,2,,,7,0.4\nnone,2,,,,1e-16\n";
    PlotFigure f = figure_of(&plot_compared[1], text, usual);
    check(f.count == 3 && !f.y.tex);
    assert_string_equal(points_of(&f.line[0]), "2:3 4:7");
    assert_string_equal(points_of(&f.line[1]), "2:9 4:18");
    check(f.line[1].same && f.line[1].open && !f.line[1].label && !strcmp(f.line[1].look.colour, f.line[0].look.colour));
    check(!f.line[2].same && f.line[2].label);
    f = figure_of(&plot_compared[1], text, (PlotOptions){.y = "error", .front = true});
    check(f.count == 4 && f.y.tex); /* none has an error of rounding */
    assert_string_equal(points_of(line_of(&f, "qsgd")), "2:0.5 4:0.25");
    assert_string_equal(points_of(&f.line[f.count - 1]), "2:0.5 4:0.125");
}

IN_FOLDER(errors_are_medians_in_a_band_by_size)
{
    PlotFigure f = figure_of(&plot_compared[0],
                             "tensor,compressor,elem_error_deciles\n*,b,1 2 3;0.5 1 4\n*,a,0.5 0.75 1;0.25 0.5 2\n*,sign,1 2 3;9e8 9e9 9e9\n"
                             "*,none,0 0 0;0 0 0\n*,old,\nw,c,1 1 1;1 1 1\n", usual);
    check(f.count == 2 && f.apart);
    const PlotLine *l = line_of(&f, "a");
    assert_string_equal(points_of(l), "1:0.75 2:0.5");
    check(l->band && l->point[1].low == 0.25 && l->point[1].high == 2);
    check(strstr(text_done(&f.caption), "not shown: sign") && strstr(text_done(&f.caption), "not shown: none"));
}

/* Tensor t = 0 .. 10 has the singular values 1, p, p^2, p^3, times t + 1, with p = (t + 1) / 12. Only two have a fifth value, before which the
 * band ends. */
IN_FOLDER(many_spectra_are_a_band_between_two_named_extremes)
{
    TextBuf out = {.arena = a};
    text_add(&out, "tensor,index,value\n");
    for (int t = 0; t < 11; t++)
        for (int i = 0; i < 4 + (t < 2); i++)
            text_addf(&out, "t%d,%d,%.17g\n", t, i + 1, (t + 1) * pow((t + 1) / 12.0, i));
    PlotFigure f = figure_of(&plot_curves[0], text_done(&out), usual);
    const PlotLine *median = line_of(&f, "median");
    assert_int_equal(median->count, 4);
    NEAR(median->point[1].y, 0.5);
    NEAR(median->point[1].low, 3.5 / 12);
    NEAR(median->point[1].high, 8.5 / 12);
    NEAR(line_of(&f, "steepest: t0")->point[1].y, 1 / 12.0);
    NEAR(line_of(&f, "flattest: t10")->point[1].y, 11 / 12.0);
}

/* Tensors of one distribution with other means and widths have one curve, of area 1. */
IN_FOLDER(several_histograms_are_in_standard_deviations)
{
    TextBuf out = {.arena = a};
    text_add(&out, "tensor,bin_low,bin_high,count\n");
    for (int t = 1; t < 3; t++)
        for (int i = -8; i < 8; i++)
            text_addf(&out, "t%d,%.17g,%.17g,%.0f\n", t, 10 + t * 0.5 * i, 10 + t * 0.5 * (i + 1), 1e6 * exp(-0.125 * (i + 0.5) * (i + 0.5)));
    PlotFigure f = figure_of(&plot_curves[1], text_done(&out), usual);
    const PlotLine *one = line_of(&f, "t1"), *two = line_of(&f, "t2");
    assert_int_equal(one->count, two->count);
    double area = 0;
    for (size_t i = 0; i < one->count; i++) {
        NEAR(one->point[i].x, two->point[i].x);
        NEAR(one->point[i].y, two->point[i].y);
        area += i ? (one->point[i].x - one->point[i - 1].x) * one->point[i].y : 0;
    }
    check(fabs(area - 1) < 0.01);
}

IN_FOLDER(heat_is_the_mean_of_each_tensor)
{
    PlotFigure f = figure_of(&plot_compared[2], "step,tensor,compressor,relative_error,bits_per_element\n1,w,a,1,2\n2,w,a,3,2\n1,v,a,5,2\n*,*,a,9,2\n1,v,b,7,2\n", usual);
    assert_int_equal(f.tensors, 2);
    assert_string_equal(points_of(line_of(&f, "a")), "0:2 1:5");
    assert_string_equal(points_of(line_of(&f, "b")), "1:7");
}

IN_FOLDER(options_choose_order_name_and_colour_lines)
{
    static const char *const text = "compressor,bits_per_element,relative_error\nqsgd,1,2\nsvd:rank=1,2,1\nsvd:rank=2,3,1\ntopk,2,2\n";
    const char *labels[] = {"svd=SVD, s = 1"}, *colours[] = {"qsgd=#123456"}, *bad[] = {"eden=x"};
    PlotFigure f = figure_of(&plot_pareto, text, (PlotOptions){.only = {(const char *[]){"q*", "s*"}, 2}, .order = "svd,qsgd", .labels = {labels, 1}, .colours = {colours, 1}, .highlight = "svd"});
    assert_int_equal(f.count, 2);
    assert_string_equal(f.line[0].label, "SVD, s = 1");
    assert_string_equal(f.line[1].look.colour, "#123456");
    check(f.line[0].thick && !f.line[0].grey && f.line[1].grey);
    const Csv csv = table_of(text);
    char *script;
    assert_int_equal(try_figure(&plot_pareto, &csv, (PlotOptions){.labels = {bad, 1}}, &f, &script), ERR_USAGE);
    check(strstr(err.hint, "the lines are: qsgd; svd; topk"));
    assert_int_equal(try_figure(&plot_pareto, &csv, (PlotOptions){.only = {(const char *[]){"x*"}, 1}}, &f, &script), ERR_USAGE);
    assert_int_equal(try_figure(&plot_pareto, &csv, (PlotOptions){.colours = {labels, 1}}, &f, &script), ERR_USAGE);
    assert_int_equal(try_figure(&plot_pareto, &csv, (PlotOptions){.xlim = "3:1"}, &f, &script), ERR_USAGE);
    assert_int_equal(try_figure(&plot_pareto, &csv, (PlotOptions){.width = "1in"}, &f, &script), ERR_USAGE);
}

CHECK_ALL(NULL, NULL)
