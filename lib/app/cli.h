/* cli.h -- one table of options per command gives both the parser and the text of --help.
 *
 *     struct { const char *step; TextList tensors; int64_t repeats; bool quiet; } o = {.repeats = 10};
 *     const Option options[] = {
 *         OPTION('t', "tensor", "GLOB", &o.tensors, "only tensors whose path matches; repeatable"),
 *         OPTION(0, "repeats", "N", &o.repeats, "independent repeats", .low = 1, .high = 1e6),
 *         OPTION('q', "quiet", NULL, &o.quiet, "no progress bar"),
 *         {0},
 *     };
 *
 * The target's type chooses the parser: bool is a switch, int64_t a whole number in [low, high], double a real
 * number in [low, high], const char * a text, TextList a repeatable text, int a choice (`choices`), Bytecount a
 * size ("512M"). The target's value before parsing is the default that help shows. */
#ifndef ATOMO_CLI_H
#define ATOMO_CLI_H

#include "base/text.h"
#include "exchange/net.h"
#include "report/report.h"

#include <stdio.h>

typedef enum { CLI_END, CLI_SWITCH, CLI_INT, CLI_REAL, CLI_TEXT, CLI_LIST, CLI_CHOICE, CLI_SIZE } CliType;

typedef struct {
    uint64_t bytes;
} Bytecount;

typedef struct {
    char letter; /* the option's letter; 0: none */
    const char *name, *arg;
    const char *alias; /* a second long name; NULL: none */
    CliType type;
    void *target;
    const char *help;
    double low, high; /* range of a number; both 0: any */
    const char *const *choices;
    /* names that the value may be, for shells that complete it; NULL: unknown. `listed`: several, separated by commas */
    TextName names;
    bool listed;
} Option;

#define CLI_TYPE(target)                                                                                     \
    _Generic((target), bool *: CLI_SWITCH, int64_t *: CLI_INT, double *: CLI_REAL, const char **: CLI_TEXT,  \
        TextList *: CLI_LIST, int *: CLI_CHOICE, Bytecount *: CLI_SIZE)
#define OPTION(short_name, long_name, argument, where, ...)                                                  \
    {                                                                                                        \
        .letter = short_name, .name = long_name, .arg = argument, .type = CLI_TYPE(where), .target = where,  \
        .help = __VA_ARGS__                                                                                  \
    }

/* Makes the option -c SPEC, with the same names in all commands. */
#define OPTION_CODEC(where, text) OPTION('c', "codec", "SPEC", where, text, .alias = "compressor")

/* Makes the options that select tensors of a dump. `s`: the `Selection` that the options fill. */
#define OPTIONS_SELECTION(s)                                                                                 \
    OPTION('t', "tensor", "GLOB", &(s)->tensors, "only tensors whose path or name matches; repeatable"),     \
        OPTION('s', "step", "GLOB", &(s)->step, "only these steps, by group or number"),                     \
        OPTION(0, "worker", "GLOB", &(s)->worker, "only these workers, by group or number")

/* Makes the options that say what a file of gradients does not say itself. `r`: the `DumpHints` that the options
 * fill. */
#define OPTIONS_HINTS(r)                                                                                     \
    OPTION(0, "layout", "L", &(r)->layout,                                                                   \
           "axes of convolution kernels: oihw (PyTorch), hwio (Keras, Flax), or auto: as attributes say",    \
           .choices = layout_names),                                                                         \
        OPTION(0, "steps-from", "GLOB", &(r)->steps_from,                                                    \
               "groups that hold a step, if they are not called step: 'epoch*/iter*'"),                          \
        OPTION(0, "workers-from", "GLOB", &(r)->workers_from,                                                \
               "groups that hold a worker, if they are not called worker or rank: 'gpu*'"),                      \
        OPTION(0, "steps-axis", "AXIS", &(r)->steps_axis, "0: the first axis of every tensor counts steps",  \
               .choices = axis_names),                                                                       \
        OPTION(0, "steps-as", "WHAT", &(r)->steps_as, "files: each of several files is a step",              \
               .choices = origin_names),                                                                     \
        OPTION(0, "workers-as", "WHAT", &(r)->workers_as, "files: each of several files is a worker",        \
               .choices = origin_names),                                                                     \
        OPTION(0, "void", "TYPE", &(r)->voids,                                                               \
               "what elements of two bytes without a type are, as NumPy keeps bfloat16 of ml_dtypes",           \
               .choices = void_names)

/* The options that all commands share. cli_parse adds them to the command's own options. */
typedef struct {
    int64_t seed, threads; /* 0 before parsing; defaults: seed 1, and a thread per usable core */
    /* index into report_formats; without --format, the ending of `output` chooses the format */
    int format;
    bool quiet, verbose;
    int color;          /* 0 auto, 1 always, 2 never */
    const char *output; /* -o FILE; "-": stdout; NULL: the command's default, for most commands stdout */
    bool force;         /* --force: a file that exists may be replaced (cli_keep) */
    bool resume;
    int argc; /* the command line, as cli_parse was given it */
    char **argv;
} Common;

/* Bits of `Command.takes`: the common options that only some commands take. All commands take --quiet,
 * --verbose and --color. */
enum {
    TAKES_SEED = 1,
    TAKES_THREADS = 2,
    TAKES_FORMAT = 4,
    TAKES_OUTPUT = 8,
    TAKES_RESUME = 16,
    TAKES_FORCE = 32,
    TAKES_KEEPS = 64 /* no option: without --force, -o keeps a file that exists, as it may hold data */
};

typedef struct {
    const char *program, *command;
    const char *usage, *brief; /* usage: for example "FILE... [-c SPEC]..." */
    const char *examples;      /* the arguments of each example, a line each, printed first by --help */
    const char
        *details; /* end of the help text: one paragraph per line; lines that begin with a space are not
                   * wrapped */
    const Option *options;
    Common *common;
    unsigned takes;
    const char *fields; /* comma-separated field names that --help explains; NULL: none */
    /* the ending of file names, such as ".html", for which the command writes a web page to the file of -o;
     * NULL: none */
    const char *page;
    TextName
        names; /* names that the first argument may be, for shells that complete it; NULL: a file or a text */
    int arguments_min, arguments_max; /* number of positional arguments; maximum -1: any number */
} Command;

/* Parses argv; argv[0] is the command's name. Positional arguments go to `arguments`. If help or completions
 * were printed, `*helped` is set, and the command must return at once. For a repeatable option,
 * the first value given replaces the default list. Returns ERR_USAGE for wrong options, ERR_IO if the file of
 * -o cannot be written. */
Status cli_parse(const Command *command, int argc, char **argv, TextList *arguments, bool *helped, Arena *a,
                 Error *err);

/* Runs a command and returns its exit code. Parses the arguments and calls `run` with `options`, unless help
 * was printed. Then closes the arena, and prints the error of parsing or of `run`. */
int cli_run(const Command *command, int argc, char **argv,
            Status (*run)(void *options, const TextList *arguments), void *options, Arena *a, Error *err);

/* Refuses a file that exists, for a command that writes data: ERR_USAGE, unless --force or --resume is given. `option` names
 * the file's option in the error; "": an argument. */
Status cli_keep(const Command *command, const char *option, const char *path, Error *err);

/* Returns true if the command line has the option --NAME, whatever its value. */
bool cli_given(const Common *common, const char *name);

/* Returns the command line, quoted for a shell, without --resume and --force, which a message then adds. NULL: out of memory. */
const char *cli_again(const Common *common, Arena *a);

/* Returns true if results on stdout have colours. --color decides; without it, NO_COLOR, TERM, whether stdout is
 * a terminal, and whether an MPI launcher passes it on. */
bool cli_color(const Common *common);

/* Returns the width of results on stdout: COLUMNS of the environment, else the width of the terminal. 0: no
 * limit; so with -o, and in a pipe without COLUMNS. */
size_t cli_width(const Common *common);

/* Returns the width of help: 80, or less where COLUMNS or the terminal has less. */
size_t cli_help_width(void);

/* Sets `facts` to the report's metadata: command line, seed and threads. */
Status cli_meta(Fact **facts, size_t *count, const Common *common, Arena *a, Error *err);

/* Returns the ReportSpec of a report whose metadata are `meta`. Format, file and colours come from the options;
 * the caller sets the columns. */
ReportSpec cli_spec(const Common *common, const char *schema, const Fact *meta, size_t facts);

/* Opens a report with the schema and the columns of `spec`. Its metadata are those of `cli_meta`, followed by
 * those of `spec`; all else comes from the options. */
Status cli_report_open(Report **out, const Common *common, const ReportSpec *spec, Arena *a, Error *err);

/* Makes cli_stopped return true after SIGINT, SIGTERM or SIGHUP; without this call they kill the process.
 * The command ends after the piece of work that it is in, finishes or removes its output file and exits with code 130. A
 * second signal, 0.3 s later or more, removes the unfinished output files and kills the process. A signal that the caller has set to be ignored stays ignored, as shells do for SIGINT in
 * commands that they start with "&". Called by cli_main. */
void cli_catch_stop(void);
/* True after SIGINT, SIGTERM or SIGHUP was caught. */
bool cli_stopped(void);

/* A subcommand of a program. */
typedef struct {
    const char *name;
    int (*run)(int argc, char **argv); /* returns the exit code */
    const char *brief;
} Subcommand;

/* Runs a program: handles --help, --version, help NAME and --complete WORD..., or runs the
 * subcommand. Without arguments prints `first_steps`, lines that lead a newcomer to a result. Flushes stdout at
 * the end; a full disk is an error with exit code 1, and a closed pipe ends the program by SIGPIPE. */
int cli_main(const char *program, const char *brief, const char *first_steps, const Subcommand *table,
             int argc, char **argv);

/* Joins the other ranks, as net_open. On ranks other than 0, output to stdout is discarded from then on. */
Status ranks_join(Net **out, Arena *a, Error *err);

/* Ends a command on several ranks: if `status` is not OK, prints the error; rank 0 alone prints an error on which all ranks
 * have agreed. Leaves the ranks. Returns the exit code. */
int ranks_leave(Net *n, const char *program, Status status, const Error *err);

/* Prints "PROGRAM: text" and the hint of `err` to stderr. Returns the program's exit code: 2 for ERR_USAGE, 130
 * for ERR_STOPPED, else 1. */
int cli_report(const char *program, const Error *err);

/* ---- cli_options.c: the table of options, and completion ---- */

/* Returns the command's options, then the common options that it takes, then --help, the only switch without a
 * target; ends in {0}. NULL: out of memory. */
const Option *cli_rows(const Command *command, Arena *a, size_t *count);

/* Returns the option that `word` names, "-c", "--codec" or "--codec=..."; NULL: none. */
const Option *cli_option(const Option *rows, const char *word);

/* Prints what can replace the last of `count` words, a candidate a line. The words are those behind the
 * command's name. Nothing is printed where any file name or text may stand. A candidate that ends in + is to
 * be followed by more of the same word. */
void cli_complete(const Command *command, int count, char **words, FILE *to, Arena *a);

#endif
