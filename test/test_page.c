/* test_page.c -- a folder of results as one page, whatever the files hold. */
#include "check.h"
#include "metrics.h"
#include "report_html.h"
#include "report_page.h"
#include "report_speedup.h"
#include "report_terms.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define check_text(condition, text) check_that_at(condition, text, __FILE__, __LINE__)

static Error err;
static Arena *a;
static char folder[] = "/tmp/atomo-page.XXXXXX";
static int notes;

static int set_up(void **state)
{
    (void)state;
    a = arena_open(0);
    notes = 0;
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    arena_close(a);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static char *path_of(const char *name)
{
    return text_format(a, "%s/%s", folder, name);
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(path_of(name), "w");
    check(f && fputs(text, f) >= 0 && !fclose(f));
}

static void count_note(void *data, const char *text)
{
    (void)data, (void)text;
    notes++;
}

static Status write_page(void)
{
    const PageSpec spec = {
        .folder = folder, .path = path_of("page.html"), .title = "A <title> & more", .note = count_note};
    err = (Error){0};
    return page_write(&spec, a, &err);
}

static char *page(void)
{
    char *data;
    size_t size;
    check_ok(folder_load(&data, &size, path_of("page.html"), SIZE_MAX, a, &err), &err);
    assert_int_equal(strlen(data), size);
    return data;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}

static const char *html_of(const char *s)
{
    TextBuf out = {.arena = a};
    html_text(&out, s);
    return text_done(&out);
}

/* ---- parts ---- */

static void text_cannot_leave_its_place(void **state)
{
    (void)state;
    assert_string_equal(html_of("<script>\"a\" & 'b'</script>"),
                        "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;");
    assert_string_equal(html_of("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
                        "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_string_equal(html_of("a\xff<\xc3"), "a\xef\xbf\xbd&lt;\xef\xbf\xbd");
    assert_string_equal(html_of("\x1b[1m\r\n\x7f\xc2\x85"),
                        "\xef\xbf\xbd[1m\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    assert_string_equal(html_of("\xed\xa0\x80\xc0\xbc"),
                        "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

static void data_uris_are_base64(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foobar", "Zm9vYmFy"},
                                           {"\xff\xfe\xfd", "//79"},
                                           {"fooba", "Zm9vYmE="}};
    for (size_t i = 0; i < countof(cases); i++) {
        TextBuf out = {.arena = a};
        html_data_uri(&out, "image/png", cases[i][0], strlen(cases[i][0]));
        assert_string_equal(text_done(&out), text_format(a, "data:image/png;base64,%s", cases[i][1]));
    }
}

static const char *svg_of(const char *svg)
{
    TextBuf out = {.arena = a};
    text_add(&out, "before");
    const bool good = html_svg(&out, svg, strlen(svg), "p-", "a \"b\"");
    check(good || out.size == 6);
    return good ? text_done(&out) + 6 : NULL;
}

static void a_drawing_gets_its_own_ids(void **state)
{
    (void)state;
    assert_string_equal(
        svg_of("<?xml version=\"1.0\"?>\n<svg\n viewBox='0 0 1 1'><g id=\"x\"><use xlink:href='#x' "
               "fill='url(#x)' d='a#b'/><text>a &lt; b</text></g></svg>\n"),
        "<svg role=\"img\" aria-label=\"a &quot;b&quot;\" viewBox=\"0 0 1 1\"><g id=\"p-x\"><use "
        "xlink:href=\"#p-x\" fill=\"url(#p-x)\" d=\"a#b\"/><text>a &lt; b</text></g></svg>");
}

static void what_is_no_plain_drawing_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "<svg><script>x</script></svg>",
        "<svg onload=\"x\"></svg>",
        "<svg><g ONCLICK='x'/></svg>",
        "<svg><foreignObject/></svg>",
        "<svg><style>x</style></svg>",
        "<svg><g style='x'/></svg>",
        "<svg><image href='#x'/></svg>",
        "<svg><a href='#x'/></svg>",
        "<svg><use href='other.svg#x'/></svg>",
        "<svg><use href=''/></svg>",
        "<svg><rect fill='url(http://a.b/c)'/></svg>",
        "<svg><rect fill='url( #x)'/></svg>",
        "<svg><rect fill='UrL(//a)'/></svg>",
        "<svg><!-- x --></svg>",
        "<svg><g a=b/></svg>",
        "<svg><g a='x\"y'/></svg>",
        "<svg><g a='<script>'/></svg>",
        "<svg><g a='x></svg>",
        "<svg><g",
        "<svg",
        "<!DOCTYPE html>",
        "",
    };
    for (size_t i = 0; i < countof(bad); i++)
        check_text(!svg_of(bad[i]), bad[i]);
}

static void every_metric_has_a_term(void **state)
{
    (void)state;
    for (const Metric *m = metrics; m->name; m++)
        check_text(term_find(m->name), m->name);
    for (const Term *t = terms; t->name; t++) {
        check(*t->name && *t->title && *t->says);
        check_text(t->name[strlen(t->name) - 1] == '_' || term_find(t->name) == t, t->name);
    }
    assert_string_equal(term_rest(term_find("bytes_to_0.95"), "bytes_to_0.95"), "0.95");
    assert_null(term_find("bytes_to_x"));
    assert_null(term_find("bytes_to_"));
}

/* ---- kinds ---- */

static const char *kind_of(const char *file, const char *text)
{
    Stored s;
    const char *why;
    put(file, text);
    check_ok(stored_load(&s, path_of(file), a, &err), &err);
    const ResultKind *k = result_kind(&s, &why);
    return k ? k->name : why;
}

/* "published bytes" is bytes, and means what they mean; a stranger's word before it is text. */
static void what_stands_before_a_field_stays_in_its_heading(void **state)
{
    (void)state;
    put("a.csv", "compressor,setting,bytes,published bytes,<b> encode_ms,own name\nsvd,x,1000,2500,3.5,y\n");
    check_ok(write_page(), &err);
    const char *text = page();
    check(strstr(text, ">published payload</th>") && strstr(text, "title=\"published bytes: mean length"));
    check(strstr(text, ">&lt;b&gt; encode <span class=\"unit\">ms</span></th>"));
    check(strstr(text, " data-v=\"2500\">2.500 kB</td>") && strstr(text, ">own name</th>"));
}

static void results_are_known_by_schema_or_columns(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"compare", "step,tensor,compressor,repeats,bytes\n"},
        {"sweep", "tensor,compressor,repeats,rate,pareto\n"},
        {"merge", "tensor,compressor,workers,synthetic,repeats\n"},
        {"cost", "compressor,workers,topology,link,comm_ms\n"},
        {"run", "record,compressor,step,sim_seconds\n"},
        {"tune", "compressor,lr,validation_loss\n"},
        {"eval", "step,epoch,compressor,test_loss\n"},
        {"verify", "statement,tensor,left,right,passed\n"},
        {"inspect", "tensor,stable_rank\n"},
        {"histogram", "tensor,bin_low,bin_high,count\n"},
        {"spectrum", "tensor,index,value\n"},
        {"doctor", "what,found,ok,advice\n"},
        {"published", "method,compressor,setting,published bytes,cause\n"},
        {"its columns are those of no command's results", "a,b\n1,2\n"},
        {"spectrum",
         "{\"schema\": \"atomo-inspect/1\", \"results\": [{\"tensor\": 1, \"index\": 1, \"value\": 2}]}"},
        {"merge", "{\"schema\": \"atomo-merge/1\", \"meta\": {}, \"results\": []}"},
        {"its schema is none of those known here", "{\"schema\": \"atomo-compare/2\", \"results\": []}"},
        {"its fields are not those of its schema",
         "{\"schema\": \"atomo-merge/1\", \"results\": [{\"a\": 1}]}"},
    };
    for (size_t i = 0; i < countof(cases); i++)
        assert_string_equal(kind_of("x", cases[i][1]), cases[i][0]);
}

static void speedups_are_the_baselines_time_over_each_runs(void **state)
{
    (void)state;
    static const char run[] =
        "record,compressor,step,sim_seconds_to_0.5,bytes_to_0.5,sim_seconds_to_0.9\n"
        "step,none,1,,,\nsummary,svd,2,5,7,\nsummary,none,2,10,7,8\nsummary,none,2,99,7,99\n";
    Csv csv, out;
    check_ok(csv_parse(&csv, "run", run, strlen(run), a, &err), &err);
    check_ok(speedup_rows(&out, &csv, "none", a, &err), &err);
    assert_int_equal(out.rows, 3);
    assert_int_equal(out.columns, 3);
    assert_string_equal(out.name[2], "speedup_to_0.9");
    assert_string_equal(csv_cell(&out, 0, "compressor"), "svd");
    assert_string_equal(csv_cell(&out, 0, "speedup_to_0.5"), "2");
    assert_string_equal(csv_cell(&out, 0, "speedup_to_0.9"), ""); /* never reached */
    assert_string_equal(csv_cell(&out, 1, "speedup_to_0.9"), "1");
    check(fabs(csv_real(&out, 2, "speedup_to_0.5") - 10.0 / 99) < 1e-15);
    assert_int_equal(speedup_rows(&out, &csv, "qsgd", a, &err), ERR_CORRUPT);
    check(strstr(err.text, "qsgd"));
    check_ok(csv_parse(&csv, "run", "record,compressor\n", 18, a, &err), &err);
    assert_int_equal(speedup_rows(&out, &csv, "none", a, &err), ERR_CORRUPT);
}

/* ---- pages ---- */

static const char hostile[] =
    "{\"schema\": \"atomo-inspect/1\", \"meta\": {\"command\": \"x '</script><script>alert(1)</script>'\", "
    "\"<b>\": \"\\\"><img src=x onerror=alert(1)>\"}, \"results\": [{\"tensor\": "
    "\"</td><script>alert(1)</script>\", "
    "\"stable_rank\": 2, \"\\\"onclick=alert(1) \": \"<!--\", \"n\": 0.012345678, \"zeros\": null}]}";

static void nothing_from_a_file_becomes_markup(void **state)
{
    (void)state;
    put("<script>alert(1)<script>\"'&.json", hostile);
    put("<img src=x>.csv", "a\n");
    put("bad\xff.csv", "tensor,stable_rank\n\xff\xfe<i>,1\n");
    put("<x>.svg", "<svg onload=\"alert(1)\"><script>alert(1)</script></svg>");
    check_ok(write_page(), &err);
    const char *p = page();
    assert_int_equal(count_of(p, "<script"), 1); /* the page's own */
    assert_int_equal(count_of(p, "</script"), 1);
    assert_int_equal(count_of(p, "<img"), 1); /* the picture, in which nothing runs */
    check(strstr(p, "<img alt=\"&lt;x&gt;.svg\" src=\"data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ"));
    check(!strstr(p, "<b>") && !strstr(p, "<i>") && !strstr(p, "<!--") && !strstr(p, "\"onclick"));
    check(!strstr(p, "\xff") && !strstr(p, "\xfe"));
    check(strstr(p, "<title>A &lt;title&gt; &amp; more</title>"));
    check(strstr(p, "&lt;/td&gt;&lt;script&gt;alert(1)"));
    assert_int_equal(count_of(p, "x &#39;&lt;/script&gt;"), 1); /* the command line, once */
    check(!strstr(p, "http://") && !strstr(p, "https://"));
}

static void numbers_are_short_and_keep_their_value(void **state)
{
    (void)state;
    put("r.json", hostile);
    check_ok(write_page(), &err);
    const char *p = page();
    check(strstr(p, "data-v=\"0.012345678\">0.01235</td>"));
    check(!strstr(p, ">zeros")); /* a column with nothing in it */
    check(strstr(p, "title=\"stable_rank: sum of squared singular values"));
}

static void a_policy_names_what_runs(void **state)
{
    (void)state;
    put("r.json", hostile);
    check_ok(write_page(), &err);
    const char *p = page();
    const char *policy = strstr(p, "Content-Security-Policy");
    check(policy && policy < strstr(p, "<style>"));
    check(strstr(p, text_format(a, "script-src 'sha256-%s'", page_js_hash)));
    check(strstr(p, text_format(a, "<script>%s</script>", page_js)));
    check(strstr(p, text_format(a, "<style>%s</style>", page_css)));
    check(strstr(p, "content=\"default-src 'none'; img-src data:; style-src 'sha256-") &&
          !strstr(p, "unsafe"));
}

static void what_is_left_out_is_named_with_the_reason(void **state)
{
    (void)state;
    static const struct {
        const char *file, *text, *why;
    } left[] = {
        {"a.txt", "x", "<dt>a.txt</dt><dd>no result, and no figure"},
        {"b.csv", "x,y\n1,2\n", "<dt>b.csv</dt><dd>its columns are those of no command"},
        {"c.json", "{\"a\": 1}", "<dt>c.json</dt><dd>it has no list of"},
        {"d.journal", "{}", "<dt>d.journal</dt><dd>the journal of a run"},
        {"e.plot.csv", "x", "<dt>e.plot.csv</dt><dd>the data of a figure"},
        {"f.json", "{\"a\": ", "<dt>f.json</dt><dd class=\"bad\">damaged: JSON, byte 6"},
        {"g.csv", "a,b\n\"x", "<dt>g.csv</dt><dd class=\"bad\">damaged: ends inside a quoted"},
        {"h.png", "GIF", "<dt>h.png</dt><dd class=\"bad\">damaged: is not what its name says"},
    };
    for (size_t i = 0; i < countof(left); i++)
        put(left[i].file, left[i].text);
    put("r.json", hostile);
    put(".hidden.csv", "x");
    check(!mkdir(path_of("folder"), 0777) && !mkfifo(path_of("fifo.csv"), 0666));
    check(!symlink("nowhere", path_of("link.csv")));
    assert_int_equal(write_page(), ERR_CORRUPT); /* the page is there all the same */
    check(strstr(err.text, "f.json"));
    const char *p = page();
    for (size_t i = 0; i < countof(left); i++)
        check_text(strstr(p, left[i].why), left[i].why);
    check(strstr(p, "<dt>folder</dt><dd>a directory") && strstr(p, "<dt>fifo.csv</dt><dd>no regular file"));
    check(strstr(p, "<dt>link.csv</dt><dd>a link that leads nowhere"));
    check(!strstr(p, "hidden") && !strstr(p, "<dt>page.html"));
    check(strstr(p, "<h3>r.json</h3>"));
}

static void only_damage_fails(void **state)
{
    (void)state;
    put("a.txt", "x");
    put("r.json", hostile);
    check_ok(write_page(), &err);
}

static void an_empty_folder_is_an_error_and_leaves_no_page(void **state)
{
    (void)state;
    assert_int_equal(write_page(), ERR_IO);
    check(strstr(err.hint, "-o"));
    put("a.txt", "x");
    assert_int_equal(write_page(), ERR_IO);
    check(access(path_of("page.html"), F_OK));
}

static void the_same_files_make_the_same_page(void **state)
{
    (void)state;
    static const char *const names[] = {"c.csv", "a.csv", "b.csv"};
    for (size_t i = 0; i < countof(names); i++)
        put(names[i], "tensor,compressor,repeats,bits_per_element,relative_error\n*,svd,1,2,3\n");
    check_ok(write_page(), &err);
    const char *first = page();
    for (size_t i = 0; i < countof(names); i++)
        unlink(path_of(names[i]));
    for (size_t i = countof(names); i-- > 0;)
        put(names[i], "tensor,compressor,repeats,bits_per_element,relative_error\n*,svd,1,2,3\n");
    check_ok(write_page(), &err);
    assert_string_equal(page(), first);
    check(strstr(first, "<h3>a.csv") < strstr(first, "<h3>b.csv"));
}

static void a_big_result_stays_small(void **state)
{
    (void)state;
    enum { ROWS = 100000 };
    TextBuf t = {.arena = a};
    text_add(&t, "tensor,compressor,repeats,bits_per_element,relative_error\n");
    for (size_t i = 0; i < ROWS; i++)
        text_addf(&t, "layer%zu,svd,1,2,3\n", i);
    text_add(&t, "*,svd,1,2,3\n");
    put("big.csv", text_done(&t));
    check_ok(write_page(), &err);
    const char *p = page();
    check(strlen(p) < 1 << 20);
    check(strstr(p, "<details><summary>100000 more rows</summary>"));
    check(strstr(p, "The first 1000 of 100000 rows; all are in big.csv."));
    check(strstr(p, ">layer999<") && !strstr(p, ">layer1000<"));
}

/* Everything selected first: of several steps the row that pools them. */
static void a_comparisons_summary_comes_first(void **state)
{
    (void)state;
    put("c.csv",
        "step,tensor,compressor,repeats,bytes\n1,a,svd,1,11\n1,*,svd,1,12\n2,*,svd,1,13\n*,*,svd,1,14\n");
    check_ok(write_page(), &err);
    const char *p = page(), *fold = strstr(p, "3 more rows");
    check(fold && strstr(p, "data-v=\"14\"") < fold);
    check(strstr(p, "data-v=\"11\"") > fold && strstr(p, "data-v=\"13\"") > fold);
}

static void runs_show_summaries_and_tested_steps(void **state)
{
    (void)state;
    put("run.csv", "record,compressor,step,test_accuracy,sim_seconds,sim_seconds_to_0.5\n"
                   "step,none,1,,1,\nstep,none,2,0.5,2,\nsummary,none,2,0.5,2,2\nsummary,svd,2,0.25,2,\n");
    check_ok(write_page(), &err);
    const char *p = page();
    check(strstr(p, "Speed-up over none"));
    check(strstr(p, ">speed-up to 0.5</th>"));
    check(strstr(p, "<summary>1 more row</summary>"));
    check(strstr(p, "1 rows, of steps without a test, are in run.csv alone"));
}

static void failed_statements_come_first(void **state)
{
    (void)state;
    put("v.csv", "statement,tensor,left,right,passed\nlemma 1,a,1,1,true\nlemma 2,b,1,2,false\n");
    check_ok(write_page(), &err);
    const char *p = page();
    check(strstr(p, "<p class=\"bad\">2 checks, 1 of them failed.</p>"));
    check(strstr(p, "lemma 2") < strstr(p, "lemma 1"));
}

static void without_gnuplot_there_is_a_page_and_one_note(void **state)
{
    (void)state;
    const char *path = text_copy(a, getenv("PATH"));
    put("a.csv", "tensor,compressor,repeats,bits_per_element,relative_error\n*,svd,1,2,3\n");
    put("b.csv", "tensor,compressor,repeats,bits_per_element,relative_error\n*,svd,1,2,3\n");
    setenv("PATH", "/nonexistent", 1);
    const Status status = write_page();
    setenv("PATH", path, 1);
    check_ok(status, &err);
    assert_int_equal(notes, 1);
    assert_int_equal(count_of(page(), "No pareto figure: gnuplot: not found"), 2);
}

#define PAGE_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
static const struct CMUnitTest tests[] = {
    PAGE_TEST(text_cannot_leave_its_place),
    PAGE_TEST(data_uris_are_base64),
    PAGE_TEST(a_drawing_gets_its_own_ids),
    PAGE_TEST(what_is_no_plain_drawing_is_refused),
    PAGE_TEST(every_metric_has_a_term),
    PAGE_TEST(what_stands_before_a_field_stays_in_its_heading),
    PAGE_TEST(results_are_known_by_schema_or_columns),
    PAGE_TEST(speedups_are_the_baselines_time_over_each_runs),
    PAGE_TEST(nothing_from_a_file_becomes_markup),
    PAGE_TEST(numbers_are_short_and_keep_their_value),
    PAGE_TEST(a_policy_names_what_runs),
    PAGE_TEST(what_is_left_out_is_named_with_the_reason),
    PAGE_TEST(only_damage_fails),
    PAGE_TEST(an_empty_folder_is_an_error_and_leaves_no_page),
    PAGE_TEST(the_same_files_make_the_same_page),
    PAGE_TEST(a_big_result_stays_small),
    PAGE_TEST(a_comparisons_summary_comes_first),
    PAGE_TEST(runs_show_summaries_and_tested_steps),
    PAGE_TEST(failed_statements_come_first),
    PAGE_TEST(without_gnuplot_there_is_a_page_and_one_note),
};

CHECK_MAIN(tests)
