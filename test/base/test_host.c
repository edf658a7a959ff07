/* test_host.c -- values in the system's text files are found by key and separator. */
#include "base/host.h"
#include "rig/scratch_dir.h"

static void values_are_found_by_key_and_separator(void **state)
{
    static const char text[] = "inactive_file 4096\nactive_file 8192\nMemFree:  12 kB\nNAME=\"a b\"\n";
    const char *path = in_scratch("stat");
    Arena *a = arena_open(0);
    (void)state;
    file_save(path, text, strlen(text));
    assert_string_equal(host_value(path, "inactive_file", "", a), "4096");
    assert_string_equal(host_value(path, "active_file", "", a), "8192");
    assert_string_equal(host_value(path, "MemFree", ":", a), "12 kB");
    assert_string_equal(host_value(path, "NAME", "=", a), "a b");
    assert_null(host_value(path, "active_file", " ", a)); /* blanks are no separator */
    assert_null(host_value(path, "NAME", ":", a));
    assert_null(host_value(in_scratch("none"), "NAME", ":", a));
    arena_close(a);
}

static void the_room_is_positive_and_has_a_cause(void **state)
{
    (void)state;
    const HostRoom room = host_room();
    check(room.bytes > 0 && *room.by);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_are_found_by_key_and_separator),
                                       cmocka_unit_test(the_room_is_positive_and_has_a_cause)};
    return cmocka_run_group_tests(tests, scratch_open, scratch_close) ? 1 : 0;
}
