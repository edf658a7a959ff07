/* test_plot.c -- draws every kind of figure in every file format, from CSV and from JSON. Names in the data
 * must never be run as commands. If a column is missing, the error message must be a single line. */
#include "base/file.h"
#include "report/plot_look.h"
#include "rig/plot_rig.h"

#define COST_HEAD                                                                                            \
    "compressor,workers,compute_ms,encode_ms,comm_ms,decode_ms,total_ms,break_even_gbps,pays,bytes_up\n"

/* Data for each kind of figure. Each @ is replaced by a name of the list below. */
static const struct {
    const PlotKind *kind;
    const char *head, *rows;
} samples[] = {
    {&plot_pareto, "step,tensor,compressor,bits_per_element,relative_error\n", "1,*,@,2,0.5\n1,*,@,4,0.25\n"},
    {&plot_errors,
     "tensor,compressor,elem_error,elem_error_big,elem_error_small,elem_error_pos,elem_error_neg\n",
     "*,@,2,0.5,3,1,\n"},
    {&plot_spectrum, "tensor,index,value\n", "@,1,4\n@,2,2\n@,3,1\n"},
    {&plot_histogram, "tensor,bin_low,bin_high,count\n", "@,0,1,1000\n@,1,2,2000\n@,2,3,1000\n"},
    {&plot_merge, "compressor,workers,merge_ms,decode_ms,decode_each_ms\n", "@,4,1,1,3\n@,8,2,1,6\n"},
    {&plot_convergence,
     "record,compressor,step,test_accuracy,bytes_up,sim_seconds,wall_seconds,steps_to_0.5\n",
     "step,@,1,0.3,100,0.5,0.7,\nstep,@,2,0.6,100,1,1.4,\nsummary,@,2,0.6,200,1,1.4,2\n"},
    {&plot_iteration_time, COST_HEAD, "@,2,1,1,1,1,4,0.5,below,400\n@,4,1,1,1,2,5,,never,400\n"},
    {&plot_runtime, COST_HEAD, "@,2,1,1,1,1,4,0.5,below,400\n@,4,1,1,1,2,5,,never,400\n"},
    {&plot_break_even, COST_HEAD, "@,2,1,1,1,1,4,0.5,below,400\n@,4,1,1,1,2,5,0.25,above,400\n"},
};
static const char *const figures[] = {"f.svg", "f.pdf", "f.png", "f.tex"};

static void add_rows(TextBuf *out, size_t sample, const char *name)
{
    for (const char *c = samples[sample].rows; *c; c++)
        if (*c == '@')
            text_add(out, name);
        else
            text_add_bytes(out, c, 1);
}

static const char *data_of(size_t sample, const char *name)
{
    TextBuf out = {.arena = a};
    text_add(&out, samples[sample].head);
    add_rows(&out, sample, name);
    return text_done(&out);
}

static void every_kind_is_tested_here(void **state)
{
    size_t kinds = 0;
    while (plot_kinds[kinds])
        kinds++;
    assert_int_equal(kinds, countof(samples));
    for (size_t i = 0; i < kinds; i++)
        for (size_t k = 0; k < i; k++)
            check(samples[i].kind != samples[k].kind);
}

/* Each name in the data is a command. If a shell or gnuplot ran it, it would make a file in the test's
 * folder. */
static const char *data_of_commands(size_t sample)
{
    const char *const commands[] = {
        text_format(a, "`touch %s/bad1`", folder),
        text_format(a, "$(touch %s/bad2)", folder),
        text_format(a, "\"\"\"; system(\"\"touch %s/bad3\"\"); #\"", folder),
        text_format(a, "'; system('touch %s/bad4'); #", folder),
        text_format(a, "< touch %s/bad5", folder),
        text_format(a, "| touch %s/bad6", folder),
        text_format(a, "! touch %s/bad7", folder),
    };
    TextBuf out = {.arena = a};
    text_add(&out, samples[sample].head);
    for (size_t k = 0; k < countof(commands); k++)
        add_rows(&out, sample, commands[k]);
    return text_done(&out);
}

static void every_kind_draws_with_every_ending_and_its_own_data_again_and_runs_no_name(void **state)
{
    if (no_gnuplot())
        return;
    for (size_t i = 0; i < countof(samples); i++)
        for (size_t f = 0; f < countof(figures); f++) {
            const char *kind = samples[i].kind->name;
            check(drawn(kind, data_of_commands(i), figures[f]));
            for (size_t k = 1; k <= 7; k++)
                check(access(text_format(a, "bad%zu", k), F_OK) != 0);
            const char *rows = contents("f.plot.csv");
            if (strcmp(figures[f], "f.svg") != 0)
                continue; /* the rows are the same for every ending */
            check_ok(draw(kind, "f.plot.csv", figures[f]), &err);
            assert_string_equal(contents("f.plot.csv"), rows);
        }
}

/* ---- names ---- */

static const struct {
    const char *cell, *svg, *tex;
} names[] = {
    {"`touch a`", "`touch a`", "`touch a`"},
    {"$(touch a)", "$(touch a)", "\\$(touch a)"},
    {"\"a\"\"b,c\"", "a\"b,c", "a\"b,c"},
    {"it's", "it's", "it's"},
    {"@macro", "@macro", "@macro"},
    {"a_b^c{d}~e", "a_b^c{d}~e", "a\\_b\\^{}c\\{d\\}\\~{}e"},
    {"%s%n%d", "%s%n%d", "\\%s\\%n\\%d"},
    {"#comment", "#comment", "\\#comment"},
    {"<b>&amp;", "&lt;b>&amp;amp;", "\\textless{}b\\textgreater{}\\&amp;"},
    {"back\\n", "back\\n", "back\\textbackslash{}n"},
    {"\"two\nlines\"", "two?lines", "two?lines"},
    {"'; set out '", "'; set out '", "'; set out '"},
    {"\"\"\"; system(1)\"", "\"; system(1)", "\"; system(1)"},
    {"NaN", "NaN", "NaN"},
};

/* Returns the data of samples[sample] for names[from] and the names behind it. They are at most eight,
 * because a figure labels at most eight tensors. */
static const char *named_data(size_t sample, size_t from)
{
    TextBuf out = {.arena = a};
    text_add(&out, samples[sample].head);
    for (size_t k = from; k < countof(names) && k < from + 8; k++)
        add_rows(&out, sample, names[k].cell);
    return text_done(&out);
}

static bool has_text(size_t f)
{
    return !strcmp(figures[f], "f.svg") || !strcmp(figures[f], "f.tex");
}

/* Each kind has the first names in one of the formats that are text, and the others in the other one. */
static void names_are_text_in_every_kind(void **state)
{
    if (no_gnuplot())
        return;
    for (size_t i = 0; i < countof(samples); i++)
        for (size_t from = 0; from < countof(names); from += 8)
            for (size_t f = 0; f < countof(figures); f++) {
                const bool svg = !strcmp(figures[f], "f.svg");
                if (!has_text(f) || (i + from / 8) % 2 != svg)
                    continue;
                const char *figure = drawn(samples[i].kind->name, named_data(i, from), figures[f]);
                for (size_t k = from; k < countof(names) && k < from + 8; k++)
                    check_has(figure, svg ? text_format(a, "<text>%s", names[k].svg)
                                          : text_format(a, "{%s}", names[k].tex));
            }
}

/* ---- data ---- */

static const char *json_of(const char *text)
{
    const Csv csv = table_of(text);
    TextBuf out = {.arena = a};
    double v;
    text_add(&out, "\n {\"schema\": \"atomo-compare/1\", \"meta\": {}, \"results\": [");
    for (size_t i = 0; i < csv.rows; i++) {
        text_add(&out, i ? ", {\"shape\": [3, 4]" : "{\"shape\": [3, 4]");
        for (size_t k = 0; k < csv.columns; k++) {
            const char *cell = csv.cell[i * csv.columns + k], *quote = text_to_real(cell, &v) ? "" : "\"";
            text_addf(&out, *cell ? ", \"%s\": %s%s%s" : ", \"%s\": %snull%s%s", csv.name[k],
                      *cell ? quote : "", cell, *cell ? quote : "");
        }
        text_add(&out, "}");
    }
    text_add(&out, "]}");
    return text_done(&out);
}

static void json_and_csv_give_the_same_figure_data(void **state)
{
    for (size_t i = 0; i < countof(samples); i++) {
        Csv csv;
        Value *values;
        size_t count;
        write_file("data.csv", json_of(data_of(i, "a_name")));
        check_ok(plot_load(&csv, "data.csv", a, &err), &err);
        check_ok(plot_rows(samples[i].kind, &csv, &values, &count, a, &err), &err);
        assert_string_equal(rows_text(samples[i].kind, values, count),
                            picked(samples[i].kind, data_of(i, "a_name")));
    }
}

static void what_is_no_result_is_refused(void **state)
{
    Csv json;
    static const char *const bad[] = {"{", "{}", "{\"results\": 3}", "{\"results\": [3]}",
                                      "{\"schema\": \"atomo-compare/9\", \"results\": []}"};
    for (size_t i = 0; i < countof(bad); i++) {
        write_file("data.csv", bad[i]);
        assert_int_equal(plot_load(&json, "data.csv", a, &err), ERR_CORRUPT);
        check(strstr(err.text, "data.csv: "));
    }
    write_file("data.csv", "{\"results\": []}");
    check_ok(plot_load(&json, "data.csv", a, &err), &err);
    check(json.rows == 0);
    assert_int_equal(plot_load(&json, ".", a, &err), ERR_IO);
}

/* A figure whose column is missing is refused. The message names the column and the command that writes such a
 * column. */
static void a_missing_column_is_named_with_the_command_that_writes_it(void **state)
{
    for (size_t i = 0; i < countof(samples); i++)
        for (const PlotColumn *need = samples[i].kind->columns; need->name; need++) {
            TextBuf head = {.arena = a};
            const char *others = "";
            if (!(need->use & PLOT_NEEDED))
                continue;
            for (const PlotColumn *other = samples[i].kind->columns; other->name; other++)
                if (other != need && other->use & PLOT_NEEDED) {
                    text_addf(&head, "%s%s", others, other->name);
                    others = ",";
                }
            text_add(&head, "\n1\n");
            const char *text = text_done(&head);
            write_file("data.csv", text);
            assert_int_equal(draw(samples[i].kind->name, "data.csv", "f.svg"), ERR_CORRUPT);
            assert_string_equal(err.text, text_format(a, "data.csv: it has no column \"%s\"", need->name));
            check(strstr(err.hint, samples[i].kind->source) && strstr(err.hint, "atomo-"));
            check(!contents("f.plot.csv") && !contents("f.svg"));
        }
}

static void columns_without_rows_are_refused(void **state)
{
    for (size_t i = 0; i < countof(samples); i++)
        check_refused(samples[i].kind, samples[i].head, "no");
}

static void several_files_are_one(void **state)
{
    static const char *const files[] = {"data.csv", "more.csv"};
    const PlotJob job = {.kind = "pareto", .data = {(const char **)files, 2}, .figure = "f.svg"};
    const Look first = plot_look("a", a), other = plot_look("b", a);
    write_file("data.csv", "compressor,bits_per_element,relative_error\na,1,4\n");
    write_file("more.csv", "unbiased,relative_error,compressor,bits_per_element\nfalse,1,b,2\n");
    if (!no_gnuplot()) {
        check_ok(plot_draw(&job, a, &err), &err);
        assert_string_equal(
            contents("f.plot.csv"),
            text_format(a,
                        "series,bits_per_element,encode_ms,decode_ms,relative_error,"
                        "relative_error_se,unbiased,pareto,pareto_time,rate,beyond,compressor,"
                        "colour,mark,dash,label\n"
                        "a,1,,,4,,,true,false,none,false,a,%s,%d,%d,a\n"
                        "b,2,,,1,,false,true,false,none,false,b,%s,%d,%d,b\n",
                        first.colour, first.mark, first.dash, other.colour, other.mark, other.dash));
    }
    write_file("more.csv", "compressor,bits_per_element\nb,2\n");
    assert_int_equal(plot_draw(&job, a, &err), ERR_CORRUPT);
    check(strstr(err.text, "more.csv: it has no column \"relative_error\""));
}

/* ---- gnuplot ---- */

static int asked, stop_at; /* stop_at: the question that is the first to be answered with yes */

static bool stopped(void)
{
    return ++asked >= stop_at;
}

/* While gnuplot runs, the question comes every few milliseconds; the last ones come while its figure is read. */
static void a_figure_that_is_stopped_anywhere_is_not_written(void **state)
{
    static const char *data[] = {"data.csv"};
    const PlotJob job = {.kind = "pareto", .data = {data, 1}, .figure = "f.svg", .stopped = stopped};
    Status status = ERR_STOPPED;
    if (no_gnuplot())
        return;
    write_file("data.csv", "compressor,bits_per_element,relative_error\na,1,4\n");
    file_stopped = stopped;
    for (stop_at = 1; status != OK; stop_at++) {
        asked = 0;
        status = plot_draw(&job, a, &err);
        check(status == ERR_STOPPED ? !contents("f.svg") && !contents("f.plot.csv")
                                    : status == OK && asked < stop_at);
    }
    file_stopped = NULL;
    check(stop_at > 4);
}

/* The data beside an earlier figure are its own. */
static void an_earlier_figure_keeps_its_data_where_a_new_one_fails(void **state)
{
    static const char *const head = "compressor,bits_per_element,relative_error\n";
    const char *path = text_copy(a, getenv("PATH"));
    write_file("data.csv", text_format(a, "%sa,1,4\n", head));
    write_file("f.svg", "earlier");
    write_file("f.plot.csv", "its data");
    setenv("PATH", "/nonexistent", 1);
    assert_int_equal(draw("pareto", "data.csv", "f.svg"), ERR_IO);
    setenv("PATH", path, 1);
    assert_string_equal(contents("f.svg"), "earlier");
    assert_string_equal(contents("f.plot.csv"), "its data");
}

static void neither_the_figure_nor_its_data_change_where_one_cannot_be_written(void **state)
{
    write_file("data.csv", "compressor,bits_per_element,relative_error\na,1,4\n");
    write_file("f.plot.csv", "earlier data");
    check(!symlink("/dev/full", "f.svg"));
    assert_int_equal(draw("pareto", "data.csv", "f.svg"), ERR_IO);
    assert_string_equal(contents("f.plot.csv"), "earlier data");
    check(!unlink("f.svg") && !unlink("f.plot.csv"));
    write_file("f.svg", "earlier figure");
    check(!symlink("/dev/full", "f.plot.csv"));
    assert_int_equal(draw("pareto", "data.csv", "f.svg"), ERR_IO);
    assert_string_equal(contents("f.svg"), "earlier figure");
}

static void without_gnuplot_the_data_of_every_kind_still_stand(void **state)
{
    const char *path = text_copy(a, getenv("PATH"));
    for (size_t i = 0; i < countof(samples); i++) {
        write_file("data.csv", data_of(i, "a"));
        setenv("PATH", "/nonexistent", 1);
        const Status status = draw(samples[i].kind->name, "data.csv", "f.svg");
        setenv("PATH", path, 1);
        assert_int_equal(status, ERR_IO);
        assert_string_equal(err.text, "gnuplot: not found");
        check(strstr(err.hint, "gnuplot-nox"));
        check(contents("f.plot.csv") && !contents("f.svg"));
        unlink("f.plot.csv");
    }
}

static const struct CMUnitTest tests[] = {
    IN_FOLDER(every_kind_is_tested_here),
    IN_FOLDER(every_kind_draws_with_every_ending_and_its_own_data_again_and_runs_no_name),
    IN_FOLDER(names_are_text_in_every_kind),
    IN_FOLDER(json_and_csv_give_the_same_figure_data),
    IN_FOLDER(what_is_no_result_is_refused),
    IN_FOLDER(a_missing_column_is_named_with_the_command_that_writes_it),
    IN_FOLDER(columns_without_rows_are_refused),
    IN_FOLDER(several_files_are_one),
    IN_FOLDER(without_gnuplot_the_data_of_every_kind_still_stand),
    IN_FOLDER(a_figure_that_is_stopped_anywhere_is_not_written),
    IN_FOLDER(an_earlier_figure_keeps_its_data_where_a_new_one_fails),
    IN_FOLDER(neither_the_figure_nor_its_data_change_where_one_cannot_be_written),
};
CHECK_MAIN(tests)
