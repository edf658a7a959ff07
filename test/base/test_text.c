/* test_text.c -- functions on text: numbers, the name nearest to a misspelt one, glob patterns, growing
 * texts. */
#include "rig/check.h"
#include "base/rng.h"
#include "base/text.h"

#include <float.h>

TEST(every_double_reads_back)
{
    char out[32];
    const Rng rng = rng_open(1, 0, 0, 0, 0);
    for (uint64_t i = 0; i < 20000; i++) {
        const uint64_t bits = rng_u64(&rng, USE_TEST, i);
        double v, back;
        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v))
            continue;
        check(text_to_real(text_double(out, v), &back));
        check(back == v);
        /* v now has a magnitude from 2^-32 to 2^31 */
        v = ldexp(rng_unit(&rng, USE_DATA, i), (int)(bits % 64) - 32);
        check(text_to_real(text_double(out, v), &back));
        check(back == v);
    }
}

TEST(doubles_are_as_short_as_they_can_be)
{
    char out[32];
    assert_string_equal(text_double(out, 0.1), "0.1");
    assert_string_equal(text_double(out, 1e-9), "1e-09");
    assert_string_equal(text_double(out, 3), "3");
    assert_string_equal(text_double(out, -10), "-10");
    assert_string_equal(text_double(out, 9999999), "9999999");
    assert_string_equal(text_double(out, 1e6), "1000000");
    assert_string_equal(text_double(out, 1e7), "1e+07");
    assert_string_equal(text_double(out, 12345678.5), "12345678.5");
    assert_string_equal(text_double(out, 1.0 / 3), "0.3333333333333333");
    assert_string_equal(text_double(out, (double)INFINITY), "inf");
    assert_string_equal(text_double(out, -0.0), "-0");
}

TEST(whole_numbers_are_whole_strings)
{
    int64_t v = 0;
    check(text_to_int("-12", &v) && v == -12);
    check(text_to_int("9223372036854775807", &v) && v == INT64_MAX);
    static const char *const bad[] = {
        "", " 1", "\t1", "+1", "1 ", "1.0", "0x10", "1e3", "9223372036854775808", "-", "one"};
    for (size_t i = 0; i < countof(bad); i++)
        check(!text_to_int(bad[i], &v));
    check(v == INT64_MAX);
}

TEST(reals_refuse_what_is_no_finite_or_infinite_decimal)
{
    double v = 0;
    check(text_to_real("1e+3", &v) && v == 1000);
    check(text_to_real("-.5", &v) && v == -0.5);
    check(text_to_real("inf", &v) && isinf(v));
    static const char *const bad[] = {"", "nan", "0x1p3", "1e999", " 1", "\n1", "+1", "1,5", "1f", "--1"};
    for (size_t i = 0; i < countof(bad); i++)
        check(!text_to_real(bad[i], &v));
}

TEST(sizes_take_binary_units)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"0", 0},
                {"4096", 4096},
                {"1k", 1024},
                {"512M", 512 << 20},
                {"2G", 2ull << 30},
                {"2GiB", 2ull << 30},
                {"1.5kB", 1500},
                {"2KiB", 2048},
                {"3GB", 3000000000},
                {"3T", 3ull << 40},
                {"7B", 7}};
    uint64_t bytes = 0;
    for (size_t i = 0; i < countof(good); i++)
        check(text_to_size(good[i].text, &bytes) && bytes == good[i].bytes);
    static const char *const bad[] = {"",     "G",   "-1",        "1X",  "1GG", "1iB",
                                      "0x10", "1 G", "99999999T", "nan", "inf"};
    for (size_t i = 0; i < countof(bad); i++)
        check(!text_to_size(bad[i], &bytes));
}

TEST(the_nearest_name_is_near)
{
    static const char *const names[] = {"qsgd", "terngrad", "topk", "threshold", NULL};
    /* a transposition counts as one edit */
    assert_string_equal(text_nearest("qsdg", text_list_name, names), "qsgd");
    assert_string_equal(text_nearest("terngrda", text_list_name, names), "terngrad");
    assert_string_equal(text_nearest("TernGrad", text_list_name, names), "terngrad");
    assert_string_equal(text_nearest("treshold", text_list_name, names), "threshold");
    assert_string_equal(text_nearest("topk", text_list_name, names), "topk");
    check(!text_nearest("powersgd", text_list_name, names));
    check(!text_nearest("xyz", text_list_name, names));
    /* "lan1g" and "lan10g" are one edit away from "lan10"; the name that begins with "lan10" wins */
    static const char *const links[] = {"lan1g", "lan10g", "lan25g", NULL};
    assert_string_equal(text_nearest("lan10", text_list_name, links), "lan10g");
    assert_string_equal(text_nearest("lan2g", text_list_name, links), "lan1g");
    /* the first name that begins with the text is nearer than one that is a letter away, but not than an equal one */
    assert_string_equal(text_nearest("tern", text_list_name, names), "terngrad");
    assert_string_equal(text_nearest("THR", text_list_name, names), "threshold");
    check(!text_nearest("te", text_list_name, names));
    static const char *const sketches[] = {"countsketch", "countmin", "entry", "ternary", "entr", NULL};
    assert_string_equal(text_nearest("count", text_list_name, sketches), "countsketch");
    assert_string_equal(text_nearest("ent", text_list_name, sketches), "entry");
    assert_string_equal(text_nearest("entr", text_list_name, sketches), "entr");
    assert_string_equal(text_nearest("ternary", text_list_name, sketches), "ternary");
    char longest[300];
    memset(longest, 'q', sizeof longest);
    longest[sizeof longest - 1] = 0;
    check(!text_nearest(longest, text_list_name, names));
}

TEST(globs_treat_dots_and_slashes_alike)
{
    static const char *const yes[][2] = {{"*", ""},
                                         {"*", "a/b.c"},
                                         {"conv1.weight", "conv1/weight"},
                                         {"*.weight", "layer1/0.conv/weight"},
                                         {"l?yer[0-9]*", "layer12"},
                                         {"[!a]b", "cb"},
                                         {"[]]", "]"},
                                         {"a**b", "ab"},
                                         {"*a*a*", "banana"},
                                         {"[a-c]", "b"},
                                         {"[a-]", "-"},
                                         {"\\[*\\]\\*", "['a'][0]*"}};
    static const char *const no[][2] = {
        {"", "a"},       {"a", ""},     {"?", ""},      {"conv", "conv1"},
        {"[!a]b", "ab"}, {"*x", "abc"}, {"[a-c]", "d"}, {"conv1.weight", "conv1-weight"},
        {"[", "a"},      {"\\*", "a"},  {"\\[a\\]", "a"}};
    for (size_t i = 0; i < countof(yes); i++)
        check(text_glob(yes[i][0], yes[i][1]));
    for (size_t i = 0; i < countof(no); i++)
        check(!text_glob(no[i][0], no[i][1]));
}

TEST(a_glob_of_stars_is_no_bomb)
{
    char name[4001];
    memset(name, 'a', 4000);
    name[4000] = 0;
    /* a matcher that tries every position for every star would take years */
    check(!text_glob("*a*a*a*a*a*a*a*a*a*a*a*a*b", name));
}

TEST(texts_grow)
{
    Arena *a = arena_open(0);
    TextBuf t = {.arena = a}, empty = {.arena = a};
    char expected[30001] = "";
    size_t used = 0;
    for (int i = 0; i < 3000; i++) {
        text_addf(&t, "%d,", i);
        used += (size_t)sprintf(expected + used, "%d,", i);
    }
    /* `expected` is longer than the fixed buffer in which `text_addf` formats short texts */
    text_addf(&t, "%s", expected);
    check(strlen(text_done(&t)) == 2 * used);
    check(!memcmp(t.data, expected, used) && !memcmp(t.data + used, expected, used));
    assert_string_equal(text_done(&empty), "");
    arena_close(a);
}

TEST(a_text_without_memory_says_so_once)
{
    Arena *a = arena_open(4096);
    TextBuf t = {.arena = a};
    for (int i = 0; i < 1000; i++)
        text_add(&t, "more than there is room for");
    check(t.failed && !text_done(&t));
    arena_close(a);
}

TEST(characters_that_steer_a_terminal_are_replaced)
{
    static const char *const pairs[][2] = {
        {"", ""},
        {"conv1.weight", "conv1.weight"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"a\x1b[2J\nb\x7f", "a?[2J?b?"},
        /* U+009B (CSI) is one control character of two bytes */
        {"\xc2\x9b"
         "x",
         "?x"},
        {"a\xe2\x80\xae"
         "b\xe2\x81\xa6\xe2\x81\xa9",
         "a?b??"}, /* U+202E, U+2066, U+2069 */
        /* U+061C, U+200B, U+2028 and U+FEFF, which are invisible */
        {"\xd8\x9c\xe2\x80\x8b\xe2\x80\xa8\xef\xbb\xbf", "????"},
        {"\xe2\x80\xad", "?"},
        {"\xe2\x80\x90", "\xe2\x80\x90"}, /* U+2010, a hyphen */
        {"\xff"
         "a\xe2\x80",
         "?a??"},
    };
    for (size_t i = 0; i < countof(pairs); i++) {
        char text[32];
        strcpy(text, pairs[i][0]);
        text_make_printable(text);
        assert_string_equal(text, pairs[i][1]);
    }
}

CHECK_ALL(NULL, NULL)
