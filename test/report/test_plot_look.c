/* test_plot_look.c -- figures are legible: shortened names stay distinct, legends are in the order of the data,
 * sizes and network links are named. If a cell is not a number, the figure fails. */
#include "rig/plot_rig.h"

#include "report/fields.h"

#define COST_HEAD                                                                                            \
    "compressor,workers,compute_ms,encode_ms,comm_ms,decode_ms,total_ms,break_even_gbps,pays,bytes_up\n"

#define MERGE_HEAD "compressor,workers,merge_ms,decode_ms,decode_each_ms\n"

/* ---- long names ---- */

static const struct {
    const char *kind, *head, *rows; /* in `rows`, @ stands for a name */
} samples[] = {
    {"pareto", "compressor,bits_per_element,relative_error\n", "@,2,0.5\n"},
    {"errors", "compressor,elem_error,elem_error_big,elem_error_small,elem_error_pos,elem_error_neg\n",
     "@,2,0.5,3,1,\n"},
    {"spectrum", "tensor,index,value\n", "@,1,4\n@,2,2\n@,3,1\n"},
    {"merge", "compressor,workers,merge_ms,decode_ms,decode_each_ms\n", "@,4,1,1,3\n@,8,2,1,6\n"},
    {"convergence", "compressor,step,test_accuracy,sim_seconds\n", "@,1,0.3,1\n@,2,0.6,2\n"},
    {"iteration-time", COST_HEAD, "@,2,1,1,1,1,4,0.5,below,400\n"},
    {"runtime", COST_HEAD, "@,2,1,1,1,1,4,0.5,below,400\n"},
    {"break-even", COST_HEAD, "@,2,1,1,1,1,4,0.5,below,400\n"},
};
enum { NAMES = 3 };

/* Returns the data of a sample with the names "xxx1yyyy", "xxx2yyyy", ..., with `before` letters x and `behind`
 * letters y. */
static const char *alike(size_t sample, int before, int behind)
{
    TextBuf out = {.arena = a};
    text_add(&out, samples[sample].head);
    for (int k = 1; k <= NAMES; k++)
        for (const char *c = samples[sample].rows; *c; c++)
            if (*c != '@')
                text_add_bytes(&out, c, 1);
            else {
                for (int i = 0; i < before; i++)
                    text_add(&out, "x");
                text_addf(&out, "%d", k);
                for (int i = 0; i < behind; i++)
                    text_add(&out, "y");
            }
    return text_done(&out);
}

/* Counts the names: the different texts of these letters with a digit, as the other lines of a name have none. */
static size_t names_in(const char *svg)
{
    const char *seen[32];
    size_t count = 0;
    for (const char *at = svg; (at = strstr(at, "<text>")) != NULL; at++) {
        const size_t start = strlen("<text>");
        const char *text = text_slice(a, at + start, strcspn(at + start, "<"));
        const size_t letters = strspn(text, "xy.0123456789");
        size_t k = 0;
        while (k < count && strcmp(seen[k], text) != 0)
            k++;
        if (k == count && count < countof(seen) && strpbrk(text, "0123456789") &&
            (!text[letters] || strstr(text, "xx") || strstr(text, "yy")))
            seen[count++] = text;
    }
    return count;
}

static void long_names_stay_apart_wherever_they_differ(void **state)
{
    static const int lengths[][2] = {{0, 90},  {10, 80}, {30, 60}, {45, 45},
                                     {60, 30}, {90, 0},  {11, 15}, {100, 100}};
    (void)state;
    if (no_gnuplot())
        return;
    for (size_t i = 0; i < countof(samples); i++)
        for (size_t k = i % 2; k < countof(lengths); k += 2) {
            const size_t count =
                names_in(drawn(samples[i].kind, alike(i, lengths[k][0], lengths[k][1]), "f.svg"));
            if (count < NAMES)
                print_error("%s, %d before and %d behind\n", samples[i].kind, lengths[k][0], lengths[k][1]);
            check(count >= NAMES);
        }
}

/* ---- keys and axes ---- */

static size_t place_of(const char *figure, const char *text)
{
    check_has(figure, text);
    return (size_t)(strstr(figure, text) - figure);
}

static void a_merges_key_has_the_order_of_the_data(void **state)
{
    (void)state;
    if (no_gnuplot())
        return;
    const char *f = drawn("merge",
                          "compressor,workers,merge_ms,decode_ms,decode_each_ms\n"
                          "adds,4,1,1,3\nadds,8,1,1,5\nnot,4,,,3\nnot,8,,,6\ntoo,4,2,1,3\ntoo,8,2,1,6\n",
                          "f.svg");
    check(place_of(f, "<text>adds") < place_of(f, "<text>not"));
    check(place_of(f, "<text>not") < place_of(f, "<text>too"));
}

static double left_of(const char *svg, const char *text)
{
    static const char from[] = "translate(";
    const char *at = svg, *last = NULL, *end = svg + place_of(svg, text_format(a, "<text>%s", text));
    while ((at = strstr(at, from)) && at < end)
        last = at += sizeof from - 1;
    return last ? atof(last) : -1;
}

static void a_key_of_many_long_names_stays_one_column(void **state)
{
    enum { MANY = 30 };
    TextBuf data = {.arena = a};
    (void)state;
    if (no_gnuplot())
        return;
    text_add(&data, COST_HEAD);
    for (int i = 0; i < MANY; i++)
        text_addf(&data, "a_long_name_of_a_compressor_as_long_as_%d,2,1,1,1,1,4,%d,below,400\n", 100 + i,
                  i + 1);
    const char *path = "data.csv";
    const PlotJob job = {.kind = "break-even", .data = {&path, 1}, .figure = "f.svg", .width = "3.25in"};
    write_file(path, text_done(&data));
    check_ok(plot_draw(&job, a, &err), &err);
    const char *f = contents("f.svg");
    for (int i = 0; i < MANY; i++)
        check(left_of(f, text_format(a, "a_long_name_of_a_compressor_as_long_as_%d", 100 + i)) ==
              left_of(f, "a_long_name_of_a_compressor_as_long_as_100"));
}

/* Two columns fit once the entries are set closer; of longer names, once their letters are smaller, too. */
static void a_key_that_nearly_has_two_columns_gets_them(void **state)
{
    enum { MANY = 10 };
    static const char *const names[] = {"qsgd:bits=", "a_long_name_of_codec_"};
    (void)state;
    if (no_gnuplot())
        return;
    for (size_t k = 0; k < countof(names); k++) {
        TextBuf data = {.arena = a};
        text_add(&data, COST_HEAD);
        for (size_t i = 1; i <= MANY; i++) {
            text_addf(&data, "%s%zu", names[k], i);
            text_addf(&data, ",2,1,1,1,1,4,0.%zu,below,400\n", i);
        }
        text_add(&data, k ? "" : "qsgd:bits=8,4,1,1,1,1,4,,never,400\n");
        const char *f = drawn_wide("break-even", text_done(&data), "f.svg", "3.25in");
        check(left_of(f, "speed of a common link") - left_of(f, text_format(a, "%s1", names[k])) > 100);
    }
}

/* A long tensor name must be written above the legend, so that the legend's entries do not overlap. */
static void steps_of_a_tensor_with_a_long_name_do_not_cover_one_another(void **state)
{
    (void)state;
    if (no_gnuplot())
        return;
    const char *f =
        drawn("spectrum",
              "tensor,index,value\nlayer3.0.downsample.weight,1,4\nlayer3.0.downsample.weight,2,2\n"
              "layer3.0.downsample.weight,1,3\nlayer3.0.downsample.weight,2,1\n",
              "f.svg");
    check(left_of(f, "no. 2") - left_of(f, "no. 1") > 40);
}

static void payloads_are_in_decimal_units_below_a_thousand(void **state)
{
    static const struct {
        const char *bytes, *axis, *number;
    } cases[] = {{"44695848", "payload, MB", ">44.7<"}, {"999", "payload, B", ">999<"},
                 {"1023", "payload, kB", ">1.02<"},     {"999400", "payload, kB", ">999<"},
                 {"999600", "payload, MB", ">1<"},      {"1000000000", "payload, GB", ">1<"}};
    (void)state;
    if (no_gnuplot())
        return;
    for (size_t i = 0; i < countof(cases); i++) {
        const char *f =
            drawn("runtime", text_format(a, COST_HEAD "none,16,1,1,1,1,4,,,%s\n", cases[i].bytes), "f.svg");
        check_has(f, cases[i].axis);
        check_has(f, cases[i].number);
    }
}

static void computing_without_a_time_is_said_to_be_left_out(void **state)
{
    static const char *const kinds[] = {"runtime", "iteration-time"};
    (void)state;
    if (no_gnuplot())
        return;
    for (size_t i = 0; i < countof(kinds); i++) {
        const char *without = drawn(kinds[i], COST_HEAD "none,16,0,1,1,1,3,,,400\n", "f.svg");
        check_has(without, "16 workers; computing is left out");
        check(!strstr(without, ">compute<"));
        const char *with =
            drawn(kinds[i], COST_HEAD "none,16,0,1,1,1,3,,,4\nsign,16,1,1,1,1,4,,,4\n", "f.svg");
        check(!strstr(with, "left out"));
        check_has(with, ">compute<");
    }
}

static double x_of(const char *svg, const char *text)
{
    const char *at = svg, *moved = NULL;
    while ((at = strstr(at, "translate(")) != NULL && at < strstr(svg, text))
        moved = at++;
    return moved ? atof(moved + strlen("translate(")) : -1;
}

static void links_are_named_right_of_the_curves(void **state)
{
    (void)state;
    if (no_gnuplot())
        return;
    const char *f = drawn("break-even",
                          COST_HEAD "a,2,1,1,1,1,4,0.1,below,4\na,4,1,1,1,1,4,1,below,4\n"
                                    "a,64,1,1,1,1,4,2,below,4\n",
                          "f.svg");
    /* the text "10 Gbit/s" ends at its x and is about 45 wide, so it begins to the right of "64" */
    check(x_of(f, ">10 Gbit/s<") - x_of(f, ">64<") > 50);
    check(!strstr(f, ">128<"));
}

static void times_from_a_second_on_are_in_seconds(void **state)
{
    static const char *const kinds[] = {"runtime", "iteration-time"};
    (void)state;
    if (no_gnuplot())
        return;
    for (size_t i = 0; i < countof(kinds); i++) {
        const char *below = drawn(kinds[i], COST_HEAD "none,16,0,1,997,1,999,,,400\n", "f.svg");
        check_has(below, "time, ms");
        check(strstr(below, ">800<") || strstr(below, ">500<"));
        const char *above = drawn(kinds[i], COST_HEAD "none,16,0,1,11998,1,12000,,,400\n", "f.svg");
        check_has(above, "time, s<");
        check_has(above, ">10<");
        check(!strstr(above, "12000"));
    }
    check_has(drawn("merge", MERGE_HEAD "a,4,1,1,3\na,8,2,1,6\n", "f.svg"), "time, ms");
    const char *long_ones = drawn("merge", MERGE_HEAD "a,4,1000,1000,3000\na,8,2000,1000,6000\n", "f.svg");
    check_has(long_ones, "time, s<");
    check_has(long_ones, ">5<");
}

/* The times 3.1 and 3.4 give a logarithmic axis from 1.55 to 6.8, without a power of ten, so other numbers must label it. */
static void a_short_logarithmic_axis_has_numbers(void **state)
{
    (void)state;
    if (no_gnuplot())
        return;
    const char *f = drawn("merge", MERGE_HEAD "a,4,,,3.1\na,8,,,3.4\n", "f.svg");
    check_has(f, ">2<");
    check_has(f, ">5<");
    check_has(drawn("break-even", COST_HEAD "a,2,1,1,1,1,4,0.3,below,4\n", "f.svg"), ">0.2<");
}

static void what_always_or_never_pays_is_named_even_if_nothing_is_drawn(void **state)
{
    static const char *const figures[] = {"f.svg", "f.tex"};
    (void)state;
    if (no_gnuplot())
        return;
    for (size_t i = 0; i < countof(figures); i++) {
        const char *f = drawn("break-even",
                              COST_HEAD "a,2,1,1,1,1,4,,never,4\nb,2,1,1,1,1,4,,always,4\n"
                                        "c,2,1,1,1,1,4,,always,4\nc,4,1,1,1,1,4,,never,4\n",
                              figures[i]);
        check_has(f, "a: never");
        check_has(f, "b: always");
        check_has(f, "c: always or never");
        check_has(drawn("break-even",
                        COST_HEAD "a,2,1,1,1,1,4,1,below,4\na,4,1,1,1,1,4,,always,4\n"
                                  "a,8,1,1,1,1,4,,never,4\n",
                        figures[i]),
                  "a, else always or never");
    }
}

static void a_front_of_one_point_is_no_line_and_not_in_the_key(void **state)
{
    static const char *const head = "compressor,bits_per_element,relative_error,unbiased\n";
    (void)state;
    if (no_gnuplot())
        return;
    const char *one =
        drawn("pareto", text_format(a, "%sa,1,4,true\na,2,1,true\nb,1,2,false\n", head), "f.svg");
    check_has(one, "front, unbiased");
    check(!strstr(one, "front, biased"));
    check_has(drawn("pareto", text_format(a, "%sa,1,4,true\na,2,1,true\nb,1,2,false\nb,2,1,false\n", head),
                    "f.svg"),
              "front, biased");
}

/* ---- numbers ---- */

static void what_is_no_number_is_refused_where_it_stands(void **state)
{
    static const char *const bad[] = {"abc", "1e999", "nan", "inf", "1 ", "0x1"};
    (void)state;
    for (const PlotKind *const *kind = plot_kinds; *kind; kind++)
        for (const PlotColumn *column = (*kind)->columns; column->name; column++) {
            TextBuf head = {.arena = a}, row = {.arena = a};
            if (!(column->use & PLOT_NUMBER))
                continue;
            for (const PlotColumn *need = (*kind)->columns; need->name; need++)
                if (need != column && need->use & PLOT_NEEDED) {
                    text_addf(&head, "%s,", need->name);
                    text_add(&row, ",");
                }
            text_add(&row, "");
            for (size_t i = 0; i < countof(bad); i++) {
                const char *cells = text_done(&row);
                check_refused(
                    *kind,
                    text_format(a, "%s%s\n%s\n%s%s\n", text_done(&head), column->name, cells, cells, bad[i]),
                    text_format(a, "record 2: %s is \"%s\": want a number", column->name, bad[i]));
            }
        }
}

static void a_drawing_of_several_files_names_the_one_that_is_wrong(void **state)
{
    static const char *const files[] = {"data.csv", "more.csv"};
    static const char *const head = "compressor,workers,merge_ms,decode_ms,decode_each_ms\n";
    const PlotJob job = {.kind = "merge", .data = {(const char **)files, 2}, .figure = "f.svg"};
    (void)state;
    write_file("data.csv", text_format(a, "%sa,4,1,1,3\n", head));
    write_file("more.csv", text_format(a, "%sa,8,1,x,3\n", head));
    check(plot_draw(&job, a, &err) == ERR_CORRUPT);
    check(strstr(err.text, "more.csv: record 1: decode_ms is \"x\""));
    check(!contents("f.svg") && !contents("f.plot.csv"));
}

static const char *script_of(const char *name)
{
    for (const PlotScript *s = plot_scripts; s->name; s++)
        if (!strcmp(s->name, name))
            return s->text;
    return "";
}

static void axes_have_the_headings_of_the_fields(void **state)
{
    (void)state;
    static const struct {
        const char *script, *field;
    } axes[] = {{"pareto.gp", "bits_per_element"},
                {"pareto.gp", "relative_error"},
                {"errors.gp", "elem_error"},
                {"convergence.gp", "test_accuracy"},
                {"convergence.gp", "sim_seconds"},
                {"convergence.gp", "wall_seconds"},
                {"convergence.gp", "bytes_up"},
                {"runtime.gp", "bytes"},
                {"break-even.gp", "break_even_gbps"},
                {"break-even.gp", "workers"},
                {"merge.gp", "workers"},
                {"spectrum.gp", "value"}};
    for (size_t i = 0; i < countof(axes); i++)
        check_has(script_of(axes[i].script), text_format(a, "'%s", field_heading(axes[i].field, false, a)));
}

static const struct CMUnitTest tests[] = {
    IN_FOLDER(axes_have_the_headings_of_the_fields),
    IN_FOLDER(long_names_stay_apart_wherever_they_differ),
    IN_FOLDER(a_merges_key_has_the_order_of_the_data),
    IN_FOLDER(a_key_of_many_long_names_stays_one_column),
    IN_FOLDER(a_key_that_nearly_has_two_columns_gets_them),
    IN_FOLDER(steps_of_a_tensor_with_a_long_name_do_not_cover_one_another),
    IN_FOLDER(payloads_are_in_decimal_units_below_a_thousand),
    IN_FOLDER(computing_without_a_time_is_said_to_be_left_out),
    IN_FOLDER(links_are_named_right_of_the_curves),
    IN_FOLDER(times_from_a_second_on_are_in_seconds),
    IN_FOLDER(a_short_logarithmic_axis_has_numbers),
    IN_FOLDER(what_always_or_never_pays_is_named_even_if_nothing_is_drawn),
    IN_FOLDER(a_front_of_one_point_is_no_line_and_not_in_the_key),
    IN_FOLDER(what_is_no_number_is_refused_where_it_stands),
    IN_FOLDER(a_drawing_of_several_files_names_the_one_that_is_wrong),
};
CHECK_MAIN(tests)
