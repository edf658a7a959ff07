/* test_plot_latex.c -- figures as LaTeX pictures: strokes of the key (legend) have the colour of their line, dots stand
 * apart, bands do not hide lines, and no text hides behind a per cent sign. */
#include "report/plot_look.h"
#include "rig/plot_rig.h"

#define COST_HEAD                                                                                            \
    "compressor,workers,compute_ms,encode_ms,comm_ms,decode_ms,total_ms,break_even_gbps,pays,bytes_up\n"
#define MERGES                                                                                               \
    "compressor,workers,merge_ms,decode_ms,decode_each_ms\n"                                                 \
    "key1,4,1,1,3\nkey1,8,2,1,6\nkey2,4,,,5\nkey2,8,,,7\nkey3,4,1,1,4\nkey3,8,1,1,8\n"
#define RUN                                                                                                  \
    "compressor,step,test_accuracy,sim_seconds,bytes_up,steps_to_0.5\n"                                      \
    "key1,1,0.3,1,1,\nkey1,2,0.6,2,1,\nkey1,1,0.4,1,1,\nkey1,2,0.7,2,1,\n"                                   \
    "key2,1,0.2,2,1,\nkey2,2,0.5,3,1,\nkey2,1,0.3,2,1,\nkey2,2,0.6,3,1,\n"

/* Data for each kind of figure, with the lines of the heading above the figure's key (legend). The names in the
 * key begin with "key". */
static const struct {
    const char *kind, *data, *heading[2];
} samples[] = {
    {"pareto",
     "compressor,bits_per_element,relative_error,unbiased\nkey1,1,4,true\nkey1,2,1,true\n"
     "key2,1,0.5,false\nkey2,4,0.01,false\n",
     {"filled marks: unbiased, open: biased", NULL}},
    {"errors",
     "compressor,elem_error,elem_error_big,elem_error_small,elem_error_pos,elem_error_neg\nkey1,2,0.5,3,1,\n",
     {NULL, NULL}},
    {"spectrum",
     "tensor,index,value\nkey1,1,4\nkey1,2,2\nkey1,1,3\nkey1,2,1\nkey2,1,2\nkey2,2,1\n",
     {"dark, thick: the last step; pale, thin", NULL}},
    {"merge", MERGES, {"filled marks, thick: merged, then decoded once;", NULL}},
    {"convergence", RUN, {"mean of up to 2 runs; band: least to most", NULL}},
    {"iteration-time", COST_HEAD "a,2,1,1,1,1,4,0.5,below,400\n", {"2 workers", NULL}},
    {"runtime", COST_HEAD "a,2,1,1,1,1,4,0.5,below,400\n", {"2 workers", NULL}},
    {"break-even",
     COST_HEAD "key1,2,1,1,1,1,4,0.5,below,4\nkey2,2,1,1,1,1,4,,never,4\nkey2,4,1,1,1,1,4,1,above,4\n",
     {"pays below its line; open marks: above it", NULL}},
};

/* Least vertical distance between two lines of the heading, or between heading and key, in the picture's
 * units: about 5 points, since a point has 8.3 units. A line of text is 7 points high. */
enum { ROW = 40 };

/* In the key, all strokes left of a name at its height must have the colour of its line. */
static void a_line_of_the_key_has_its_codecs_colour(void **state)
{
    static const struct {
        const char *kind, *head, *rows;
    } keys[] = {{"pareto", "compressor,bits_per_element,relative_error\n", "@:bits=1,1,4\n@:bits=2,2,1\n"},
                {"break-even", COST_HEAD, "@,2,1,1,1,1,4,1,below,4\n@,4,1,1,1,1,4,2,below,4\n"},
                {"convergence", "compressor,step,test_accuracy,sim_seconds\n", "@,1,0.3,1\n@,2,0.6,2\n"}};
    static const char *const codecs[] = {"qsgd", "minmax", "nuqsgd"};
    if (no_gnuplot())
        return;
    for (size_t i = 0; i < countof(keys); i++) {
        TextBuf data = {.arena = a};
        text_add(&data, keys[i].head);
        for (size_t k = 0; k < countof(codecs); k++)
            for (const char *c = keys[i].rows; *c; c++)
                text_addf(&data, *c == '@' ? "%s" : "%.1s", *c == '@' ? codecs[k] : c);
        const char *f = drawn(keys[i].kind, text_done(&data), "f.tex");
        for (size_t k = 0; k < countof(codecs); k++) {
            unsigned r, g, b;
            double tx = -1, ty = -1, x, y;
            size_t strokes = 0;
            check(sscanf(plot_look(codecs[k], a).colour, "#%2x%2x%2x", &r, &g, &b) == 3);
            const char *want =
                           text_format(a, "\\color[rgb]{%.2f,%.2f,%.2f}", r / 255.0, g / 255.0, b / 255.0),
                       *text = strstr(f, text_format(a, "[l]{%s}}", codecs[k])), *colour = "";
            while (text && strncmp(text, "\\put(", 5) != 0)
                text--;
            if (!text)
                print_error("%s: no %s\n", keys[i].kind, codecs[k]);
            check(text && sscanf(text, "\\put(%lf,%lf)", &tx, &ty) == 2);
            char *rest = NULL, *copy = text_copy(a, f);
            for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
                colour = strncmp(line, "\\color", 6) ? colour : line;
                if ((sscanf(line, "\\Line(%lf,%lf)", &x, &y) == 2 ||
                     sscanf(line, "\\polygon*(%lf,%lf)", &x, &y) == 2 ||
                     sscanf(line, "\\multiput(%lf,%lf)", &x, &y) == 2) &&
                    x < tx && x > tx - 250 && fabs(y - ty) < 20) {
                    assert_string_equal(colour, want);
                    strokes++;
                }
            }
            check(strokes > 0);
        }
    }
}

/* gnuplot puts a dot at every point, so that a dotted line of many points would look solid. */
static void dots_stand_apart_however_many_points_a_line_has(void **state)
{
    if (no_gnuplot())
        return;
    TextBuf data = {.arena = a};
    text_add(&data, "compressor,step,test_accuracy,sim_seconds\n");
    for (int k = 1; k <= 600; k++)
        text_addf(&data, "gaussiank,%d,%g,%d\n", k, 0.2 + k * 0.001, k);
    check(plot_look("gaussiank", a).dash % 2 == 1); /* dotted in LaTeX pictures */
    char *const figures[] = {
        text_copy(a, drawn("convergence", text_done(&data), "f.tex")),
        text_copy(a,
                  drawn("pareto", "compressor,bits_per_element,relative_error\na,1,1\na,2,0.1\n", "f.tex"))};
    for (size_t i = 0; i < countof(figures); i++) {
        size_t dots = 0;
        char *rest = NULL, *before = text_copy(a, "");
        for (char *line = strtok_r(figures[i], "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
            dots += strstr(line, "{\\usebox{\\plotpoint}}") && strcmp(line, before) != 0;
            before = line;
        }
        if (dots < 20 || dots > 250)
            print_error("figure %zu: %zu dots\n", i, dots);
        check(dots >= 20 && dots <= 250);
    }
}

static void lines_are_seen_through_bands(void **state)
{
    if (no_gnuplot())
        return;
    const char *f = strstr(drawn("convergence", RUN, "f.tex"), "\\begin{picture}");
    /* without a further LaTeX package, \gptransparent would draw an opaque band */
    check(f && !strstr(f, "\\gptransparent"));
    static const char *const names[] = {"key1", "key2"};
    /* a band must have a fifth of its line's colour and four fifths of white */
    for (size_t i = 0; i < countof(names); i++) {
        unsigned r, g, b;
        check(sscanf(plot_look(names[i], a).colour, "#%2x%2x%2x", &r, &g, &b) == 3);
        check_has(f, text_format(a, "\\color[rgb]{%.2f,%.2f,%.2f}\n", (int)(204 + 0.2 * r) / 255.0,
                                 (int)(204 + 0.2 * g) / 255.0, (int)(204 + 0.2 * b) / 255.0));
    }
}

/* gnuplot ends lines with a per cent sign. Elsewhere in a line, a per cent sign would make LaTeX skip the rest
 * of this line. */
static void no_figure_hides_text_behind_a_per_cent_sign(void **state)
{
    if (no_gnuplot())
        return;
    for (size_t i = 0; i < countof(samples); i++) {
        const char *f = drawn(samples[i].kind, samples[i].data, "f.tex");
        for (const char *at = strchr(f, '%'); at; at = strchr(at + 1, '%'))
            check(at == f || at[-1] == '\\' || at[1] == '\n');
    }
}

static const struct CMUnitTest tests[] = {
    IN_FOLDER(a_line_of_the_key_has_its_codecs_colour),
    IN_FOLDER(dots_stand_apart_however_many_points_a_line_has),
    IN_FOLDER(lines_are_seen_through_bands),
    IN_FOLDER(no_figure_hides_text_behind_a_per_cent_sign),
};
CHECK_MAIN(tests)
