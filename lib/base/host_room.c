/* host_room.c -- finds out how much more memory this process can take (host.h). */
#include "base/host.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Returns the number in a file that holds one number of bytes; UINT64_MAX: no such file, or no number ("max"). */
static uint64_t number_in(const char *path)
{
    char text[32] = "", *end = text;
    FILE *f = fopen(path, "re");
    const bool got = f && fgets(text, sizeof text, f);
    const uint64_t value = got ? strtoull(text, &end, 10) : 0;
    if (f)
        fclose(f);
    return end > text ? value : UINT64_MAX;
}

static uint64_t number_of(const char *path, const char *key, const char *separator, uint64_t unit,
                          uint64_t unknown, Arena *a)
{
    const char *text = host_value(path, key, separator, a);
    return text ? strtoull(text, NULL, 10) * unit : unknown;
}

static uint64_t left_of(uint64_t limit, uint64_t used)
{
    return limit > used ? limit - used : 0;
}

static void lower(HostRoom *room, uint64_t bytes, const char *by)
{
    if (bytes < room->bytes)
        *room = (HostRoom){bytes, by};
}

/* Lowers `room` to the memory that is left under the limit of a control group and of each group that contains
 * it. Cached pages of files do not count as used, because the kernel frees them first. */
static void ask_groups(HostRoom *room, const char *top, char *group, const char *most, const char *used,
                       uint64_t swap, Arena *a)
{
    for (;;) {
        const char *at = text_format(a, "%s%s/", top, group);
        const char *limit = at ? text_format(a, "%s%s", at, most) : NULL;
        const char *now = at ? text_format(a, "%s%s", at, used) : NULL;
        const char *stat = at ? text_format(a, "%smemory.stat", at) : NULL;
        const char *swap_most = at ? text_format(a, "%smemory.swap.max", at) : NULL;
        if (!limit || !now || !stat || !swap_most)
            return;
        const uint64_t bytes = number_in(limit), taken = number_in(now);
        if (bytes != UINT64_MAX && taken != UINT64_MAX) {
            const uint64_t cached =
                number_of(stat, "inactive_file", "", 1, 0, a) + number_of(stat, "active_file", "", 1, 0, a);
            const uint64_t swapped = number_in(swap_most) < swap ? number_in(swap_most) : swap;
            lower(room, left_of(bytes, left_of(taken, cached)) + swapped,
                  "the memory limit of its control group");
        }
        char *slash = strrchr(group, '/');
        if (!slash)
            return;
        *slash = 0;
    }
}

/* Does the same for version 1 of control groups. The file `member` has a line for each controller; the line
 * of the memory controller, such as "4:memory:/group", may begin with any number. */
static void ask_groups_v1(HostRoom *room, const char *member, const char *groups, uint64_t swap, Arena *a)
{
    static const char controller[] = ":memory:";
    char line[512];
    const char *top = text_format(a, "%s/memory", groups);
    FILE *f = fopen(member, "re");
    while (top && f && fgets(line, sizeof line, f)) {
        char *group = strchr(line, ':');
        if (!group || strncmp(group, controller, strlen(controller)) != 0)
            continue;
        group += strlen(controller);
        group[strcspn(group, "\n")] = 0;
        ask_groups(room, top, group, "memory.limit_in_bytes", "memory.usage_in_bytes", swap, a);
    }
    if (f)
        fclose(f);
}

HostRoom host_room_under(const char *root)
{
    Arena *a = arena_open(0);
    struct rlimit space;
    HostRoom room = {UINT64_MAX, "this machine"};
    const char *memory = text_format(a, "%s/proc/meminfo", root);
    const char *status = text_format(a, "%s/proc/self/status", root);
    const char *member = text_format(a, "%s/proc/self/cgroup", root);
    const char *groups = text_format(a, "%s/sys/fs/cgroup", root);
    if (memory && status && member && groups) {
        const uint64_t swap = number_of(memory, "SwapFree", ":", 1024, 0, a);
        const uint64_t available = number_of(memory, "MemAvailable", ":", 1024, UINT64_MAX, a);
        if (available != UINT64_MAX)
            lower(&room, available + swap, "this machine");
        const uint64_t used = number_of(status, "VmSize", ":", 1024, 0, a);
        if (!getrlimit(RLIMIT_AS, &space) && space.rlim_cur != RLIM_INFINITY)
            lower(&room, left_of(space.rlim_cur, used), "the limit on address space (ulimit -v)");
        const uint64_t data = number_of(status, "VmData", ":", 1024, 0, a);
        if (!getrlimit(RLIMIT_DATA, &space) && space.rlim_cur != RLIM_INFINITY)
            lower(&room, left_of(space.rlim_cur, data), "the limit on data (ulimit -d)");
        char *group = host_value(member, "0:", ":", a);
        if (group)
            ask_groups(&room, groups, group, "memory.max", "memory.current", swap, a);
        ask_groups_v1(&room, member, groups, swap, a);
    }
    arena_close(a);
    return room;
}

HostRoom host_room(void)
{
    return host_room_under("");
}
