/* test_journal.c -- journals (files with the records of a run, one per line). A run must be resumed from a
 * journal cut at any byte. Journals of other runs and malformed lines must be refused. */
#include "rig/check.h"
#include "report/report_journal.h"

#include <errno.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char folder[] = "/tmp/atomo-journal.XXXXXX", output[64], path[80];

static int open_folder(void **state)
{
    *state = arena_open(0);
    strcpy(folder, "/tmp/atomo-journal.XXXXXX");
    check(mkdtemp(folder) != NULL);
    snprintf(output, sizeof output, "%s/r.csv", folder);
    snprintf(path, sizeof path, "%s.journal", output);
    return 0;
}

static int close_folder(void **state)
{
    unlink(path);
    unlink(output);
    rmdir(folder);
    arena_close(*state);
    return 0;
}

static const char *version = "atomo-records/7";
static int64_t dumped = 123;
static bool timed;

static Status begin(Journal *j, const char *to, bool resume, int64_t seed, Arena *a, Error *err)
{
    const Fact settings[] = {{"journal", value_text(version)},
                             {"time of the dump", value_int(dumped)},
                             {"--seed", value_int(seed)},
                             {"measured times", value_bool(timed)},
                             {"step", value_none()}};
    return journal_open(j, to, resume, settings, countof(settings), a, err);
}

static const Column columns[] = {{.name = "place"}, {.name = "tensor"}, {.name = "shape"},
                                 {.name = "mse"},   {.name = "on"},     {.name = "error"}};

static const Shape shape = {.rank = 2, .dim = {3, 4}, .n = 12};

static void make_row(int64_t i, Value row[6])
{
    row[0] = value_int(i);
    row[1] = value_text("conv1/\"weight\"\n\xc3\xa9");
    row[2] = value_shape(&shape);
    row[3] = value_real(0.1 * (double)i);
    row[4] = value_bool(i % 2);
    row[5] = value_none();
}

/* Returns the journal's length in bytes. */
static size_t write_journal(Arena *a)
{
    Journal j;
    Error err;
    struct stat now;
    check_ok(begin(&j, output, false, 1, a, &err), &err);
    for (int64_t i = 0; i < 3; i++) {
        Value row[6];
        make_row(i, row);
        check_ok(journal_add(&j, report_json_row(columns, 6, row, a), a, &err), &err);
    }
    journal_close(&j);
    check(stat(path, &now) == 0);
    return (size_t)now.st_size;
}

static void check_record(const Json *record, int64_t i, Arena *a)
{
    Error err;
    Value row[6], expected[6];
    make_row(i, expected);
    check_ok(journal_row(record, columns, 6, row, a, &err), &err);
    check(row[0].whole == i && row[3].type != VALUE_NONE && row[4].on == expected[4].on);
    check((row[3].type == VALUE_REAL ? row[3].real : (double)row[3].whole) == expected[3].real);
    assert_string_equal(row[1].text, expected[1].text);
    check(row[2].shape->rank == 2 && row[2].shape->dim[1] == 4 && row[2].shape->n == 12);
    check(row[5].type == VALUE_NONE);
}

static void records_come_back_as_they_were(void **state)
{
    Journal j;
    Error err;
    write_journal(*state);
    check_ok(begin(&j, output, true, 1, *state, &err), &err);
    check(j.old_count == 3);
    for (int64_t i = 0; i < 3; i++)
        check_record(j.old[i], i, *state);
    journal_remove(&j);
    check(access(path, F_OK) != 0);
}

/* The journal is cut at each byte in turn. The complete lines must be read, and an incomplete last line must
 * be dropped. A new record must begin on a new line. */
static void a_torn_last_line_is_dropped(void **state)
{
    Arena *a = *state;
    const size_t size = write_journal(a);
    char *whole = NEW(a, char, size);
    FILE *f = fopen(path, "rb");
    check(fread(whole, 1, size, f) == size);
    fclose(f);
    for (size_t cut = 0; cut <= size; cut++) {
        const ArenaMark mark = arena_mark(a);
        size_t lines = 0;
        for (size_t i = 0; i < cut; i++)
            lines += whole[i] == '\n';
        f = fopen(path, "wb");
        fwrite(whole, 1, cut, f);
        fclose(f);
        Journal j;
        Error err;
        check_ok(begin(&j, output, true, 1, a, &err), &err);
        check(j.old_count == (lines ? lines - 1 : 0));
        check_ok(journal_add(&j, "{\"place\": 9}", a, &err), &err);
        journal_close(&j);
        check_ok(begin(&j, output, true, 1, a, &err), &err);
        check(j.old_count == (lines ? lines : 1) && json_member(j.old[j.old_count - 1], "place")->whole == 9);
        journal_close(&j);
        arena_rewind(a, mark);
    }
}

/* A refused run has not changed the journal of write_journal. */
static void check_unchanged(Arena *a)
{
    Journal j;
    Error err;
    check_ok(begin(&j, output, true, 1, a, &err), &err);
    check(j.old_count == 3);
    journal_close(&j);
}

static void another_runs_journal_is_not_taken_up(void **state)
{
    Journal j;
    Error err;
    write_journal(*state);
    check(begin(&j, output, true, 2, *state, &err) == ERR_USAGE);
    check(strstr(err.text, "was begun with --seed 1, but this command runs with --seed 2") != NULL);
    check(strstr(err.hint, "run the command with --seed 1, or remove ") && strstr(err.hint, path));
    journal_close(&j);
    dumped = 124; /* no option brings the old dump back */
    check(begin(&j, output, true, 1, *state, &err) == ERR_USAGE);
    dumped = 123;
    check(strstr(err.text, "was begun with time of the dump 123, but") != NULL);
    check(!strncmp(err.hint, "remove ", 7) && strstr(err.hint, path));
    journal_close(&j);
    timed = true; /* --metrics decides */
    check(begin(&j, output, true, 1, *state, &err) == ERR_USAGE);
    timed = false;
    check(strstr(err.text, "was begun without measured times, but this command runs with measured times"));
    check(strstr(err.hint, "--metrics and --sort ") && strstr(err.hint, path));
    journal_close(&j);
    check_unchanged(*state);
}

/* The version is compared first: other versions may name the settings otherwise. */
static void a_journal_of_another_version_is_refused(void **state)
{
    Journal j;
    Error err;
    write_journal(*state);
    version = "atomo-records/8";
    check(begin(&j, output, true, 2, *state, &err) == ERR_USAGE);
    version = "atomo-records/7";
    check(strstr(err.text,
                 "journal atomo-records/7 of another version or command, which cannot be resumed, want ") !=
          NULL);
    check(!strncmp(err.hint, "remove ", 7) && strstr(err.hint, path));
    journal_close(&j);
    check_unchanged(*state);
}

static void without_resume_records_are_refused(void **state)
{
    Journal j;
    Error err;
    write_journal(*state);
    check(begin(&j, output, false, 1, *state, &err) == ERR_USAGE);
    check(strstr(err.text, "has 3 records of a run that did not end") && strstr(err.hint, "--resume"));
    journal_close(&j);
    check_unchanged(*state);
}

static void damaged_lines_are_named(void **state)
{
    Journal j;
    Error err;
    write_journal(*state);
    FILE *f = fopen(path, "ab");
    fputs("{\"place\": 1,}\n{\"place\": 2}\n", f);
    fclose(f);
    check(begin(&j, output, true, 1, *state, &err) == ERR_CORRUPT);
    check(strstr(err.text, "r.csv.journal: line 5: JSON, byte ") != NULL);
    journal_close(&j);
}

static void records_that_no_run_wrote_are_refused(void **state)
{
    Error err;
    Value row[6];
    static const char *const texts[] = {"{\"shape\": [1, \"2\"]}", "{\"shape\": [-1]}", "{\"shape\": [1.5]}",
                                        "{\"shape\": [1,1,1,1,1,1,1,1,1]}",
                                        "{\"shape\": [4294967296, 4294967296]}"};
    for (size_t i = 0; i < countof(texts); i++) {
        const Json *v;
        check_ok(json_read(&v, texts[i], strlen(texts[i]), *state, &err), &err);
        check(journal_row(v, columns, 6, row, *state, &err) == ERR_CORRUPT);
    }
}

static void nothing_is_kept_beside_what_is_no_file(void **state)
{
    Journal j;
    Error err;
    static const char *const outputs[] = {NULL, "/dev/null", "/tmp"};
    for (size_t i = 0; i < countof(outputs); i++) {
        check_ok(begin(&j, outputs[i], false, 1, *state, &err), &err);
        check(j.path == NULL);
        check_ok(journal_add(&j, "{}", *state, &err), &err);
        journal_remove(&j);
    }
}

static void two_runs_do_not_share_a_journal(void **state)
{
    Journal first, second;
    Error err;
    check_ok(begin(&first, output, false, 1, *state, &err), &err);
    check(begin(&second, output, true, 1, *state, &err) == ERR_IO);
    check(strstr(err.text, "another run is at work") != NULL);
    journal_close(&second);
    journal_close(&first);
}

/* Replaces the C library's flock. If `no_locks` is set, it fails as on a file system without locks. If `run_ends` is
 * set, a run that ends removes the journal before, and if `run_begins` is set, another run then creates its own. */
static bool no_locks, run_ends, run_begins;
int flock(int fd, int operation)
{
    if (run_ends)
        unlink(path);
    if (run_begins)
        close(open(path, O_RDWR | O_CREAT, 0666));
    run_ends = run_begins = false;
    if (!no_locks)
        return (int)syscall(SYS_flock, fd, operation);
    errno = ENOLCK;
    return -1;
}

static void a_file_system_without_locks_is_no_hindrance(void **state)
{
    Journal j;
    Error err;
    no_locks = true;
    const Status status = begin(&j, output, false, 1, *state, &err);
    no_locks = false;
    check_ok(status, &err);
    journal_close(&j);
}

static void a_journal_that_a_run_has_just_removed_is_begun_again(void **state)
{
    Journal j;
    Error err;
    for (int begins = 0; begins < 2; begins++) {
        write_journal(*state);
        run_ends = true;
        run_begins = begins;
        check_ok(begin(&j, output, false, 1, *state, &err), &err);
        check_ok(journal_add(&j, "{}", *state, &err), &err);
        journal_close(&j);
        check_ok(begin(&j, output, true, 1, *state, &err), &err);
        check(j.old_count == 1);
        journal_remove(&j);
    }
}

static void check_untouched(const char *content)
{
    char found[64] = "";
    FILE *f = fopen(output, "rb");
    check(f != NULL);
    found[fread(found, 1, sizeof found - 1, f)] = 0;
    fclose(f);
    assert_string_equal(found, content);
}

/* A journal that is a symbolic link is refused, as the link might lead to any file of the user. */
static void symbolic_links_are_not_followed(void **state)
{
    static const char precious[] = "{\"journal\": \"atomo-records/1\"}\n";
    Journal j;
    Error err;
    FILE *f = fopen(output, "wb");
    fputs(precious, f);
    fclose(f);
    check(symlink(output, path) == 0);
    for (int resume = 0; resume < 2; resume++) {
        check(begin(&j, output, resume, 1, *state, &err) == ERR_IO);
        check(strstr(err.text, "r.csv.journal: is a symbolic link") && *err.hint);
        journal_close(&j);
        check_untouched(precious);
    }
    unlink(path);
    check(symlink("/nonexistent/x", path) == 0);
    check(begin(&j, output, false, 1, *state, &err) == ERR_IO);
    journal_close(&j);
}

/* Files of other programs are refused and left unchanged. Pipes are refused too, as their content cannot be
 * checked. */
static void a_file_that_is_no_journal_is_refused(void **state)
{
    static const char *const texts[] = {"a diary\n", "{\"journal\": \"of mine\"}\n", "x", "{\"file\": 1}\n"};
    Journal j;
    Error err;
    for (size_t i = 0; i < countof(texts); i++)
        for (int resume = 0; resume < 2; resume++) {
            FILE *f = fopen(path, "wb");
            fputs(texts[i], f);
            fclose(f);
            check(begin(&j, output, resume, 1, *state, &err) == ERR_IO);
            check(strstr(err.text, "r.csv.journal: is no journal") && *err.hint);
            journal_close(&j);
            check(rename(path, output) == 0);
            check_untouched(texts[i]);
            unlink(output);
        }
    check(mkfifo(path, 0600) == 0);
    check(begin(&j, output, false, 1, *state, &err) == ERR_IO);
    check(strstr(err.text, "is no regular file") != NULL);
    journal_close(&j);
}

/* Replaces the C library's fdatasync: counts its calls and fails with sync_error. */
static int syncs, sync_error;
int fdatasync(int fd)
{
    (void)fd;
    syncs++;
    errno = sync_error;
    return sync_error ? -1 : 0;
}

static void lines_reach_the_disk(void **state)
{
    Journal j;
    Error err;
    syncs = 0;
    check_ok(begin(&j, output, false, 1, *state, &err), &err);
    check(syncs == 1);
    j.synced -= 2; /* as if two seconds had passed since the journal was last synced to the disk */
    check_ok(journal_add(&j, "{}", *state, &err), &err);
    check(syncs == 2);
    check_ok(journal_add(&j, "{}", *state, &err), &err);
    sync_error = EIO;
    const Status failed = journal_sync(&j, &err);
    sync_error = EINVAL;
    const Status none = journal_sync(&j, &err);
    sync_error = 0;
    check(failed == ERR_IO && none == OK);
    syncs = 0;
    journal_close(&j);
    check(syncs == 1);
}

static void a_journal_whose_first_line_cannot_be_kept_is_removed(void **state)
{
    Journal j;
    Error err;
    sync_error = EIO;
    const Status failed = begin(&j, output, false, 1, *state, &err);
    journal_close(&j);
    sync_error = 0;
    check(failed == ERR_IO && access(path, F_OK) != 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_folder, close_folder)

static const struct CMUnitTest tests[] = {
    TEST(records_come_back_as_they_were),
    TEST(a_torn_last_line_is_dropped),
    TEST(another_runs_journal_is_not_taken_up),
    TEST(a_journal_of_another_version_is_refused),
    TEST(without_resume_records_are_refused),
    TEST(damaged_lines_are_named),
    TEST(records_that_no_run_wrote_are_refused),
    TEST(nothing_is_kept_beside_what_is_no_file),
    TEST(two_runs_do_not_share_a_journal),
    TEST(symbolic_links_are_not_followed),
    TEST(a_file_that_is_no_journal_is_refused),
    TEST(lines_reach_the_disk),
    TEST(a_journal_whose_first_line_cannot_be_kept_is_removed),
    TEST(a_file_system_without_locks_is_no_hindrance),
    TEST(a_journal_that_a_run_has_just_removed_is_begun_again),
};

CHECK_MAIN(tests)
