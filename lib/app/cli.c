/* cli.c -- parses the command line by a table of options, and makes --help from the same table, in the width of the terminal.
 * The table of options and completion are in cli_options.c, main in program.c. */
#include "app/cli.h"

#include "base/file.h"
#include "base/outfile.h"
#include "base/parallel.h"
#include "compress/spec.h"
#include "dump/file_kind.h"
#include "report/fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ==== the values of options, and --help ==== */

/* Writes a limit of an option's range as text; whole numbers have no exponent. The limit 2^63 does not fit
 * int64_t and is written as the largest int64_t. */
static const char *limit(const Option *o, double v, char out[32])
{
    if (o->type == CLI_INT)
        snprintf(out, 32, "%lld", v >= 0x1p63 ? (long long)INT64_MAX : (long long)v);
    else
        text_double(out, v);
    return out;
}

/* Writes the values that an option takes, for messages and help: "1 to 1000000", "table|csv", "a number". */
static const char *cli_range(const Option *o, char out[96])
{
    char low[32], high[32];
    const char *const kind = o->type == CLI_INT ? "a whole number" : "a number";
    /* an upper limit near that of float32 means "no limit", so the range of a real number does not name it */
    const bool open = o->high >= 1e30;
    size_t used = 0;
    if (o->type == CLI_CHOICE) {
        for (size_t i = 0; o->choices[i] && used < 96; i++)
            used += (size_t)snprintf(out + used, 96 - used, "%s%s", i ? "|" : "", o->choices[i]);
    } else if (o->type == CLI_SIZE) {
        snprintf(out, 96, "bytes, such as 4096, 512M or 2G");
    } else if (o->low == 0 && o->high == 0) {
        snprintf(out, 96, "%s", kind);
    } else if (open && o->type == CLI_REAL) {
        snprintf(out, 96, "%s from %s", kind, text_double(low, o->low));
    } else {
        snprintf(out, 96, "%s to %s", limit(o, o->low, low), limit(o, o->high, high));
    }
    return out;
}

/* ---- --help ---- */

enum { INDENT = 26, NARROW = 60, NARROW_INDENT = 8 };

/* Returns the option's default as text: the value of the option's target before parsing. Returns NULL if the
 * help shows no default, because the option is unset, off, or outside its range. */
static const char *default_text(const Option *o, Arena *a)
{
    char out[32];
    const double real = o->type == CLI_INT    ? (double)*(const int64_t *)o->target
                        : o->type == CLI_REAL ? *(const double *)o->target
                                              : 0;
    const bool any = o->low == 0 && o->high == 0;
    switch (o->type) {
    case CLI_INT:
        return any || (real >= o->low && real <= o->high) ? text_format(a, "%.0f", real) : NULL;
    case CLI_REAL:
        if (isnan(real) || (!any && (real < o->low || real > o->high)))
            return NULL;
        return text_copy(a, text_double(out, real));
    case CLI_TEXT:
        return *(const char **)o->target;
    case CLI_CHOICE:
        return o->choices[*(const int *)o->target];
    case CLI_SIZE: {
        const uint64_t bytes = ((const Bytecount *)o->target)->bytes;
        const bool whole = bytes % (1 << 20) == 0;
        return bytes
                   ? text_format(a, "%llu%s", (unsigned long long)(whole ? bytes >> 20 : bytes),
                                 whole ? "M" : "")
                   : NULL;
    }
    default:
        return NULL;
    }
}

static void add_note(TextBuf *out, const char *before, const char *note)
{
    text_addf(out, "%s%s%s", out->size ? ", " : "", before, note);
}

/* Returns an option's help followed by "(range, default D, also --alias)", with the parts that the option has. NULL: out
 * of memory. */
static const char *describe(const Option *o, Arena *a)
{
    char range[96];
    TextBuf notes = {.arena = a};
    const char *standing = default_text(o, a);
    if (o->type == CLI_CHOICE || o->low != 0 || (o->high != 0 && o->high < 1e15))
        add_note(&notes, "", cli_range(o, range));
    if (standing)
        add_note(&notes, "default ", standing);
    if (o->alias)
        add_note(&notes, "also --", o->alias);
    return notes.size ? text_format(a, "%s (%s)", o->help, text_done(&notes)) : o->help;
}

static void put_option(TextBuf *out, const Option *o, size_t width, Arena *a)
{
    const int indent = width < NARROW ? NARROW_INDENT : INDENT;
    char letter[5] = "";
    const size_t start = out->size;
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    text_addf(out, "  %4s--%s%s%s", letter, o->name, o->arg ? " " : "", o->arg ? o->arg : "");
    const int used = (int)(out->size - start);
    text_addf(out, used > indent - 2 ? "\n%*s" : "%*s", used > indent - 2 ? indent : indent - used, "");
    const char *text = describe(o, a);
    text_wrap(out, text ? text : o->help, (size_t)indent, width);
    text_add(out, "\n");
}

/* Appends a line that begins with spaces. A line longer than `width` is folded: if its second column begins in the
 * left half, only that column; otherwise the whole line, which continues two spaces further in. */
static void put_fixed(TextBuf *out, const char *line, size_t width)
{
    const size_t length = strlen(line), indent = strspn(line, " ");
    const char *gap = strstr(line + indent, "  ");
    const size_t second = gap ? (size_t)(gap - line) + strspn(gap, " ") : length;
    if (text_characters(line, length) <= width) {
        text_add(out, line);
    } else if (second < width / 2) {
        text_add_bytes(out, line, second);
        text_wrap(out, line + second, second, width);
    } else {
        text_addf(out, "%*s", (int)indent, "");
        text_wrap(out, line + indent, indent + 2, width);
    }
}

static void put_details(TextBuf *out, const char *details, size_t width, Arena *a)
{
    for (const char *line = details; line && *line;) {
        const size_t length = strcspn(line, "\n");
        const char *copy = text_slice(a, line, length);
        if (copy && *copy == ' ')
            put_fixed(out, copy, width);
        else
            text_wrap(out, copy ? copy : "", 0, width);
        text_add(out, "\n");
        line += length + (line[length] == '\n');
    }
}

static void put_examples(TextBuf *out, const Command *c)
{
    text_add(out, c->examples ? "\nexamples:\n" : "");
    for (const char *line = c->examples; line && *line;) {
        const size_t length = strcspn(line, "\n");
        text_addf(out, "  %s %s%s%.*s\n", c->program, c->command, length ? " " : "", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/* Appends "  NAME    meaning" for each name of the comma-separated list, in lines of up to `width` characters. */
static void put_fields(TextBuf *out, const char *names, size_t width)
{
    enum { FIELD_INDENT = 23, FIELD_NARROW_INDENT = 6 };
    const int indent = width < NARROW ? FIELD_NARROW_INDENT : FIELD_INDENT;
    for (const char *at = names; *at; at += strspn(at, ",")) {
        const size_t length = strcspn(at, ",");
        const char *name = text_slice(out->arena, at, length);
        text_addf(out, "  %-*s", indent - 2, name ? name : "");
        if (length + 3 > (size_t)indent)
            text_addf(out, "\n%*s", indent, "");
        text_wrap(out, name ? field_meaning(name) : "", (size_t)indent, width);
        text_add(out, "\n");
        out->failed |= !name;
        at += length;
    }
}

/* Prints the command's help, as --help does. */
static void cli_help(const Command *c, FILE *to, Arena *a)
{
    TextBuf out = {.arena = a};
    size_t count;
    const Option *rows = cli_rows(c, a, &count);
    const size_t width = cli_help_width();
    const char *usage = text_format(a, "%s %s%s%s [OPTION]...", c->program, c->command,
                                    c->usage && *c->usage ? " " : "", c->usage ? c->usage : "");
    text_add(&out, "usage: ");
    text_wrap(&out, usage ? usage : "", strlen("usage: "), width);
    text_add(&out, "\n\n");
    text_wrap(&out, c->brief, 0, width);
    text_add(&out, "\n");
    put_examples(&out, c);
    text_add(&out, "\noptions:\n");
    for (const Option *o = rows; o && o->name; o++)
        put_option(&out, o, width, a);
    if (c->usage && !strncmp(c->usage, "FILE...", strlen("FILE..."))) {
        text_add(&out, "\n");
        text_wrap(&out, "FILE is a file of gradients (HDF5, safetensors, .npz or .npy), a folder of such files, or the index of shards; several are steps or workers.", 0, width);
        text_add(&out, "\n");
    }
    if (c->details && *c->details) {
        text_add(&out, "\n");
        put_details(&out, c->details, width, a);
    }
    if (c->fields) {
        text_add(&out, "\nfields:\n");
        put_fields(&out, c->fields, width);
    }
    const char *text = text_done(&out);
    fputs(text ? text : "", to);
}

/* ==== the parser ==== */

typedef struct {
    const Command *command;
    const Option
        *rows;   /* the rows of the command's options, then the rows of the common options; ends in {0} */
    bool *given; /* (rows) for each row: true if the option was given */
    size_t room; /* capacity of the list of a repeatable option */
    bool help;   /* --help was given */
    Arena *a;
    Error *err;
} Parser;

static const char *row_name(const void *rows, size_t i)
{
    return ((const Option *)rows)[i].name;
}

/* ---- the value of an option ---- */

static Status out_of_range(Parser *p, const Option *o, const char *value)
{
    char range[96];
    return FAIL(p->err, ERR_USAGE, "%s: --%s %s: want %s", p->command->command, o->name, value,
                cli_range(o, range));
}

static Status set_number(Parser *p, const Option *o, const char *value)
{
    double real = 0;
    int64_t whole = 0;
    if (!(o->type == CLI_INT ? text_to_int(value, &whole) : text_to_real(value, &real)))
        return out_of_range(p, o, value);
    if (o->type == CLI_INT)
        real = (double)whole;
    if ((o->low != 0 || o->high != 0) && (real < o->low || real > o->high))
        return out_of_range(p, o, value);
    if (o->type == CLI_INT)
        *(int64_t *)o->target = whole;
    else
        *(double *)o->target = real;
    return OK;
}

static Status set_choice(Parser *p, const Option *o, const char *value)
{
    for (int i = 0; o->choices[i]; i++)
        if (!strcmp(o->choices[i], value)) {
            *(int *)o->target = i;
            return OK;
        }
    out_of_range(p, o, value);
    const char *near = text_nearest(value, text_list_name, o->choices);
    return near ? error_hint(p->err, "did you mean %s?", near) : p->err->status;
}

static Status add_to_list(Parser *p, const Option *o, const char *value)
{
    TextList *list = o->target;
    if (!p->given[o - p->rows]) {
        *list = (TextList){NEW(p->a, const char *, p->room), 0};
        TRY(arena_check(list->item, p->a, p->err));
    }
    list->item[list->count++] = value;
    return OK;
}

static Status set_size(Parser *p, const Option *o, const char *value)
{
    Bytecount *size = o->target;
    if (!text_to_size(value, &size->bytes))
        return out_of_range(p, o, value);
    return OK;
}

static Status set(Parser *p, const Option *o, const char *value)
{
    Status status = OK;
    switch (o->type) {
    case CLI_SWITCH:
        *(o->target ? (bool *)o->target : &p->help) = true;
        break;
    case CLI_INT:
    case CLI_REAL:
        status = set_number(p, o, value);
        break;
    case CLI_TEXT:
        *(const char **)o->target = value;
        break;
    case CLI_LIST:
        status = add_to_list(p, o, value);
        break;
    case CLI_CHOICE:
        status = set_choice(p, o, value);
        break;
    case CLI_SIZE:
        status = set_size(p, o, value);
        break;
    case CLI_END:
        break;
    }
    p->given[o - p->rows] = true;
    return status;
}

/* ---- one argument of the command line ---- */

static Status unknown(Parser *p, const char *dashes, const char *name)
{
    const char *near = dashes[1] ? text_nearest(name, row_name, p->rows) : NULL;
    const Command *c = p->command;
    FAIL(p->err, ERR_USAGE, "%s: unknown option %s%s%s%s%s", c->command, dashes, name,
         near ? " (did you mean --" : "", near ? near : "", near ? "?)" : "");
    return error_hint(p->err, "%s %s --help lists the options", c->program, c->command);
}

static Status no_value(Parser *p, const Option *o, const char *written)
{
    return FAIL(p->err, ERR_USAGE, "%s: %s: the value is missing: want %s", p->command->command, written,
                o->arg ? o->arg : "a value");
}

/* Parses "--name", "--name value" or "--name=value". `next` is the next argument; sets *used to true when
 * `next` is the value. */
static Status parse_long(Parser *p, const char *arg, const char *next, bool *used)
{
    const size_t length = strcspn(arg + 2, "=");
    const char *value = arg[2 + length] ? arg + 2 + length + 1 : NULL;
    const Option *o = cli_option(p->rows, arg);
    if (!o) {
        const char *name = text_slice(p->a, arg + 2, length);
        return name ? unknown(p, "--", name) : arena_fail(p->a, p->err);
    }
    if (o->type == CLI_SWITCH && value)
        return FAIL(p->err, ERR_USAGE, "%s: --%s takes no value", p->command->command, o->name);
    if (o->type != CLI_SWITCH && !value) {
        if (!next || cli_option(p->rows, next))
            return no_value(p, o, arg);
        value = next;
        *used = true;
    }
    return set(p, o, value);
}

/* Parses "-x", "-x value", "-xvalue", or several switches in one argument ("-xyz"). */
static Status parse_short(Parser *p, const char *arg, const char *next, bool *used)
{
    for (const char *letter = arg + 1; *letter; letter++) {
        const Option *o = p->rows;
        const char one[3] = {'-', *letter, 0};
        while (o->name && o->letter != *letter)
            o++;
        if (!o->name)
            return unknown(p, "-", one + 1);
        if (o->type == CLI_SWITCH) {
            TRY(set(p, o, NULL));
            continue;
        }
        if (letter[1])
            return set(p, o, letter + 1);
        *used = next && !cli_option(p->rows, next);
        return *used ? set(p, o, next) : no_value(p, o, one);
    }
    return OK;
}

/* ---- checks after all arguments are parsed ---- */

static Status too_many(Parser *p, const char *argument)
{
    const Command *c = p->command;
    FAIL(p->err, ERR_USAGE, "%s: \"%s\" is one argument too many", c->command, argument);
    return error_hint(p->err, "%s %s --help shows how it is called", c->program, c->command);
}

static Status count_arguments(Parser *p, const TextList *arguments)
{
    const Command *c = p->command;
    if (c->arguments_max >= 0 && arguments->count > (size_t)c->arguments_max)
        return too_many(p, arguments->item[c->arguments_max]);
    for (size_t i = 0; i < arguments->count; i++)
        if (!*arguments->item[i])
            return FAIL(p->err, ERR_USAGE, "%s: an argument is empty: want %s", c->command, c->usage);
    if (arguments->count >= (size_t)c->arguments_min)
        return OK;
    FAIL(p->err, ERR_USAGE, "%s: an argument is missing: want %s", c->command, c->usage);
    return error_hint(p->err, "%s %s --help shows how it is called", c->program, c->command);
}

/* True if `input` is the file `output`, or the folder of this file, which holds tensors. */
static bool is_input(const char *input, const char *output, Arena *a)
{
    const char *slash = strrchr(output, '/');
    const char *folder = slash ? text_slice(a, output, (size_t)(slash - output) + 1) : ".";
    return file_same(input, output) ||
           (folder && file_same(input, folder) && file_kind_at(output) != FILE_UNKNOWN);
}

/* Refuses a file of -o that an argument or another option names, too. */
static Status keep_inputs(Parser *p, const TextList *arguments)
{
    const char *command = p->command->command;
    const char *output = p->command->common ? p->command->common->output : NULL;
    struct stat now;
    if (!output || stat(output, &now) || !S_ISREG(now.st_mode))
        return OK;
    for (size_t i = 0; i < arguments->count; i++)
        if (is_input(arguments->item[i], output, p->a))
            return FAIL(p->err, ERR_USAGE, "%s: -o %s: is what is read, want another file", command, output);
    for (size_t i = 0; p->rows[i].name; i++) {
        const Option *o = &p->rows[i];
        const char *const *text = o->type == CLI_TEXT ? o->target : NULL;
        if (text && *text && *text != output && file_same(*text, output))
            return FAIL(p->err, ERR_USAGE, "%s: -o %s: is the file of --%s, want another file", command, output,
                        o->name);
    }
    return OK;
}

Status cli_keep(const Command *command, const char *option, const char *path, Error *err)
{
    struct stat now;
    if (command->common->force || command->common->resume || outfile_is_stdout(path) || stat(path, &now) ||
        !S_ISREG(now.st_mode))
        return OK;
    FAIL(err, ERR_USAGE, "%s: %s%s%s: is there already, want another file", command->command, option,
         *option ? " " : "", path);
    return error_hint(err, "--force replaces it");
}

static Status check_output(Parser *p)
{
    const char *output = p->command->common ? p->command->common->output : NULL;
    if (!output)
        return OK;
    if (!*output)
        return FAIL(p->err, ERR_USAGE, "%s: -o \"\": want the name of a file", p->command->command);
    if (p->command->takes & TAKES_KEEPS)
        TRY(cli_keep(p->command, "-o", output, p->err));
    return outfile_check(output, p->a, p->err);
}

static void common_defaults(Common *c)
{
    if (c && c->seed == 0)
        c->seed = 1;
    if (c && c->threads == 0)
        c->threads = parallel_cores();
}

/* Returns the report format selected by the ending of a file's name (".csv": "csv"); "table" for a name without
 * an ending; NULL for an unknown ending. */
static const char *format_of(const char *path)
{
    static const struct {
        const char *ending, *format;
    } endings[] = {{"csv", "csv"}, {"json", "json"}, {"md", "md"}, {"tex", "latex"}, {"txt", "table"}};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    if (!dot || dot == name)
        return "table";
    for (size_t i = 0; i < countof(endings); i++)
        if (!strcmp(dot + 1, endings[i].ending))
            return endings[i].format;
    return NULL;
}

/* Treats `-o -` as no -o in commands that write their results to stdout by default. */
static void take_dash(const Command *command)
{
    Common *c = command->common;
    if (c->output && !strcmp(c->output, "-") && (command->takes & TAKES_FORMAT) && !command->page)
        c->output = NULL;
}

/* Sets the report's format: the value of --format, else the format that the ending of -o selects. */
static Status choose_format(Parser *p)
{
    const Command *command = p->command;
    Common *c = command->common;
    if (!c || !(command->takes & TAKES_FORMAT) || !c->output || (command->page && text_ends(c->output, command->page)))
        return OK;
    for (const Option *o = p->rows; o->name; o++) {
        if (o->target != &c->format || p->given[o - p->rows])
            continue;
        const char *format = format_of(c->output);
        if (!format) {
            FAIL(p->err, ERR_USAGE,
                 "%s: -o %s: no format has this ending; want .csv, .json, .md, .tex or .txt",
                 command->command, c->output);
            return error_hint(p->err, "--format NAME writes to a file of any name");
        }
        return set_choice(p, o, format);
    }
    return OK;
}

bool cli_given(const Common *common, const char *name)
{
    const size_t length = strlen(name);
    for (int i = 1; i < common->argc && strcmp(common->argv[i], "--") != 0; i++) {
        const char *arg = common->argv[i];
        if (!strncmp(arg, "--", 2) && !strncmp(arg + 2, name, length) && strchr("=", arg[2 + length]))
            return true;
    }
    return false;
}

const char *cli_again(const Common *common, Arena *a)
{
    enum { SHOWN = 200 }; /* a longer command would be cut in a message */
    char **word = NEW(a, char *, (size_t)common->argc);
    int words = 0;
    for (int i = 0; word && i < common->argc; i++)
        if (strcmp(common->argv[i], "--resume") != 0 && strcmp(common->argv[i], "--force") != 0)
            word[words++] = common->argv[i];
    const char *command = word ? report_command(words, word, a) : NULL;
    return command && strlen(command) > SHOWN ? "the same command with" : command;
}

Status cli_parse(const Command *command, int argc, char **argv, TextList *arguments, bool *helped, Arena *a,
                 Error *err)
{
    size_t rows = 0;
    common_defaults(command->common);
    *helped = argc > 1 && !strcmp(argv[1], "--complete");
    if (*helped) {
        cli_complete(command, argc - 2, argv + 2, stdout, a);
        return OK;
    }
    command->common->argc = argc;
    command->common->argv = argv;
    Parser p = {.command = command, .room = (size_t)argc + 1, .a = a, .err = err};
    p.rows = cli_rows(command, a, &rows);
    p.given = NEW_ZERO(a, bool, rows + 1);
    *arguments = (TextList){NEW(a, const char *, p.room), 0};
    TRY(arena_check(p.rows && p.given && arguments->item, a, err));
    bool options = true;
    for (int i = 1; i < argc && !p.help; i++) {
        bool used = false;
        if (options && !strcmp(argv[i], "--"))
            options = false;
        else if (options && argv[i][0] == '-' && argv[i][1] == '-')
            TRY(parse_long(&p, argv[i], argv[i + 1], &used));
        else if (options && argv[i][0] == '-' && argv[i][1])
            TRY(parse_short(&p, argv[i], argv[i + 1], &used));
        else
            arguments->item[arguments->count++] = argv[i];
        i += used;
    }
    *helped = p.help;
    if (p.help) {
        cli_help(command, stdout, a);
        return OK;
    }
    take_dash(command);
    TRY(choose_format(&p));
    TRY(count_arguments(&p, arguments));
    TRY(keep_inputs(&p, arguments));
    return check_output(&p);
}
