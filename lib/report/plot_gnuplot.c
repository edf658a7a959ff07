/* plot_gnuplot.c -- runs gnuplot without a shell or start-up files, in a private directory, with a time limit.
 * Checks the figure's file, because gnuplot reports success even on a full disk. */
#include "report/plot.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 60, FIGURE_MAX = 64 << 20 }; /* seconds, bytes */
extern char **environ;

typedef struct {
    char *path; /* path of the private directory; a process that is killed (SIGKILL) leaves it behind */
    PlotStopped stopped;
    Arena *a;
    Error *err;
} Room;

/* ---- the private directory ---- */

static Status room_open(Room *room)
{
    const char *base = getenv("TMPDIR");
    room->path = text_format(room->a, "%s/atomo-plot.XXXXXX", base && *base ? base : "/tmp");
    TRY(arena_check(room->path, room->a, room->err));
    return mkdtemp(room->path) ? OK
                               : FAIL(room->err, ERR_IO, "%s: cannot make a directory: %s", room->path, strerror(errno));
}

static void room_close(Room *room)
{
    DIR *dir = opendir(room->path);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(room->path);
}

static char *in_room(const Room *room, const char *name)
{
    return text_format(room->a, "%s/%s", room->path, name);
}

static Status room_write(Room *room, const char *name, const char *text)
{
    const char *path = in_room(room, name);
    TRY(arena_check(path, room->a, room->err));
    FILE *f = fopen(path, "we");
    int failed = f ? 0 : errno;
    if (f && fputs(text, f) < 0)
        failed = errno;
    if (f && fclose(f) && !failed)
        failed = errno;
    return failed ? FAIL(room->err, ERR_IO, "%s: cannot write: %s", path, strerror(failed)) : OK;
}

/* Returns the file's bytes; NULL: it cannot be read or is larger than FIGURE_MAX. */
static char *room_read(Room *room, const char *name, size_t *size)
{
    const char *path = in_room(room, name);
    char *data;
    Error ignored;
    return path && file_load(&data, size, path, FIGURE_MAX, room->a, &ignored) == OK ? data : NULL;
}

/* ---- running the gnuplot process ---- */

/* Returns the environment without gnuplot's own variables, and with the locale C.UTF-8. */
static char **clean_environment(Arena *a)
{
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **clean = NEW(a, char *, count + 2), *locale = text_copy(a, "LC_ALL=C.UTF-8");
    if (!clean || !locale)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "GNU", 3) != 0 && strncmp(environ[i], "LC_", 3) != 0)
            clean[kept++] = environ[i];
    clean[kept++] = locale;
    clean[kept] = NULL;
    return clean;
}

/* Starts gnuplot in the private directory, without input, with its output in said.txt. Returns 0 or an error
 * number. */
static int spawn(const Room *room, char *const *arguments, char **environment, pid_t *child)
{
    posix_spawn_file_actions_t to_do;
    int failed = posix_spawn_file_actions_init(&to_do);
    if (failed)
        return failed;
    failed = posix_spawn_file_actions_addchdir_np(&to_do, room->path);
    if (!failed)
        failed = posix_spawn_file_actions_addopen(&to_do, 0, "/dev/null", O_RDONLY, 0);
    if (!failed)
        failed = posix_spawn_file_actions_addopen(&to_do, 1, "said.txt", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&to_do, 1, 2);
    if (!failed)
        failed = posix_spawnp(child, "gnuplot", &to_do, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&to_do);
    return failed;
}

static Status start(Room *room, char *const *arguments, pid_t *child)
{
    char **environment = clean_environment(room->a);
    TRY(arena_check(environment, room->a, room->err));
    const int failed = spawn(room, arguments, environment, child);
    if (failed == ENOENT) {
        FAIL(room->err, ERR_IO, "gnuplot: not found");
        return error_hint(room->err, "install the package gnuplot-nox, or put gnuplot in PATH");
    }
    return failed ? FAIL(room->err, ERR_IO, "gnuplot: cannot be started: %s", strerror(failed)) : OK;
}

/* Waits until the child process ends; kills it after PATIENCE seconds or if the user stops the command. */
static Status await(Room *room, pid_t child, int *status)
{
    const struct timespec nap = {.tv_nsec = 5 * 1000 * 1000};
    bool stopped = false;
    for (int naps = 0; naps < PATIENCE * 200 && !stopped; naps++) {
        const pid_t ended = waitpid(child, status, WNOHANG);
        /* asked after `waitpid`: a signal from the terminal ends gnuplot, too */
        stopped = room->stopped && room->stopped();
        if (ended == child)
            return stopped ? FAIL(room->err, ERR_STOPPED, "stopped") : OK;
        if (ended < 0 && errno != EINTR)
            return FAIL(room->err, ERR_IO, "gnuplot: %s", strerror(errno));
        if (!stopped)
            nanosleep(&nap, NULL);
    }
    kill(child, SIGKILL);
    while (waitpid(child, status, 0) < 0 && errno == EINTR)
        ;
    if (stopped)
        return FAIL(room->err, ERR_STOPPED, "stopped");
    return FAIL(room->err, ERR_IO, "gnuplot: took over %d seconds and was stopped", PATIENCE);
}

/* Returns the last line of gnuplot's output that has more than blanks and "^", with which gnuplot points to
 * an error in the line above. */
static const char *last_words(Room *room)
{
    size_t size = 0;
    char *said = room_read(room, "said.txt", &size), *last = NULL, *rest = NULL;
    for (char *line = said ? strtok_r(said, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
        if (line[strspn(line, " \t^")])
            last = line;
    return last ? last : "it gave no reason";
}

static Status run(Room *room, char *const *arguments)
{
    pid_t child;
    int status = 0;
    TRY(start(room, arguments, &child));
    TRY(await(room, child, &status));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return FAIL(room->err, ERR_IO, "gnuplot: cannot be run");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return FAIL(room->err, ERR_IO, "gnuplot: %s", last_words(room));
    return OK;
}

/* ---- drawing ---- */

/* True when the bytes begin and end like a complete figure of the format that `ending` names. */
static bool whole_figure(const char *ending, const char *data, size_t size)
{
    static const struct {
        const char *ending, *head, *tail;
    } forms[] = {{".pdf", "%PDF-", "%%EOF"},
                 {".svg", "<?xml", "</svg>"},
                 {".png", "\x89PNG", "IEND"},
                 {".tex", "", "\\end{picture}"}};
    for (size_t i = 0; i < countof(forms); i++) {
        if (strcmp(forms[i].ending, ending) != 0)
            continue;
        const size_t head = strlen(forms[i].head), near_end = size < 64 ? 0 : size - 64;
        return size > head && !memcmp(data, forms[i].head, head) &&
               memmem(data + near_end, size - near_end, forms[i].tail, strlen(forms[i].tail));
    }
    return false;
}

static Status draw(Room *room, const char *script, const char *ending, Drawing *out)
{
    char name[] = "figure.xyz", gnuplot[] = "gnuplot", no_rc[] = "-d", gp[] = "figure.gp";
    memcpy(name + sizeof name - 5, ending, 4);
    TRY(room_write(room, gp, script));
    TRY(run(room, (char *[]){gnuplot, no_rc, gp, NULL}));
    out->data = room_read(room, name, &out->size);
    if (!out->data && room->stopped && room->stopped())
        return FAIL(room->err, ERR_STOPPED, "stopped");
    if (!out->data || !whole_figure(ending, out->data, out->size))
        return FAIL(room->err, ERR_IO, "gnuplot: what it drew is not whole: %s", last_words(room));
    return OK;
}

Status gnuplot_draw(Drawing *out, const char *script, const char *ending, PlotStopped stopped, Arena *a, Error *err)
{
    Room room = {.stopped = stopped, .a = a, .err = err};
    *out = (Drawing){0};
    TRY(room_open(&room));
    const Status status = draw(&room, script, ending, out);
    room_close(&room);
    return status;
}

Status gnuplot_ask(char **version, char **terminals, PlotStopped stopped, Arena *a, Error *err)
{
    Room room = {.stopped = stopped, .a = a, .err = err};
    char gnuplot[] = "gnuplot", no_rc[] = "-d", gp[] = "ask.gp";
    size_t size = 0;
    TRY(room_open(&room));
    Status status = room_write(&room, gp,
                               "set print 'answer.txt'\n"
                               "print sprintf('%.1f patchlevel %s', GPVAL_VERSION, GPVAL_PATCHLEVEL)\n"
                               "print GPVAL_TERMINALS\n");
    if (status == OK)
        status = run(&room, (char *[]){gnuplot, no_rc, gp, NULL});
    char *answer = status == OK ? room_read(&room, "answer.txt", &size) : NULL;
    room_close(&room);
    TRY(status);
    char *end = answer ? strchr(answer, '\n') : NULL;
    if (!end)
        return FAIL(err, ERR_IO, "gnuplot: does not say its version");
    *end = 0;
    *version = answer;
    *terminals = end + 1;
    return OK;
}
