/* test_host.c -- values in the system's text files are found by key and separator, and so is the least limit on
 * memory. */
#include "base/host.h"
#include "rig/scratch_dir.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>

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

/* Makes one file of a false root folder, with its folders. */
static void put(const char *path, const char *text)
{
    char at[PATH_MAX];
    assert_in_range(snprintf(at, sizeof at, "%s", in_scratch(path)), 1, sizeof at - 1);
    for (char *slash = strchr(at + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        check(mkdir(at, 0700) == 0 || errno == EEXIST);
        *slash = '/';
    }
    file_save(at, text, strlen(text));
}

static HostRoom room_in_root(void)
{
    char root[PATH_MAX];
    snprintf(root, sizeof root, "%s", in_scratch("root"));
    return host_room_under(root);
}

#define GROUPS "root/sys/fs/cgroup/"
static const char by_group[] = "the memory limit of its control group";

/* a machine with 1 MiB of memory and 64 KiB of swap space; the process is in the group /outer/inner */
static void put_machine(void)
{
    put("root/proc/meminfo", "MemTotal: 4096 kB\nMemAvailable:  1024 kB\nSwapFree: 64 kB\n");
    put("root/proc/self/status", "VmSize: 4 kB\n");
    put("root/proc/self/cgroup", "4:memory:/elsewhere\n0::/outer/inner\n");
    put(GROUPS "outer/memory.max", "max\n");
    put(GROUPS "outer/memory.current", "5000\n");
    put(GROUPS "outer/inner/memory.max", "max\n");
    put(GROUPS "outer/inner/memory.current", "5000\n");
    put(GROUPS "outer/inner/memory.stat", "anon 3000\ninactive_file 1500\nactive_file 500\n");
    put(GROUPS "outer/inner/memory.swap.max", "0\n");
}

/* A limit on address space can be the least one; the tests of groups then show nothing. */
static bool address_space_is_limited(void)
{
    struct rlimit space;
    const bool limited = getrlimit(RLIMIT_AS, &space) || space.rlim_cur != RLIM_INFINITY;
    if (limited)
        print_message("skip: limits of control groups, because address space is limited (ulimit -v)\n");
    return limited;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info, (void)type, (void)at;
    return remove(path);
}

static int remove_root(void **state)
{
    (void)state;
    return nftw(in_scratch("root"), remove_one, 8, FTW_DEPTH | FTW_PHYS) && errno != ENOENT;
}

static void room_is(uint64_t bytes, const char *by)
{
    const HostRoom room = room_in_root();
    assert_int_equal(room.bytes, bytes);
    assert_string_equal(room.by, by);
}

static void the_least_limit_of_a_group_is_the_room(void **state)
{
    (void)state;
    if (address_space_is_limited())
        return;
    put_machine();
    room_is((1024 + 64) * 1024, "this machine");
    put(GROUPS "outer/inner/memory.max", "100000\n");
    room_is(100000 - (5000 - 2000), by_group); /* cached pages do not count */
    put(GROUPS "outer/inner/memory.swap.max", "7000\n");
    room_is(100000 - 3000 + 7000, by_group);
    put(GROUPS "outer/inner/memory.swap.max", "max\n"); /* no more than the machine's free swap space */
    room_is(100000 - 3000 + 64 * 1024, by_group);
    /* the group that contains it has the lower limit, and no memory.stat */
    put(GROUPS "outer/memory.max", "6000\n");
    put(GROUPS "outer/memory.swap.max", "0\n");
    room_is(1000, by_group);
    put(GROUPS "outer/memory.max", "4000\n"); /* the group is over its limit */
    room_is(0, by_group);
}

static void a_container_reads_the_root_group(void **state)
{
    (void)state;
    if (address_space_is_limited())
        return;
    put_machine();
    put("root/proc/self/cgroup", "0::/\n");
    put(GROUPS "memory.max", "50000\n");
    put(GROUPS "memory.current", "20000\n");
    put(GROUPS "memory.swap.max", "0\n");
    room_is(30000, by_group);
}

static void a_limit_of_version_1_of_control_groups_counts(void **state)
{
    (void)state;
    if (address_space_is_limited())
        return;
    put_machine();
    put(GROUPS "memory/elsewhere/memory.limit_in_bytes", "80000\n");
    put(GROUPS "memory/elsewhere/memory.usage_in_bytes", "6000\n");
    put(GROUPS "memory/elsewhere/memory.stat", "inactive_file 1000\nactive_file 0\n");
    room_is(80000 - 5000 + 64 * 1024, by_group);
    put(GROUPS "memory/memory.limit_in_bytes", "70000\n");
    put(GROUPS "memory/memory.usage_in_bytes", "0\n");
    room_is(70000 + 64 * 1024, by_group);
    put(GROUPS "memory/memory.limit_in_bytes", "9223372036854771712\n"); /* how version 1 says "none" */
    room_is(80000 - 5000 + 64 * 1024, by_group);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found_by_key_and_separator),
        cmocka_unit_test(the_room_is_positive_and_has_a_cause),
        cmocka_unit_test_teardown(the_least_limit_of_a_group_is_the_room, remove_root),
        cmocka_unit_test_teardown(a_container_reads_the_root_group, remove_root),
        cmocka_unit_test_teardown(a_limit_of_version_1_of_control_groups_counts, remove_root)};
    return cmocka_run_group_tests(tests, scratch_open, scratch_close) ? 1 : 0;
}
