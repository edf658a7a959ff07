/* test_report.c -- results written in five formats. Also tests that the file of a result is complete or
 * absent. */
#include "rig/check.h"
#include "base/csv.h"
#include "report/report_table.h"
#include "report/report.h"
#include "base/rng.h"

#include <dirent.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

static const Column columns[] = {
    {"name", true}, {"bytes", true}, {"mean", true}, {"ok", true}, {"shape", true}, {"hidden", false},
};
enum { COLUMNS = countof(columns) };

static Error err;
static Arena *a;
static char folder[] = "/tmp/atomo-report.XXXXXX";

static int set_up(void **state)
{
    a = arena_open(0);
    signal(SIGXFSZ, SIG_IGN);
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int files_in(const char *path, bool remove_them)
{
    int count = 0;
    DIR *dir = opendir(path);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            count++;
            if (remove_them)
                unlinkat(dirfd(dir), entry->d_name, 0);
        }
    closedir(dir);
    return count;
}

static int tear_down(void **state)
{
    files_in(folder, true);
    rmdir(folder);
    arena_close(a);
    return 0;
}
#define IN_FOLDER(test) TEST_BETWEEN(test, set_up, tear_down)

static char *path_of(const char *name)
{
    return text_format(a, "%s/%s", folder, name);
}

static char *contents(const char *path)
{
    TextBuf text = {.arena = a};
    char piece[4096];
    FILE *f = fopen(path, "r");
    check(f);
    for (size_t size; (size = fread(piece, 1, sizeof piece, f)) > 0;)
        text_add_bytes(&text, piece, size);
    fclose(f);
    return text_done(&text);
}

static const Value *rows(void)
{
    static Shape shape;
    static Value all[2 * COLUMNS];
    check(shape_make(&shape, 3, (const size_t[]){64, 3, 7}));
    const Value some[2 * COLUMNS] = {
        value_text("a|b,\"c\"_&"), value_int(1234567),  value_real(0.012345678),
        value_bool(true),          value_shape(&shape), value_text("x"),
        value_text("plain"),       value_none(),        value_real((double)NAN),
        value_bool(false),         value_none(),        value_text(""),
    };
    memcpy(all, some, sizeof all);
    return all;
}

static ReportSpec spec_of(Format format)
{
    static const Fact facts[] = {{"command", {VALUE_TEXT, {.text = "run\n100%\n"}}},
                                 {"seed", {VALUE_INT, {.whole = 7}}}};
    return (ReportSpec){.schema = "atomo-test/1",
                        .meta = facts,
                        .facts = 2,
                        .columns = columns,
                        .column_count = COLUMNS,
                        .format = format};
}

IN_FOLDER(each_format_says_the_same_rows)
{
    static const char *const want[] = {
        [FORMAT_TABLE] = "name        payload    mean  ok    shape\n"
                         "a|b,\"c\"_&  1.235 MB  0.0123  yes  64x3x7\n"
                         "plain             -       -  no        -\n",
        [FORMAT_CSV] = "name,bytes,mean,ok,shape,hidden\n"
                       "\"a|b,\"\"c\"\"_&\",1234567,0.012345678,true,64x3x7,x\n"
                       "plain,,,false,,\"\"\n",
        [FORMAT_JSON] =
            "{\"schema\": \"atomo-test/1\",\n\"meta\": {\n  \"command\": \"run\\n100%\\n\",\n  \"seed\": 7},\n"
            "\"results\": [\n"
            "  {\"name\": \"a|b,\\\"c\\\"_&\", \"bytes\": 1234567, \"mean\": 0.012345678, \"ok\": true, "
            "\"shape\": [64, 3, 7], \"hidden\": \"x\"},\n"
            "  {\"name\": \"plain\", \"bytes\": null, \"mean\": null, \"ok\": false, \"shape\": null, "
            "\"hidden\": \"\"}\n]}\n",
        [FORMAT_MD] =
            "| name | payload | mean | ok | shape |\n| :--- | ---: | ---: | :--- | ---: |\n"
            "| a\\|b,\"c\"\\_\\& | 1.235 MB | 0.0123 | yes | 64x3x7 |\n| plain | - | - | no | - |\n",
        [FORMAT_LATEX] = "% command: run?100%?\n\\begin{tabular}{lrrlr}\n\\toprule\n"
                         "name & payload, MB & mean & fine & shape \\\\\n\\midrule\n"
                         "a\\textbar{}b,\"c\"\\_\\& & 1.235 & 0.0123 & yes & 64x3x7 \\\\\n"
                         "plain & -- & -- & no & -- \\\\\n\\bottomrule\n\\end{tabular}\n",
    };
    for (int format = 0; report_formats[format]; format++) {
        const ReportSpec spec = spec_of((Format)format);
        assert_string_equal(report_text(&spec, rows(), 2, a), want[format]);
    }
}

static const char *latex_of(const Column *c, const Value *v, size_t count)
{
    const ReportSpec spec = {.columns = c, .column_count = 1, .format = FORMAT_LATEX};
    return report_text(&spec, v, count, a);
}

/* In LaTeX tables, decimal points are aligned, 1e-7 becomes a product with a power of ten, and negative numbers
 * get a minus sign, not a hyphen. */
IN_FOLDER(latex_numbers_are_aligned)
{
    static const Column x = {"mean", true};
    const Value v[] = {value_int(7), value_real(12.5), value_real(-0.125), value_real(1.5e-7), value_none()};
    assert_string_equal(latex_of(&x, v, countof(v)),
                        "\\begin{tabular}{r}\n\\toprule\nmean \\\\\n\\midrule\n7\\phantom{.000} \\\\\n"
                        "12.5\\phantom{00} \\\\\n$-$0.125 \\\\\n$1.50\\cdot10^{-7}$ \\\\\n-- \\\\\n"
                        "\\bottomrule\n\\end{tabular}\n");
}

IN_FOLDER(a_latex_column_of_bytes_has_one_unit)
{
    static const Column bytes = {"bytes_up", true};
    const Value v[] = {value_int(1724320), value_int(81), value_real(18909.5), value_int(0)};
    const char *text = latex_of(&bytes, v, countof(v));
    check(strstr(text, "sent by a worker, kB "));
    check(strstr(text, "\n1724\\phantom{.00000} ") && strstr(text, "\n0.08100 ") &&
          strstr(text, "\n18.91\\phantom{000} ") && strstr(text, "\n0\\phantom{.00000} "));
}

/* Names from files are escaped and made valid UTF-8. So a name can neither open a LaTeX group nor end a
 * table's row. */
IN_FOLDER(names_are_no_markup)
{
    static const Column x = {"x", true};
    const Value v = value_text("a&b%c$d#e_f{g}h~i^j\\k<l>m|n\n\xff\xc3\xa4");
    ReportSpec spec = {.columns = &x, .column_count = 1, .format = FORMAT_LATEX};
    check(strstr(report_text(&spec, &v, 1, a),
                 "a\\&b\\%c\\$d\\#e\\_f\\{g\\}h\\textasciitilde{}i\\textasciicircum{}j\\textbackslash{}k"
                 "\\textless{}l\\textgreater{}m\\textbar{}n??\xc3\xa4 \\\\\n"));
    spec.format = FORMAT_MD;
    check(strstr(report_text(&spec, &v, 1, a), "| a\\&b%c$d#e_f{g}h\\~i^j\\\\k\\<l>m\\|n??\xc3\xa4 |\n"));
    const Value italic = value_text("_a_b_");
    check(strstr(report_text(&spec, &italic, 1, a), "| \\_a_b\\_ |\n"));
}

IN_FOLDER(a_report_on_disk_is_the_text)
{
    for (int format = 0; report_formats[format]; format++) {
        ReportSpec spec = spec_of((Format)format);
        Report *r;
        spec.path = path_of(report_formats[format]);
        check_ok(report_open(&r, &spec, a, &err), &err);
        check(access(spec.path, F_OK) != 0); /* the file appears only when the report is closed */
        check_ok(report_row(r, rows(), true, &err), &err);
        check_ok(report_row(r, rows() + COLUMNS, true, &err), &err);
        check_ok(report_close(r, &err), &err);
        assert_string_equal(contents(spec.path), report_text(&spec, rows(), 2, a));
    }
    assert_int_equal(files_in(folder, false), 5);
}

IN_FOLDER(rows_not_shown_are_in_csv_and_json_alone)
{
    for (int format = 0; report_formats[format]; format++) {
        ReportSpec spec = spec_of((Format)format);
        Report *r;
        spec.path = path_of("file");
        check_ok(report_open(&r, &spec, a, &err), &err);
        check_ok(report_row(r, rows(), true, &err), &err);
        check_ok(report_row(r, rows() + COLUMNS, false, &err), &err);
        check_ok(report_close(r, &err), &err);
        check(!strstr(contents(spec.path), "plain") == (format != FORMAT_CSV && format != FORMAT_JSON));
    }
}

IN_FOLDER(json_is_strict_whatever_the_text)
{
    static const char *const pairs[][2] = {
        {"\x01\x1f\x7f", "\\u0001\\u001f\\u007f"},
        {"\b\f\n\r\t", "\\b\\f\\n\\r\\t"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        /* the byte 0xff does not occur in UTF-8 */
        {"\xff", "\xef\xbf\xbd"},
        {"\xc3", "\xef\xbf\xbd"},                                                 /* cut */
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                                 /* overlong */
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},                 /* a surrogate */
        {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* beyond Unicode */
        {"\xe2\x80\xae\xc2\x9b", "\\u202e\\u009b"},
        {"a\\\"/", "a\\\\\\\"/"},
    };
    static const Column one[] = {{"t", true}};
    for (size_t i = 0; i < countof(pairs); i++) {
        const Value v = value_text(pairs[i][0]);
        assert_string_equal(report_json_row(one, 1, &v, a), text_format(a, "{\"t\": \"%s\"}", pairs[i][1]));
    }
    const Value numbers[] = {value_real((double)INFINITY), value_real(-0.0), value_real(1e300),
                             value_int(INT64_MIN)};
    static const Column four[] = {{"a", true}, {"b", true}, {"c", true}, {"d", true}};
    assert_string_equal(report_json_row(four, 4, numbers, a),
                        "{\"a\": null, \"b\": -0, \"c\": 1e+300, \"d\": -9223372036854775808}");
}

/* Most characters of the text are special in CSV, so quotes, commas and line ends often follow one another. */
static char *hostile(const Rng *rng, uint64_t *next)
{
    static const char alphabet[] = "ab,\"\n\r';\t|";
    const size_t length = rng_u32(rng, USE_TEST, (*next)++) % 8;
    char *text = NEW(a, char, length + 1);
    for (size_t i = 0; i < length; i++)
        text[i] = alphabet[rng_u32(rng, USE_TEST, (*next)++) % (sizeof alphabet - 1)];
    text[length] = 0;
    return text;
}

IN_FOLDER(csv_reads_back_as_it_was_written)
{
    enum { ROWS = 300, FIELDS = 4 };
    static const Column four[FIELDS] = {{"a", false}, {"b,\"", false}, {"c", false}, {"d", false}};
    const Rng rng = rng_open(3, 0, 0, 0, 0);
    uint64_t next = 0;
    Value *values = NEW(a, Value, ROWS * FIELDS);
    for (size_t i = 0; i < ROWS * FIELDS; i++)
        values[i] =
            i % FIELDS == 3 ? value_real(rng_normal(&rng, USE_DATA, i)) : value_text(hostile(&rng, &next));
    const ReportSpec spec = {.columns = four, .column_count = FIELDS, .format = FORMAT_CSV};
    const char *text = report_text(&spec, values, ROWS, a);
    Csv csv;
    check_ok(csv_parse(&csv, "test", text, strlen(text), a, &err), &err);
    assert_int_equal(csv.rows, ROWS);
    assert_string_equal(csv.name[1], "b,\"");
    for (size_t i = 0; i < ROWS * FIELDS; i++) {
        if (i % FIELDS == 3)
            check(csv_real(&csv, i / FIELDS, "d") == values[i].real);
        else
            assert_string_equal(csv.cell[i], values[i].text);
    }
}

IN_FOLDER(csv_from_elsewhere_is_read_or_refused)
{
    Csv csv;
    const char *crlf = "\xef\xbb\xbf"
                       "a,b\r\n1,\"x\r\ny\"\r\n\r\n2\r\n";
    check_ok(csv_parse(&csv, "test", crlf, strlen(crlf), a, &err), &err);
    check(csv.rows == 2 && csv.columns == 2);
    check(csv_real(&csv, 0, "a") == 1); /* the byte order mark that spreadsheets write is skipped */
    assert_string_equal(csv_cell(&csv, 0, "b"), "x\r\ny");
    assert_string_equal(csv_cell(&csv, 1, "b"), ""); /* a short row */
    assert_string_equal(csv_cell(&csv, 1, "c"), ""); /* a missing column */
    check(isnan(csv_real(&csv, 0, "b")));
    static const char *const bad[] = {"a,b\n1,2,3\n", "a,b\n\"1,2\n", "a,b\n1,0.2", "a,b\n1,2\n3", "a,b"};
    for (size_t i = 0; i < countof(bad); i++)
        assert_int_equal(csv_parse(&csv, "test", bad[i], strlen(bad[i]), a, &err), ERR_CORRUPT);
    assert_int_equal(csv_parse(&csv, "test", "a\r\n1\r\n\r2", 8, a, &err), ERR_CORRUPT);
    check(strstr(err.text, "test: line 4, the last one, has no line end"));
    assert_int_equal(csv_parse(&csv, "test", "a\0b", 3, a, &err), ERR_CORRUPT);
    assert_int_equal(csv_parse(&csv, "test", "", 0, a, &err), ERR_CORRUPT);
    check(strstr(err.text, "test: is empty"));
    check_ok(csv_parse(&csv, "test", "a\n", 2, a, &err), &err);
    check(csv.rows == 0 && csv.columns == 1);
}

IN_FOLDER(human_numbers_keep_their_digits)
{
    static const struct {
        double v;
        const char *text, *bytes;
    } pairs[] = {{0, "0", "0 B"},
                 {0.5, "0.5000", "0.5000 B"},
                 {-12.3456, "-12.35", "-12.35 B"},
                 {123456.7, "123457", "123.5 kB"},
                 {1e7, "1.000e+07", "10.00 MB"},
                 {1e6, "1000000", "1.000 MB"},
                 {1010000, "1010000", "1.010 MB"},
                 {1.5e-5, "1.500e-05", "1.500e-05 B"},
                 {1000, "1000", "1.000 kB"},
                 {999, "999.0", "999 B"},
                 {9.99996, "10.00", "10.00 B"},
                 {0.0999999, "0.1000", "0.1000 B"},
                 {99.994, "99.99", "99.99 B"},
                 {2.5e12, "2.500e+12", "2.500 TB"}};
    static const Column two[] = {{"x", true}, {"bytes_up", true}};
    const ReportSpec spec = {.columns = two, .column_count = 2, .format = FORMAT_MD};
    for (size_t i = 0; i < countof(pairs); i++) {
        const Value v[] = {value_real(pairs[i].v), value_real(pairs[i].v)};
        const char *row = strstr(report_text(&spec, v, 1, a), "---: |\n") + 7;
        assert_string_equal(row, text_format(a, "| %s | %s |\n", pairs[i].text, pairs[i].bytes));
    }
}

/* A standard error is printed with one digit, or with two if the first digit is 1. Its mean is printed with as
 * many digits as the error supports, at most four. An error too small to change the fourth digit is left
 * out. */
IN_FOLDER(means_are_cut_to_the_digits_of_their_errors)
{
    static const struct {
        double v, se;
        const char *cell;
    } cases[] = {{1.2719, 0.034, "1.27 +- 0.03"},
                 {1.2719, 0.0134, "1.272 +- 0.013"},
                 {1.2719, 0.0194, "1.272 +- 0.019"},
                 {1.2719, 0.0196, "1.27 +- 0.02"},
                 {-1.2719, 0.34, "-1.3 +- 0.3"},
                 {123456, 2300, "123000 +- 2000"},
                 {1.23456, 0.00034, "1.235 +- 0.0003"},
                 {1.23456, 0.000021, "1.235 +- 0.00002"},
                 {1.23456, 0.000019, "1.235"},
                 {1.23456, 0, "1.235"},
                 {1.27e-7, 3e-9, "(1.27 +- 0.03)e-07"},
                 {0, 0.034, "0.00 +- 0.03"},
                 {0.01, 0.3, "0.0 +- 0.3"}};
    static const Column two[] = {{"x", true}, {"x_se", false}};
    const ReportSpec spec = {.columns = two, .column_count = 2, .format = FORMAT_MD};
    for (size_t i = 0; i < countof(cases); i++) {
        const Value v[] = {value_real(cases[i].v), value_real(cases[i].se)};
        const char *row = strstr(report_text(&spec, v, 1, a), "---: |\n") + 7;
        assert_string_equal(row, text_format(a, "| %s |\n", cases[i].cell));
    }
}

IN_FOLDER(devices_and_odd_places_are_handled)
{
    static const char *const places[][2] = {{"/dev/full", "/dev/full: cannot write: No space left on device"}, {"no/where.json", "no/where.json"}, {"", ""}};
    for (size_t i = 0; i < countof(places); i++) {
        ReportSpec spec = spec_of(FORMAT_JSON);
        Report *r;
        spec.path = *places[i][0] == '/' ? places[i][0] : *places[i][0] ? path_of(places[i][0]) : folder;
        check_ok(report_open(&r, &spec, a, &err), &err);
        check_ok(report_row(r, rows(), true, &err), &err);
        assert_int_equal(report_close(r, &err), ERR_IO);
        check(strstr(err.text, places[i][1]));
    }
    assert_int_equal(files_in(folder, false), 0);
}

IN_FOLDER(meta_tells_a_run_apart)
{
    static const char *const names[] = {
        "version", "revision", "cpu", "isa",   "os",  "hdf5",    "openblas", "blas_core", "lapack", "fftw",
        "zstd",    "blosc",    "zfp", "mpi",   "command", "seed", "threads",  "started"};
    Fact *facts;
    size_t count;
    char *argv[] = {(char[]){"compare"}, (char[]){"it's"}, (char[]){""}, NULL};
    check_ok(report_meta(&facts, &count, FORMAT_CSV, 3, argv, 5, 2, a, &err), &err);
    assert_null(facts[6].value.text); /* OpenBLAS is not loaded for formats that do not show facts */
    check_ok(report_meta(&facts, &count, FORMAT_JSON, 3, argv, 5, 2, a, &err), &err);
    assert_int_equal(count, countof(names));
    check(facts[6].value.text && facts[7].value.text && facts[8].value.text);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(facts[i].name, names[i]);
    check(strstr(facts[14].value.text, " compare 'it'\\''s' ''"));
    check(facts[15].value.whole == 5 && facts[16].value.whole == 2);
    check(text_glob("20[0-9][0-9]-[01][0-9]-[0-3][0-9]T*:*:*Z", facts[17].value.text));
    for (size_t i = 0; i < FACTS_SPARE; i++)
        facts[count + i] = facts[0]; /* the array must have room for FACTS_SPARE more facts */
}

/* Words, parts of a spec and at last any characters go to the next line; all columns but the key are shown once. */
IN_FOLDER(a_narrow_table_folds_its_cells)
{
    static const Column own[] = {{"codec", true}, {"mean", true}, {"note", true}};
    const Value rows[] = {
        value_text("ef+topk:ratio=0.01"),    value_real(0.125), value_text("of three words"),
        value_text("antidisestablished1.5"), value_real(-2),    value_none(),
    };
    const ReportSpec spec = {
        .schema = "atomo-test/1", .columns = own, .column_count = countof(own), .width = 26};
    const char *text = report_text(&spec, rows, 2, a);
    check(text);
    assert_string_equal(text, "codec          mean\n"
                              "ef+topk:      0.125\n"
                              "ratio=0.01\n"
                              "antidisestab  -2.00\n"
                              "lished1.5\n"
                              "\n"
                              "codec         case\n"
                              "ef+topk:      of three\n"
                              "ratio=0.01    words\n"
                              "antidisestab  -\n"
                              "lished1.5\n");
}

CHECK_ALL(NULL, NULL)
