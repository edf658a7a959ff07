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

static const char usual[] =
    "step,tensor,compressor,bits_per_element,relative_error\n"
    "1,conv1,none,32,0\n1,*,none,32,0\n1,*,svd:rank=2,1.8,1.2\n1,*,svd:rank=1,0.9,2.6\n"
    "1,*,ef:decay=0.5+svd:rank=1,0.95,1.1\n1,*,broken,,\n";

static void the_whole_selection_is_drawn_sorted_with_its_front(void **state)
{
    (void)state;
    Csv csv;
    Value *rows;
    size_t count;
    check_ok(csv_parse(&csv, "test", usual, strlen(usual), a, &err), &err);
    check_ok(pareto_rows(&csv, &rows, &count, a, &err), &err);
    const ReportSpec spec = {.columns = pareto_columns, .column_count = PARETO_COLUMNS, .format = FORMAT_CSV};
    assert_string_equal(report_text(&spec, rows, count, a),
                        "series,bits_per_element,relative_error,unbiased,pareto,compressor\n"
                        "none,32,0,true,true,none\n"
                        "svd,0.9,2.6,true,true,svd:rank=1\n"
                        "svd,1.8,1.2,true,true,svd:rank=2\n"
                        "ef+svd,0.95,1.1,false,true,ef:decay=0.5+svd:rank=1\n");
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
    check_ok(pareto_rows(&csv, &rows, &count, a, &err), &err);
    assert_int_equal(count, countof(front));
    for (size_t i = 0; i < count; i++)
        check(rows[i * PARETO_COLUMNS + 4].on == front[i]);
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
        assert_int_equal(pareto_rows(&csv, &rows, &count, a, &err), ERR_CORRUPT);
    }
    assert_int_equal(plot_draw("pareot", "data.csv", "f.svg", NULL, a, &err), ERR_USAGE);
    check(strstr(err.text, "did you mean pareto?"));
    assert_int_equal(plot_draw("pareto", "data.csv", "f.gif", NULL, a, &err), ERR_USAGE);
    assert_int_equal(plot_draw("pareto", "data.csv", "f.svg", NULL, a, &err), ERR_IO);
}

static void every_ending_gives_a_whole_figure(void **state)
{
    (void)state;
    if (no_gnuplot())
        return;
    static const char *const figures[] = {"f.svg", "f.pdf", "f.png", "f.tex"};
    write_data(usual);
    for (size_t i = 0; i < countof(figures); i++) {
        check_ok(plot_draw("pareto", "data.csv", figures[i], NULL, a, &err), &err);
        check(contents(figures[i]));
        check_ok(plot_draw("pareto", "f.plot.csv", figures[i], NULL, a, &err),
                 &err); /* what was drawn draws again */
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
    check_ok(plot_draw("pareto", "data.csv", "f.svg", NULL, a, &err), &err);
    const char *svg = contents("f.svg");
    for (size_t i = 0; i < countof(names); i++) {
        const char *want = text_format(a, "<text>%s", names[i].drawn);
        if (!strstr(svg, want))
            print_error("not drawn: %s\n", want);
        check(strstr(svg, want));
    }
    check_ok(plot_draw("pareto", "data.csv", "f.tex", NULL, a, &err), &err);
    check(strstr(contents("f.tex"), "{a\\_b\\^{}c\\{d\\}\\~{}e}"));
}

static void a_zero_error_is_drawn_and_said_on_a_logarithmic_axis(void **state)
{
    (void)state;
    if (no_gnuplot())
        return;
    write_data("compressor,bits_per_element,relative_error\nnone,32,0\nx,1,1\ny,4,0.001\n");
    check_ok(plot_draw("pareto", "data.csv", "f.svg", NULL, a, &err), &err);
    check(strstr(contents("f.svg"), "<text>none, error 0"));
}

static void one_point_and_no_error_at_all_are_figures_too(void **state)
{
    (void)state;
    if (no_gnuplot())
        return;
    write_data("compressor,bits_per_element,relative_error\nnone,32,0\n");
    check_ok(plot_draw("pareto", "data.csv", "f.svg", NULL, a, &err), &err);
    write_data("compressor,bits_per_element,relative_error\nx,1,0.5\n");
    check_ok(plot_draw("pareto", "data.csv", "f.svg", NULL, a, &err), &err);
}

static void without_gnuplot_the_data_still_stand(void **state)
{
    (void)state;
    const char *path = text_copy(a, getenv("PATH"));
    write_data(usual);
    setenv("PATH", "/nonexistent", 1);
    const Status status = plot_draw("pareto", "data.csv", "f.svg", NULL, a, &err);
    setenv("PATH", path, 1);
    assert_int_equal(status, ERR_IO);
    assert_string_equal(err.text, "gnuplot: not found");
    check(strstr(err.hint, "gnuplot-nox"));
    check(contents("f.plot.csv") && !contents("f.svg"));
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
};
CHECK_MAIN(tests)
