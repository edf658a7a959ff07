/* test_plot_page.c -- finished figures: no two texts overlap or leave the page, no text covers a mark, the height is as asked,
 * colours stand out from white, and the usual codecs are told apart without colours.
 *
 * Each kind is drawn with 4 and 20 lines; with FIGURES=all in the environment also with other counts, widths, heights, fonts and
 * places of names. pdftotext measures words; gnuplot's SVG has the marks. The layout is the same in both. */
#include "rig/plot_rig.h"

#include <stdlib.h>

static const char *const specs[] = {"none",        "qsgd:bits=2", "svd:rank=2",  "topk:ratio=0.01", "terngrad", "sign",       "powersgd:rank=2",
                                    "eden",        "countsketch", "hadamard",    "scaledsign",      "ef+topk:ratio=0.01", "qsgd:bits=4", "qsgd:bits=8",
                                    "natural",     "dct",         "entry",       "randk:ratio=0.01", "dgc:ratio=0.01",    "ef:decay=0.95+svd:rank=2,vectors=qsgd"};

/* Errors that fall with the size of the elements. */
static const char *deciles_of(double error)
{
    TextBuf out = {.arena = a};
    for (int d = 10; d > 0; d--)
        text_addf(&out, "%s%g %g %g", out.size ? ";" : "", 0.5 * error * d, error * d, 2 * error * d);
    return text_done(&out);
}

static const char *data_of(const char *kind, int lines)
{
    TextBuf out = {.arena = a};
    if (!strcmp(kind, "spectrum") || !strcmp(kind, "histogram")) {
        const bool spectrum = *kind == 's';
        text_add(&out, spectrum ? "tensor,index,value\n" : "tensor,bin_low,bin_high,count\n");
        for (int t = 0; t < lines; t++)
            for (int i = 0; i < 40; i++)
                if (spectrum)
                    text_addf(&out, "layer%d.conv%d.weight,%d,%g\n", t, t % 3, i + 1, exp(-i * (0.05 + 0.02 * t)));
                else
                    text_addf(&out, "layer%d.conv%d.weight,%g,%g,%.0f\n", t, t % 3, (i - 20) * 0.2, (i - 19) * 0.2, 2e4 * exp(-fabs(i - 19.5) * (0.2 + 0.02 * t)));
        return text_done(&out);
    }
    text_add(&out, "record,step,test_accuracy,loss,bytes_up,sim_seconds,seed,tensor,compressor,bits_per_element,relative_error,relative_error_se,encode_ms,"
                   "decode_ms,elem_error_deciles,workers,merge_ms,decode_each_ms,compute_ms,comm_ms,total_ms,total_ms_se,"
                   "break_even_gbps,pays\n");
    for (int i = 0; i < lines; i++)
        for (int k = 1; k < 6; k++) {
            const bool heat = !strcmp(kind, "heat"), run = !strcmp(kind, "convergence") || !strcmp(kind, "budget");
            const double b = pow(2, k) * (1 + 0.05 * i), e = pow(2, -0.3 * k * (1 + 0.1 * (i % 9))) * (1 + 0.2 * i);
            text_addf(&out, "%s,%d,%g,%g,%g,%g,1,%s%.0d,\"%s\",%g,%g,%g,%g,%g,%s,%d,%g,%g,50,%g,%g,0.2,%g,below\n", run ? "step" : "", run ? 20 * k : 1,
                      0.97 - 0.6 * exp(-k * (1.5 - 0.05 * i)), exp(-k * (1.5 - 0.05 * i)), 1e5 / (i + 1), k * (10 - 0.3 * i), heat ? "layer" : "*", heat ? k : 0,
                      specs[i], b, e, 0.03 * e, 1 + 0.1 * i, 0.5, k == 1 ? deciles_of(0.05 * (i + 1)) : "", 1 << k, 0.1 * k * (i + 1), 0.3 * pow(2, k) * (i + 1), 5 + b, 57 + b + i,
                      0.1 * (i + 1) / k);
        }
    return text_done(&out);
}

/* ---- what was drawn, in inches from the upper left corner ---- */

typedef struct {
    double left, top, right, bottom;
    const char *text;
} Box;
typedef struct {
    double wide, high, x[2000], y[2000];
    Box box[1500];
    size_t boxes, marks;
} Sheet;
static Sheet sheet;

static void read_words(void)
{
    char *rest = NULL;
    check(system("pdftotext -bbox f.pdf more.csv 2>/dev/null") == 0);
    for (char *line = strtok_r(contents("more.csv"), "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        Box b;
        int at = 0;
        if (sscanf(line, " <page width=\"%lf\" height=\"%lf\"", &sheet.wide, &sheet.high) == 2)
            continue;
        if (sscanf(line, " <word xMin=\"%lf\" yMin=\"%lf\" xMax=\"%lf\" yMax=\"%lf\">%n", &b.left, &b.top, &b.right, &b.bottom, &at) < 4 || !at)
            continue;
        b.text = text_slice(a, line + at, strcspn(line + at, "<"));
        check(sheet.boxes < countof(sheet.box));
        b.left /= 72, b.right /= 72, b.top /= 72, b.bottom /= 72;
        sheet.box[sheet.boxes++] = b;
    }
    sheet.wide /= 72;
    sheet.high /= 72;
}

static void read_marks(const char *svg)
{
    for (const char *s = svg; (s = strstr(s, "<use xlink:href='#gpPt")); s++) {
        const char *place = strstr(s, "translate(");
        if (!place || place > strchr(s, '>')) /* the definition of a mark */
            continue;
        check(sheet.marks < countof(sheet.x));
        if (sscanf(place, "translate(%lf,%lf)", &sheet.x[sheet.marks], &sheet.y[sheet.marks]) != 2)
            continue;
        sheet.x[sheet.marks] /= 96;
        sheet.y[sheet.marks++] /= 96;
    }
}

/* True if two boxes overlap in both directions by more than 0.3 of their smallest side. Boxes are larger than their letters. */
static bool overlap(const Box *p, const Box *q)
{
    const double wide = fmin(p->right, q->right) - fmax(p->left, q->left), high = fmin(p->bottom, q->bottom) - fmax(p->top, q->top);
    const double least = fmin(fmin(p->right - p->left, q->right - q->left), fmin(p->bottom - p->top, q->bottom - q->top));
    return wide > 0.3 * least && high > 0.3 * least;
}

static size_t faults_of(const char *what)
{
    size_t faults = 0;
    for (size_t i = 0; i < sheet.boxes; i++) {
        const Box *p = &sheet.box[i];
        const bool off = p->left < -0.02 || p->right > sheet.wide + 0.02 || p->top < -0.03 || p->bottom > sheet.high + 0.03;
        if (off)
            print_error("%s: %s leaves the page\n", what, p->text);
        faults += off;
        for (size_t k = 0; k < i; k++)
            if (overlap(p, &sheet.box[k])) {
                print_error("%s: %s overlaps %s\n", what, p->text, sheet.box[k].text);
                faults++;
            }
        for (size_t k = 0; k < sheet.marks; k++)
            if (sheet.x[k] > p->left && sheet.x[k] < p->right && sheet.y[k] > p->top + 0.02 && sheet.y[k] < p->bottom - 0.02) {
                print_error("%s: %s covers a mark\n", what, p->text);
                faults++;
            }
    }
    return faults;
}

/* Reads "rgb( r, g, b)"; returns the contrast to white of WCAG 2. */
static double contrast(const char *rgb, int c[3])
{
    double light = 0;
    static const double weight[] = {0.2126, 0.7152, 0.0722};
    check(sscanf(rgb, "rgb(%d,%d,%d)", &c[0], &c[1], &c[2]) == 3);
    for (int i = 0; i < 3; i++) {
        const double v = c[i] / 255.0;
        light += weight[i] * (v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
    }
    return 1.05 / (light + 0.05);
}

/* Letters, and lines that are not grey, stand out from white. The table of colours has light ones. */
static void check_contrasts(const char *svg)
{
    int c[3];
    for (const char *s = svg; (s = strstr(s, "stroke='rgb(")); s++) {
        const double found = contrast(s + 8, c);
        check(found >= 4.5 || (c[0] == c[1] && c[1] == c[2]));
    }
    for (const char *s = svg; (s = strstr(s, "<text>")); s++) {
        const char *fill = s;
        while (fill > svg && strncmp(fill, "fill=\"rgb(", 10) != 0)
            fill--;
        check(fill > svg && contrast(fill + 6, c) >= 4.5);
    }
}

static bool cannot_measure(void)
{
    if (no_gnuplot())
        return true;
    if (system("command -v pdftotext >/dev/null 2>&1") == 0)
        return false;
    print_message("SKIP: there is no pdftotext here\n");
    return true;
}

/* Draws and checks a figure; returns the number of its faults. */
static size_t try(const char *kind, int lines, PlotOptions look)
{
    const char *text = data_of(kind, lines), *svg = drawn_with(kind, text, "f.svg", look);
    const char *what = text_format(a, "%s of %d, width %s, key %d", kind, lines, look.width ? look.width : "3.25in", look.key);
    sheet.boxes = sheet.marks = 0;
    check_contrasts(svg);
    check(look.width || strstr(svg, "width=\"312\" height=\""));
    read_marks(svg);
    check(drawn_with(kind, text, "f.pdf", look));
    read_words();
    check(sheet.boxes > 2);
    size_t lost = 0; /* texts that a PDF leaves out, as they begin beyond the page */
    for (const char *s = svg; (s = strstr(s, "<g transform=\"translate(")); s++) {
        double x, y;
        check(sscanf(s, "<g transform=\"translate(%lf,%lf", &x, &y) == 2);
        lost += x < 0 || y < 0 || x > 96 * sheet.wide || y > 96 * sheet.high + 1;
    }
    if (lost)
        print_error("%s: %zu texts are beyond the page\n", what, lost);
    return faults_of(what) + lost;
}

static bool all_figures(void)
{
    const char *asked = getenv("FIGURES");
    return asked && !strcmp(asked, "all");
}

IN_FOLDER(texts_stand_out_overlap_nothing_and_stay_on_the_page)
{
    static const int counts[] = {4, 20, 1, 2, 7, 10, 11};
    static const char *const widths[] = {NULL, "5.5in", "6.75in"};
    size_t faults = 0;
    if (cannot_measure())
        return;
    for (const PlotKind *const *kind = plot_kinds; *kind; kind++)
        for (size_t i = 0; i < (all_figures() ? countof(counts) : 2); i++)
            for (size_t w = 0; w < (all_figures() ? countof(widths) : 1); w++)
                faults += try((*kind)->name, counts[i], (PlotOptions){.width = widths[w], .font = w == 1});
    const char *labels[] = {"none=a name that is much longer than others, of a hundred letters", "svd=joint+svd:vectors=qsgd"};
    faults += try("pareto", 7, (PlotOptions){.labels = {labels, 2}});
    for (int key = 0; key < KEY_NONE; key++)
        faults += try("pareto", 4, (PlotOptions){.key = key, .title = "a title", .rates = true, .front = true, .gaussian = true});
    assert_int_equal(faults, 0);
}

IN_FOLDER(the_height_is_as_asked)
{
    static const char *const kinds[] = {"pareto", "convergence", "errors", "heat", "iteration-time"};
    if (cannot_measure())
        return;
    for (size_t i = 0; i < countof(kinds); i++) {
        assert_int_equal(try(kinds[i], 4, (PlotOptions){.height = "2.75in", .title = i % 2 ? "a title" : NULL}), 0);
        check(fabs(sheet.high - 2.75) < 0.02 && fabs(sheet.wide - 3.25) < 0.02);
    }
    assert_int_equal(try("pareto", 4, (PlotOptions){0}), 0);
    check(sheet.high >= 1.95 && sheet.high <= 2.4);
}

/* The ten codecs that are compared most, in one panel: each pair differs by mark or dashes, so also without colours. A line
 * and its marks are drawn one after the other. */
IN_FOLDER(the_usual_codecs_are_told_apart_without_colour)
{
    static const char *const usual[] = {"none", "qsgd", "svd", "topk", "terngrad", "sign", "powersgd", "eden", "scaledsign", "countsketch"};
    TextBuf out = {.arena = a};
    const char *seen[10];
    size_t count = 0;
    if (no_gnuplot())
        return;
    text_add(&out, "compressor,bits_per_element,relative_error\n");
    for (size_t i = 0; i < countof(usual); i++)
        text_addf(&out, "%s,1,%zu\n%s,2,%g\n", usual[i], i + 2, usual[i], (double)i + 1.5);
    const char *svg = drawn_with("pareto", text_done(&out), "f.svg", (PlotOptions){.facet = 2, .key = KEY_NONE});
    for (const char *s = svg; (s = strstr(s, "<use xlink:href='#gpPt")) && count < 10; s++) {
        if (strncmp(s + strcspn(s + 22, "'") + 22, "' transform='tr", 15) != 0)
            continue; /* the definition of a mark */
        const char *line = s, *end = strstr(s, "</g>");
        while (line > svg && strncmp(line, "<path ", 6) != 0)
            line--;
        const char *dash = strstr(line, "stroke-dasharray='");
        const size_t length = dash && dash < s ? strcspn(dash, " ") : 0;
        seen[count++] = text_format(a, "%.*s %.*s", 27, s, (int)length, length ? dash : "");
        s = end ? end : s;
    }
    assert_int_equal(count, 10);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (!strcmp(seen[i], seen[k])) {
                print_error("%s and %s look the same: %s\n", usual[i], usual[k], seen[i]);
                check(false);
            }
}

CHECK_ALL(NULL, NULL)
