/* test_page.c -- page_write makes an HTML page from a folder of results. Hostile content of the files must
 * appear as text. */
#include "rig/page_rig.h"
#include "base/file.h"

#include <sys/stat.h>

static int asked, stop_at; /* stop_at: the question that is the first to be answered with yes; 0: none */

static bool stopped(void)
{
    return stop_at && ++asked >= stop_at;
}

static Status write_page(void)
{
    const PageSpec spec = {.folder = folder,
                           .path = path_of("page.html"),
                           .title = "A <title> & more"};
    err = (Error){0};
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

static const char hostile[] =
    "{\"schema\": \"atomo-inspect/1\", \"meta\": {\"command\": \"x '</script><script>alert(1)</script>'\", "
    "\"<b>\": \"\\\"><img src=x onerror=alert(1)>\"}, \"results\": [{\"tensor\": "
    "\"</td><script>alert(1)</script>\", "
    "\"stable_rank\": 2, \"\\\"onclick=alert(1) \": \"<!--\", \"n\": 0.012345678, \"zeros\": null}]}";

PAGE_TEST(nothing_from_a_file_becomes_markup)
{
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

PAGE_TEST(a_policy_names_what_runs)
{
    put("r.json", hostile);
    check_ok(write_page(), &err);
    const char *p = page();
    const char *policy = strstr(p, "Content-Security-Policy");
    check(policy && policy < strstr(p, "<style>"));
    check(strstr(p, text_format(a, "script-src 'sha256-%s' 'sha256-%s'", page_js.hash, explore_js.hash)));
    check(strstr(p, text_format(a, "<script>%s</script>", page_js.text)));
    check(strstr(p, text_format(a, "<script>%s</script>", explore_js.text)));
    check(strstr(p, text_format(a, "<style>%s</style>", page_css.text)));
    check(strstr(p, "content=\"default-src 'none'; img-src data:; style-src 'sha256-") &&
          !strstr(p, "unsafe"));
}

/* A file is not damaged where reading it was stopped, be it the last of the folder or not. */
PAGE_TEST(a_page_that_is_stopped_anywhere_is_not_written)
{
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

PAGE_TEST(what_is_left_out_is_named_with_the_reason)
{
    static const struct {
        const char *file, *text, *why;
    } left[] = {
        {"a.txt", "x", "<dt>a.txt</dt><dd>no result, and no figure"},
        {"b.csv", "x,y\n1,2\n", "<dt>b.csv</dt><dd>its columns are those of no command"},
        {"c.json", "{\"a\": 1}", "<dt>c.json</dt><dd>it has no list of"},
        {"f.json", "{\"a\": ", "<dt>f.json</dt><dd class=\"bad\">damaged: JSON, byte 6"},
        {"g.csv", "a,b\n\"x", "<dt>g.csv</dt><dd class=\"bad\">damaged: ends inside a quoted"},
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
    check(strstr(p, "<dt>folder</dt><dd>no regular file") && strstr(p, "<dt>fifo.csv</dt><dd>no regular file"));
    check(strstr(p, "<dt>link.csv</dt><dd>no regular file"));
    check(!strstr(p, ".hidden.csv") && !strstr(p, "<dt>page.html"));
    check(strstr(p, "<h3>r.json</h3>"));
}

PAGE_TEST(the_same_files_make_the_same_page)
{
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

PAGE_TEST(a_big_result_stays_small)
{
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

PAGE_TEST(a_wide_table_has_fewer_rows)
{
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

/* The page's data leave out empty columns, and have a value that is the same in all rows once. */
PAGE_TEST(equal_and_empty_columns_take_no_room)
{
    put("c.csv", "tensor,compressor,repeats,n,bytes,relative_error,relative_error_expected,cosine,seed\n"
                 "a,svd,2,8,1,0.123456789,2,,123456789\nb,svd,2,8,,2.5,,,123456788\n");
    check_ok(write_page(), &err);
    const char *p = page();
    check(strstr(p, "\"texts\":[\"svd\"]}") && strstr(p, "\"texts\":[\"a\",\"b\"],\"index\":\"0,1\"}"));
    check(strstr(p, "\"name\":\"n\",\"heading\":\"elements\",\"unit\":\"\",\"values\":\"8\"}"));
    check(strstr(p, "\"exact\":\"relative_error_expected\",\"values\":\"0.123457,2.5\"}"));
    check(strstr(p, "\"values\":\"1,\"}") && strstr(p, "\"values\":\"123456789,123456788\"}"));
    check(!strstr(p, "\"name\":\"cosine\""));
}

CHECK_ALL(NULL, NULL)
