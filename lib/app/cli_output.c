/* cli_output.c -- see cli_output.h. */
#include "app/cli_output.h"

#include "base/outfile.h"
#include "compress/spec.h"
#include "payload/frame.h"
#include "plot/plot.h"
#include "report/fields.h"
#include "report/report_kinds.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* An existing file that the command would overwrite: the file of -o, or a dump that another option or an
 * argument names. Its first bytes show whether it is an older result of the command. */
typedef struct {
    const Command *command;
    const char *path;
    bool output; /* true: the file of -o, or the numbers that `plot` writes next to it; false: a dump */
    char *head;  /* the first bytes of the file, and a NUL */
    size_t size;
    Arena *a;
} Old;

static bool is_command(const Old *o, const char *name)
{
    return !strcmp(o->command->command, name);
}

static bool begins(const Old *o, const char *text)
{
    return !strncmp(o->head, text, strlen(text));
}

static bool contains(const Old *o, const char *text)
{
    return memmem(o->head, o->size, text, strlen(text));
}

/* True if `schema` is "atomo-COMMAND/...", which the results of `o->command` have. Results of `compare
 * --against` have "atomo-against/...". */
static bool writes(const Old *o, const char *schema)
{
    const size_t length = strlen(o->command->command);
    if (strncmp(schema, "atomo-", 6) != 0)
        return false;
    schema += 6;
    return (!strncmp(schema, o->command->command, length) && schema[length] == '/') ||
           (is_command(o, "compare") && !strncmp(schema, "against/", 8));
}

static bool is_json(const Old *o)
{
    static const char start[] = "{\"schema\": \"";
    if (!begins(o, start))
        return false;
    const bool reported = contains(o, "\"report\": \"atomo-bench report");
    return is_command(o, "report") ? reported : !reported && writes(o, o->head + strlen(start));
}

/* True if `report` may have written the CSV: every column is a field, and one column names what the rows
 * describe. */
static bool is_choice(const Csv *t)
{
    bool named = false;
    for (size_t i = 0; i < t->columns; i++) {
        const Field *f = field_of_column(t->name[i], NULL);
        if (!f)
            return false;
        named = named || f->text;
    }
    return named;
}

/* True if `report` has marked the CSV as its own: the name of the first column is in quotes, that of the second is not. Other
 * commands put neither in quotes. */
static bool is_marked(const Old *o, const Csv *t)
{
    const char *end = o->size ? memchr(o->head + 1, '"', o->size - 1) : NULL;
    return *o->head == '"' && end && end[1] == ',' && end[2] != '"' && result_has_field(t);
}

static bool is_csv(const Old *o)
{
    Stored s = {.whole = true};
    Error ignored;
    const char *why, *end = memchr(o->head, '\n', o->size);
    if (!end || csv_parse(&s.table, o->path, o->head, (size_t)(end - o->head) + 1, o->a, &ignored) != OK)
        return false;
    const ResultKind *kind = result_kind(&s, &why);
    if (is_command(o, "report"))
        return is_marked(o, &s.table) || (!kind && is_choice(&s.table));
    return kind && writes(o, kind->schema);
}

static bool is_heading(const char *text)
{
    for (const Field *f = fields; f->name; f++) {
        const char *names[] = {f->brief ? f->brief : f->heading, f->name};
        for (size_t i = 0; i < countof(names); i++)
            if (names[i] && *names[i] && !strncmp(text, names[i], strlen(names[i])))
                return true;
    }
    return false;
}

/* True if the line has two or more cells, and at least half of them are headings of fields. A cell ends at "|"
 * or at two blanks. */
static bool is_head_row(char *line)
{
    size_t cells = 0, known = 0;
    for (char *at = line; *at;) {
        at += strspn(at, "| ");
        char *end = at;
        while (*end && *end != '|' && strncmp(end, "  ", 2) != 0)
            end++;
        cells += end > at;
        known += end > at && is_heading(at);
        at = end;
    }
    return cells >= 2 && 2 * known >= cells;
}

/* A page of `list CODEC` begins with the name of the codec. */
static bool is_codec_page(const Old *o, const char *line)
{
    const char *name = line + strspn(line, "# ");
    return is_command(o, "list") && (compressor_find(name) || !strcmp(line, "# Compressors"));
}

static bool is_table(const Old *o)
{
    if (!(o->command->takes & TAKES_FORMAT))
        return false;
    if (begins(o, "\\begin{tabular}") || begins(o, "% version: ") || begins(o, "% codec: "))
        return true;
    char *line = text_slice(o->a, o->head, strcspn(o->head, "\n"));
    return line && (is_codec_page(o, line) || is_head_row(line));
}

static bool is_page(const Old *o)
{
    return is_command(o, "report") && begins(o, "<!DOCTYPE html>") &&
           contains(o, "content=\"atomo-bench report\"");
}

/* True if the file contains the text. Searches the whole file, because the HDF5 library may write the
 * command's name behind any tensor. */
static bool file_contains(const char *path, const char *text)
{
    struct stat now;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool found = false;
    if (fd >= 0 && !fstat(fd, &now) && now.st_size > 0) {
        void *all = mmap(NULL, (size_t)now.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (all != MAP_FAILED) {
            found = memmem(all, (size_t)now.st_size, text, strlen(text));
            munmap(all, (size_t)now.st_size);
        }
    }
    if (fd >= 0)
        close(fd);
    return found;
}

/* A dump that the command wrote has the name of the command in it. `convert` and `atomo-train run` write
 * dumps to files that -o does not name. */
static bool is_dump(const Old *o)
{
    const char *sign = text_format(o->a, "%s %s", o->command->program, o->command->command);
    const bool hdf5 = begins(o, "\x89HDF\r\n"), dumps = is_command(o, "synth") || is_command(o, "decode");
    return sign && (o->output ? dumps && hdf5 : hdf5 || is_command(o, "convert")) &&
           file_contains(o->path, sign);
}

static bool is_payloads(const Old *o)
{
    return is_command(o, "encode") && frame_begins(o->head, o->size);
}

/* `plot` writes the numbers of FIGURE.pdf to FIGURE.plot.csv. Returns NULL for other commands. */
static const char *numbers_of(const Command *command, const char *path, Arena *a)
{
    const size_t length = strlen(path);
    return strcmp(command->command, "plot") != 0 || length < 4
               ? NULL
               : text_format(a, "%.*s.plot.csv", (int)length - 4, path);
}

static bool is_figure(const Old *o)
{
    const char *numbers = numbers_of(o->command, o->path, o->a);
    return numbers && !access(numbers, F_OK);
}

/* True for the numbers of a figure, which begin with the names of the first two columns of its kind. */
static bool are_numbers(const Old *o)
{
    for (size_t i = 0; is_command(o, "plot") && plot_kinds[i]; i++) {
        const PlotColumn *first = plot_kinds[i]->columns;
        const char *head = text_format(o->a, "%s,%s,", first[0].name, first[1].name);
        if (head && begins(o, head))
            return true;
    }
    return false;
}

static bool is_empty(const Old *o)
{
    return o->size == 0;
}

/* True if the file at `path` is empty, or may be an older result of `command`: a JSON or CSV result by its
 * schema or columns, a dump, payloads or a page by its content, a figure by the file of numbers next to it, and
 * that file by its columns.
 * A table in text, Markdown or LaTeX counts for every command that writes tables, because no table names its
 * command. `output`: see Old. */
static bool is_result(const Command *command, const char *path, bool output, Arena *a)
{
    enum { HEAD = 1 << 16 };
    static bool (*const tests[])(const Old *) = {is_empty,    is_dump, is_json,   is_csv,     is_table,
                                                 is_payloads, is_page, is_figure, are_numbers};
    Old o = {.command = command, .path = path, .output = output, .head = NEW_ZERO(a, char, HEAD + 1), .a = a};
    FILE *from = o.head ? fopen(path, "re") : NULL;
    if (!from)
        return false;
    o.size = fread(o.head, 1, HEAD, from);
    fclose(from);
    bool found = false;
    for (size_t i = 0; i < (output ? countof(tests) : 2) && !found; i++)
        found = tests[i](&o);
    return found;
}

/* Asks whether the file may be replaced. Returns ERR_STOPPED if a signal came, and ERR_USAGE without a terminal
 * or if the answer is no. */
static Status ask(const Command *command, const char *path)
{
    char answer[16];
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return ERR_USAGE;
    fprintf(stderr, "%s is no result of %s. Replace it? [y/N] ", path, command->command);
    /* a signal ends `poll`, and would not end `fgets` */
    if (poll(&in, 1, -1) != 1)
        return ERR_STOPPED;
    return fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y') ? OK : ERR_USAGE;
}

static Status keep(const Command *command, const char *option, const char *path, bool output, Arena *a,
                   Error *err)
{
    struct stat now;
    if (command->common->force || stat(path, &now) || !S_ISREG(now.st_mode) ||
        is_result(command, path, output, a))
        return OK;
    const Status answer = ask(command, path);
    if (answer == OK)
        return OK;
    if (answer == ERR_STOPPED)
        return FAIL(err, ERR_STOPPED, "%s: stopped", command->command);
    FAIL(err, ERR_USAGE, "%s: %s%s%s: is there, and is no older result of %s; want another file",
         command->command, option, *option ? " " : "", path, command->command);
    return error_hint(err, "--force replaces it");
}

Status cli_keep_other(const Command *command, Arena *a, Error *err)
{
    const char *path = command->common->output;
    if (outfile_is_stdout(path))
        return OK;
    TRY(keep(command, "-o", path, true, a, err));
    const char *numbers = numbers_of(command, path, a);
    return numbers ? keep(command, "", numbers, true, a, err) : OK;
}

Status cli_keep_default(const Command *command, const char *path, Arena *a, Error *err)
{
    return keep(command, "", path, true, a, err);
}

Status cli_keep_dump(const Command *command, const char *option, const char *path, Arena *a, Error *err)
{
    return keep(command, option, path, false, a, err);
}
