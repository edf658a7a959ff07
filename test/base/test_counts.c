/* test_counts.c -- lists of numbers as `counts_read` parses them: "..." continues a geometric sequence. */
#include "rig/check.h"
#include "base/counts.h"

enum { MOST = 1000 };

static void is(const char *text, const char *want)
{
    Counts c;
    Error err;
    char got[400] = "";
    check_ok(counts_read(&c, "--workers", text, MOST, &err), &err);
    for (size_t i = 0; i < c.count; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), " %zu", c.number[i]);
    assert_string_equal(got + 1, want);
}

static void refused(const char *text, const char *why)
{
    Counts c;
    Error err;
    assert_int_equal(counts_read(&c, "--workers", text, MOST, &err), ERR_USAGE);
    if (!strstr(err.text, why))
        print_error("of %s it says: %s\n", text, err.text);
    check(strstr(err.text, why));
    check(!strncmp(err.text, "--workers", 9));
}

TEST(numbers_stand_in_the_order_asked_for_each_once)
{
    is("1", "1");
    is("1000", "1000");
    is("16,2,4", "16 2 4");
    is("5,5,2,5", "5 2");
}

TEST(dots_go_on_by_the_factor_before_them)
{
    is("4,8,...,512", "4 8 16 32 64 128 256 512");
    is("1,3,...,27,2", "1 3 9 27 2");
    is("7,4,8,...,32", "7 4 8 16 32");
    /* the ratio is that of the two numbers before the dots, 8 / 4 */
    is("8,4,8,...,32", "8 4 16 32");
    is("2,4,...,16,1,10,...,100", "2 4 8 16 1 10 100");
    is("2,4,...,4", "2 4");
}

TEST(what_is_no_number_in_range_is_named)
{
    static const char *const bad[] = {"",
                                      "0",
                                      "1001",
                                      "-1",
                                      "4,x",
                                      "4,",
                                      ",4",
                                      "4 ",
                                      "a",
                                      "4,,8",
                                      "4,8,....",
                                      "1.5",
                                      "...",
                                      "4,8,...",
                                      "1e2",
                                      "4,8,...,",
                                      "99999999999999999999999999",
                                      "4,8,...,...,64"};
    for (size_t i = 0; i < countof(bad); i++)
        refused(bad[i], "want numbers from 1 to 1000 with commas between them");
    refused("4,x", "\"x\"");
}

TEST(dots_that_lead_nowhere_are_refused)
{
    refused("...,8", "want two numbers before the dots");
    refused("4,...,8", "want two numbers before the dots");
    refused("8,4,...,2", "the second a multiple of the first");
    refused("4,4,...,8", "the second a multiple of the first");
    refused("4,6,...,9", "the second a multiple of the first");
    refused("4,9,...,18", "the second a multiple of the first");
    refused("4,8,...,100", "by steps of 2 times, 100 is not reached");
    refused("4,8,...,2", "by steps of 2 times, 2 is not reached");
}

TEST(no_more_numbers_are_taken_than_there_is_room_for)
{
    char text[400] = "1";
    for (int i = 2; i <= COUNTS_MOST; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ",%d", i);
    Counts c;
    Error err;
    check_ok(counts_read(&c, "--workers", text, MOST, &err), &err);
    assert_int_equal(c.count, COUNTS_MOST);
    assert_int_equal(counts_largest(&c), COUNTS_MOST);
    strcat(text, ",999");
    refused(text, "more than 64 numbers");
}

CHECK_ALL(NULL, NULL)
