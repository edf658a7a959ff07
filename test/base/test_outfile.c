/* test_outfile.c -- a writer that is killed between naming a finished file and renaming it leaves a temporary file,
 * which the next write of the same target removes. Files of living writers and of others stay. A large file goes to the
 * disk in pieces. The test replaces linkat, rename, fsync and sync_file_range of the C library, to stop at these
 * calls, to count them and to let them fail. */
#include "base/outfile.h"
#include "base/text.h"
#include "rig/calls.h"
#include "rig/scratch_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void (*at_rename)(const char *from); /* called before a file is renamed, unless NULL */
static bool killed_after_linkat;

int linkat(int a, const char *from, int b, const char *to, int flags)
{
    const int done = (int)syscall(SYS_linkat, a, from, b, to, flags);
    if (killed_after_linkat)
        kill(getpid(), SIGKILL);
    return done;
}

int rename(const char *from, const char *to)
{
    if (at_rename)
        at_rename(from);
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static struct {
    off_t synced;      /* bytes that have been waited for, from the first on */
    off_t largest;     /* bytes of the longest wait */
    int fsyncs, error; /* error: errno of the second wait */
} disk;

int sync_file_range(int fd, off64_t from, off64_t size, unsigned flags)
{
    (void)fd;
    if (!(flags & SYNC_FILE_RANGE_WAIT_AFTER))
        return 0;
    if (disk.error && disk.synced) {
        errno = disk.error;
        return -1;
    }
    disk.largest = size > disk.largest ? size : disk.largest;
    disk.synced += from == disk.synced ? size : 0;
    return 0;
}

int fsync(int fd)
{
    disk.fsyncs++;
    return (int)syscall(SYS_fsync, fd);
}

/* ---- helpers ---- */

typedef Status Opening(OutFile *f, const char *path, Arena *a, Error *err);

static void write_out(Opening *opening, const char *text)
{
    Arena *a = arena_open(0);
    Error err = {0};
    OutFile f;
    check(opening(&f, in_scratch("out"), a, &err) == OK);
    outfile_bytes(&f, text, strlen(text));
    check(outfile_commit(&f, &err) == OK);
    arena_close(a);
}

static void assert_out(const char *want)
{
    size_t size;
    char *got = (char *)file_load(in_scratch("out"), &size);
    got[size] = 0;
    assert_string_equal(got, want);
    free(got);
}

static void die(const char *from)
{
    (void)from;
    kill(getpid(), SIGKILL);
}

/* Runs write_out in a process that is killed when it renames the file or, `early`, when it has named it. */
static void write_killed(Opening *opening, bool early)
{
    int how;
    const pid_t child = fork();
    if (!child) {
        at_rename = die;
        killed_after_linkat = early;
        write_out(opening, "killed");
        _exit(0);
    }
    check(waitpid(child, &how, 0) == child && WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
}

static pid_t dead_pid(void)
{
    const pid_t child = fork();
    if (!child)
        _exit(0);
    check(waitpid(child, NULL, 0) == child);
    return child;
}

static const char *temporary_of(const char *stem, pid_t pid, const char *end)
{
    char name[200];
    snprintf(name, sizeof name, ".%s.%ld%s", stem, (long)pid, end);
    return in_scratch(name);
}

static bool exists(const char *path)
{
    return !faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* Returns true where files without a name exist. */
static bool has_nameless(void)
{
    const int fd = open(scratch_dir, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    return fd >= 0 && !close(fd);
}

/* ---- tests ---- */

static void a_new_file_gets_its_name_in_one_call(void **state)
{
    (void)state;
    if (!has_nameless()) {
        print_message("skip: /tmp has no files without a name\n");
        return;
    }
    write_killed(outfile_open, true);
    assert_int_equal(scratch_files(false), 1);
    assert_out("killed");
    scratch_files(true);
}

static void what_a_killed_writer_left_is_removed_by_the_next_write(void **state)
{
    Opening *const openings[] = {outfile_open, outfile_open_named};
    (void)state;
    for (size_t i = 0; i < countof(openings); i++) {
        write_out(openings[i], "before");
        write_killed(openings[i], false);
        write_killed(openings[i], false);
        assert_int_equal(scratch_files(false), 2); /* the second write has removed the first's */
        assert_out("before");
        write_out(openings[i], "after");
        assert_int_equal(scratch_files(false), 1);
        assert_out("after");
        scratch_files(true);
    }
}

static void files_of_others_are_kept(void **state)
{
    const pid_t dead = dead_pid();
    const char *const kept[] = {"-0.tmpx", "-0.tmp.gz", "-x.tmp", "-00.tmp", ".tmp", "-0"};
    (void)state;
    for (size_t i = 0; i < countof(kept); i++)
        file_save(temporary_of("out", dead, kept[i]), "", 0);
    file_save(temporary_of("outer", dead, "-0.tmp"), "", 0);
    file_save(temporary_of("out", getppid(), "-0.tmp"), "", 0); /* that process lives */
    check(symlink("out", temporary_of("out", dead, "-1.tmp")) == 0);
    check(mkdir(temporary_of("out", dead, "-2.tmp"), 0700) == 0);
    check(mkfifo(temporary_of("out", dead, "-3.tmp"), 0600) == 0);
    file_save(temporary_of("out", dead, "-4.tmp"), "", 0);
    file_save(temporary_of("out", dead, "-5.tmp"), "", 0);
    const int locked = open(temporary_of("out", dead, "-5.tmp"), O_RDONLY | O_CLOEXEC);
    check(locked >= 0 && !flock(locked, LOCK_EX | LOCK_NB));
    const int all = scratch_files(false);
    file_save(in_scratch("out"), "", 0);
    write_out(outfile_open, "after");
    assert_false(exists(temporary_of("out", dead, "-4.tmp"))); /* the only one without an owner */
    assert_int_equal(scratch_files(false), all);
    close(locked);
    write_out(outfile_open, "after");
    assert_false(exists(temporary_of("out", dead, "-5.tmp")));
    check(rmdir(temporary_of("out", dead, "-2.tmp")) == 0);
    scratch_files(true);
}

static void files_that_this_process_writes_are_kept(void **state)
{
    Arena *a = arena_open(0);
    Error err = {0};
    OutFile f;
    (void)state;
    check(outfile_open_named(&f, in_scratch("out"), a, &err) == OK); /* takes no lock */
    write_out(outfile_open_named, "second");
    outfile_bytes(&f, "first", 5);
    assert_int_equal(outfile_commit(&f, &err), OK);
    assert_out("first");
    assert_int_equal(scratch_files(true), 1);
    arena_close(a);
}

static int locked_then;

static void note_lock(const char *from)
{
    const int fd = open(from, O_RDONLY | O_CLOEXEC);
    locked_then = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    close(fd);
}

static void a_writer_holds_a_lock_until_its_file_is_renamed(void **state)
{
    (void)state;
    file_save(in_scratch("out"), "before", 6);
    locked_then = -1;
    at_rename = note_lock;
    write_out(outfile_open, "after");
    at_rename = NULL;
    assert_int_equal(locked_then, true);
    assert_out("after");
    scratch_files(true);
}

static _Atomic pid_t stopper; /* the thread that stops the process; 0: not started yet */

static void *stop_process(void *unused)
{
    stopper = gettid();
    outfile_abandon_all();
    _exit(0);
    return unused;
}

/* Returns true if the thread waits, as for a lock. */
static bool sleeps(pid_t thread)
{
    char path[64], text[200] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    FILE *f = fopen(path, "r");
    check(f && fgets(text, sizeof text, f));
    fclose(f);
    return strstr(text, ") S ") != NULL;
}

static void stop_meanwhile(const char *from)
{
    pthread_t thread;
    (void)from;
    check(pthread_create(&thread, NULL, stop_process, NULL) == 0);
    while (!stopper || !sleeps(stopper))
        usleep(1000);
}

static void a_process_that_stops_first_renames_a_finished_file(void **state)
{
    int how;
    (void)state;
    file_save(in_scratch("out"), "before", 6);
    const pid_t child = fork();
    if (!child) {
        at_rename = stop_meanwhile;
        write_out(outfile_open, "after");
        pause();
    }
    check(waitpid(child, &how, 0) == child && WIFEXITED(how) && WEXITSTATUS(how) == 0);
    assert_int_equal(scratch_files(false), 1);
    assert_out("after");
    scratch_files(true);
}

static void a_file_that_appeared_meanwhile_is_replaced(void **state)
{
    Arena *a = arena_open(0);
    Error err = {0};
    OutFile f;
    (void)state;
    check(outfile_open(&f, in_scratch("out"), a, &err) == OK);
    outfile_bytes(&f, "after", 5);
    file_save(in_scratch("out"), "before", 6);
    assert_int_equal(outfile_commit(&f, &err), OK);
    assert_out("after");
    assert_int_equal(scratch_files(true), 1);
    arena_close(a);
}

/* A signal is handled between two calls, so a call for gigabytes would delay a stop. */
static void many_bytes_are_written_in_pieces(void **state)
{
    (void)state;
    enum { SIZE = 30000001, CALLS = 3 };
    Arena *a = arena_open(0);
    Error err;
    size_t size;
    uint8_t *data = NEW(a, uint8_t, SIZE);
    check(data != NULL);
    for (size_t i = 0; i < SIZE; i++)
        data[i] = (uint8_t)(i % 251);
    const long before = calls_made().writes;
    check_ok(outfile_save(in_scratch("large"), data, SIZE, a, &err), &err);
    check(before < 0 || calls_made().writes - before > CALLS);
    uint8_t *again = file_load(in_scratch("large"), &size);
    check(size == SIZE && !memcmp(again, data, SIZE));
    free(again);
    unlink(in_scratch("large"));
    arena_close(a);
}

/* A process ends only after the system call that it is in, so one fsync of gigabytes would delay a stop. */
static void a_large_file_goes_to_the_disk_in_pieces(void **state)
{
    (void)state;
    enum { SIZE = 30000001, PIECE = 8 << 20 };
    static const struct {
        int error;
        bool good;
        int fsyncs;
    } cases[] = {{0, true, 2},       {EIO, false, 0},   {ENOSPC, false, 0},
                 {EDQUOT, false, 0}, {ENOSYS, true, 2}, {EINVAL, true, 2}};
    Arena *a = arena_open(0);
    uint8_t *data = NEW_ZERO(a, uint8_t, SIZE);
    check(data != NULL);
    for (size_t i = 0; i < countof(cases); i++) {
        Error err;
        memset(&disk, 0, sizeof disk);
        write_out(outfile_open, "before");
        check(disk.synced == 0); /* a small file has one piece, which fsync writes */
        memset(&disk, 0, sizeof disk);
        disk.error = cases[i].error;
        const Status status = outfile_save(in_scratch("out"), data, SIZE, a, &err);
        check((status == OK) == cases[i].good);
        check(disk.fsyncs == cases[i].fsyncs); /* of the file and of its folder */
        check(disk.largest <= PIECE);
        if (!disk.error)
            check(disk.synced < SIZE && SIZE - disk.synced <= PIECE);
        if (!cases[i].good)
            assert_out("before");
    }
    unlink(in_scratch("out"));
    arena_close(a);
}

/* ext4 would write its bytes to the disk first. Every open descriptor is one of a file that is about to be closed. */
static void an_abandoned_file_is_emptied_before_it_is_closed(void **state)
{
    (void)state;
    Arena *a = arena_open(0);
    Error err;
    OutFile f;
    struct stat now;
    int ended;
    check_ok(outfile_open_named(&f, in_scratch("out"), a, &err), &err);
    const int other = open(f.temporary, O_WRONLY | O_CLOEXEC);
    check(write(other, "bytes", 5) == 5);
    outfile_empty(&f);
    check(!fstat(other, &now) && now.st_size == 0);
    check(write(other, "bytes", 5) == 5);
    const pid_t child = fork();
    if (!child) {
        outfile_abandon_all();
        _exit(0);
    }
    check(waitpid(child, &ended, 0) == child && !ended);
    check(!fstat(other, &now) && now.st_size == 0 && now.st_nlink == 0);
    outfile_abandon(&f);
    close(other);
    check(access(in_scratch("out"), F_OK));
    arena_close(a);
}

/* Someone else may have put a link in the place of the temporary file. */
static void emptying_spares_what_a_link_leads_to(void **state)
{
    (void)state;
    static int (*const links[])(const char *from, const char *to) = {symlink, link};
    Arena *a = arena_open(0);
    Error err;
    OutFile f;
    size_t size;
    for (size_t i = 0; i < countof(links); i++) {
        file_save(in_scratch("precious"), "bytes", 5);
        const char *precious = text_copy(a, in_scratch("precious"));
        check_ok(outfile_open_named(&f, in_scratch("out"), a, &err), &err);
        unlink(f.temporary);
        check(!links[i](precious, f.temporary));
        outfile_empty(&f);
        outfile_abandon(&f);
        free(file_load(precious, &size));
        check(size == 5);
        unlink(precious);
    }
    arena_close(a);
}

static int namings;

static void see_naming(void)
{
    assert_out("before");
    namings++;
}

/* Here a program ends the part of its work in which a stop may say that nothing was written. */
static void a_finished_file_is_announced_before_it_gets_its_name(void **state)
{
    (void)state;
    write_out(outfile_open, "before");
    outfile_naming = see_naming;
    write_out(outfile_open, "after");
    outfile_naming = NULL;
    check(namings == 1);
    assert_out("after");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_file_gets_its_name_in_one_call),
        cmocka_unit_test(what_a_killed_writer_left_is_removed_by_the_next_write),
        cmocka_unit_test(files_of_others_are_kept),
        cmocka_unit_test(files_that_this_process_writes_are_kept),
        cmocka_unit_test(a_writer_holds_a_lock_until_its_file_is_renamed),
        cmocka_unit_test(a_process_that_stops_first_renames_a_finished_file),
        cmocka_unit_test(many_bytes_are_written_in_pieces),
        cmocka_unit_test(a_large_file_goes_to_the_disk_in_pieces),
        cmocka_unit_test(an_abandoned_file_is_emptied_before_it_is_closed),
        cmocka_unit_test(emptying_spares_what_a_link_leads_to),
        cmocka_unit_test(a_finished_file_is_announced_before_it_gets_its_name),
        cmocka_unit_test(a_file_that_appeared_meanwhile_is_replaced),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close) ? 1 : 0;
}
