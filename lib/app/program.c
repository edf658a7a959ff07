/* program.c -- main of a program with subcommands (cli.h): dispatch, --version, signals, exit codes. */
#include "app/cli.h"

#include "base/file.h"
#include "base/outfile.h"
#include "exchange/net.h"
#include "math/linalg.h"
#include "measure/timing.h"
#include "report/report.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char standard_output[] = "standard output"; /* all errors about stdout name it so */

int cli_report(const char *program, const Error *err)
{
    static const int codes[] = {[OK] = 0,          [ERR_USAGE] = 2,  [ERR_IO] = 1,       [ERR_CORRUPT] = 1,
                                [ERR_NUMERIC] = 1, [ERR_MEMORY] = 1, [ERR_STOPPED] = 130};
    fflush(stdout); /* finished results must come before the error message */
    fprintf(stderr, "%s: %s\n", program, err->text);
    if (*err->hint)
        fprintf(stderr, "hint: %s\n", err->hint);
    return codes[err->status];
}

int cli_run(const Command *command, int argc, char **argv,
            Status (*run)(void *options, const TextList *arguments), void *options, Arena *a, Error *err)
{
    TextList arguments;
    bool helped;
    Status status = cli_parse(command, argc, argv, &arguments, &helped, a, err);
    if (status == OK && !helped)
        status = run(options, &arguments);
    arena_close(a);
    return status == OK ? 0 : cli_report(command->program, err);
}

Status cli_meta(Fact **facts, size_t *count, const Common *common, Arena *a, Error *err)
{
    return report_meta(facts, count, (Format)common->format, common->argc, common->argv, common->seed,
                       common->threads, a, err);
}

ReportSpec cli_spec(const Common *common, const char *schema, const Fact *meta, size_t facts)
{
    return (ReportSpec){.schema = schema,
                        .meta = meta,
                        .facts = facts,
                        .format = (Format)common->format,
                        .path = common->output,
                        .say = common->quiet ? NULL : stderr,
                        .color = !common->output && cli_color(common),
                        .width = cli_width(common)};
}

Status cli_report_open(Report **out, const Common *common, const ReportSpec *spec, Arena *a, Error *err)
{
    Fact *facts;
    size_t own;
    TRY(cli_meta(&facts, &own, common, a, err));
    assert(spec->facts <= FACTS_SPARE);
    for (size_t i = 0; i < spec->facts; i++)
        facts[own + i] = spec->meta[i];
    ReportSpec whole = cli_spec(common, spec->schema, facts, own + spec->facts);
    whole.columns = spec->columns;
    whole.column_count = spec->column_count;
    return report_open(out, &whole, a, err);
}

/* ---- several ranks ---- */

Status ranks_join(Net **out, Arena *a, Error *err)
{
    TRY(net_open(out, a, err));
    return net_rank(*out) && !freopen("/dev/null", "w", stdout)
               ? FAIL(err, ERR_IO, "/dev/null: cannot open: %s", strerror(errno))
               : OK;
}

int ranks_leave(Net *n, const char *program, Status status, const Error *err)
{
    int code = status != OK;
    if (status != OK && (!n || !n->rank || !n->failed))
        code = cli_report(program, err);
    /* Once rank 0 has ended with an error, the launcher stops the other ranks, which are ending themselves. */
    if (n && n->rank && n->failed)
        signal(SIGTERM, SIG_IGN);
    return net_close(n, code);
}

/* ---- signals ---- */

/* a global variable, because a signal handler cannot be given a pointer to data */
static atomic_bool stop_came;

/* `timeout` of the GNU coreutils sends its signal to the program and to the process group, so a second signal is the
 * user's own only if it comes later. It kills. */
static void note_stop(int number)
{
    static const double ONE_SIGNAL = 0.3; /* seconds */
    static double first;
    const int error = errno;
    if (!stop_came) {
        first = clock_now();
        stop_came = true;
    } else if (clock_now() - first > ONE_SIGNAL) {
        outfile_abandon_all();
        signal(number, SIG_DFL);
        raise(number);
    }
    errno = error;
}

/* The reader of a pipe is gone, as after `| head -1`: ends the program in silence. */
static void note_pipe(int number)
{
    outfile_abandon_all();
    signal(number, SIG_DFL);
    raise(number);
}

void cli_catch_stop(void)
{
    struct sigaction action = {.sa_handler = note_stop, .sa_flags = SA_RESTART};
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < countof(signals); i++)
        sigaddset(&action.sa_mask, signals[i]);
    for (size_t i = 0; i < countof(signals); i++) {
        struct sigaction was;
        if (!sigaction(signals[i], NULL, &was) && was.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

bool cli_stopped(void)
{
    return stop_came;
}

/* ---- standard streams ---- */

/* Opens /dev/null for each of stdin, stdout and stderr that the caller closed; otherwise the next file opened
 * would get that descriptor number, and messages would go into the file. stdin is opened for writing, stdout
 * and stderr for reading, so that using a closed stream still fails. */
static void fill_standard_streams(void)
{
    static const int wrong_way[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", wrong_way[fd]) != fd)
            return;
}

/* stdio drops the errno of an early flush, so a full disk would have no reason. The longest help text fits in 64 KB, so
 * stdout is first flushed at the end. */
static void widen_stdout(void)
{
    static char room[1 << 16];
    if (!isatty(STDOUT_FILENO))
        setvbuf(stdout, room, _IOFBF, sizeof room);
}

/* Returns the exit code of the program. Everything but stdout has been closed. */
static int finish(const char *program, int code)
{
    Error err;
    errno = 0;
    const bool bad = fflush(stdout) || ferror(stdout);
    /* a system call that the signal interrupted may have failed, so that the command's error is not
     * ERR_STOPPED */
    if (cli_stopped()) {
        FAIL(&err, ERR_STOPPED, bad ? "stopped" : "stopped when its work was done: the output is whole");
        return code ? 130 : cli_report(program, &err);
    }
    if (bad && !code) {
        FAIL(&err, ERR_IO, "%s: cannot write: %s", standard_output,
             errno ? strerror(errno) : "some of it was lost");
        code = cli_report(program, &err);
    }
    return code;
}

/* ---- --help, --version, unknown commands ---- */

static void print_commands(const char *program, const char *brief, const char *first_steps,
                           const Subcommand *table, FILE *to)
{
    enum { INDENT = 13 };
    Arena *a = arena_open(0);
    TextBuf out = {.arena = a};
    const size_t width = cli_help_width();
    text_addf(&out, "usage: %s COMMAND [ARGUMENT]...\n\n", program);
    text_wrap(&out, brief, 0, width);
    text_addf(&out, "\n\nfirst steps:\n%s\ncommands:\n", first_steps);
    for (; table->name; table++) {
        text_addf(&out, "  %-10s ", table->name);
        text_wrap(&out, table->brief, INDENT, width);
        text_add(&out, "\n");
    }
    const char *last = text_format(
        a, "%s COMMAND --help describes a command; --version prints version and libraries.", program);
    text_add(&out, "\n");
    text_wrap(&out, last ? last : "", 0, width);
    text_add(&out, "\n");
    const char *text = text_done(&out);
    fputs(text ? text : "", to);
    arena_close(a);
}

static int print_version(const char *program)
{
    Error err;
    Arena *a = arena_open(0);
    Fact *facts;
    size_t count;
    int code = 0;
    if (report_about(&facts, &count, true, a, &err) != OK)
        code = cli_report(program, &err);
    for (size_t i = 0; !code && i < count; i++) {
        const Value *v = &facts[i].value;
        if (i == 0)
            printf("%s %s\n", program, v->text);
        else
            printf("%-12s %s\n", facts[i].name, v->type == VALUE_TEXT ? v->text : "unknown");
    }
    arena_close(a);
    return code;
}

static const char *command_name(const void *table, size_t i)
{
    return ((const Subcommand *)table)[i].name;
}

static int unknown_command(const char *program, const Subcommand *table, const char *name)
{
    Error err;
    text_unknown(&err, name, command_name, table, "unknown command \"%s\"", name);
    error_hint(&err, "%s --help lists the commands; %s has others", program,
               strcmp(program, "atomo-bench") ? "atomo-bench" : "atomo-train");
    return cli_report(program, &err);
}

static int run_command(const char *program, const Subcommand *table, int argc, char **argv)
{
    const Subcommand *command = table;
    while (command->name && strcmp(command->name, argv[0]) != 0)
        command++;
    return command->name ? command->run(argc, argv) : unknown_command(program, table, argv[0]);
}

/* Describes the command `name`, or else the codec `name`. */
static int help(const char *program, const Subcommand *table, char *name)
{
    const Subcommand *c = table, *lists = table;
    while (c->name && strcmp(c->name, name) != 0)
        c++;
    while (lists->name && strcmp(lists->name, "list") != 0)
        lists++;
    if (c->name || !lists->name)
        return run_command(program, table, 2, (char *[]){name, (char[]){"--help"}, NULL});
    return lists->run(2, (char *[]){(char[]){"list"}, name, NULL});
}

/* --complete WORD...: prints what can replace the last word (docs/install.md): a command, or what the command takes. */
static int complete(const char *program, const Subcommand *table, int count, char **words)
{
    if (count > 1 && !(count == 2 && !strcmp(words[0], "help"))) {
        words[-1] = words[0];
        words[0] = (char[]){"--complete"};
        return run_command(program, table, count + 1, words - 1);
    }
    const char *typed = count ? words[count - 1] : "";
    for (; table->name; table++)
        if (!strncmp(table->name, typed, strlen(typed)))
            puts(table->name);
    if (!strncmp("help", typed, strlen(typed)))
        puts("help");
    return 0;
}

int cli_main(const char *program, const char *brief, const char *first_steps, const Subcommand *table,
             int argc, char **argv)
{
    fill_standard_streams();
    widen_stdout();
    linalg_choose_kernels();
    cli_catch_stop();
    file_stopped = cli_stopped;
    atexit(outfile_abandon_all);
    signal(SIGPIPE, note_pipe);
    signal(SIGXFSZ, SIG_IGN); /* so that writing beyond the file size limit fails with an error */
    if (argc < 2) {
        fprintf(stderr, "%s: %s\n%s%s --help lists the commands; %s help COMMAND describes one.\n", program,
                brief, first_steps, program, program);
        return 2;
    }
    char *first = argv[1];
    int code = 0;
    if (!strcmp(first, "--version") || !strcmp(first, "-V") || !strcmp(first, "version"))
        code = print_version(program);
    else if (!strcmp(first, "--help") || !strcmp(first, "-h") || (!strcmp(first, "help") && argc == 2))
        print_commands(program, brief, first_steps, table, stdout);
    else if (!strcmp(first, "help"))
        code = help(program, table, argv[2]);
    else if (!strcmp(first, "--complete"))
        code = complete(program, table, argc - 2, argv + 2);
    else
        code = run_command(program, table, argc - 1, argv + 1);
    return finish(program, code);
}
