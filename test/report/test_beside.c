/* test_beside.c -- one result beside another: which rows agree, what their columns are called, what is refused. */
#include "rig/check.h"
#include "report/report_beside.h"
#include "base/text.h"

static Error err;
static Arena *a;

static int set_up(void **state)
{
    (void)state;
    err = (Error){0};
    a = arena_open(0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_close(a);
    return 0;
}

static Csv table(const char *text)
{
    Csv t;
    check_ok(csv_parse(&t, "test", text, strlen(text), a, &err), &err);
    return t;
}

/* The table as CSV without quotes. */
static const char *plain(const Csv *t)
{
    TextBuf out = {.arena = a};
    for (size_t i = 0; i < t->columns; i++)
        text_addf(&out, "%s%s", i ? "," : "", t->name[i]);
    for (size_t i = 0; i < t->rows * t->columns; i++)
        text_addf(&out, "%s%s", i % t->columns ? "," : "\n", t->cell[i]);
    return text_done(&out);
}

static void check_beside(const char *own, const char *other, const char *on, const char *want)
{
    const Csv left = table(own), right = table(other);
    Csv out;
    check_ok(beside_rows(&out, &left, &right, NULL, on, a, &err), &err);
    assert_string_equal(plain(&out), want);
}

static void each_row_stands_beside_all_that_agree_or_alone(void **state)
{
    (void)state;
    check_beside("k,x\na,1\nb,2\nc,3\n", "y,k\n10,c\n20,a\n30,d\n40,c\n", "k",
                 "k,x,y\na,1,20\nb,2,\nc,3,10\nc,3,40");
}

static void what_both_have_is_the_others(void **state)
{
    (void)state;
    check_beside("k,x,y\na,1,2\n", "x,k,z\n3,a,4\n", "k", "k,x,y,other x,z\na,1,2,3,4");
    check_beside("k,x\na,1\n", "x,other x,k\n2,3,a\n", "k", "k,x,other x,other other x\na,1,2,3");
}

static void all_fields_have_to_agree(void **state)
{
    (void)state;
    check_beside("k,l,x\na,1,5\na,2,6\nb,1,7\n", "k,l,y\na,2,p\nb,1,q\nb,2,r\n", "k,l",
                 "k,l,x,y\na,1,5,\na,2,6,p\nb,1,7,q");
    check_beside("k,l\na,bc\n", "k,l,y\nab,c,1\na,bc,2\n", "k,l", "k,l,y\na,bc,2");
}

static void numbers_agree_by_value_and_texts_by_letters(void **state)
{
    (void)state;
    check_beside("k\n0.5\n1e3\n1e3x\nA\n0\n", "k,y\n0.50,p\n1000,q\n1000x,r\na,s\n-0,t\n", "k",
                 "k,y\n0.5,p\n1e3,q\n1e3x,\nA,\n0,t");
}

/* "*" alone is what results call everything that was selected. */
static void a_star_within_a_text_of_the_other_is_a_pattern_and_one_alone_is_not(void **state)
{
    (void)state;
    check_beside("k\nsvd:rank=1\nqsgd\n*\n", "k,y\nsvd*,1\n*,2\n*gd,3\nqsgd,4\n", "k",
                 "k,y\nsvd:rank=1,1\nqsgd,4\nqsgd,3\n*,2");
    check_beside("k\nsvd*\n", "k,y\nsvd:rank=1,1\nsvd*,2\n", "k", "k,y\nsvd*,2"); /* own's are none */
    check_beside("k,b\nsvd:rank=1,2\nsvd,1\n", "k,b,y\nsvd*,1,p\nsvd*,2.0,q\n", "k,b",
                 "k,b,y\nsvd:rank=1,2,q\nsvd,1,p");
}

static void a_row_that_leads_stands_for_those_that_it_sums_up(void **state)
{
    (void)state;
    const Csv left = table("k,x\na,1\nb,2\n"), right = table("k,y\na,10\na,20\nb,30\nb,40\na*,50\n");
    const bool leads[] = {false, true, false, false, false};
    Csv out;
    check_ok(beside_rows(&out, &left, &right, leads, "k", a, &err), &err);
    assert_string_equal(plain(&out), "k,x,y\na,1,20\nb,2,30\nb,2,40");
}

/* Against each with each. */
static void many_rows_are_found_as_few_are(void **state)
{
    (void)state;
    enum { ROWS = 3000, NAMES = 700 };
    TextBuf own = {.arena = a}, other = {.arena = a};
    text_add(&own, "k,x\n");
    text_add(&other, "k,y\n");
    for (unsigned i = 0; i < ROWS; i++) {
        text_addf(&own, "n%u,%u\n", i * 7919u % NAMES, i);
        text_addf(&other, "n%u,%u\n", i * 104729u % (2 * NAMES), i);
    }
    const Csv left = table(text_done(&own)), right = table(text_done(&other));
    Csv out;
    check_ok(beside_rows(&out, &left, &right, NULL, "k", a, &err), &err);
    size_t at = 0;
    for (size_t i = 0; i < left.rows; i++) {
        const size_t before = at;
        for (size_t j = 0; j < right.rows; j++)
            if (!strcmp(left.cell[2 * i], right.cell[2 * j])) {
                check(at < out.rows && !strcmp(out.cell[3 * at + 1], left.cell[2 * i + 1]));
                assert_string_equal(out.cell[3 * at++ + 2], right.cell[2 * j + 1]);
            }
        at += at == before;
    }
    assert_int_equal(at, out.rows);
}

static void check_refused(const char *own, const char *other, const char *on, const char *why)
{
    const Csv left = table(own), right = table(other);
    Csv out;
    err = (Error){0};
    assert_int_equal(beside_rows(&out, &left, &right, NULL, on, a, &err), ERR_USAGE);
    assert_string_equal(err.text, why);
}

static void fields_that_one_lacks_and_rows_that_never_agree_are_refused(void **state)
{
    (void)state;
    check_refused("k\na\n", "l\na\n", "k", "--on: the one beside it has no column \"k\"");
    check_refused("k\na\n", "l\na\n", "l", "--on: the result has no column \"l\"");
    check_refused("k\na\n", "k\na\n", "k,", "--on: a column's name is empty; want those that both have");
    check_refused("k\na\n", "k\nb\n", "k", "--on: no row of the one beside it agrees with any");
}

static void rows_beyond_all_use_are_refused(void **state)
{
    (void)state;
    TextBuf many = {.arena = a};
    text_add(&many, "k\n");
    for (int i = 0; i < 1001; i++)
        text_add(&many, "a\n");
    const char *text = text_done(&many);
    check_refused(text, text, "k", "--on: more than 1000000 rows agree");
}

#define BESIDE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
static const struct CMUnitTest tests[] = {
    BESIDE(each_row_stands_beside_all_that_agree_or_alone),
    BESIDE(what_both_have_is_the_others),
    BESIDE(all_fields_have_to_agree),
    BESIDE(numbers_agree_by_value_and_texts_by_letters),
    BESIDE(a_star_within_a_text_of_the_other_is_a_pattern_and_one_alone_is_not),
    BESIDE(a_row_that_leads_stands_for_those_that_it_sums_up),
    BESIDE(many_rows_are_found_as_few_are),
    BESIDE(fields_that_one_lacks_and_rows_that_never_agree_are_refused),
    BESIDE(rows_beyond_all_use_are_refused),
};
CHECK_MAIN(tests)
