/* confine.c -- limits on a child process; see confine.h. */
#include "base/confine.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void set_limit(int which, uint64_t soft)
{
    struct rlimit limit;
    if (getrlimit(which, &limit))
        return;
    limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
    setrlimit(which, &limit);
}

/* Closes all descriptors behind the standard ones except the `count` of fd. */
static void close_others(const int *fd, size_t count)
{
    unsigned from = 3;
    for (size_t done = 0; done <= count; done++) {
        unsigned next = ~0u;
        for (size_t i = 0; i < count; i++)
            next = (unsigned)fd[i] >= from && (unsigned)fd[i] < next ? (unsigned)fd[i] : next;
        if (next > from)
            close_range(from, next == ~0u ? next : next - 1, 0);
        if (next == ~0u)
            return;
        from = next + 1;
    }
}

/* Moving all out of the way first takes `count` numbers behind the last that is wanted: a limit of 7 files is enough for
 * two. */
void confine_keep(const int *fd, size_t count)
{
    enum { MOST = 4 };
    int high[MOST];
    bool kept = count <= MOST;
    close_others(fd, count);
    for (size_t i = 0; kept && i < count; i++)
        kept = (high[i] = fcntl(fd[i], F_DUPFD, CONFINE_FD + (int)count)) >= 0;
    for (size_t i = 0; kept && i < count; i++)
        kept = dup2(high[i], CONFINE_FD + (int)i) >= 0;
    kept = kept && !close_range(CONFINE_FD + (unsigned)count, ~0u, 0);
    const int null = kept ? open("/dev/null", O_RDWR) : -1;
    if (null < 0)
        _exit(CONFINE_NO_FILES);
    for (int i = 0; i < CONFINE_FD; i++)
        dup2(null, i);
    close(null);
}

uint64_t confine_space(void)
{
    char text[64] = "";
    const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    const ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    return size > 0 ? strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

void confine_start(void)
{
    static const int plain[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGXCPU, SIGALRM};
    for (size_t i = 0; i < countof(plain); i++)
        signal(plain[i], SIG_DFL);
    signal(SIGINT, SIG_IGN); /* the parent process decides when this one ends */
    signal(SIGTERM, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_FSIZE, 0);
}

void confine_memory(uint64_t used, uint64_t more)
{
    if (used)
        set_limit(RLIMIT_AS, used + more);
}

void confine_seconds(uint64_t seconds)
{
    struct timespec used = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    set_limit(RLIMIT_CPU, (uint64_t)used.tv_sec + seconds + 1);
}

void confine_files(void)
{
    set_limit(RLIMIT_NOFILE, 0);
}
