/* test_plot_pareto.c -- the figure of payload size against error: tests its rows, its Pareto front, and points
 * beyond the axis. */
#include "rig/plot_rig.h"

static const char usual[] =
    "step,tensor,compressor,bits_per_element,relative_error\n"
    "1,conv1,none,32,0\n1,*,none,32,0\n1,*,svd:rank=2,1.8,1.2\n1,*,svd:rank=1,0.9,2.6\n"
    "1,*,ef:decay=0.5+svd:rank=1,0.95,1.1\n1,*,broken,,\n";

static void the_whole_selection_is_drawn_sorted_with_its_front(void **state)
{
    assert_string_equal(
        picked(&plot_pareto, usual),
        "series,bits_per_element,encode_ms,decode_ms,relative_error,relative_error_se,unbiased,"
        "pareto,pareto_time,rate,beyond,compressor\n"
        "none,32,,,0,,true,true,false,none,false,none\n"
        "svd,0.9,,,2.6,,true,true,false,1,false,svd:rank=1\n"
        "svd,1.8,,,1.2,,true,true,false,2,false,svd:rank=2\n"
        "ef:decay=0.5+svd,0.95,,,1.1,,false,true,false,1,false,ef:decay=0.5+svd:rank=1\n");
}

static void dominated_points_are_off_the_front(void **state)
{
    Value *rows;
    static const bool front[] = {true, true, false, false, true, true};
    const size_t count =
        rows_of(&plot_pareto,
                "compressor,bits_per_element,relative_error,unbiased\n"
                "a,1,1,true\nb,2,0.5,true\nc,2,0.6,true\nd,3,0.5,true\ne,1,1,true\nf,0.1,0.1,false\n",
                &rows);
    assert_int_equal(count, countof(front));
    for (size_t i = 0; i < count; i++)
        check(rows[i * 12 + 7].on == front[i]);
}

/* The time of a codec is that of both directions: a encodes faster than b, but decodes slower by more. */
static void the_front_by_time_counts_both_directions(void **state)
{
    Value *rows;
    static const bool front[] = {false, true, true};
    const size_t count = rows_of(&plot_pareto,
                                 "compressor,bits_per_element,relative_error,unbiased,encode_ms,decode_ms\n"
                                 "a,1,0.5,true,1,9\nb,1,0.4,true,2,1\nc,1,0.3,true,3,2\n",
                                 &rows);
    assert_int_equal(count, countof(front));
    for (size_t i = 0; i < count; i++)
        check(rows[i * 12 + 8].on == front[i]);
}

/* In results of the command sweep, a point can be marked as on the front although another point has no more
 * bytes and less error: the errors do not differ for certain. The figure must ignore such a mark. */
static void the_line_of_a_front_never_rises(void **state)
{
    static const char head[] =
        "compressor,bits_per_element,relative_error,relative_error_se,unbiased,pareto\n"
        "a,1,4,1,true,true\nb,4,1,0.1,true,true\nc,4.5,0.5,0.1,true,true\n";
    if (no_gnuplot())
        return;
    char *marked = text_copy(
        a, drawn("pareto", text_format(a, "%sd,2,5,1,true,true\ne,4,2,1,true,true\n", head), "f.svg"));
    assert_string_equal(
        drawn("pareto", text_format(a, "%sd,2,5,1,true,false\ne,4,2,1,true,false\n", head), "f.svg"), marked);
    check(strcmp(drawn("pareto", text_format(a, "%sd,2,3,1,true,true\ne,4,2,1,true,true\n", head), "f.svg"),
                 marked) != 0);
}

/* The command sweep varies the rate of one codec of the spec, and writes it to the column `rate`. This may be
 * an outer codec, here joint. The figure must show the column, not a rate of the inner codec svd. */
static void the_rate_is_the_one_that_sweep_varied(void **state)
{
    enum { RATE = 9 };
    static const char data[] = "compressor,bits_per_element,relative_error,rate\n"
                               "joint:bits=0.5+svd:vectors=qsgd,1,2,0.5\n";
    Value *rows;
    assert_int_equal(rows_of(&plot_pareto, data, &rows), 1);
    assert_string_equal(rows[RATE].text, "0.5");
}

static void rows_without_a_size_or_an_error_are_refused(void **state)
{
    check_refused(&plot_pareto, "compressor,bits_per_element,relative_error\n", "no row");
    check_refused(&plot_pareto, "compressor,bits_per_element,relative_error\nx,,1\ny,0,1\nz,1,-1\n",
                  "no row");
}

/* The y of a text of an SVG figure, from the top. */
static double height_of(const char *svg, const char *text)
{
    const char *at = svg, *moved = NULL, *end = strstr(svg, text);
    double x, y = -1;
    while (end && (at = strstr(at, "translate(")) && at < end)
        moved = at++;
    check(moved && sscanf(moved, "translate(%lf,%lf)", &x, &y) == 2);
    return y;
}

/* If one of sixteen points has a million times the error of the others, it is an outlier, and the axis ends
 * below it. If two of six points have such an error, neither is an outlier. */
static void outliers_are_beyond_the_axis_and_their_error_is_written(void **state)
{
    enum { BEYOND = 10, COLUMNS = 12 };
    TextBuf data = {.arena = a};
    Value *rows;
    text_add(&data, "compressor,bits_per_element,relative_error\nsign,1,760000\n");
    for (int k = 1; k < 16; k++)
        text_addf(&data, "qsgd:bits=%d,%d,%g\n", k, k, 4.0 / k);
    const size_t count = rows_of(&plot_pareto, text_done(&data), &rows);
    for (size_t i = 0; i < count; i++)
        check(rows[i * COLUMNS + BEYOND].on == (i == 0));
    if (!no_gnuplot())
        check_has(drawn("pareto", text_done(&data), "f.svg"), "<text>7.6e+05");
    const size_t few = rows_of(&plot_pareto,
                               "compressor,bits_per_element,relative_error\na,1,1\nb,2,1\nc,3,1\nd,4,1\n"
                               "e,5,9e9\nf,6,9e9\n",
                               &rows);
    for (size_t i = 0; i < few; i++)
        check(!rows[i * COLUMNS + BEYOND].on);
}

/* One of sixteen points has a hundred-thousandth of the error of the others: the axis ends above it. If two of six
 * points have such an error, or the least error is within three decades, no point is an outlier; nor is an error of 0. */
static void errors_far_below_the_others_are_beyond_the_foot_of_the_axis(void **state)
{
    enum { BEYOND = 10, COLUMNS = 12 };
    static const char head[] = "compressor,bits_per_element,relative_error\n";
    static const char *const whole[] = {"a,1,1\nb,2,1\nc,3,1\nd,4,1\ne,5,1e-13\nf,6,1e-13\n",
                                        "a,1,1\nb,2,1\nc,3,1\nd,4,0.0011\n", "a,1,1\nb,2,1\nc,3,1\nd,4,0\n"};
    TextBuf data = {.arena = a};
    Value *rows;
    text_addf(&data, "%sjoint,17,2e-13\n", head);
    for (int k = 1; k < 16; k++)
        text_addf(&data, "qsgd:bits=%d,%d,%g\n", k, k, 4.0 / k);
    const size_t count = rows_of(&plot_pareto, text_done(&data), &rows);
    for (size_t i = 0; i < count; i++)
        check(rows[i * COLUMNS + BEYOND].on == !strcmp(rows[i * COLUMNS].text, "joint"));
    if (!no_gnuplot()) {
        const char *f = drawn("pareto", text_done(&data), "f.svg");
        check_has(f, "<text>2.0e-13");
        check_has(f, "arrows: errors beyond the axis");
        /* its mark and text are below the numbers of the other points */
        check(height_of(f, "<text>2.0e-13") > height_of(f, "<text>15<"));
    }
    for (size_t k = 0; k < countof(whole); k++) {
        const size_t few = rows_of(&plot_pareto, text_format(a, "%s%s", head, whole[k]), &rows);
        for (size_t i = 0; i < few; i++)
            check(!rows[i * COLUMNS + BEYOND].on);
    }
}

static void time_is_an_axis_too(void **state)
{
    static const char *const files[] = {"data.csv"};
    const PlotJob job = {.kind = "pareto", .data = {(const char **)files, 1}, .figure = "f.svg", .x = "time"};
    if (no_gnuplot())
        return;
    write_file("data.csv", "compressor,bits_per_element,relative_error,encode_ms,decode_ms\n"
                           "qsgd:bits=2,2,1,3,1\nqsgd:bits=4,4,0.1,3,2\n");
    check_ok(plot_draw(&job, a, &err), &err);
    check_has(contents("f.svg"), "encode and decode, ms");
    check(!strstr(contents("f.svg"), "Gaussian"));
    write_file("data.csv", usual);
    assert_int_equal(plot_draw(&job, a, &err), ERR_IO);
    check(strstr(err.text, "time"));
}

static const struct CMUnitTest tests[] = {
    IN_FOLDER(the_whole_selection_is_drawn_sorted_with_its_front),
    IN_FOLDER(dominated_points_are_off_the_front),
    IN_FOLDER(the_line_of_a_front_never_rises),
    IN_FOLDER(the_rate_is_the_one_that_sweep_varied),
    IN_FOLDER(rows_without_a_size_or_an_error_are_refused),
    IN_FOLDER(outliers_are_beyond_the_axis_and_their_error_is_written),
    IN_FOLDER(errors_far_below_the_others_are_beyond_the_foot_of_the_axis),
    IN_FOLDER(time_is_an_axis_too),
    IN_FOLDER(the_front_by_time_counts_both_directions),
};
CHECK_MAIN(tests)
