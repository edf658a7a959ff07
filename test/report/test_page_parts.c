/* test_page_parts.c -- the parts of a page: escaped text, pictures as data: URIs, kinds of results, speed-up
 * tables. */
#include "rig/page_rig.h"

#include "report/report_page.h"
#include "report/report_stored.h"

static const char *html_of(const char *s)
{
    TextBuf out = {.arena = a};
    html_text(&out, s);
    return text_done(&out);
}

/* ---- text and pictures ---- */

PAGE_TEST(text_cannot_leave_its_place)
{
    assert_string_equal(html_of("<script>\"a\" & 'b'</script>"),
                        "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;");
    assert_string_equal(html_of("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
                        "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_string_equal(html_of("a\xff<\xc3"), "a\xef\xbf\xbd&lt;\xef\xbf\xbd");
    assert_string_equal(html_of("\x1b[1m\r\n\x7f\xc2\x85"),
                        "\xef\xbf\xbd[1m\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    /* U+202E, U+2066, U+200B, U+E0061 */
    assert_string_equal(html_of("a\xe2\x80\xae_\xe2\x81\xa6\xe2\x80\x8b\xf3\xa0\x81\xa1"),
                        "a\xef\xbf\xbd_\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    assert_string_equal(html_of("\xed\xa0\x80\xc0\xbc"),
                        "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

PAGE_TEST(pictures_are_base64)
{
    static const char *const cases[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foobar", "Zm9vYmFy"},
                                           {"\xff\xfe\xfd", "//79"},
                                           {"fooba", "Zm9vYmE="}};
    for (size_t i = 0; i < countof(cases); i++) {
        TextBuf out = {.arena = a};
        html_picture(&out, "image/png", cases[i][0], strlen(cases[i][0]), "a \"b\" <c>");
        assert_string_equal(
            text_done(&out),
            text_format(a,
                        "<figure><img alt=\"a &quot;b&quot; &lt;c&gt;\" src=\"data:image/png;base64,%s\">"
                        "<figcaption>a &quot;b&quot; &lt;c&gt;</figcaption></figure>\n",
                        cases[i][1]));
    }
}

/* ---- the kind of result in a file ---- */

static const char *kind_of(const char *file, const char *text)
{
    Stored s;
    const char *why;
    put(file, text);
    check_ok(stored_load(&s, path_of(file), a, &err), &err);
    const ResultKind *k = result_kind(&s, &why);
    return k ? k->name : why;
}

PAGE_TEST(results_are_known_by_schema_or_columns)
{
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

PAGE_TEST(speedups_are_the_baselines_time_over_each_runs)
{
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

CHECK_ALL(NULL, NULL)
