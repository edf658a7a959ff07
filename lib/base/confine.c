/* confine.c -- sets limits on a child process that opens an untrusted file. */
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sets a resource limit of process `who` (0: the calling process); `hard`: the process cannot raise this limit
 * again. */
static void set_limit(pid_t who, unsigned which, uint64_t most, bool hard)
{
    struct rlimit limit;
    if (prlimit(who, which, NULL, &limit))
        return;
    limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
    limit.rlim_max = hard ? limit.rlim_cur : limit.rlim_max;
    prlimit(who, which, &limit, NULL);
}

/* Closes all descriptors from `first` to `last`. Returns false if the operating system cannot (Linux before 5.9). */
static bool confine_close(unsigned first, unsigned last)
{
    return !syscall(SYS_close_range, first, last, 0); /* musl has no function of its own for it */
}

static void close_others(const int *fd, size_t count)
{
    unsigned from = 3;
    for (size_t done = 0; done <= count; done++) {
        unsigned next = ~0u;
        for (size_t i = 0; i < count; i++)
            next = (unsigned)fd[i] >= from && (unsigned)fd[i] < next ? (unsigned)fd[i] : next;
        if (next > from)
            confine_close(from, next == ~0u ? next : next - 1);
        if (next == ~0u)
            return;
        from = next + 1;
    }
}

/* Moves the descriptors to the numbers CONFINE_FD, CONFINE_FD + 1, ... Copies them to unused high numbers
 * first, so that no descriptor overwrites another one. This needs `count` more descriptors for a short time. */
static void keep_only(const int *fd, size_t count)
{
    enum { MOST = 4 };
    int high[MOST];
    bool kept = count <= MOST;
    close_others(fd, count);
    for (size_t i = 0; kept && i < count; i++)
        kept = (high[i] = fcntl(fd[i], F_DUPFD, CONFINE_FD + (int)count)) >= 0;
    for (size_t i = 0; kept && i < count; i++)
        kept = dup2(high[i], CONFINE_FD + (int)i) >= 0;
    kept = kept && confine_close(CONFINE_FD + (unsigned)count, ~0u);
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

/* From now on a crash ends the process by its signal, without a handler or a core file. */
static void confine_crash(void)
{
    static const int plain[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGXCPU, SIGALRM};
    for (size_t i = 0; i < countof(plain); i++)
        signal(plain[i], SIG_DFL);
    set_limit(0, RLIMIT_CORE, 0, true);
}

void confine_begin(const int *fd, size_t count)
{
    sigset_t none;
    sigemptyset(&none);
    keep_only(fd, count);
    /* the parent process, not Ctrl-C or a signal to the group, decides when this child process ends, and the parent's
     * handlers are not for it */
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_IGN);
    confine_crash();
    sigprocmask(SIG_SETMASK, &none, NULL);
    set_limit(0, RLIMIT_FSIZE, 0, true);
    set_limit(0, RLIMIT_NPROC, 0, true);
}

static void limit_seconds(pid_t who, clockid_t clock, uint64_t seconds)
{
    struct timespec used = {0};
    clock_gettime(clock, &used);
    set_limit(who, RLIMIT_CPU, (uint64_t)used.tv_sec + seconds + 1, false);
}

static void limit_files(unsigned more)
{
    const int next = fcntl(0, F_DUPFD, 0);
    if (next >= 0)
        close(next);
    set_limit(0, RLIMIT_NOFILE, next < 0 ? 0 : (unsigned)next + more, true);
}

void confine_limit(uint64_t bytes, uint64_t seconds)
{
    const uint64_t used = confine_space(); /* opens a file */
    if (used)
        set_limit(0, RLIMIT_AS, used + bytes, false);
    limit_seconds(0, CLOCK_PROCESS_CPUTIME_ID, seconds);
    limit_files(1);
}

void confine_child(pid_t child, uint64_t most, uint64_t seconds)
{
    clockid_t clock;
    if (most)
        set_limit(child, RLIMIT_AS, most, true);
    if (!clock_getcpuclockid(child, &clock))
        limit_seconds(child, clock, seconds);
}

/* ---- system calls ----
 *
 * Restricts the process by a seccomp filter to the system calls that it needs to read
 * files. */

/* Calls that are always allowed: to read open files, exchange messages, use memory, wait, get the time or
 * random bytes, and end the process. */
static const int always[] = {
    SCMP_SYS(read),          SCMP_SYS(pread64),      SCMP_SYS(lseek),          SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),    SCMP_SYS(close),        SCMP_SYS(recvfrom),       SCMP_SYS(sendto),
    SCMP_SYS(brk),           SCMP_SYS(munmap),       SCMP_SYS(mremap),         SCMP_SYS(madvise),
    SCMP_SYS(futex),         SCMP_SYS(sched_yield),  SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
    SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(getpid),         SCMP_SYS(gettid),
    SCMP_SYS(getrandom),     SCMP_SYS(exit),         SCMP_SYS(exit_group),     SCMP_SYS(restart_syscall),
#ifdef __SANITIZE_ADDRESS__
    SCMP_SYS(sigaltstack), /* AddressSanitizer calls it when a process ends */
#endif
};

/* Calls that opening a file needs, besides open and openat. */
static const int for_opening[] = {
    SCMP_SYS(stat),     SCMP_SYS(lstat),      SCMP_SYS(access), SCMP_SYS(faccessat),
    SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(getcwd), SCMP_SYS(flock),
};

static bool allow(scmp_filter_ctx filter, const int *call, size_t count)
{
    int failed = 0;
    for (size_t i = 0; i < count; i++)
        failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, call[i], 0);
    return !failed;
}

/* Allows mapping or protecting memory without PROT_EXEC, and sending signals to this process (abort sends
 * one). */
static bool allow_checked(scmp_filter_ctx filter)
{
    const struct scmp_arg_cmp plain = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    const struct scmp_arg_cmp own = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0);
    return !seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, plain) &&
           !seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, plain) &&
           !seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, own);
}

/* Allows opening existing files for reading, and installing a second filter. */
static bool allow_opening(scmp_filter_ctx filter)
{
    enum { WRITES = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC };
    const struct scmp_arg_cmp reads_at = SCMP_A2(SCMP_CMP_MASKED_EQ, WRITES, 0);
    const struct scmp_arg_cmp reads = SCMP_A1(SCMP_CMP_MASKED_EQ, WRITES, 0);
    return allow(filter, for_opening, countof(for_opening)) &&
           !seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1, reads_at) &&
           !seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(open), 1, reads) &&
           /* system calls that install a second filter */
           !seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 0) &&
           !seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(seccomp), 0);
}

bool confine_calls(bool opens)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    const bool done = filter && allow(filter, always, countof(always)) && allow_checked(filter) &&
                      (!opens || allow_opening(filter)) && !seccomp_load(filter);
    seccomp_release(filter);
    return done;
}

bool confine_can_filter(void)
{
    return seccomp_api_get() > 0;
}
