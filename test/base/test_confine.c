/* test_confine.c -- a confined child process (confine.h) cannot exceed its limits of time and memory, and
 * cannot open further files. */
#include "rig/check.h"
#include "base/confine.h"

#include <fcntl.h>
#include <signal.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs `work` in a child process and returns the child's wait status. */
static int ended(void (*work)(int tie))
{
    int state = 0, tie = open("/dev/zero", O_RDONLY);
    const pid_t child = fork();
    if (child == 0) {
        confine_begin(&tie, 1);
        work(CONFINE_FD);
        _exit(0);
    }
    check(child > 0 && waitpid(child, &state, 0) == child);
    close(tie);
    return state;
}

static void loop(int tie)
{
    (void)tie;
    confine_limit(1 << 30, 0);
    for (volatile unsigned i = 0;; i++)
        ;
}

TEST(an_endless_loop_is_ended)
{
    const int how = ended(loop);
    check(WIFSIGNALED(how) && WTERMSIG(how) == SIGXCPU);
}

static void *map(size_t size)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void take_memory(int tie)
{
    (void)tie;
    confine_limit(64 << 20, 100);
    const bool little = map(16 << 20) != MAP_FAILED, much = map(256 << 20) != MAP_FAILED;
    confine_limit(512 << 20, 100); /* a second call may raise the limit of memory */
    const bool then = map(256 << 20) != MAP_FAILED;
    _exit(little && !much && then ? 7 : 8);
}

TEST(memory_beyond_the_limit_is_not_had)
{
    const int how = ended(take_memory);
    check(WIFEXITED(how) && WEXITSTATUS(how) == 7);
}

static void open_files(int tie)
{
    char byte = 1;
    const bool kept = read(tie, &byte, 1) == 1 && byte == 0, alone = fcntl(tie + 1, F_GETFD) < 0;
    confine_limit(1 << 30, 100);
    const bool quiet = write(2, "cry\n", 4) == 4; /* a write to stderr succeeds, but its text is discarded */
    _exit(kept && alone && quiet && open("/dev/null", O_RDONLY) >= 0 && open("/dev/null", O_RDONLY) < 0 ? 7 : 8);
}

/* Returns the number of system calls that succeed although the filter must refuse them. */
static int forbidden(void)
{
    struct rlimit space;
    int allowed = 0;
    errno = 0;
    allowed += open("/dev/null", O_RDONLY) >= 0;
    allowed += open("/tmp/atomo-confined", O_WRONLY | O_CREAT, 0600) >= 0;
    allowed += socket(AF_INET, SOCK_STREAM, 0) >= 0;
    allowed += fork() >= 0;
    allowed += kill(getppid(), 0) == 0;
    allowed += syscall(SYS_tgkill, getppid(), getppid(), 0) == 0;
    allowed += mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
    allowed += getrlimit(RLIMIT_AS, &space) == 0;
    allowed += setrlimit(RLIMIT_AS, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}) == 0;
    allowed += unlink("/tmp/atomo-confined") == 0;
    execl("/bin/true", "true", (char *)NULL);
    return allowed + (errno != EPERM);
}

static void call(int tie)
{
    char byte;
    _exit(confine_calls(true) && open("/dev/null", O_RDONLY) >= 0 && open("/dev/null", O_WRONLY) < 0 &&
                  open("/dev/null", O_RDWR) < 0 && confine_calls(false) && read(tie, &byte, 1) == 1
              ? forbidden()
              : 99);
}

TEST(few_system_calls_are_left)
{
    if (!confine_can_filter())
        _skip(__FILE__, __LINE__);
    const int how = ended(call);
    check(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}

static void grow(int tie)
{
    char byte;
    confine_calls(false);
    /* the parent sends the byte 1 after it has lowered the child's memory limit */
    while (read(tie, &byte, 1) == 1 && !byte)
        ;
    _exit(mmap(NULL, 1 << 28, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? 5 : 6);
}

TEST(a_parent_limits_its_child)
{
    int ends[2], how = 0;
    check(!pipe(ends));
    const uint64_t used = confine_space();
    const pid_t child = fork();
    if (child == 0) {
        confine_begin(&ends[0], 1);
        grow(CONFINE_FD);
    }
    check(used > 0);
    confine_child(child, used + (1 << 26), 100);
    struct rlimit space, seconds;
    check(!prlimit(child, RLIMIT_AS, NULL, &space) && !prlimit(child, RLIMIT_CPU, NULL, &seconds));
    check(space.rlim_cur == used + (1 << 26) && space.rlim_max == space.rlim_cur);
    check(seconds.rlim_cur >= 100 && seconds.rlim_cur < 110);
    check(write(ends[1], "\1", 1) == 1);
    check(waitpid(child, &how, 0) == child && WIFEXITED(how) && WEXITSTATUS(how) == 5);
    close(ends[0]);
    close(ends[1]);
}

TEST(only_what_is_kept_stays_open_and_nothing_else_opens)
{
    const int how = ended(open_files);
    check(WIFEXITED(how) && WEXITSTATUS(how) == 7);
}

CHECK_ALL(NULL, NULL)
