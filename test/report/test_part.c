/* test_part.c -- FILE.part, the finished records of a run. A run must go on from a file that is cut at any byte, and from no
 * other run's; what is no such file must stay as it is. */
#include "rig/check.h"
#include "rig/scratch_dir.h"
#include "report/report_part.h"
#include "report/report_stored.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static Error err;
static char output[400], path[420];

static int open_folder(void **state)
{
    check(scratch_open(state) == 0);
    *state = arena_open(0);
    snprintf(output, sizeof output, "%s", in_scratch("r.csv"));
    snprintf(path, sizeof path, "%s.part", output);
    return 0;
}

static int close_folder(void **state)
{
    arena_close(*state);
    return scratch_close(state);
}
#define IN_FOLDER(test) TEST_BETWEEN(test, open_folder, close_folder)

static Status begin(Part *p, bool resume, int64_t seed, Arena *a)
{
    const Fact settings[] = {{"part", value_text("atomo-compare/1")}, {"--seed", value_int(seed)}};
    const PartSpec spec = {.output = output,
                           .resume = resume,
                           .lasting = true,
                           .command = "atomo-bench compare g.h5",
                           .setting = settings,
                           .settings = countof(settings)};
    return part_open(p, &spec, a, &err);
}

/* A run of three records that is killed. */
static char *killed_run(size_t *size, Arena *a)
{
    Part p;
    check_ok(begin(&p, false, 1, a), &err);
    check_ok(part_add(&p, "{\"tensor\": \"a\\n\\\"b\", \"mse\": 0.5, \"part_row\": 0, \"sums\": \"1 2\"}", a, &err), &err);
    check_ok(part_add(&p, "{\"tensor\": \"c\", \"mse\": null, \"part_row\": 1}", a, &err), &err);
    check_ok(part_add(&p, "{\"tensor\": \"*\", \"mse\": 0.25, \"part_row\": 2}", a, &err), &err);
    close(p.fd);
    return (char *)file_load(path, size);
}

static size_t lines_in(const char *data, size_t size, size_t *end)
{
    size_t lines = 0;
    *end = 0;
    for (size_t i = 0; i < size; i++)
        if (data[i] == '\n') {
            lines++;
            *end = i + 1;
        }
    return lines;
}

static off_t size_of(const char *file)
{
    struct stat now;
    return stat(file, &now) ? -1 : now.st_size;
}

/* The file ends after any of its bytes, with or without bytes behind that power's loss has left as zeros. */
IN_FOLDER(a_run_goes_on_after_the_last_whole_line)
{
    Arena *a = *state;
    Part p;
    Stored s;
    size_t size, end;
    char *whole = killed_run(&size, a), *torn = calloc(size + 1, 1);
    for (size_t cut = 0; cut <= size; cut++)
        for (size_t zeros = 0; zeros < 2 && cut + zeros <= size && (cut || !zeros); zeros++) {
            const size_t lines = lines_in(whole, cut, &end), records = lines ? lines - 1 : 0;
            memset(torn, 0, size);
            memcpy(torn, whole, cut);
            file_save(path, torn, zeros ? size : cut);
            const bool read = stored_load(&s, path, a, &err) == OK && s.whole && lines;
            check(read == (lines > 0) && (!read || s.table.rows == records));
            check(records < 2 || (!strcmp(csv_cell(&s.table, 0, "tensor"), "a\n\"b") && s.table.columns == 2));
            if (zeros && !lines)
                continue;
            check_ok(begin(&p, true, 1, a), &err);
            check(p.count == records && (!records || size_of(path) == (off_t)end));
            check_ok(part_add(&p, "{\"tensor\": \"d\", \"mse\": 1, \"part_row\": 3}", a, &err), &err);
            part_close(&p);
            check_ok(begin(&p, true, 1, a), &err);
            check(p.count == records + 1 && !strcmp(json_member(p.record[records], "tensor")->text, "d"));
            part_remove(&p);
            check(access(path, F_OK) != 0);
        }
    free(torn);
    free(whole);
}

IN_FOLDER(records_can_be_dropped_from_the_end)
{
    Part p;
    size_t size;
    free(killed_run(&size, *state));
    check_ok(begin(&p, true, 1, *state), &err);
    check_ok(part_keep(&p, 1, &err), &err);
    check_ok(part_add(&p, "{\"tensor\": \"d\"}", *state, &err), &err);
    part_close(&p);
    check_ok(begin(&p, true, 1, *state), &err);
    check(p.count == 2 && !strcmp(json_member(p.record[1], "tensor")->text, "d"));
    part_close(&p);
}

static void check_refused(Status want, const char *text, const char *hint, bool resume, int64_t seed, Arena *a)
{
    size_t size, later;
    Part p;
    uint8_t *before = file_load(path, &size);
    check(begin(&p, resume, seed, a) == want);
    check(strstr(err.text, text) && strstr(err.hint, hint));
    part_close(&p);
    uint8_t *after = file_load(path, &later);
    check(size == later && !memcmp(before, after, size));
    free(before);
    free(after);
}

IN_FOLDER(records_are_not_overwritten_unless_asked)
{
    Arena *a = *state;
    Part p;
    size_t size;
    free(killed_run(&size, a));
    check_refused(ERR_USAGE, "has 3 records of a run that did not end; to continue it: atomo-bench compare g.h5 --resume",
                  "atomo-bench compare g.h5 --force", false, 1, a);
    for (int resume = 0; resume < 2; resume++)
        check_refused(ERR_USAGE, "another run: --seed (1 there, 2 here)", "atomo-bench compare g.h5 --force", resume, 2, a);
    const Fact setting = {"part", value_text("atomo-run/1")};
    const PartSpec forced = {.output = output, .force = true, .command = "", .setting = &setting, .settings = 1};
    check_ok(part_open(&p, &forced, a, &err), &err);
    check(p.count == 0 && !part_has_records(&p));
    part_close(&p);
    check(access(path, F_OK) != 0);
}

IN_FOLDER(differences_are_named_where_they_begin)
{
    static const char *const is[] = {"{\"a\": 1, \"b\": true, \"c\": null, \"d\": \"\", \"e\": 2}",
                                     "{\"a\": 2, \"b\": false, \"c\": \"x\", \"d\": null}"};
    char text[2][200];
    const Json *v[2], *w[2];
    for (int i = 0; i < 2; i++) {
        snprintf(text[i], sizeof text[i], "{\"-c\": \"%0120d %s\"}", 0, i ? "topk:k=2" : "topk:k=1");
        check_ok(json_read(&v[i], is[i], strlen(is[i]), *state, &err), &err);
        check_ok(json_read(&w[i], text[i], strlen(text[i]), *state, &err), &err);
    }
    assert_string_equal(part_difference(v[0], v[1], *state), "a (1 there, 2 here), b (yes there, no here), c (none there, x here)");
    assert_string_equal(part_difference(v[0], v[0], *state), "");
    assert_string_equal(part_difference(w[0], w[1], *state), "-c (...topk:k=1 there, ...topk:k=2 here)");
}

IN_FOLDER(two_runs_do_not_share_a_file)
{
    Part p, q;
    check_ok(begin(&p, false, 1, *state), &err);
    check(begin(&q, true, 1, *state) == ERR_IO && strstr(err.text, "another run is at work"));
    part_close(&q);
    check(access(path, F_OK) == 0);
    part_close(&p);
    check_ok(begin(&q, true, 1, *state), &err);
    part_close(&q);
}

IN_FOLDER(what_is_no_such_file_stays_as_it_is)
{
    Part p;
    for (int resume = 0; resume < 2; resume++) {
        file_save(path, "my own text\n", 12);
        check_refused(ERR_IO, "want a file of records or none", "another -o FILE", resume, 1, *state);
        file_save(path, "{\"schema\": 1}\n", 14);
        check_refused(ERR_IO, "want a file of records or none", "another -o FILE", resume, 1, *state);
        unlink(path);
        file_save(in_scratch("mine"), "precious", 8);
        check(symlink("mine", path) == 0);
        check_refused(ERR_IO, "is a symbolic link", "another -o FILE", resume, 1, *state);
        unlink(path);
        check(mkfifo(path, 0600) == 0 && begin(&p, resume, 1, *state) == ERR_IO && strstr(err.text, "no regular file"));
        part_close(&p);
        check(unlink(path) == 0);
    }
}

IN_FOLDER(nothing_is_kept_beside_what_is_no_file)
{
    const char *const places[] = {"/dev/null", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", in_scratch("pipe")};
    Part p;
    check(mkfifo(places[4], 0600) == 0);
    for (size_t i = 0; i < countof(places); i++) {
        const Fact setting = {"part", value_text("atomo-run/1")};
        const PartSpec spec = {.output = places[i], .command = "", .setting = &setting, .settings = 1};
        check_ok(part_open(&p, &spec, *state, &err), &err);
        check(!p.path && part_add(&p, "{}", *state, &err) == OK && !part_has_records(&p) && !part_ended(places[i], NULL));
        part_close(&p);
    }
}

IN_FOLDER(a_run_has_ended_where_only_its_file_is_left)
{
    Part p;
    char input[400];
    snprintf(input, sizeof input, "%s", in_scratch("g.h5"));
    file_save(input, "x", 1);
    check(!part_ended(output, NULL));
    file_save(output, "", 0);
    check(!part_ended(output, NULL));
    file_save(output, "record\n", 7);
    check(part_ended(output, NULL) && part_ended(output, input) && !part_ended(output, in_scratch("none")));
    const struct timespec later[2] = {{.tv_sec = 4000000000}, {.tv_sec = 4000000000}};
    check(utimensat(AT_FDCWD, input, later, 0) == 0 && !part_ended(output, input));
    check_ok(begin(&p, true, 1, *state), &err);
    check(!part_ended(output, NULL));
    part_close(&p);
    check(part_ended(output, NULL));
}

CHECK_ALL(NULL, NULL)
