/* test_cli.c -- the parser of command-line options, and the help text made from the same table of options. */
#include "rig/check.h"
#include "app/cli.h"
#include "report/report.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *const groups[] = {"tensor", "kind", "all", NULL};

/* A command with an option of every type, and the values parsed from a list of arguments. */
typedef struct {
    Arena *a;
    Error err;
    Common common;
    TextList arguments, tensors;
    TextList specs;
    bool helped, deep;
    int64_t repeats, any;
    double noise;
    const char *step;
    Bytecount memory;
    int group;
    Option options[11];
    Command command;
} Rig;

static Rig *rig_open(Rig *r)
{
    *r = (Rig){.a = arena_open(0), .repeats = 10, .noise = 0.5, .memory = {1 << 30}};
    const Option options[] = {
        OPTION('t', "tensor", "GLOB", &r->tensors, "tensors"),
        OPTION_CODEC(&r->specs, "codecs"),
        OPTION('d', "deep", NULL, &r->deep, "deep"),
        OPTION('r', "repeats", "N", &r->repeats, "repeats", .low = 1, .high = 100),
        OPTION(0, "any", "N", &r->any, "any whole number"),
        OPTION(0, "noise", "X", &r->noise, "noise", .low = 0, .high = 1),
        OPTION(0, "step", "GLOB", &r->step, "step"),
        OPTION(0, "memory", "BYTES", &r->memory, "memory"),
        OPTION(0, "group", "G", &r->group, "what is one vector", .choices = groups),
        {0},
    };
    memcpy(r->options, options, sizeof options);
    r->command =
        (Command){.program = "prog",
                  .command = "cmd",
                  .usage = "FILE",
                  .brief = "does it",
                  .details = "A paragraph that is so long that it must be broken somewhere before it comes "
                             "to its end.\n\n  kept   as it   is\n",
                  .options = r->options,
                  .common = &r->common,
                  .takes = TAKES_SEED | TAKES_THREADS | TAKES_FORMAT | TAKES_OUTPUT,
                  .arguments_max = 2};
    return r;
}

static Status parse(Rig *r, const char *const *words)
{
    char *argv[32] = {(char[]){"cmd"}};
    int argc = 1;
    for (; words[argc - 1]; argc++)
        argv[argc] = text_copy(r->a, words[argc - 1]);
    return cli_parse(&r->command, argc, argv, &r->arguments, &r->helped, r->a, &r->err);
}
#define PARSE(r, ...) parse(r, (const char *const[]){__VA_ARGS__, NULL})

TEST(values_come_in_every_gnu_form)
{
    Rig r;
    check_ok(PARSE(rig_open(&r), "in", "--repeats", "7", "--noise=1", "-ta*", "-t", "b", "--tensor=c=d",
                   "--group=all", "--memory", "2G", "--step", "-5", "-dqr9", "--any=-3", "out"),
             &r.err);
    check(r.repeats == 9 && r.noise == 1 && r.group == 2 && r.memory.bytes == 2ull << 30 && r.any == -3);
    check(r.deep && r.common.quiet);
    assert_string_equal(r.step, "-5");
    assert_int_equal(r.tensors.count, 3);
    assert_string_equal(r.tensors.item[0], "a*");
    assert_string_equal(r.tensors.item[2], "c=d");
    assert_int_equal(r.arguments.count, 2);
    assert_string_equal(r.arguments.item[1], "out");
    arena_close(r.a);
}

TEST(an_alias_is_the_same_option)
{
    Rig r;
    check_ok(PARSE(rig_open(&r), "-c", "a", "--codec", "b", "--compressor=c", "--compressor", "d"), &r.err);
    assert_int_equal(r.specs.count, 4);
    assert_string_equal(r.specs.item[2], "c");
    assert_string_equal(r.specs.item[3], "d");
    arena_close(r.a);
    check(PARSE(rig_open(&r), "--compresso", "a") == ERR_USAGE);
    arena_close(r.a);
}

TEST(two_dashes_end_the_options_and_one_is_an_argument)
{
    Rig r;
    check_ok(PARSE(rig_open(&r), "-", "--", "--repeats"), &r.err);
    assert_int_equal(r.arguments.count, 2);
    assert_string_equal(r.arguments.item[0], "-");
    assert_string_equal(r.arguments.item[1], "--repeats");
    arena_close(r.a);
}

TEST(common_options_have_their_defaults)
{
    Rig r;
    check_ok(PARSE(rig_open(&r), "x"), &r.err);
    check(r.common.seed == 1 && r.common.threads >= 1 && r.common.format == 0 && !r.common.output);
    arena_close(r.a);
    check_ok(PARSE(rig_open(&r), "--seed=0", "--threads=3", "-f", "json", "-oout.json", "--format=csv",
                   "--color=never"),
             &r.err);
    check(r.common.seed == 0 && r.common.threads == 3 && r.common.format == 1);
    check(r.common.color == 2);
    assert_string_equal(r.common.output, "out.json");
    arena_close(r.a);
}

/* The working folder of the test. A folder named a.csv in it cannot be overwritten by the option -o. */
static char folder[] = "/tmp/atomo-cli.XXXXXX";

static int enter_folder(void **state)
{
    return mkdtemp(folder) && chdir(folder) == 0 && mkdir("a.csv", 0700) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    /* rmdir fails if a test left a file in the folder */
    return rmdir("a.csv") || chdir("/") || rmdir(folder);
}

TEST_BETWEEN(the_ending_of_a_file_names_the_format_unless_an_option_does, enter_folder, leave_folder)
{
    static const struct {
        const char *path, *format;
    } rows[] = {{"a.csv/b.csv", "csv"}, {"b.json", "json"},       {"b.md", "md"},    {"b.tex", "latex"},
                {"b.txt", "table"},     {"/dev/stdout", "table"}, {".csv", "table"}, {"a.csv/b", "table"}};
    static const char *const none[] = {"b.CSV", "b.csv~", "b.xls", "b.", "a.csv/a.csv.old"};
    Rig r;
    for (size_t i = 0; i < countof(rows); i++) {
        check_ok(PARSE(rig_open(&r), "x", "-o", rows[i].path), &r.err);
        assert_string_equal(report_formats[r.common.format], rows[i].format);
        arena_close(r.a);
    }
    for (size_t i = 0; i < countof(none); i++) {
        check(PARSE(rig_open(&r), "x", "-o", none[i]) == ERR_USAGE &&
              strstr(r.err.text, "no format has this ending"));
        arena_close(r.a);
        check_ok(PARSE(rig_open(&r), "x", "-o", none[i], "-fmd"), &r.err);
        assert_string_equal(report_formats[r.common.format], "md");
        arena_close(r.a);
    }
}

TEST(the_last_of_a_repeated_option_wins_and_a_list_drops_its_default)
{
    Rig r;
    rig_open(&r)->tensors = (TextList){(const char *[]){"default"}, 1};
    check_ok(PARSE(&r, "--repeats=3", "--repeats=4"), &r.err);
    check(r.repeats == 4);
    assert_string_equal(r.tensors.item[0], "default");
    check_ok(PARSE(&r, "-tx"), &r.err);
    assert_int_equal(r.tensors.count, 1);
    assert_string_equal(r.tensors.item[0], "x");
    arena_close(r.a);
}

TEST(wrong_options_say_what_is_wrong)
{
    static const struct {
        const char *words[4], *text, *hint;
    } wrong[] = {
        {{"--repaets", "3"}, "cmd: unknown option --repaets (did you mean --repeats?)", "prog cmd --help"},
        {{"--zzz"}, "cmd: unknown option --zzz", "prog cmd --help"},
        {{"--rep=3"},
         "cmd: unknown option --rep",
         /* options cannot be abbreviated, as an option added later could make an abbreviation ambiguous */
         ""},
        {{"-z"}, "cmd: unknown option -z", "prog cmd --help"},
        {{"-qz"}, "cmd: unknown option -z", ""},
        {{"--repeats"}, "cmd: --repeats: the value is missing: want N", ""},
        {{"-r"}, "cmd: -r: the value is missing: want N", ""},
        {{"--repeats="}, "cmd: --repeats : want 1 to 100", ""},
        {{"--repeats=0"}, "cmd: --repeats 0: want 1 to 100", ""},
        {{"--repeats=101"}, "want 1 to 100", ""},
        {{"--repeats=1.5"}, "want 1 to 100", ""},
        {{"--noise=nan"}, "cmd: --noise nan: want 0 to 1", ""},
        {{"--any=x"}, "cmd: --any x: want a whole number", ""},
        {{"--seed=-1"}, "cmd: --seed -1: want 0 to 9223372036854775807", ""},
        {{"--memory=lots"}, "such as 4096, 512M or 2G", ""},
        {{"--group=kinds"}, "want tensor|kind|all", "did you mean kind?"},
        {{"--deep=yes"}, "cmd: --deep takes no value", ""},
        {{"a", "b", "c"}, "cmd: \"c\" is one argument too many", "shows how it is called"},
        /* the command of this test has no option --resume */
        {{"--resume"}, "cmd: unknown option --resume", ""},
    };
    for (size_t i = 0; i < countof(wrong); i++) {
        Rig r;
        assert_int_equal(parse(rig_open(&r), wrong[i].words), ERR_USAGE);
        if (!strstr(r.err.text, wrong[i].text) || !strstr(r.err.hint, wrong[i].hint))
            print_error("\"%s\" / \"%s\": want \"%s\" / \"%s\"\n", r.err.text, r.err.hint, wrong[i].text,
                        wrong[i].hint);
        check(strstr(r.err.text, wrong[i].text) && strstr(r.err.hint, wrong[i].hint));
        arena_close(r.a);
    }
}

TEST(colour_follows_the_option_then_the_environment)
{
    check(cli_color(&(Common){.color = 1}) && !cli_color(&(Common){.color = 2}));
    setenv("TERM", "xterm", 1);
    setenv("NO_COLOR", "1", 1);
    check(!cli_color(&(Common){0}) && cli_color(&(Common){.color = 1}));
    unsetenv("NO_COLOR");
    check(cli_color(&(Common){0}) == (isatty(STDOUT_FILENO) == 1));
}

TEST(each_status_has_its_exit_code)
{
    static const int codes[][2] = {{ERR_USAGE, 2},   {ERR_IO, 1},     {ERR_CORRUPT, 1},
                                   {ERR_NUMERIC, 1}, {ERR_MEMORY, 1}, {ERR_STOPPED, 130}};
    Error err = {.text = "said by a test", .hint = ""};
    for (size_t i = 0; i < countof(codes); i++) {
        err.status = (Status)codes[i][0];
        assert_int_equal(cli_report("test", &err), codes[i][1]);
    }
}

TEST(a_first_signal_only_notes_that_it_came)
{
    cli_catch_stop();
    check(!cli_stopped());
    raise(SIGTERM);
    check(cli_stopped());
    raise(SIGTERM); /* at once: it is the same request, sent twice */
    raise(SIGHUP);
}

CHECK_ALL(NULL, NULL)
