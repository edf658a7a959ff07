/* test_plot.c -- draws every kind of figure in every file format, from CSV and from JSON. Names in the data
 * must never be run as commands. If a column is missing, the error message must be a single line. */
#include "base/file.h"
#include "rig/plot_rig.h"

#define COST_HEAD                                                                                            \
    "compressor,workers,compute_ms,encode_ms,comm_ms,decode_ms,total_ms,break_even_gbps,pays,bytes_up\n"

/* Data for each kind of figure. Each @ is replaced by a name of the list below. */
static const struct {
    const PlotKind *kind;
    const char *head, *rows;
} samples[] = {
    {&plot_pareto, "step,tensor,compressor,bits_per_element,relative_error\n", "1,*,@,2,0.5\n1,*,@,4,0.25\n"},
    {&plot_compared[0],
     "tensor,compressor,elem_error_deciles\n",
     "*,@,1 1 2;0.5 1 2;0.1 0.5 1\n"},
    {&plot_curves[0], "tensor,index,value\n", "@,1,4\n@,2,2\n@,3,1\n"},
    {&plot_curves[1], "tensor,bin_low,bin_high,count\n", "@,0,1,1000\n@,1,2,2000\n@,2,3,1000\n"},
    {&plot_compared[1], "compressor,workers,merge_ms,decode_ms,decode_each_ms\n", "@,4,1,1,3\n@,8,2,1,6\n"},
    {&plot_training[0],
     "record,compressor,step,test_accuracy,bytes_up,sim_seconds,wall_seconds,steps_to_0.5\n",
     "step,@,1,0.3,100,0.5,0.7,\nstep,@,2,0.6,100,1,1.4,\nsummary,@,2,0.6,200,1,1.4,2\n"},
    {&plot_costs[0], COST_HEAD, "@,2,1,1,1,1,4,0.5,below,400\n@,4,1,1,1,2,5,,never,400\n"},
    {&plot_costs[1], COST_HEAD, "@,2,1,1,1,1,4,0.5,below,400\n@,4,1,1,1,2,5,,never,400\n"},
    {&plot_costs[2], COST_HEAD, "@,2,1,1,1,1,4,0.5,below,400\n@,4,1,1,1,2,5,0.25,above,400\n"},
    {&plot_compared[2], "tensor,compressor,bits_per_element,relative_error\n", "*,@,1,1\nw,@,2,0.5\nv,@,4,0.25\n"},
    {&plot_training[1], "record,compressor,step,test_accuracy,bytes_up\n", "step,@,1,0.3,100\nstep,@,2,0.6,100\n"},
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

IN_FOLDER(every_kind_is_tested_here)
{
    size_t kinds = 0;
    while (plot_kinds[kinds])
        kinds++;
    assert_int_equal(kinds, countof(samples));
    for (size_t i = 0; i < kinds; i++)
        for (size_t k = 0; k < i; k++)
            check(samples[i].kind != samples[k].kind);
}

/* The caption stands in the file: as a comment, a description, or the subject of a PDF in UTF-16. Each name in the data is a
 * command. If a shell or gnuplot ran it, it would make a file in the test's folder. */
IN_FOLDER(every_kind_draws_with_every_ending_says_what_and_runs_no_name)
{
    if (no_gnuplot())
        return;
    const char *const commands[] = {
        text_format(a, "`touch %s/bad1`", folder),
        text_format(a, "$(touch %s/bad2)", folder),
        text_format(a, "\"\"\"; system(\"\"touch %s/bad3\"\"); #\"", folder),
        text_format(a, "'; system('touch %s/bad4'); #", folder),
        text_format(a, "< touch %s/bad5", folder),
        text_format(a, "| touch %s/bad6", folder),
        text_format(a, "! touch %s/bad7", folder),
    };
    for (size_t i = 0; i < countof(samples); i++)
        for (size_t f = 0; f < countof(figures); f++) {
            TextBuf data = {.arena = a};
            text_add(&data, samples[i].head);
            for (size_t k = 0; k < countof(commands); k++)
                add_rows(&data, i, commands[k]);
            const char *figure = drawn(samples[i].kind->name, text_done(&data), figures[f]);
            for (size_t k = 1; k <= countof(commands); k++)
                check(access(text_format(a, "bad%zu", k), F_OK) != 0);
            check(figure && said.records > 0 && strlen(said.caption) > 10 && !strchr(said.caption, '\n'));
            if (!strcmp(figures[f], "f.svg"))
                check_has(figure, text_format(a, "<desc>%.12s", said.caption));
            if (!strcmp(figures[f], "f.tex"))
                check_has(figure, text_format(a, "%% %.12s", said.caption));
            check(access("f.plot.csv", F_OK) != 0);
        }
}

IN_FOLDER(the_drawn_points_are_written_on_demand)
{
    if (no_gnuplot())
        return;
    check(drawn_with("pareto", data_of(0, "one_name"), "f.svg", (PlotOptions){.data = true}));
    assert_string_equal(contents("f.plot.csv"), "line,x,y,low,high,rate\none_name,2,0.5,,,\none_name,4,0.25,,,\n");
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
    {"a_b^c{d}~e", "a_b^c{d}~e", "a\\_b\\textasciicircum{}c\\{d\\}\\textasciitilde{}e"},
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
IN_FOLDER(names_are_text_in_every_kind)
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
                    check_has(figure, svg ? names[k].svg : names[k].tex);
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

IN_FOLDER(json_and_csv_give_the_same_figure)
{
    for (size_t i = 0; i < countof(samples); i++) {
        Csv csv = {0};
        const Csv text = table_of(data_of(i, "a_name"));
        PlotFigure f;
        char *of_json, *of_csv;
        write_file("data.csv", json_of(data_of(i, "a_name")));
        check_ok(plot_load(&csv, "data.csv", a, &err), &err);
        check_ok(try_figure(samples[i].kind, &csv, (PlotOptions){0}, &f, &of_json), &err);
        check_ok(try_figure(samples[i].kind, &text, (PlotOptions){0}, &f, &of_csv), &err);
        assert_string_equal(of_json, of_csv);
    }
}

IN_FOLDER(what_is_no_result_is_refused)
{
    Csv json = {0};
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
IN_FOLDER(a_missing_column_is_named_with_the_command_that_writes_it)
{
    for (size_t i = 0; i < countof(samples); i++)
        for (const char *const *need = samples[i].kind->columns; *need; need++) {
            TextBuf head = {.arena = a};
            for (const char *const *other = samples[i].kind->columns; *other; other++)
                if (other != need)
                    text_addf(&head, "%s%s", head.size ? "," : "", *other);
            text_add(&head, "\n1\n");
            const char *text = text_done(&head);
            write_file("data.csv", text);
            assert_int_equal(draw(samples[i].kind->name, "data.csv", "f.svg"), ERR_CORRUPT);
            assert_string_equal(err.text, text_format(a, "data.csv: it has no column \"%s\"", *need));
            check(strstr(err.hint, samples[i].kind->source) && strstr(err.hint, "atomo-"));
            check(!contents("f.svg"));
        }
}

IN_FOLDER(columns_without_rows_are_refused)
{
    for (size_t i = 0; i < countof(samples); i++)
        check_refused(samples[i].kind, samples[i].head, "no");
}

IN_FOLDER(several_files_are_one)
{
    static const char *const files[] = {"data.csv", "more.csv"};
    const PlotJob job = {.kind = "pareto", .data = {(const char **)files, 2}, .figure = "f.svg", .look = {.data = true}};
    write_file("data.csv", "compressor,bits_per_element,relative_error\na,1,4\n");
    write_file("more.csv", "unbiased,relative_error,compressor,bits_per_element\nfalse,1,b,2\n");
    if (!no_gnuplot()) {
        check_ok(plot_draw(&job, &said, a, &err), &err);
        assert_string_equal(contents("f.plot.csv"), "line,x,y,low,high,rate\na,1,4,,,\nb,2,1,,,\n");
    }
    write_file("more.csv", "compressor,bits_per_element\nb,2\n");
    assert_int_equal(plot_draw(&job, &said, a, &err), ERR_CORRUPT);
    check(strstr(err.text, "more.csv: it has no column \"relative_error\""));
}

IN_FOLDER(an_unknown_kind_or_ending_or_axis_is_refused)
{
    static const char *data[] = {"data.csv"};
    assert_int_equal(draw("pareot", "data.csv", "f.svg"), ERR_USAGE);
    check(strstr(err.text, "did you mean pareto?"));
    assert_int_equal(draw("pareto", "data.csv", "f.gif"), ERR_USAGE);
    assert_int_equal(draw("pareto", "data.csv", "f.svg"), ERR_IO);
    PlotJob job = {.kind = "convergence", .data = {data, 1}, .figure = "f.svg", .look = {.x = "tine"}};
    assert_int_equal(plot_draw(&job, &said, a, &err), ERR_USAGE);
    check(strstr(err.text, "did you mean time?"));
    job.kind = "merge";
    assert_int_equal(plot_draw(&job, &said, a, &err), ERR_USAGE);
    check(strstr(err.text, "--x"));
}

/* ---- gnuplot ---- */

static int asked, stop_at; /* stop_at: the question that is the first to be answered with yes */

static bool stopped(void)
{
    return ++asked >= stop_at;
}

/* While gnuplot runs, the question comes every few milliseconds; the last ones come while its figure is read. */
IN_FOLDER(a_figure_that_is_stopped_anywhere_is_not_written)
{
    static const char *data[] = {"data.csv"};
    const PlotJob job = {.kind = "pareto", .data = {data, 1}, .figure = "f.svg"};
    Status status = ERR_STOPPED;
    if (no_gnuplot())
        return;
    write_file("data.csv", "compressor,bits_per_element,relative_error\na,1,4\n");
    file_stopped = stopped;
    for (stop_at = 1; status != OK; stop_at++) {
        asked = 0;
        status = plot_draw(&job, &said, a, &err);
        check(status == ERR_STOPPED ? !contents("f.svg")
                                    : status == OK && asked < stop_at);
    }
    file_stopped = NULL;
    check(stop_at > 4);
}

IN_FOLDER(without_gnuplot_an_earlier_figure_stays)
{
    const char *path = text_copy(a, getenv("PATH"));
    write_file("f.svg", "earlier");
    for (size_t i = 0; i < countof(samples); i++) {
        write_file("data.csv", data_of(i, "a"));
        setenv("PATH", "/nonexistent", 1);
        const Status status = draw(samples[i].kind->name, "data.csv", "f.svg");
        setenv("PATH", path, 1);
        assert_int_equal(status, ERR_IO);
        assert_string_equal(err.text, "gnuplot: not found");
        check(strstr(err.hint, "gnuplot-nox"));
        assert_string_equal(contents("f.svg"), "earlier");
    }
}

/* Makes the program ask gnuplot for a terminal that does not exist, as if gnuplot were installed without
 * pdfcairo. */
IN_FOLDER(a_gnuplot_without_the_terminal_says_so)
{
    if (no_gnuplot())
        return;
    const char *path = text_copy(a, getenv("PATH"));
    write_file(
        "gnuplot",
        text_format(a, "#!/bin/sh\nPATH='%s'\nsed s/pdfcairo/pdfnowhere/ | gnuplot \"$@\"\n",
                    path));
    check(chmod("gnuplot", 0700) == 0);
    setenv("PATH", text_format(a, "%s:%s", folder, path), 1);
    write_file("data.csv", data_of(0, "a"));
    const Status svg = draw("pareto", "data.csv", "f.svg"), pdf = draw("pareto", "data.csv", "f.pdf");
    setenv("PATH", path, 1);
    assert_int_equal(svg, OK);
    assert_int_equal(pdf, ERR_IO);
    check(strstr(err.text, "gnuplot: it has no terminal pdfnowhere") && strstr(err.text, "gnuplot-nox"));
    check(!contents("f.pdf"));
}

CHECK_ALL(NULL, NULL)
