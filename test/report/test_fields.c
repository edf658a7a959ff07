/* test_fields.c -- the table of all fields of results is complete, has no field twice, and is the table in
 * docs/generated/metrics.md. */
#include "rig/check.h"
#include "base/file.h"
#include "measure/metrics.h"
#include "report/fields.h"
#include "report/report_compare.h"

#include <stdio.h>
#include <string.h>

static const char page_path[] = "docs/generated/metrics.md";

TEST(every_metric_is_a_field)
{
    for (const Metric *m = metrics; m->name; m++)
        check(field_of_column(m->name, NULL) && *field_meaning(m->name));
}

TEST(every_field_is_found_under_its_name)
{
    for (const Field *f = fields; f->name; f++) {
        check(*f->name && *f->heading && *f->meaning);
        check(f->name[strlen(f->name) - 1] == '_' || field_of_column(f->name, NULL) == f);
    }
    assert_null(field_of_column("bytes_to_x", NULL));
    assert_null(field_of_column("bytes_to_", NULL));
}

TEST(headings_have_units_and_numbers)
{
    Arena *a = arena_open(0);
    assert_string_equal(field_heading("encode_ms", false, a), "encode, ms");
    assert_string_equal(field_heading("encode_ms", true, a), "encode ms");
    assert_string_equal(field_heading("relative_error", true, a), "rel. error");
    assert_string_equal(field_heading("published bytes", false, a), "published payload");
    assert_string_equal(field_heading("steps_to_0.9", true, a), "steps to 0.9");
    assert_string_equal(field_heading("nobody's", true, a), "nobody's");
    assert_string_equal(field_heading("encode_ms_se", true, a), "encode se ms");
    assert_string_equal(field_heading("encode_ms_se", false, a), "standard error of encode, ms");
    assert_string_equal(field_heading("speedup_to_0.9_se", true, a), "speed-up to 0.9 se");
    check(field_counts_bytes("bytes_to_0.9") && !field_counts_bytes("ratio"));
    assert_int_equal(field_digits("left"), 6);
    assert_int_equal(field_digits("nobody's"), 4);
    arena_close(a);
}

static void put_cell(TextBuf *out, const char *s)
{
    for (; *s; s++)
        text_addf(out, "%s%c", strchr("|<*", *s) ? "\\" : "", *s);
}

static char *fields_page(Arena *a)
{
    TextBuf out = {.arena = a};
    text_add(
        &out,
        "# The fields of results\n\n"
        "Generated from `lib/report/fields.c`: `make docs` writes this page, and a test compares it. The exact "
        "definitions\nof the errors are in the last column; g is the gradient, h the decoded one, |.| the l2 "
        "norm, R the number of\nrepeats. In JSON and CSV sizes are in bytes; tables use decimal units, 1 MB = "
        "10^6 bytes. The terminal\nand Markdown use the short heading in brackets.\n\n"
        "| field | heading | unit | meaning |\n|---|---|---|---|\n");
    for (const Field *f = fields; f->name; f++) {
        const char *number = f->name[strlen(f->name) - 1] == '_' ? "X" : "";
        text_addf(&out, "| `%s%s` | %s%s%s%s%s%s | %s | ", f->name, number, f->heading, *number ? " " : "",
                  number, f->brief ? " (" : "", f->brief ? f->brief : "", f->brief ? ")" : "",
                  f->unit ? f->unit : "");
        put_cell(&out, f->meaning);
        text_add(&out, " |\n");
        if (!f->se)
            continue;
        text_addf(&out, "| `%s_se` | standard error of %s (%s se) | %s | ", f->name, f->heading, f->brief ? f->brief : f->heading,
                  f->unit ? f->unit : "");
        put_cell(&out, f->se);
        text_add(&out, " |\n");
    }
    return text_done(&out);
}

/* Compares docs/generated/metrics.md with the table of fields. If the environment variable ATOMO_WRITE_DOCS is set,
 * writes docs/generated/metrics.md instead. */
TEST(the_page_has_the_table)
{
    Arena *a = arena_open(0);
    const char *want = fields_page(a);
    FILE *f = fopen(page_path, getenv("ATOMO_WRITE_DOCS") ? "w+" : "r");
    check(want && f);
    if (getenv("ATOMO_WRITE_DOCS")) {
        fputs(want, f);
        rewind(f);
    }
    char *have = NEW_ZERO(a, char, strlen(want) + 2);
    check(have && fread(have, 1, strlen(want) + 1, f));
    fclose(f);
    assert_string_equal(have, want);
    arena_close(a);
}

/* The endings of fields, which docs/trust.md explains as NAME_ENDING. */
static const char *const endings[] = {"_se",  "_expected", "_p",    "_steps", "_min",
                                      "_max", "_big",      "_small", "_pos",   "_neg"};

/* True if `page` has the field's name in backticks, or explains its ending and has the rest of the name. */
static bool is_explained(const char *page, const char *name, Arena *a)
{
    if (strstr(page, text_format(a, "`%s`", name)))
        return true;
    for (size_t i = 0; i < countof(endings); i++) {
        const size_t length = strlen(name), end = strlen(endings[i]);
        if (length > end && !strcmp(name + length - end, endings[i]) &&
            strstr(page, text_format(a, "`NAME%s`", endings[i])) &&
            is_explained(page, text_slice(a, name, length - end), a))
            return true;
    }
    return false;
}

static void check_explained(const char *page, const char *name, Arena *a)
{
    if (!is_explained(page, name, a))
        print_error("docs/trust.md does not explain %s\n", name);
    check(is_explained(page, name, a));
}

TEST(the_page_on_trust_explains_every_field_of_a_comparison)
{
    Arena *a = arena_open(0);
    Error err;
    char *page;
    size_t size;
    check_ok(file_load(&page, &size, "docs/trust.md", 1 << 20, a, &err), &err);
    page = text_slice(a, page, size);
    for (const Metric *m = metrics; m->name; m++)
        check_explained(page, m->name, a);
    for (const Column *c = results_verdicts; c->name; c++)
        check_explained(page, c->name, a);
    for (const Column *c = steps_columns; c->name; c++)
        check_explained(page, c->name, a);
    arena_close(a);
}

CHECK_ALL(NULL, NULL)
