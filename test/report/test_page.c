/* test_page.c -- page_write makes an HTML page from a folder of results. Hostile content of the files must
 * appear as text. */
#include "rig/page_rig.h"
#include "base/file.h"

#include <sys/stat.h>

static int notes; /* number of notes (messages to the user) during the last page_write */

static void count_note(void *data, const char *text)
{
    (void)data, (void)text;
    notes++;
}

static int asked, stop_at; /* stop_at: the question that is the first to be answered with yes; 0: none */

static bool stopped(void)
{
    return stop_at && ++asked >= stop_at;
}

static Status write_page(void)
{
    const PageSpec spec = {.folder = folder,
                           .path = path_of("page.html"),
                           .title = "A <title> & more",
                           .note = count_note,
                           .stopped = stopped};
    err = (Error){0};
    notes = 0;
    return page_write(&spec, a, &err);
}

static char *page(void)
{
    char *data;
    size_t size;
    check_ok(file_load(&data, &size, path_of("page.html"), SIZE_MAX, a, &err), &err);
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

/* "published bytes" is the field "bytes" with the word "published" in front: its column gets the heading and
 * the explanation of "bytes", with that word in front. HTML in such a word must be escaped. */
static void a_word_before_a_field_stays_in_its_heading(void **state)
{
    (void)state;
    put("a.csv", "compressor,setting,bytes,published bytes,<b> encode_ms,own name\nsvd,x,1000,2500,3.5,y\n");
    check_ok(write_page(), &err);
    const char *text = page();
    check(strstr(text, ">published payload</th>") && strstr(text, "title=\"published bytes: mean payload"));
    check(strstr(text, ">&lt;b&gt; encode <span class=\"unit\">ms</span></th>"));
    check(strstr(text, " data-v=\"2500\">2.500 kB</td>") && strstr(text, ">own name</th>"));
}

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
    assert_int_equal(count_of(p, "<script"), 2); /* the only scripts are the page's own */
    assert_int_equal(count_of(p, "</script"), 2);
    assert_int_equal(count_of(p, "<img"), 1); /* the picture is inside an <img>, where no script runs */
    check(strstr(p, "<img alt=\"&lt;x&gt;.svg\" src=\"data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ"));
    check(!strstr(p, "<b>") && !strstr(p, "<i>") && !strstr(p, "<!--") && !strstr(p, "\"onclick"));
    check(!strstr(p, "\xff") && !strstr(p, "\xfe"));
    check(strstr(p, "<title>A &lt;title&gt; &amp; more</title>"));
    check(strstr(p, "&lt;/td&gt;&lt;script&gt;alert(1)"));
    assert_int_equal(count_of(p, "x &#39;&lt;/script&gt;"), 1); /* the page shows the command line once */
    check(!strstr(p, "http://") && !strstr(p, "https://"));
}

static void numbers_are_short_and_keep_their_value(void **state)
{
    (void)state;
    put("r.json", hostile);
    check_ok(write_page(), &err);
    const char *p = page();
    check(strstr(p, "data-v=\"0.012345678\">0.01235</td>"));
    check(!strstr(p, ">zeros")); /* the column `zeros` has no values, so it is not shown */
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
    check(strstr(p, text_format(a, "script-src 'sha256-%s' 'sha256-%s'", page_js_hash, explore_js_hash)));
    check(strstr(p, text_format(a, "<script>%s</script>", page_js)));
    check(strstr(p, text_format(a, "<script>%s</script>", explore_js)));
    check(strstr(p, text_format(a, "<style>%s</style>", page_css)));
    check(strstr(p, "content=\"default-src 'none'; img-src data:; style-src 'sha256-") &&
          !strstr(p, "unsafe"));
}

/* A file is not damaged where reading it was stopped, be it the last of the folder or not. */
static void a_page_that_is_stopped_anywhere_is_not_written(void **state)
{
    (void)state;
    static const char *const last[] = {"d.csv", "e.svg"};
    put("a.csv", "compressor,setting,own name\nsvd,x,1\n");
    put("b.json", hostile);
    for (size_t i = 0; i < countof(last); i++) {
        Status status = ERR_STOPPED;
        put(last[i], i ? "<svg></svg>" : "tensor,stable_rank\n");
        unlink(path_of("page.html"));
        file_stopped = stopped;
        for (stop_at = 1; status != OK; stop_at++) {
            asked = 0;
            status = write_page();
            check(status == ERR_STOPPED ? access(path_of("page.html"), F_OK)
                                        : status == OK && asked < stop_at);
        }
        check(stop_at > 6); /* one stop before each file, and one while it is read */
        stop_at = 0;
        file_stopped = NULL;
    }
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
    /* the page is written, and the error names the first damaged file */
    assert_int_equal(write_page(), ERR_CORRUPT);
    check(strstr(err.text, "f.json"));
    const char *p = page();
    for (size_t i = 0; i < countof(left); i++)
        check_text(strstr(p, left[i].why), left[i].why);
    check(strstr(p, "<dt>folder</dt><dd>a directory") && strstr(p, "<dt>fifo.csv</dt><dd>no regular file"));
    check(strstr(p, "<dt>link.csv</dt><dd>a link that leads nowhere"));
    check(!strstr(p, ".hidden.csv") && !strstr(p, "<dt>page.html"));
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

static void a_wide_table_has_fewer_rows(void **state)
{
    (void)state;
    TextBuf t = {.arena = a};
    text_add(&t, "tensor,compressor,repeats");
    for (size_t i = 3; i < 99; i++)
        text_addf(&t, ",own%zu", i);
    for (size_t row = 0; row < 500; row++) {
        text_addf(&t, "\nlayer%zu,svd,1", row);
        for (size_t i = 3; i < 99; i++)
            text_addf(&t, ",%zu", row + i);
    }
    text_add(&t, "\n");
    put("wide.csv", text_done(&t));
    check_ok(write_page(), &err);
    const char *p = page();
    check(strstr(p, "The first 300 of 500 rows; all are in wide.csv."));
    check(strstr(p, ">layer299<") && !strstr(p, ">layer300<"));
}

static void a_figure_of_very_many_points_is_left_out(void **state)
{
    (void)state;
    TextBuf t = {.arena = a};
    text_add(&t, "tensor,compressor,repeats,bits_per_element,relative_error\n");
    for (size_t i = 0; i <= 1000; i++)
        text_addf(&t, "*,topk:ratio=0.%05zu,1,%zu,0.5\n", i + 1, i + 1);
    put("many.csv", text_done(&t));
    check_ok(write_page(), &err);
    check(strstr(page(), "No pareto figure: 1001 points, over 1000."));
}

/* The row over all selected tensors comes first. If there are several steps, the row over all steps and tensors
 * comes before it. */
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

/* The page's data leave out empty columns, and have a value that is the same in all rows once. */
static void equal_and_empty_columns_take_no_room(void **state)
{
    (void)state;
    put("c.csv", "tensor,compressor,repeats,n,bytes,relative_error,relative_error_expected,cosine,seed\n"
                 "a,svd,2,8,1,0.123456789,2,,123456789\nb,svd,2,8,,2.5,,,123456788\n");
    check_ok(write_page(), &err);
    const char *p = page();
    check(strstr(p, "\"texts\":[\"svd\"]}") && strstr(p, "\"texts\":[\"a\",\"b\"],\"index\":\"0,1\"}"));
    check(strstr(p, "\"name\":\"n\",\"heading\":\"elements\",\"unit\":\"\",\"values\":\"8\"}"));
    check(strstr(p, "\"exact\":\"relative_error_expected\",\"values\":\".123457,2.5\"}"));
    check(strstr(p, "\"values\":\"1,\"}") && strstr(p, "\"values\":\"123456789,123456788\"}"));
    check(!strstr(p, "\"name\":\"cosine\""));
}

static void a_verdict_stands_before_the_command(void **state)
{
    (void)state;
    put("a.json",
        "{\"schema\": \"atomo-advise/1\", \"meta\": {\"command\": \"c\", \"verdict\": \"none: send <bf16>\"}, "
        "\"results\": [{\"rank\": 1, \"compressor\": \"svd\", \"total_ms\": 2, \"speedup16\": 1, \"mean_error\": 1, \"travels\": \"as sums\"}]}");
    check_ok(write_page(), &err);
    check(strstr(page(),
                 "<h3>a.json</h3>\n<p class=\"verdict\">none: send &lt;bf16&gt;</p>\n<p class=\"command\">"));
    assert_int_equal(count_of(page(), "none: send"), 1);
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
    check(strstr(p, "1 more row, of steps without a test, is only in run.csv"));
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

static const struct CMUnitTest tests[] = {
    PAGE_TEST(a_word_before_a_field_stays_in_its_heading),
    PAGE_TEST(nothing_from_a_file_becomes_markup),
    PAGE_TEST(numbers_are_short_and_keep_their_value),
    PAGE_TEST(a_policy_names_what_runs),
    PAGE_TEST(a_page_that_is_stopped_anywhere_is_not_written),
    PAGE_TEST(what_is_left_out_is_named_with_the_reason),
    PAGE_TEST(only_damage_fails),
    PAGE_TEST(an_empty_folder_is_an_error_and_leaves_no_page),
    PAGE_TEST(the_same_files_make_the_same_page),
    PAGE_TEST(a_big_result_stays_small),
    PAGE_TEST(a_wide_table_has_fewer_rows),
    PAGE_TEST(a_figure_of_very_many_points_is_left_out),
    PAGE_TEST(a_comparisons_summary_comes_first),
    PAGE_TEST(equal_and_empty_columns_take_no_room),
    PAGE_TEST(a_verdict_stands_before_the_command),
    PAGE_TEST(runs_show_summaries_and_tested_steps),
    PAGE_TEST(failed_statements_come_first),
    PAGE_TEST(without_gnuplot_there_is_a_page_and_one_note),
};

CHECK_MAIN(tests)
