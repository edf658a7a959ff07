/* test_plot.c -- which rows a figure draws, and that names in it are text and nothing else. */
#include "check.h"
#include "plot.h"

#include <sys/stat.h>
#include <unistd.h>

static Error err;
static Arena *a;
static char folder[] = "/tmp/atomo-figure.XXXXXX";
static bool drawing; /* gnuplot is there */

static int set_up(void **state)
{
    (void)state;
    char *version, *terminals;
    a = arena_open(0);
    drawing = gnuplot_ask(&version, &terminals, NULL, a, &err) == OK;
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const left[] = {"data.csv", "f.svg", "f.pdf", "f.png", "f.tex", "f.plot.csv"};
    for (size_t i = 0; i < countof(left); i++)
        unlink(left[i]);
    arena_close(a);
    return chdir("/") || rmdir(folder) ? -1 : 0; /* fails if a name made a file of its own */
}

static bool no_gnuplot(void)
{
    if (!drawing)
        print_message("SKIP figures: there is no gnuplot here\n");
    return !drawing;
}

static void write_data(const char *text)
{
    FILE *f = fopen("data.csv", "w");
    fputs(text, f);
    fclose(f);
}

static char *contents(const char *path)
{
    struct stat now;
    if (stat(path, &now) != 0)
        return NULL;
    char *data = NEW_ZERO(a, char, (size_t)now.st_size + 1);
    FILE *f = fopen(path, "r");
    check(fread(data, 1, (size_t)now.st_size, f) == (size_t)now.st_size);
    fclose(f);
    return data;
}

static Status draw(const char *kind, const char *data, const char *figure)
{
    const PlotJob job = {.kind = kind, .data = {&data, 1}, .figure = figure};
    return plot_draw(&job, a, &err);
}

static const char usual[] =
    "step,tensor,compressor,bits_per_element,relative_error\n"
    "1,conv1,none,32,0\n1,*,none,32,0\n1,*,svd:rank=2,1.8,1.2\n1,*,svd:rank=1,0.9,2.6\n"
    "1,*,ef:decay=0.5+svd:rank=1,0.95,1.1\n1,*,broken,,\n";

/* What a figure of these data shows. */
static char *picked(const PlotKind *kind, const char *data)
{
    Csv csv;
    char *text;
    check_ok(csv_parse(&csv, "test", data, strlen(data), a, &err), &err);
    check_ok(plot_text(kind, &csv, &text, a, &err), &err);
    return text;
}

static void the_whole_selection_is_drawn_sorted_with_its_front(void **state)
{
    (void)state;
    assert_string_equal(picked(&plot_pareto, usual),
                        "series,bits_per_element,relative_error,unbiased,pareto,compressor\n"
                        "none,32,0,true,true,none\n"
                        "svd,0.9,2.6,true,true,svd:rank=1\n"
                        "svd,1.8,1.2,true,true,svd:rank=2\n"
                        "ef:decay=0.5+svd,0.95,1.1,false,true,ef:decay=0.5+svd:rank=1\n");
}

static void json_and_csv_give_the_same_figure_data(void **state)
{
    (void)state;
    Csv csv, json;
    write_data(usual);
    check_ok(plot_load(&csv, "data.csv", a, &err), &err);
    TextBuf text = {.arena = a};
    text_add(&text, "\n {\"schema\": \"atomo-compare/1\", \"meta\": {}, \"results\": [");
    for (size_t i = 0; i < csv.rows; i++)
        text_addf(&text,
                  "%s{\"step\": 1, \"tensor\": \"%s\", \"compressor\": \"%s\", \"bits_per_element\": %s, "
                  "\"relative_error\": %s, \"shape\": [3, 4]}",
                  i ? ", " : "", csv_cell(&csv, i, "tensor"), csv_cell(&csv, i, "compressor"),
                  *csv_cell(&csv, i, "bits_per_element") ? csv_cell(&csv, i, "bits_per_element") : "null",
                  *csv_cell(&csv, i, "relative_error") ? csv_cell(&csv, i, "relative_error") : "null");
    text_add(&text, "]}");
    write_data(text_done(&text));
    check_ok(plot_load(&json, "data.csv", a, &err), &err);
    check(json.rows == csv.rows && csv_has(&json, "shape"));
    for (size_t i = 0; i < csv.rows; i++)
        for (size_t j = 0; j < csv.columns; j++)
            assert_string_equal(csv_cell(&json, i, csv.name[j]), csv_cell(&csv, i, csv.name[j]));
    static const char *const bad[] = {"{", "{}", "{\"results\": 3}", "{\"results\": [3]}"};
    for (size_t i = 0; i < countof(bad); i++) {
        write_data(bad[i]);
        assert_int_equal(plot_load(&json, "data.csv", a, &err), ERR_CORRUPT);
        check(strstr(err.text, "data.csv: "));
    }
    write_data("{\"results\": []}");
    check_ok(plot_load(&json, "data.csv", a, &err), &err);
    check(json.rows == 0);
    assert_int_equal(plot_load(&json, ".", a, &err), ERR_IO);
}

static void dominated_points_are_off_the_front(void **state)
{
    (void)state;
    const char *text = "compressor,bits_per_element,relative_error,unbiased\n"
                       "a,1,1,true\nb,2,0.5,true\nc,2,0.6,true\nd,3,0.5,true\ne,1,1,true\nf,0.1,0.1,false\n";
    static const bool front[] = {true, true, false, false, true, true};
    Csv csv;
    Value *rows;
    size_t count;
    check_ok(csv_parse(&csv, "test", text, strlen(text), a, &err), &err);
    check_ok(plot_rows(&plot_pareto, &csv, &rows, &count, a, &err), &err);
    assert_int_equal(count, countof(front));
    for (size_t i = 0; i < count; i++)
        check(rows[i * 6 + 4].on == front[i]);
}

static void data_of_another_kind_is_refused(void **state)
{
    (void)state;
    Csv csv;
    Value *rows;
    size_t count;
    static const char *const bad[] = {"", "a,b\n1,2\n", "compressor,bits_per_element,relative_error\n",
                                      "compressor,bits_per_element,relative_error\nx,nan,1\ny,0,1\nz,1,-1\n"};
    for (size_t i = 0; i < countof(bad); i++) {
        check_ok(csv_parse(&csv, "test", bad[i], strlen(bad[i]), a, &err), &err);
        assert_int_equal(plot_rows(&plot_pareto, &csv, &rows, &count, a, &err), ERR_CORRUPT);
    }
    assert_int_equal(draw("pareot", "data.csv", "f.svg"), ERR_USAGE);
    check(strstr(err.text, "did you mean pareto?"));
    assert_int_equal(draw("pareto", "data.csv", "f.gif"), ERR_USAGE);
    assert_int_equal(draw("pareto", "data.csv", "f.svg"), ERR_IO);
}

static void every_ending_gives_a_whole_figure(void **state)
{
    (void)state;
    if (no_gnuplot())
        return;
    static const char *const figures[] = {"f.svg", "f.pdf", "f.png", "f.tex"};
    write_data(usual);
    for (size_t i = 0; i < countof(figures); i++) {
        check_ok(draw("pareto", "data.csv", figures[i]), &err);
        check(contents(figures[i]));
        check_ok(draw("pareto", "f.plot.csv", figures[i]), &err); /* what was drawn draws again */
    }
}

static void names_are_text_and_nothing_else(void **state)
{
    (void)state;
    if (no_gnuplot())
        return;
    static const struct {
        const char *cell, *drawn;
    } names[] = {
        {"`touch bad1`", "`touch bad1`"},
        {"$(touch bad2)", "$(touch bad2)"},
        {"\"a\"\"b,c\"", "a''b;c"},
        {"it's", "it's"},
        {"@macro", "@macro"},
        {"a_b^c{d}~e", "a_b^c{d}~e"},
        {"%s%n%d", "%s%n%d"},
        {"#comment", "#comment"},
        {"<b>&amp;", "&lt;b>&amp;amp;"},
        {"back\\n\\slash", "back\\n\\slash"},
        {"\"two\nlines\"", "two?lines"},
        {"'; set out '", "'; set out '"},
        {"NaN", "NaN"},
        {"much:key=1,and=2+more", "much"},
    };
    TextBuf text = {.arena = a};
    text_add(&text, "compressor,bits_per_element,relative_error\n");
    for (size_t i = 0; i < countof(names); i++)
        text_addf(&text,
                  strchr(names[i].cell, ',') && names[i].cell[0] != '"' ? "\"%s\",%zu,%g\n" : "%s,%zu,%g\n",
                  names[i].cell, i + 1, 1.0 / (double)(i + 1));
    write_data(text_done(&text));
    check_ok(draw("pareto", "data.csv", "f.svg"), &err);
    const char *svg = contents("f.svg");
    for (size_t i = 0; i < countof(names); i++) {
        const char *want = text_format(a, "<text>%s", names[i].drawn);
        if (!strstr(svg, want))
            print_error("not drawn: %s\n", want);
        check(strstr(svg, want));
    }
    check_ok(draw("pareto", "data.csv", "f.tex"), &err);
    check(strstr(contents("f.tex"), "{a\\_b\\^{}c\\{d\\}\\~{}e}"));
}

static void a_zero_error_is_drawn_and_said_on_a_logarithmic_axis(void **state)
{
    (void)state;
    if (no_gnuplot())
        return;
    write_data("compressor,bits_per_element,relative_error\nnone,32,0\nx,1,1\ny,4,0.001\n");
    check_ok(draw("pareto", "data.csv", "f.svg"), &err);
    check(strstr(contents("f.svg"), "<text>none, error 0"));
}

static void one_point_and_no_error_at_all_are_figures_too(void **state)
{
    (void)state;
    if (no_gnuplot())
        return;
    write_data("compressor,bits_per_element,relative_error\nnone,32,0\n");
    check_ok(draw("pareto", "data.csv", "f.svg"), &err);
    write_data("compressor,bits_per_element,relative_error\nx,1,0.5\n");
    check_ok(draw("pareto", "data.csv", "f.svg"), &err);
}

static void without_gnuplot_the_data_still_stand(void **state)
{
    (void)state;
    const char *path = text_copy(a, getenv("PATH"));
    write_data(usual);
    setenv("PATH", "/nonexistent", 1);
    const Status status = draw("pareto", "data.csv", "f.svg");
    setenv("PATH", path, 1);
    assert_int_equal(status, ERR_IO);
    assert_string_equal(err.text, "gnuplot: not found");
    check(strstr(err.hint, "gnuplot-nox"));
    check(contents("f.plot.csv") && !contents("f.svg"));
}

/* ---- spectrum and histogram ---- */

static size_t rows_of(const PlotKind *kind, const char *text, Value **rows)
{
    Csv csv;
    size_t count;
    check_ok(csv_parse(&csv, "test", text, strlen(text), a, &err), &err);
    check_ok(plot_rows(kind, &csv, rows, &count, a, &err), &err);
    return count;
}

static size_t count_role(const Value *rows, size_t count, size_t columns, const char *role)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += !strcmp(rows[i * columns].text, role);
    return found;
}

static void few_spectra_are_all_named_and_vectors_left_out(void **state)
{
    (void)state;
    Value *rows;
    const char *text = "tensor,index,value\nw,1,4\nw,2,2\nw,3,1\nbias,1,3\nbias,2,1\nlost,,\n"
                       "w,1,2\nw,2,1\nw,3,0\nzeros,1,0\nzeros,2,0\nzeros,3,0\n";
    assert_string_equal(picked(&plot_spectrum, text), "role,index,value,low,high,tensor\n"
                                                      "named,1,4,,,w\nnamed,2,2,,,w\nnamed,3,1,,,w\n"
                                                      "named,1,2,,,w\nnamed,2,1,,,w\nnamed,3,0,,,w\n");
    assert_int_equal(rows_of(&plot_spectrum, "tensor,index,value\nb,1,3\nb,2,1\n", &rows), 2);
}

/* Tensors 0 .. 10 with values 1, p, p^2, p^3, p = (t + 1) / 12: the median is tensor 5's, the quartiles are
 * those of p = 3.5/12 and 8.5/12 for the second value; two tensors have a fifth value, which is no half. */
static void many_spectra_have_a_band_and_two_ends(void **state)
{
    (void)state;
    TextBuf text = {.arena = a};
    Value *rows;
    text_add(&text, "tensor,index,value\n");
    for (int t = 0; t < 11; t++)
        for (int i = 0; i < (t < 2 ? 5 : 4); i++)
            text_addf(&text, "t%d,%d,%.17g\n", t, i + 1, 3 * pow((t + 1) / 12.0, i));
    const size_t count = rows_of(&plot_spectrum, text_done(&text), &rows);
    assert_int_equal(count_role(rows, count, 6, "least"), 5);
    assert_int_equal(count_role(rows, count, 6, "most"), 4);
    assert_int_equal(count_role(rows, count, 6, "other"), 9 * 4 + 1);
    assert_int_equal(count_role(rows, count, 6, "band"), 4);
    assert_string_equal(rows[5].text, "t0");
    const Value *second = rows + (count - 3) * 6;
    assert_int_equal(second[1].whole, 2);
    check_rel(second[2].real, 0.5, 1e-14);
    check_rel(second[3].real, 3.5 / 12, 1e-14);
    check_rel(second[4].real, 8.5 / 12, 1e-14);
}

static void more_than_a_figure_holds_is_thinned_but_counts(void **state)
{
    (void)state;
    TextBuf text = {.arena = a};
    Value *rows;
    text_add(&text, "tensor,index,value\n");
    for (int t = 0; t < 1000; t++)
        text_addf(&text, "t%d,1,1\nt%d,2,%.17g\nt%d,3,0\n", t, t, (t + 0.5) / 1000, t);
    const size_t count = rows_of(&plot_spectrum, text_done(&text), &rows);
    const size_t others = count_role(rows, count, 6, "other") / 3;
    check(others >= 148 && others <= 150);
    check_near(rows[(count - 2) * 6 + 2].real, 0.5, 1e-12); /* the median of all thousand */
}

static void thin_bins_are_put_together(void **state)
{
    (void)state;
    const char *text = "tensor,bin_low,bin_high,count\n"
                       "w,-4,-3,1\nw,-3,-2,0\nw,-2,-1,9\nw,-1,0,500\nw,0,1,480\nw,1,2,12\nw,2,3,3\nw,3,4,1\n"
                       "few,0,1,3\nfew,1,2,3\nconstant,1,1,5000\n";
    assert_string_equal(picked(&plot_histogram, text),
                        "role,bin_low,bin_high,count,low,high,tensor\n"
                        "named,-4,-1,10,,,w\nnamed,-1,0,500,,,w\nnamed,0,1,480,,,w\nnamed,1,4,16,,,w\n");
}

/* Ten normal histograms of different widths and means are one in standard deviations. */
static void the_band_of_normal_tensors_is_the_normal_density(void **state)
{
    (void)state;
    TextBuf text = {.arena = a};
    Value *rows;
    text_add(&text, "tensor,bin_low,bin_high,count\n");
    for (int t = 1; t <= 10; t++)
        for (int b = -100; b < 100; b++)
            text_addf(&text, "t%d,%.17g,%.17g,%.17g\n", t, t * (1 + 0.05 * b), t * (1 + 0.05 * (b + 1)),
                      round(1e7 * (0.5 * erfc(-0.05 * (b + 1) / M_SQRT2) - 0.5 * erfc(-0.05 * b / M_SQRT2))));
    const size_t count = rows_of(&plot_histogram, text_done(&text), &rows);
    const size_t band = count_role(rows, count, 7, "band");
    check(band > 30 && band <= 2 * 5 * 4 + 1);
    for (size_t i = count - band; i < count; i++) {
        const Value *row = rows + i * 7;
        const double x = 0.5 * (row[1].real + row[2].real);
        if (fabs(x) < 4) /* a bin of 0.05 is off by half of it: 0.025 x of the density */
            check_rel(row[3].real, exp(-0.5 * x * x) / sqrt(2 * M_PI), 0.01 + 0.03 * fabs(x));
        check(row[4].real <= row[3].real && row[3].real <= row[5].real);
    }
}

static void what_is_no_spectrum_or_histogram_is_refused(void **state)
{
    (void)state;
    static const struct {
        const PlotKind *kind;
        const char *text, *why;
    } rows[] = {
        {&plot_spectrum, "", "no column \"tensor\""},
        {&plot_spectrum, "tensor,index\nw,1\n", "no column \"value\""},
        {&plot_spectrum, "tensor,index,value\n", "nothing to draw"},
        {&plot_spectrum, "tensor,index,value\nw,,\n", "nothing to draw"},
        {&plot_spectrum, "tensor,index,value\nw,1,0\nw,2,0\n", "above 0"},
        {&plot_spectrum, "tensor,index,value\nw,1,2\nw,3,1\n", "record 2"},
        {&plot_spectrum, "tensor,index,value\nw,1,2\nw,2,-1\n", "record 2"},
        {&plot_spectrum, "tensor,index,value\nw,1,inf\n", "record 1"},
        {&plot_histogram, "tensor,bin_low,bin_high\nw,1,2\n", "no column \"count\""},
        {&plot_histogram, "tensor,bin_low,bin_high,count\nw,1,1,5\n", "more than one value"},
        {&plot_histogram, "tensor,bin_low,bin_high,count\nw,1,2,0\n", "more than one value"},
        {&plot_histogram, "tensor,bin_low,bin_high,count\nw,2,1,5\n", "record 1"},
        {&plot_histogram, "tensor,bin_low,bin_high,count\nw,1,2,-5\n", "record 1"},
        {&plot_histogram, "tensor,bin_low,bin_high,count\nw,x,2,5\n", "record 1"},
    };
    for (size_t i = 0; i < countof(rows); i++) {
        Csv csv;
        Value *picked;
        size_t count;
        check_ok(csv_parse(&csv, "test", rows[i].text, strlen(rows[i].text), a, &err), &err);
        assert_int_equal(plot_rows(rows[i].kind, &csv, &picked, &count, a, &err), ERR_CORRUPT);
        if (!strstr(err.text, rows[i].why))
            print_error("%s\nwant %s\n", err.text, rows[i].why);
        check(strstr(err.text, rows[i].why));
    }
}

/* `tensors` of each kind of figure, `passes` times. */
static char *made_up(const char *kind, int tensors, int passes)
{
    TextBuf text = {.arena = a};
    const bool spectrum = !strcmp(kind, "spectrum");
    text_add(&text, spectrum ? "tensor,index,value\n" : "tensor,bin_low,bin_high,count\n");
    for (int p = 0; p < passes; p++)
        for (int t = 0; t < tensors; t++)
            for (int i = 0; i < 20; i++)
                if (spectrum)
                    text_addf(&text, "layer%d_w,%d,%g\n", t, i + 1, (p + 1) * exp(-0.1 * (t + 1) * i));
                else
                    text_addf(&text, "layer%d_w,%d,%d,%d\n", t, i - 10, i - 9,
                              20 + t + (int)(1e4 * exp(-pow(i - 9.5, 2))));
    return text_done(&text);
}

static void curves_are_drawn_one_or_many_once_or_more(void **state)
{
    (void)state;
    if (no_gnuplot())
        return;
    static const char *const kinds[] = {"spectrum", "histogram"}, *const figures[] = {"f.svg", "f.pdf",
                                                                                      "f.png", "f.tex"};
    static const int tensors[] = {1, 1, 1, 8, 5, 9, 60}, passes[] = {1, 3, 30, 1, 4, 1, 2};
    for (size_t k = 0; k < countof(kinds); k++)
        for (size_t i = 0; i < countof(tensors); i++)
            for (size_t f = 0; f < (i == 0 || i == 5 ? countof(figures) : 1); f++) {
                write_data(made_up(kinds[k], tensors[i], passes[i]));
                check_ok(draw(kinds[k], "data.csv", figures[f]), &err);
                if (!strcmp(figures[f], "f.svg"))
                    check(strstr(contents("f.svg"), i == 1 || i == 2 ? "<text>layer0_w" : "layer0_w"));
                const char *drawn = contents("f.plot.csv");
                check_ok(draw(kinds[k], "f.plot.csv", figures[f]), &err);
                assert_string_equal(contents("f.plot.csv"), drawn); /* what was drawn draws the same again */
            }
}

static void tensors_names_are_text_and_nothing_else(void **state)
{
    (void)state;
    if (no_gnuplot())
        return;
    static const struct {
        const char *cell, *drawn;
    } names[] = {
        {"`touch bad1`", "`touch bad1`"}, {"$(touch bad2)", "$(touch bad2)"},
        {"\"a\"\"b,c\"", "a''b;c"},       {"@macro", "@macro"},
        {"a_b^c{d}~e", "a_b^c{d}~e"},     {"%s%n%d", "%s%n%d"},
        {"<b>&amp;", "&lt;b>&amp;amp;"},  {"'; set out '", "'; set out '"},
    };
    for (int kind = 0; kind < 2; kind++) {
        TextBuf text = {.arena = a};
        text_add(&text, kind ? "tensor,bin_low,bin_high,count\n" : "tensor,index,value\n");
        for (size_t i = 0; i < countof(names); i++)
            for (int row = 0; row < 3; row++)
                if (kind)
                    text_addf(&text, "%s,%d,%d,1000\n", names[i].cell, row, row + 1);
                else
                    text_addf(&text, "%s,%d,%g\n", names[i].cell, row + 1, 1.0 / (row + 1));
        write_data(text_done(&text));
        check_ok(draw(kind ? "histogram" : "spectrum", "data.csv", "f.svg"), &err);
        const char *svg = contents("f.svg");
        for (size_t i = 0; i < countof(names); i++) {
            const char *want = text_format(a, "<text>%s", names[i].drawn);
            if (!strstr(svg, want))
                print_error("not drawn: %s\n", want);
            check(strstr(svg, want));
        }
        check_ok(draw(kind ? "histogram" : "spectrum", "data.csv", "f.tex"), &err);
        check(strstr(contents("f.tex"), "{a\\_b\\^{}c\\{d\\}\\~{}e}"));
    }
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
static const struct CMUnitTest tests[] = {
    IN_FOLDER(the_whole_selection_is_drawn_sorted_with_its_front),
    IN_FOLDER(json_and_csv_give_the_same_figure_data),
    IN_FOLDER(dominated_points_are_off_the_front),
    IN_FOLDER(data_of_another_kind_is_refused),
    IN_FOLDER(every_ending_gives_a_whole_figure),
    IN_FOLDER(names_are_text_and_nothing_else),
    IN_FOLDER(a_zero_error_is_drawn_and_said_on_a_logarithmic_axis),
    IN_FOLDER(one_point_and_no_error_at_all_are_figures_too),
    IN_FOLDER(without_gnuplot_the_data_still_stand),
    IN_FOLDER(few_spectra_are_all_named_and_vectors_left_out),
    IN_FOLDER(many_spectra_have_a_band_and_two_ends),
    IN_FOLDER(more_than_a_figure_holds_is_thinned_but_counts),
    IN_FOLDER(thin_bins_are_put_together),
    IN_FOLDER(the_band_of_normal_tensors_is_the_normal_density),
    IN_FOLDER(what_is_no_spectrum_or_histogram_is_refused),
    IN_FOLDER(curves_are_drawn_one_or_many_once_or_more),
    IN_FOLDER(tensors_names_are_text_and_nothing_else),
};
CHECK_MAIN(tests)
