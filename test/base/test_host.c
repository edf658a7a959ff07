/* test_host.c -- values in the system's text files are found by key and separator, and so is the least limit on
 * memory. */
#include "base/host.c"
#include "rig/scratch_dir.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>

TEST(values_are_found_by_key_and_separator)
{
    static const char text[] = "inactive_file 4096\nactive_file 8192\nMemFree:  12 kB\nNAME=\"a b\"\n";
    const char *path = in_scratch("stat");
    Arena *a = arena_open(0);
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

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info, (void)type, (void)at;
    return remove(path);
}

static int remove_root(void **state)
{
    return nftw(in_scratch("root"), remove_one, 8, FTW_DEPTH | FTW_PHYS) && errno != ENOENT;
}

#define GROUPS "root/sys/fs/cgroup/"

static void memory_is(uint64_t bytes)
{
    char root[PATH_MAX];
    snprintf(root, sizeof root, "%s", in_scratch("root"));
    assert_int_equal(host_memory_under(root), bytes);
}

TEST_BETWEEN(the_least_limit_of_the_groups_is_the_memory, NULL, remove_root)
{
    put("root/proc/self/cgroup", "4:memory:/elsewhere\n0::/outer/inner\n");
    const uint64_t machine = host_memory_under("/nonexistent");
    memory_is(machine); /* no limit can be read */
    put(GROUPS "outer/inner/memory.max", "max\n");
    memory_is(machine);
    put(GROUPS "outer/inner/memory.max", "100000\n");
    memory_is(100000);
    put(GROUPS "outer/memory.max", "200000\n");
    memory_is(100000);
    put(GROUPS "outer/memory.max", "6000\n");
    memory_is(6000);
    put(GROUPS "memory.max", "5000\n");
    memory_is(5000);
    put("root/proc/self/cgroup", "0::/\n"); /* as in a container */
    put(GROUPS "memory.max", "4000\n");
    memory_is(4000);
    put(GROUPS "memory.max", "9223372036854771712\n");
    memory_is(machine);
}

CHECK_ALL(scratch_open, scratch_close)
