/* test_confine.c -- a confined child process (confine.h) cannot use too much time or memory, or open another file. */
#include "rig/check.h"
#include "base/confine.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs `work` in a child and returns the child's exit status. */
static int ended(void (*work)(int tie))
{
    int state = 0, tie = open("/dev/zero", O_RDONLY);
    const pid_t child = fork();
    if (child == 0) {
        confine_keep(&tie, 1);
        confine_start();
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
    confine_seconds(0);
    for (volatile unsigned i = 0;; i++)
        ;
}

static void an_endless_loop_is_ended(void **state)
{
    (void)state;
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
    const uint64_t used = confine_space();
    confine_memory(used, 64 << 20);
    const bool little = map(16 << 20) != MAP_FAILED, much = map(256 << 20) != MAP_FAILED;
    confine_memory(used, 512 << 20); /* the limit may be raised again */
    const bool then = map(256 << 20) != MAP_FAILED;
    _exit(used && little && !much && then ? 7 : 8);
}

static void memory_beyond_the_limit_is_not_had(void **state)
{
    (void)state;
    const int how = ended(take_memory);
    check(WIFEXITED(how) && WEXITSTATUS(how) == 7);
}

static void open_files(int tie)
{
    char byte = 1;
    const bool kept = read(tie, &byte, 1) == 1 && byte == 0, alone = fcntl(tie + 1, F_GETFD) < 0;
    confine_files();
    const bool quiet = write(2, "cry\n", 4) == 4; /* writes to stderr are discarded */
    _exit(kept && alone && quiet && open("/dev/null", O_RDONLY) < 0 ? 7 : 8);
}

static void only_what_is_kept_stays_open_and_nothing_else_opens(void **state)
{
    (void)state;
    const int how = ended(open_files);
    check(WIFEXITED(how) && WEXITSTATUS(how) == 7);
}

static void nothing(int tie)
{
    (void)tie;
}

/* Under each limit the child has what it needs, or says that it has not. */
static void few_open_files_are_enough_or_said(void **state)
{
    (void)state;
    struct rlimit before, tight;
    check(!getrlimit(RLIMIT_NOFILE, &before));
    int least = 0;
    for (rlim_t most = 16; most >= 4; most--) {
        tight = (struct rlimit){most, before.rlim_max};
        check(!setrlimit(RLIMIT_NOFILE, &tight));
        const int how = ended(nothing);
        check(!setrlimit(RLIMIT_NOFILE, &before));
        check(WIFEXITED(how) && (WEXITSTATUS(how) == 0 || WEXITSTATUS(how) == CONFINE_NO_FILES));
        least = WEXITSTATUS(how) == 0 ? (int)most : least;
    }
    check(least <= 6 && least > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_endless_loop_is_ended),
        cmocka_unit_test(memory_beyond_the_limit_is_not_had),
        cmocka_unit_test(few_open_files_are_enough_or_said),
        cmocka_unit_test(only_what_is_kept_stays_open_and_nothing_else_opens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
