/* test_plot_overlap.c -- in finished figures, no two texts overlap and no text leaves the page. Each figure type is
 * drawn with 4 and 25 lines, with short and long names, each of these figures in one of three formats and the
 * largest in all; pareto, also for three widths of a page.
 *
 * pdftotext measures the words of the pages of a PDF. rsvg-convert first converts SVGs to a PDF, pdfunite joins PDFs.
 * In a LaTeX picture, \put commands give the positions of texts; their widths are computed for Helvetica, whose letters
 * are at least as wide as those of the font cmss. A PNG has the same layout as the PDF and is not measured. */
#include "rig/plot_rig.h"

#include <ctype.h>
#include <stdlib.h>

#define COST_HEAD                                                                                            \
    "compressor,workers,compute_ms,encode_ms,comm_ms,decode_ms,total_ms,break_even_gbps,pays,bytes_up\n"

/* in `head` and `rows`, @ stands for a name and # for a number that grows from line to line of the figure */
static const struct {
    const char *kind, *head, *rows;
} samples[] = {
    {"pareto", "compressor,bits_per_element,relative_error,unbiased,relative_error_se,encode_ms,decode_ms\n",
     "@,1.#,4,true,0.1,1,1\n@,2.#,0.25,true,0.1,2,2\n@,8.#,1e-4,false,0,4,5\n"},
    {"errors", "compressor,elem_error,elem_error_big,elem_error_small,elem_error_pos,elem_error_neg\n",
     "@,2.#,0.5,3,1,0.2\n"},
    {"spectrum", "tensor,index,value\n", "@,1,4\n@,2,2\n@,3,1.#\n"},
    {"histogram", "tensor,bin_low,bin_high,count\n", "@,0,1,1000\n@,1,2,200#\n@,2,3,1000\n"},
    {"merge", "compressor,workers,merge_ms,decode_ms,decode_each_ms\n", "@,4,1,1.#,3\n@,8,2,1,6.#\n"},
    {"convergence", "compressor,step,test_accuracy,sim_seconds,steps_to_0.5\n",
     "@,1,0.3#,1,\n@,2,0.6#,2,\n@,1,0.4,1,\n"},
    {"iteration-time", COST_HEAD, "@,2,1,1,1,1,4.#,0.5,below,400\n@,4,1,1,1,1,4.#,0.5,below,400\n"},
    {"runtime", COST_HEAD, "@,2,1,1,1,1,4.#,0.5,below,44#\n"},
    {"break-even", COST_HEAD,
     "@,2,1,1,1,1,4,0.5#,below,400\n@,4,1,1,1,1,4,0.1#,above,400\n@,8,1,1,1,1,4,,never,4\n"},
};
static const int line_counts[] = {4, 25};
static const char *const widths[] = {NULL, "3.25in", "6.75in"};

static const char *data_of(size_t sample, int lines, bool long_names)
{
    TextBuf out = {.arena = a};
    text_add(&out, samples[sample].head);
    for (int i = 0; i < lines; i++)
        for (const char *c = samples[sample].rows; *c; c++)
            if (*c == '@')
                text_addf(&out,
                          long_names ? "layer%d.a_long_name_as_of_a_tensor.with_some_parts.weight_hh%d"
                                     : "codec%d",
                          i, i);
            else if (*c == '#')
                text_addf(&out, "%d", i);
            else
                text_add_bytes(&out, c, 1);
    return text_done(&out);
}

/* ---- boxes around texts ---- */

typedef struct {
    double left, top, right, bottom;
    const char *text;
} Box;
enum { BOXES = 2000 };

typedef struct {
    Box box[BOXES];
    size_t count;
    double wide, high;
} Page;

/* True if two boxes overlap in both directions by more than 0.3 of their smallest side. Boxes are larger than
 * their letters, so a smaller overlap does no harm. */
static bool overlap(const Box *x, const Box *y)
{
    const double across = fmin(x->right, y->right) - fmax(x->left, y->left);
    const double down = fmin(x->bottom, y->bottom) - fmax(x->top, y->top);
    const double thin =
        fmin(fmin(x->right - x->left, x->bottom - x->top), fmin(y->right - y->left, y->bottom - y->top));
    return across > 0.3 * thin && down > 0.3 * thin;
}

static size_t faults_of(const Page *p, const char *what)
{
    size_t faults = 0;
    for (size_t i = 0; i < p->count; i++) {
        const Box *b = &p->box[i];
        if (b->left < 0 || b->top < -0.5 || b->right > p->wide || b->bottom > p->high + 0.5) {
            print_error("%s: \"%s\" leaves the page: %.0f..%.0f of %.0f, %.0f..%.0f of %.0f\n", what, b->text,
                        b->left, b->right, p->wide, b->top, b->bottom, p->high);
            faults++;
        }
        for (size_t k = 0; k < i; k++)
            if (overlap(b, &p->box[k])) {
                print_error("%s: \"%s\" over \"%s\"\n", what, b->text, p->box[k].text);
                faults++;
            }
    }
    return faults;
}

/* The key, with the heading above it, takes at most this share of the page below the title of the axis. */
static const struct {
    const char *kind, *title;
    double most;
} keys[] = {{"pareto", "bits/element", 0.2}, {"break-even", "workers", 0.34}};

static size_t tall_key(const Page *p, const char *kind, const char *what)
{
    for (size_t k = 0; k < countof(keys); k++)
        for (size_t i = 0; i < p->count && !strcmp(keys[k].kind, kind); i++) {
            const double share = (p->high - p->box[i].bottom) / p->high;
            if (strncmp(p->box[i].text, keys[k].title, strlen(keys[k].title)) != 0 || share < keys[k].most)
                continue;
            print_error("%s: the key takes %.3f of the page\n", what, share);
            return 1;
        }
    return 0;
}

static bool has_program(const char *name)
{
    return system(text_format(a, "command -v %s >/dev/null 2>&1", name)) == 0;
}

static void run(const char *command)
{
    check(system(command) == 0);
}

/* Reads the words of all pages of a PDF. Returns the number of pages, at most `most`. */
static size_t read_words(Page *pages, size_t most, const char *pdf)
{
    size_t count = 0;
    char *rest = NULL;
    run(text_format(a, "pdftotext -bbox %s data.csv 2>/dev/null", pdf));
    for (char *line = strtok_r(contents("data.csv"), "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        Box b;
        Page start = {0}, *p = pages + count - 1;
        int at = 0;
        if (sscanf(line, " <page width=\"%lf\" height=\"%lf\"", &start.wide, &start.high) == 2) {
            check(count < most);
            pages[count++] = start;
            continue;
        }
        if (sscanf(line, " <word xMin=\"%lf\" yMin=\"%lf\" xMax=\"%lf\" yMax=\"%lf\">%n", &b.left, &b.top,
                   &b.right, &b.bottom, &at) < 4 ||
            !at)
            continue;
        b.text = text_slice(a, line + at, strcspn(line + at, "<"));
        check(count > 0 && p->count < BOXES);
        p->box[p->count++] = b;
    }
    return count;
}

/* ---- LaTeX ---- */

/* lower[] are the widths of the letters a .. z in Helvetica, in thousandths of the font size. */
static double width_of(const char *s, double size)
{
    static const short lower[26] = {556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833,
                                    556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500};
    double sum = 0;
    for (; *s; s++)
        sum += islower((unsigned char)*s)   ? lower[*s - 'a']
               : isupper((unsigned char)*s) ? 700
               : isdigit((unsigned char)*s) ? 556
               : strchr("\\{}", *s)         ? 0
               : strchr(" ,.:;-()/", *s)    ? 300
                                            : 556;
    return sum / 1000 * size;
}

static void read_puts(Page *p, const char *tex)
{
    /* a LaTeX unit in points; gnuplot writes it as \setlength{\unitlength}{0.120450pt} */
    double unit = 0.120450;
    const char *length = strstr(tex, "\\unitlength}{"), *frame = strstr(tex, "\\begin{picture}(");
    check(frame && sscanf(frame, "\\begin{picture}(%lf,%lf)", &p->wide, &p->high) == 2);
    if (length)
        sscanf(length, "\\unitlength}{%lf", &unit);
    p->wide *= unit;
    p->high *= unit;
    p->count = 0;
    double size = 0;
    const char *font = strstr(tex, "\\font\\gnuplot=cmss10 at ");
    check(font && sscanf(font, "\\font\\gnuplot=cmss10 at %lf", &size) == 1);
    for (const char *at = strstr(tex, "\\put("); at; at = strstr(at + 1, "\\put(")) {
        double x, y;
        char side = 'c';
        const char *end = at + strcspn(at, "\n"), *box = strstr(at, "\\makebox(0,0)");
        const char *turned = strstr(at, "\\rotatebox");
        if (sscanf(at, "\\put(%lf,%lf)", &x, &y) != 2 || !box || box > end || (turned && turned < end))
            continue;
        box += strlen("\\makebox(0,0)");
        if (*box == '[') {
            side = box[1];
            box = strchr(box, ']') + 1;
        }
        if (*box != '{' || strstr(box, "\\shortstack") == box + 1)
            continue;
        const char *text = text_slice(a, box + 1, (size_t)(end - box - 1)), *sans = strstr(text, "\\mathsf{");
        if (strstr(text, "usebox") || strstr(text, "scriptscriptstyle") ||
            !strncmp(text, "'-", 2)) /* a mark */
            continue;
        if (sans)
            text = text_slice(a, sans + 8, strcspn(sans + 8, "$"));
        double own_size = size; /* of a text in letters of its own size: "{\\font\\gnuplot=cmss10 at 5pt \\gnuplot TEXT}" */
        const char *sized = strstr(text, "pt \\gnuplot ");
        if (sized && sscanf(text, "{\\font\\gnuplot=cmss10 at %lf", &own_size) == 1)
            text = sized + strlen("pt \\gnuplot ");
        const double w = width_of(text, own_size), h = own_size;
        const double left = x * unit - (side == 'l' ? 0 : side == 'r' ? w : w / 2);
        check(p->count < BOXES);
        p->box[p->count++] =
            (Box){left, p->high - y * unit - h / 2, left + w, p->high - y * unit + h / 2, text};
    }
    check(p->count > 0);
}

/* ---- SVG ---- */

/* Counts labels of axes that leave the page at its top, and of the x axis those that reach up to their tick. gnuplot
 * writes a tick and its label one after the other; the letters of an exponent are 0.72 of their size high, and `dy` above
 * the label's foot. */
static size_t misplaced_labels(const char *svg, const char *what)
{
    static const char after[] = "'/>\t<g transform=\"translate(";
    size_t faults = 0;
    for (const char *at = svg; (at = strstr(at, " d='M")); at++) {
        double x, y, end_x, end, label_x, foot, size = 0, raised = 0;
        bool below;
        const char *stop = strchr(at + 4, '\'');
        if (sscanf(at, " d='M%lf,%lf L%lf,%lf '", &x, &y, &end_x, &end) != 4 || !stop ||
            strncmp(stop, after, sizeof after - 1) != 0 ||
            sscanf(stop + sizeof after - 1, "%lf,%lf)", &label_x, &foot) != 2)
            continue;
        below = x == end_x && label_x == x;
        const char *font = strstr(stop, "font-size=\""), *close = strstr(stop, "</text>"),
                   *power = strstr(stop, "dy=\"-");
        check(font && close && sscanf(font, "font-size=\"%lf", &size) == 1);
        if (power && power < close && sscanf(power, "dy=\"-%lf", &raised) == 1)
            size *= 0.8;
        if (foot - raised - 0.72 * size < (below ? end + 0.5 : 0)) {
            print_error("%s: a label %s at %.0f,%.0f\n", what, below ? "touches the tick" : "leaves the page",
                        x, end);
            faults++;
        }
    }
    return faults;
}

/* ---- all kinds of figures ---- */

enum { FIGURES = 80 };
static const char *const formats[] = {"f.pdf", "f.svg", "f.tex"};

/* The figures of one format. */
typedef struct {
    Page page[FIGURES];
    const char *kind[FIGURES], *what[FIGURES];
    size_t count, faults;
} Album;

static const char *page_name(size_t i, const char *figure)
{
    return text_format(a, "page%03zu%s", i, strrchr(figure, '.'));
}

static void draw_figure(Album *album, size_t i, int lines, bool long_names, const char *figure, const char *width)
{
    const char *what = text_format(a, "%s, %d lines, %s names, %s, %s wide", samples[i].kind, lines,
                                   long_names ? "long" : "short", figure + 2, width ? width : "no width");
    const char *made = drawn_wide(samples[i].kind, data_of(i, lines, long_names), figure, width);
    const size_t at = album->count++;
    check(at < FIGURES);
    album->kind[at] = samples[i].kind;
    album->what[at] = what;
    if (!strcmp(figure, "f.tex")) {
        read_puts(&album->page[at], made);
        return;
    }
    if (!strcmp(figure, "f.svg"))
        album->faults += misplaced_labels(made, what);
    check(rename(figure, page_name(at, figure)) == 0);
}

/* Reads the words of figures that have been drawn. more.csv is one of the names that the test's clean-up removes. */
static void read_figures(Album *album, const char *figure)
{
    run(!strcmp(figure, "f.svg") ? "rsvg-convert -f pdf -o more.csv page*.svg" : "pdfunite page*.pdf more.csv");
    check(read_words(album->page, FIGURES, "more.csv") == album->count);
    for (size_t i = 0; i < album->count; i++)
        unlink(page_name(i, figure));
}

/* The formats share the layout, but not the widths of letters. The figures with most text are drawn in each format, those
 * of the kind pareto also with each width. The others are drawn in one format each, which changes from figure to figure,
 * and those of the kind pareto with one width each, which changes after each third figure. */
static void check_figures(size_t format)
{
    Album *album = NEW_ZERO(a, Album, 1);
    size_t turn = 0;
    for (size_t i = 0; i < countof(samples); i++, turn++)
        for (size_t k = 0; k < countof(line_counts); k++)
            for (int long_names = 0; long_names < 2; long_names++, turn++) {
                const bool most = long_names && k + 1 == countof(line_counts);
                const bool wide = !strcmp(samples[i].kind, "pareto");
                for (size_t w = 0; w < (wide ? countof(widths) : 1); w++)
                    if (most || (turn % countof(formats) == format &&
                                 (!wide || turn / countof(formats) % countof(widths) == w)))
                        draw_figure(album, i, line_counts[k], long_names, formats[format], widths[w]);
            }
    if (strcmp(formats[format], "f.tex") != 0)
        read_figures(album, formats[format]);
    for (size_t i = 0; i < album->count; i++) {
        check(album->page[i].count > 0);
        album->faults += faults_of(&album->page[i], album->what[i]) +
                         tall_key(&album->page[i], album->kind[i], album->what[i]);
    }
    assert_int_equal(album->faults, 0);
}

static bool lacks(const char *program)
{
    const bool lacking = !has_program(program);
    if (lacking)
        print_message("SKIP overlaps of text: there is no %s here\n", program);
    return lacking;
}

static void no_text_of_a_pdf_overlaps_another_or_leaves_the_page(void **state)
{
    if (!no_gnuplot() && !lacks("pdftotext") && !lacks("pdfunite"))
        check_figures(0);
}

static void no_text_of_an_svg_overlaps_another_or_leaves_the_page(void **state)
{
    if (!no_gnuplot() && !lacks("pdftotext") && !lacks("rsvg-convert"))
        check_figures(1);
}

static void no_text_of_a_latex_picture_overlaps_another_or_leaves_the_page(void **state)
{
    if (!no_gnuplot())
        check_figures(2);
}

/* ---- lines of long texts ---- */

/* Copies the next text of an SVG figure to `out`; returns the place behind it, NULL: there is no other. */
static const char *next_text(const char *svg, char *out, size_t size)
{
    const char *at = strstr(svg, "<text>"), *end = at ? strstr(at, "</text>") : NULL;
    size_t n = 0;
    bool tag = false;
    for (; at && at < end; at++) {
        tag = tag || *at == '<';
        if (!tag && n + 1 < size)
            out[n++] = *at;
        tag = tag && *at != '>';
    }
    out[n] = 0;
    return end;
}

static void long_texts_break_only_behind_their_parts(void **state)
{
    static const char name[] = "zstd:level=3+svd:rank=3.25,vectors=qsgd,budget=1234567";
    static const char *const kinds[] = {"iteration-time", "runtime", "errors", "break-even", "merge"};
    if (no_gnuplot())
        return;
    for (size_t i = 0; i < countof(kinds); i++) {
        size_t sample = 0;
        while (strcmp(samples[sample].kind, kinds[i]) != 0)
            sample++;
        TextBuf data = {.arena = a};
        text_addf(&data, "%.*s,repeats,seed\n", (int)strlen(samples[sample].head) - 1, samples[sample].head);
        for (const char *c = samples[sample].rows; *c; c++)
            if (*c == '@')
                text_addf(&data, "\"%s\"", name);
            else
                text_add(&data, *c == '\n' ? ",10,1\n" : *c == '#' ? "5" : (char[]){*c, 0});
        const char *svg = drawn(kinds[i], text_done(&data), "f.svg");
        char text[400], whole[400] = "";
        while ((svg = next_text(svg, text, sizeof text))) {
            char *never = strstr(text, ", else never"); /* in the key of break-even */
            if (never)
                *never = 0;
            const char last = *text ? text[strlen(text) - 1] : 0;
            if (strstr(name, text) && strlen(text) > 3) {
                strcat(whole, text);
                check(strchr("+:,", last) || !strcmp(name + strlen(name) - strlen(text), text));
            }
            check(!strstr(text, "seed") || strstr(text, "seed 1"));
            check(!strstr(text, "R =") || strstr(text, "R = 10"));
        }
        if (strcmp(whole, name) != 0)
            print_error("%s: the name is \"%s\"\n", kinds[i], whole);
        check(!strcmp(whole, name));
    }
}

static const struct CMUnitTest tests[] = {
    IN_FOLDER(long_texts_break_only_behind_their_parts),
    IN_FOLDER(no_text_of_a_pdf_overlaps_another_or_leaves_the_page),
    IN_FOLDER(no_text_of_an_svg_overlaps_another_or_leaves_the_page),
    IN_FOLDER(no_text_of_a_latex_picture_overlaps_another_or_leaves_the_page),
};
CHECK_MAIN(tests)
