/* test_outfile.c -- a file appears whole or not at all: it is on the disk before it gets its name, and a write that fails, is
 * killed or is abandoned leaves the older file. The test replaces rename and fsync of the C library, to stop at these calls,
 * to count them and to let them fail. */
#include "base/outfile.h"
#include "rig/scratch_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void (*at_rename)(const char *from); /* called before a file is renamed, unless NULL */
static int fsyncs, fsync_error;

int rename(const char *from, const char *to)
{
    if (at_rename)
        at_rename(from);
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int fsync(int fd)
{
    fsyncs++;
    errno = fsync_error;
    return fsync_error ? -1 : (int)syscall(SYS_fsync, fd);
}

static Status try_out(const char *text, Error *err)
{
    Arena *a = arena_open(0);
    const Status status = outfile_save(in_scratch("out"), text, strlen(text), a, err);
    arena_close(a);
    return status;
}

static void write_out(const char *text)
{
    Error err;
    check_ok(try_out(text, &err), &err);
}

static void assert_out(const char *want)
{
    size_t size;
    char *got = (char *)file_load(in_scratch("out"), &size);
    got[size] = 0;
    assert_string_equal(got, want);
    free(got);
}

static const char *own_temporary(void)
{
    char name[64];
    snprintf(name, sizeof name, ".out.%ld.tmp", (long)getpid());
    return in_scratch(name);
}

static void die(const char *from)
{
    (void)from;
    kill(getpid(), SIGKILL);
}

TEST(a_killed_writer_leaves_the_older_file_and_its_temporary_one)
{
    int how;
    write_out("before");
    const pid_t child = fork();
    if (!child) {
        at_rename = die;
        write_out("killed");
    }
    check(waitpid(child, &how, 0) == child && WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    assert_int_equal(scratch_files(false), 2);
    assert_out("before");
    scratch_files(true);
}

TEST(a_temporary_file_of_the_same_name_is_no_hindrance)
{
    file_save(in_scratch("precious"), "precious", 8);
    check(!symlink("precious", own_temporary())); /* as anyone may put it there */
    write_out("after");
    assert_out("after");
    size_t size;
    free(file_load(in_scratch("precious"), &size));
    assert_int_equal(size, 8);
    assert_int_equal(scratch_files(true), 2);
}

static void see_one_sync(const char *from)
{
    struct stat now;
    check(fsyncs == 1 && !stat(from, &now) && now.st_size == 5);
}

TEST(a_file_is_on_the_disk_before_it_gets_its_name)
{
    write_out("before");
    fsyncs = 0;
    at_rename = see_one_sync;
    write_out("after");
    at_rename = NULL;
    assert_int_equal(fsyncs, 2); /* of the file, and of its folder */
    scratch_files(true);
}

TEST(a_failure_of_the_disk_keeps_the_older_file)
{
    Error err;
    write_out("before");
    fsync_error = EIO;
    assert_int_equal(try_out("after", &err), ERR_IO);
    fsync_error = 0;
    assert_non_null(strstr(err.text, strerror(EIO)));
    assert_out("before");
    assert_int_equal(scratch_files(true), 1);
}

TEST(a_process_that_ends_removes_its_temporary_files)
{
    Arena *a = arena_open(0);
    Error err;
    OutFile f, g;
    check_ok(outfile_open(&f, in_scratch("out"), a, &err), &err);
    check_ok(outfile_open(&g, in_scratch("other"), a, &err), &err);
    check_ok(outfile_commit(&g, &err), &err);
    assert_int_equal(scratch_files(false), 2);
    outfile_abandon_all();
    assert_int_equal(scratch_files(false), 1);
    check(!access(in_scratch("other"), F_OK));
    outfile_abandon(&f);
    scratch_files(true);
    arena_close(a);
}

CHECK_ALL(scratch_open, scratch_close)
