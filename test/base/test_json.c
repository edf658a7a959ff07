/* test_json.c -- the JSON parser: the values that it returns, and the texts that it refuses. */
#include "rig/check.h"
#include "base/json.h"

static Arena *arena;
static Error err;

static int open_arena(void **state)
{
    arena = arena_open(0);
    return 0;
}

static int close_arena(void **state)
{
    arena_close(arena);
    return 0;
}
#define JSON_TEST(test) TEST_BETWEEN(test, open_arena, close_arena)

/* Parses a copy of the text, so that AddressSanitizer detects reads more than a byte past the end. */
static Status read_text(const Json **v, const char *text)
{
    const size_t size = strlen(text);
    char *exact = malloc(size + 1);
    memcpy(exact, text, size);
    const Status status = json_read(v, exact, size, arena, &err);
    free(exact);
    return status;
}

static const Json *take(const char *text)
{
    const Json *v;
    check_ok(read_text(&v, text), &err);
    return v;
}

JSON_TEST(values_of_every_kind_are_read)
{
    check(take("null")->type == JSON_NULL);
    check(take(" true ")->on && !take("false")->on && take("false")->type == JSON_BOOL);
    check(take("-1.5e-3")->number == -1.5e-3 && !take("-1.5e-3")->is_whole);
    check(take("42")->whole == 42 && take("42")->is_whole && !take("42.0")->is_whole);
    check(take("9007199254740993")->whole == 9007199254740993);
    check(take("1e308")->number == 1e308 && signbit(take("-0")->number));
    check(take("[]")->type == JSON_ARRAY && take("{}")->type == JSON_OBJECT && !take("[ ]")->first);
}

JSON_TEST(nesting_keeps_order_and_names)
{
    const Json *v = take("{\"a\": [1, [2], {\"b\": \"c\"}], \"d\" : null , \"a\": 7}");
    const Json *a = json_member(v, "a");
    check(a->type == JSON_ARRAY && a->first->whole == 1 && a->first->next->first->whole == 2);
    assert_string_equal(json_member(a->first->next->next, "b")->text, "c");
    check(json_member(v, "d")->type == JSON_NULL && !json_member(v, "e") && !json_member(a, "a"));
    check(!json_member(NULL, "a"));
}

JSON_TEST(strings_are_unescaped)
{
    assert_string_equal(take("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"")->text, "\"\\/\b\f\n\r\t");
    assert_string_equal(take("\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00\"")->text,
                        "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_string_equal(take("\"caf\xc3\xa9 \xf0\x9f\x98\x80\"")->text, "caf\xc3\xa9 \xf0\x9f\x98\x80");
    assert_string_equal(take("\"\"")->text, "");
}

JSON_TEST(what_is_not_json_is_refused)
{
    static const char *const texts[] = {
        "",
        " ",
        "nul",
        "nulls",
        "True",
        "+1",
        "01",
        "1.",
        ".5",
        "1e",
        "1e+",
        "-",
        "- 1",
        "0x10",
        "NaN",
        "Infinity",
        "-Infinity",
        "1 2",
        "[1 2]",
        "[1,]",
        "[,1]",
        "[",
        "[1",
        "]",
        "{",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":1",
        "'a'",
        "\"a",
        "\"\\\"",
        "\"\\x41\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\ud83d\"",
        "\"\\ud83d\\u0041\"",
        "\"\\ude00\"",
        "\"\\u0000\"",
        "\"\n\"",
        "\"\t\"",
        "\"\xff\"",
        "\"\xc0\x80\"",
        "\"\xed\xa0\x80\"",
        "\"\xf4\x90\x80\x80\"",
        "\"\xe2\x82\"",
        "\xef\xbb\xbf{}",
        "1e999",
        "-1e999",
        "[1]]",
        "{}{}",
        "// a",
        "[1/**/]",
        "\x01",
    };
    for (size_t i = 0; i < countof(texts); i++) {
        const Json *v;
        if (read_text(&v, texts[i]) != ERR_CORRUPT)
            print_error("taken: %s\n", texts[i]);
        check(read_text(&v, texts[i]) == ERR_CORRUPT);
    }
}

JSON_TEST(every_prefix_of_a_record_is_refused)
{
    static const char text[] =
        "{\"step\": 1, \"tensor\": \"a\\u00e9\", \"shape\": [2, 3], \"mse\": -1.5e-9, \"on\": true}";
    char cut[sizeof text];
    const Json *v;
    check_ok(read_text(&v, text), &err);
    for (size_t size = 0; size + 1 < sizeof text; size++) {
        memcpy(cut, text, size);
        cut[size] = 0;
        check(read_text(&v, cut) == ERR_CORRUPT);
    }
}

JSON_TEST(depth_and_length_are_limited)
{
    char text[500];
    const Json *v;
    memset(text, '[', 64);
    memset(text + 64, ']', 64);
    text[128] = 0;
    check_ok(read_text(&v, text), &err);
    memset(text, '[', 65);
    memset(text + 65, ']', 65);
    text[130] = 0;
    check(read_text(&v, text) == ERR_CORRUPT);
    memset(text, '1', 401);
    text[401] = 0;
    check(read_text(&v, text) == ERR_CORRUPT);
}

JSON_TEST(errors_say_where)
{
    const Json *v;
    check(read_text(&v, "{\"a\": 1, \"b\" 2}") == ERR_CORRUPT);
    assert_string_equal(err.text, "JSON, byte 13: want ':'");
}

CHECK_ALL(NULL, NULL)
