/* test_plot_look.c -- figures are legible: shortened names stay distinct, sizes have units, and what always or never
 * pays is named. If a cell is not a number, the figure fails. */
#include "rig/plot_rig.h"

#include "report/fields.h"

#define COST_HEAD                                                                                            \
    "compressor,workers,compute_ms,encode_ms,comm_ms,decode_ms,total_ms,break_even_gbps,pays,bytes_up\n"

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

static void payloads_are_in_decimal_units_below_a_thousand(void **state)
{
    static const struct {
        const char *bytes, *axis, *number;
    } cases[] = {{"44695848", "payload, MB", ">44.7<"}, {"999", "payload, B", ">999<"},
                 {"1023", "payload, kB", ">1.02<"},     {"999400", "payload, kB", ">999<"},
                 {"999600", "payload, MB", ">1<"},      {"1000000000", "payload, GB", ">1<"}};
    if (no_gnuplot())
        return;
    for (size_t i = 0; i < countof(cases); i++) {
        const char *f =
            drawn("runtime", text_format(a, COST_HEAD "none,16,1,1,1,1,4,,,%s\n", cases[i].bytes), "f.svg");
        check_has(f, cases[i].axis);
        check_has(f, cases[i].number);
    }
}

static void what_always_or_never_pays_is_named_even_if_nothing_is_drawn(void **state)
{
    static const char *const figures[] = {"f.svg", "f.tex"};
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

/* ---- numbers ---- */

static void what_is_no_number_is_refused_where_it_stands(void **state)
{
    static const char *const bad[] = {"abc", "1e999", "nan", "inf", "1 ", "0x1"};
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
    IN_FOLDER(payloads_are_in_decimal_units_below_a_thousand),
    IN_FOLDER(what_always_or_never_pays_is_named_even_if_nothing_is_drawn),
    IN_FOLDER(what_is_no_number_is_refused_where_it_stands),
    IN_FOLDER(a_drawing_of_several_files_names_the_one_that_is_wrong),
};
CHECK_MAIN(tests)
