/* test_power_loss.c -- a comparison on a computer that loses power.
 *
 * A comparison runs once. Functions of this file replace the C library's functions that change files, and
 * record every change. Then the test builds the folders that a loss of power after each change may leave, and
 * continues the run in each of them.
 *
 * Bytes that were written since the last sync of their file may be lost or not, each write by itself; the last
 * one may be cut in half. Lost bytes in front of bytes that were not lost read as 0. Changes of names in the
 * folder since its last sync may be lost or not, each by itself. */
#include "rig/check.h"
#include "rig/scratch_dir.h"

#include "report/report_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* from the program atomo-bench */
int bench_compare(int argc, char **argv);
int bench_synth(int argc, char **argv);

enum { FILES = 8, NAMES = 4, WRITES = 40, CHANGES = 6, SIZE = 1 << 16 };

/* ---- the disk: what is on it for certain, and what may be ---- */

typedef struct {
    size_t size;
    char bytes[SIZE];
} Content;

/* A change of a file's bytes. truncates: sets the size to `at`; else writes `size` bytes at `at`. */
typedef struct {
    size_t at, size;
    bool truncates;
    char *bytes;
} Write;

typedef struct {
    ino_t inode;
    Content synced;
    Write write[WRITES]; /* changes since the last sync */
    size_t writes;
} File;

/* A change of the folder. Sets `name` to a file, or to no file (-1), and removes the name `from` (-1: none). */
typedef struct {
    int name, file, from;
} Change;

static struct {
    bool recording;
    File file[FILES];
    int files;
    char name[NAMES][64];
    int names;
    int synced[NAMES]; /* the file of each name; -1: none */
    Change change[CHANGES];
    int changes; /* since the last sync of the folder */
    int calls;
} disk;

static void note_state(void); /* called after each change */

static int name_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (int i = 0; i < disk.names; i++)
        if (!strcmp(disk.name[i], name))
            return i;
    check(disk.names < NAMES && strlen(name) < sizeof disk.name[0]);
    strcpy(disk.name[disk.names], name);
    disk.synced[disk.names] = -1;
    return disk.names++;
}

static bool in_folder(int fd)
{
    char link[64], path[400];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t size = readlink(link, path, sizeof path - 1);
    return size > 0 && !strncmp(path, scratch_dir, strlen(scratch_dir));
}

/* Returns the number of a file of the folder that is open; -1: another file. */
static int file_of(int fd)
{
    struct stat now;
    if (!disk.recording || fstat(fd, &now) || !S_ISREG(now.st_mode) || !in_folder(fd))
        return -1;
    for (int i = 0; i < disk.files; i++)
        if (disk.file[i].inode == now.st_ino)
            return i;
    check(disk.files < FILES);
    disk.file[disk.files] = (File){.inode = now.st_ino};
    return disk.files++;
}

static void add_write(File *f, Write w, const void *bytes)
{
    check(f->writes < WRITES && w.at + w.size <= SIZE);
    w.bytes = malloc(w.size + 1);
    memcpy(w.bytes, bytes, w.size);
    f->write[f->writes++] = w;
    note_state();
}

static void apply(Content *c, const Write *w, size_t size)
{
    const size_t end = w->at + size;
    if (w->truncates || end > c->size) {
        if (end > c->size)
            memset(c->bytes + c->size, 0, end - c->size);
        c->size = end;
    }
    memcpy(c->bytes + w->at, w->bytes, size);
}

static Content newest(const File *f)
{
    Content c = f->synced;
    for (size_t i = 0; i < f->writes; i++)
        apply(&c, &f->write[i], f->write[i].size);
    return c;
}

/* Records bytes that the C library's streams have written by themselves. */
static void see_streams(int fd)
{
    static Content is;
    const int k = file_of(fd);
    char path[64];
    if (k < 0)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const int again = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
    const ssize_t size = again < 0 ? -1 : pread(again, is.bytes, SIZE, 0);
    syscall(SYS_close, again);
    check(size >= 0 && size < SIZE);
    is.size = (size_t)size;
    const Content was = newest(&disk.file[k]);
    if (was.size != is.size || memcmp(was.bytes, is.bytes, is.size))
        add_write(&disk.file[k], (Write){.size = is.size, .truncates = true}, is.bytes);
}

static void change_names(const char *name, int file, const char *from)
{
    check(disk.changes < CHANGES);
    disk.change[disk.changes++] = (Change){name_of(name), file, from ? name_of(from) : -1};
    note_state();
}

/* ---- the functions that change files ---- */

ssize_t write(int fd, const void *from, size_t size)
{
    const int k = file_of(fd);
    const off_t at = lseek(fd, 0, SEEK_CUR);
    const ssize_t done = syscall(SYS_write, fd, from, size);
    if (k >= 0 && done > 0)
        add_write(&disk.file[k], (Write){.at = (size_t)at, .size = (size_t)done}, from);
    return done;
}

int ftruncate(int fd, off_t size)
{
    const int k = file_of(fd), done = (int)syscall(SYS_ftruncate, fd, size);
    if (k >= 0 && !done)
        add_write(&disk.file[k], (Write){.at = (size_t)size, .truncates = true}, "");
    return done;
}

static int sync_as(long call, int fd)
{
    struct stat now;
    see_streams(fd);
    const int k = file_of(fd), done = (int)syscall(call, fd);
    if (k >= 0) {
        disk.file[k].synced = newest(&disk.file[k]);
        disk.file[k].writes = 0;
    } else if (disk.recording && !fstat(fd, &now) && S_ISDIR(now.st_mode) && in_folder(fd)) {
        for (int i = 0; i < disk.changes; i++) {
            if (disk.change[i].from >= 0)
                disk.synced[disk.change[i].from] = -1;
            disk.synced[disk.change[i].name] = disk.change[i].file;
        }
        disk.changes = 0;
    }
    note_state();
    return done;
}

int fsync(int fd)
{
    return sync_as(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return sync_as(SYS_fdatasync, fd);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    const bool is_new = flags & O_CREAT && access(path, F_OK);
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    const int k = fd < 0 ? -1 : file_of(fd);
    if (k >= 0 && is_new)
        change_names(path, k, NULL);
    return fd;
}

static int file_at(const char *path)
{
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
    if (fd < 0)
        return -1;
    see_streams(fd);
    const int k = file_of(fd);
    syscall(SYS_close, fd);
    return k;
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
    const int k = file_at(from), done = (int)syscall(SYS_linkat, a, from, b, to, flags);
    if (k >= 0 && !done)
        change_names(to, k, NULL);
    return done;
}

int rename(const char *from, const char *to)
{
    const int k = file_at(from), done = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (k >= 0 && !done)
        change_names(to, k, from);
    return done;
}

int unlink(const char *path)
{
    const int k = file_at(path), done = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (k >= 0 && !done)
        change_names(path, -1, NULL);
    return done;
}

/* Every reading of the clock is a quarter of a second after the one before, so that the journal is synced after some
 * lines, and not after others. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    const int done = (int)syscall(SYS_clock_gettime, clock, now);
    if (disk.recording)
        now->tv_sec += disk.calls++ / 4;
    return done;
}

/* ---- the states that a loss of power may leave ---- */

typedef struct {
    bool there;
    Content content;
} Entry;

typedef struct {
    Entry entry[NAMES];
    size_t records; /* the records of the journal that were on the disk for certain */
} State;

static State *states;
static size_t state_count;

/* Sets c to one of the contents that file f may have. Returns false if there is no content of number `k`. */
static bool content_of(const File *f, size_t k, Content *c)
{
    const size_t w = f->writes, left_out = k - 2 * w - 1;
    *c = f->synced;
    if (k <= w) { /* the first k writes */
        for (size_t i = 0; i < k; i++)
            apply(c, &f->write[i], f->write[i].size);
    } else if (k <= 2 * w) { /* the first k - w writes, the last of them cut in half */
        for (size_t i = 0; i < k - w; i++)
            apply(c, &f->write[i], f->write[i].size / (i + 1 < k - w ? 1 : 2));
    } else if (k <= 3 * w) { /* all writes but one */
        for (size_t i = 0; i < w; i++)
            if (i != left_out)
                apply(c, &f->write[i], f->write[i].size);
    } else if (k == 3 * w + 1) { /* the size without the bytes */
        const Content all = newest(f);
        if (all.size > c->size)
            memset(c->bytes + c->size, 0, all.size - c->size);
        c->size = all.size;
    } else {
        return false;
    }
    return true;
}

static bool same_state(const State *a, const State *b)
{
    for (int i = 0; i < NAMES; i++)
        if (a->entry[i].there != b->entry[i].there || a->entry[i].content.size != b->entry[i].content.size ||
            memcmp(a->entry[i].content.bytes, b->entry[i].content.bytes, a->entry[i].content.size))
            return false;
    return true;
}

static void keep_state(const State *s)
{
    for (size_t i = 0; i < state_count; i++)
        if (same_state(&states[i], s)) {
            if (states[i].records < s->records)
                states[i].records = s->records;
            return;
        }
    states = realloc(states, (state_count + 1) * sizeof *states);
    check(states != NULL);
    states[state_count++] = *s;
}

static size_t lines_of(const Content *c)
{
    size_t lines = 0;
    for (size_t i = 0; i < c->size; i++)
        lines += c->bytes[i] == '\n';
    return lines;
}

/* Keeps the states in which the names belong to the files `file`, from name number `i` on. */
static void keep_contents(State *s, const int file[NAMES], int i)
{
    if (i == disk.names) {
        keep_state(s);
        return;
    }
    s->entry[i] = (Entry){.there = file[i] >= 0};
    if (file[i] < 0) {
        keep_contents(s, file, i + 1);
        return;
    }
    for (size_t k = 0; content_of(&disk.file[file[i]], k, &s->entry[i].content); k++)
        keep_contents(s, file, i + 1);
}

static size_t records_for_certain(void)
{
    const int journal = name_of("r.csv.journal");
    int file = disk.synced[journal];
    for (int i = 0; i < disk.changes; i++)
        if (disk.change[i].name == journal && disk.change[i].file >= 0)
            file = disk.change[i].file; /* its name must have been synced before its records */
    const size_t lines = file < 0 ? 0 : lines_of(&disk.file[file].synced);
    return lines ? lines - 1 : 0;
}

static void note_state(void)
{
    static State s;
    if (!disk.recording)
        return;
    for (unsigned lost = 0; lost < 1u << disk.changes; lost++) {
        int file[NAMES];
        memcpy(file, disk.synced, sizeof file);
        for (int i = 0; i < disk.changes; i++)
            if (!(lost >> i & 1)) {
                if (disk.change[i].from >= 0)
                    file[disk.change[i].from] = -1;
                file[disk.change[i].name] = disk.change[i].file;
            }
        memset(&s, 0, sizeof s);
        s.records = records_for_certain();
        keep_contents(&s, file, 0);
    }
}

/* ---- the run, and its continuations ---- */

static char dump[400];

/* Runs the command in its own process, and returns its exit code. */
static int run_in_child(int (*command)(int, char **), char *const argv[])
{
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        const int quiet = open("/dev/null", O_WRONLY);
        dup2(quiet, 1);
        dup2(quiet, 2);
        int words = 0;
        while (argv[words])
            words++;
        _exit(command(words, (char **)argv));
    }
    check(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

#define COMPARE(...)                                                                                         \
    ((char *[]){"compare", dump, "-c", "qsgd", "-c", "ef+topk:ratio=0.1", "--repeats", "2", "--metrics",     \
                "bytes,mse", "--threads", "1", "-q", "-o", "r.csv", __VA_ARGS__, NULL})

static Content load(const char *name)
{
    Content c = {0};
    size_t size;
    uint8_t *bytes = file_load(in_scratch(name), &size);
    check(size < SIZE);
    memcpy(c.bytes, bytes, size);
    c.size = size;
    free(bytes);
    return c;
}

static bool same(const Content *a, const Content *b)
{
    return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

/* Returns the number of records that --resume finds in the journal. */
static size_t records_found(void)
{
    Arena *a = arena_open(0);
    Error err;
    Journal j;
    const Fact settings[] = {{"journal", value_text("atomo-records/2")}};
    check_ok(journal_open(&j, in_scratch("r.csv"), true, settings, 1, a, &err), &err);
    const size_t found = j.old_count;
    journal_close(&j);
    arena_close(a);
    return found;
}

static void build(const State *s)
{
    scratch_files(true);
    for (int i = 0; i < disk.names; i++)
        if (s->entry[i].there)
            file_save(in_scratch(disk.name[i]), s->entry[i].content.bytes, s->entry[i].content.size);
}

static void check_state(const State *s, const Content *old, const Content *new)
{
    build(s);
    Content result = load("r.csv");
    check(same(&result, old) || same(&result, new));
    if (same(&result, old))
        check(records_found() >= s->records);
    build(s); /* `records_found` may have changed the journal */
    check(run_in_child(bench_compare, COMPARE("--resume")) == 0);
    result = load("r.csv");
    check(same(&result, new));
    check(access(in_scratch("r.csv.journal"), F_OK) != 0);
}

static void records_and_results_survive_a_loss_of_power(void **state)
{
    (void)state;
    char here[400];
    size_t most = 0;
    check(getcwd(here, sizeof here) && chdir(scratch_dir) == 0);
    snprintf(dump, sizeof dump, "%s.h5", scratch_dir);
    check(run_in_child(bench_synth, (char *[]){"synth", "--shape", "20x12", "--shape", "6", "--steps", "2",
                                               "-q", "-o", dump, NULL}) == 0);
    check(run_in_child(bench_compare, COMPARE("--seed", "2")) == 0);
    const Content old = load("r.csv");
    disk.recording = true;
    const int name = name_of("r.csv"), journal = name_of("r.csv.journal"), file = file_at("r.csv");
    check(journal != name && file >= 0);
    disk.synced[name] = file;
    disk.file[file].synced = old;
    disk.file[file].writes = state_count = 0;
    char *const *const words = COMPARE("--resume");
    int count = 0;
    while (words[count])
        count++;
    const int code = bench_compare(count, (char **)words);
    disk.recording = false;
    check(code == 0);
    const Content new = load("r.csv");
    check(!same(&old, &new));
    for (size_t i = 0; i < state_count; i++) {
        most = states[i].records > most ? states[i].records : most;
        check_state(&states[i], &old, &new);
    }
    print_message("%zu states, with up to %zu records on the disk for certain\n", state_count, most);
    check(state_count > 50 && most >= 4);
    unlink(dump);
    check(chdir(here) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(records_and_results_survive_a_loss_of_power, scratch_open,
                                        scratch_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
