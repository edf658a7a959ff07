/* confine_calls.c -- restricts the process by a seccomp filter to the system calls that it needs to read
 * files. */
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

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
