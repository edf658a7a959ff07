/* plot_gnuplot.c -- runs gnuplot without a shell or start-up files. The script and the figure are files in
 * memory, so that nothing is left behind, and no disk can be full. */
#include "report/plot.h"

#include "base/file.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIGURE_MAX = 64 << 20 }; /* bytes */
extern char **environ;

/* gnuplot's standard input, output and error. */
typedef struct {
    int stream[3];
    PlotStopped stopped;
    Arena *a;
    Error *err;
} Run;

/* Returns the bytes of a stream, with a NUL after them. NULL: it cannot be read or is larger than FIGURE_MAX. */
static char *stream_text(Run *run, int stream, size_t *size)
{
    char *data;
    Error ignored;
    const int fd = run->stream[stream];
    return lseek(fd, 0, SEEK_SET) == 0 && file_read(&data, size, fd, FIGURE_MAX, run->a, &ignored) == OK ? data : NULL;
}

/* Returns the last line of gnuplot's errors that has more than blanks and "^", with which gnuplot points to an error in the
 * line above. */
static const char *last_words(Run *run)
{
    size_t size = 0;
    char *said = stream_text(run, 2, &size), *last = NULL, *rest = NULL;
    for (char *line = said ? strtok_r(said, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
        if (line[strspn(line, " \t^")])
            last = line;
    return last ? last : "it gave no reason";
}

static Status start(Run *run, pid_t *child)
{
    char gnuplot[] = "gnuplot", no_rc[] = "-d", *arguments[] = {gnuplot, no_rc, NULL};
    posix_spawn_file_actions_t to_do;
    int failed = posix_spawn_file_actions_init(&to_do);
    for (int i = 0; i < 3 && !failed; i++)
        failed = posix_spawn_file_actions_adddup2(&to_do, run->stream[i], i);
    if (!failed) {
        failed = posix_spawnp(child, gnuplot, &to_do, NULL, arguments, environ);
        posix_spawn_file_actions_destroy(&to_do);
    }
    if (failed == ENOENT) {
        FAIL(run->err, ERR_IO, "gnuplot: not found");
        return error_hint(run->err, "install the package gnuplot-nox, or put gnuplot in PATH");
    }
    return failed ? FAIL(run->err, ERR_IO, "gnuplot: cannot be started: %s", strerror(failed)) : OK;
}

static Status run_script(Run *run, const char *script, Drawing *out)
{
    pid_t child;
    int status = 0;
    for (int i = 0; i < 3; i++)
        if (run->stream[i] < 0)
            return FAIL(run->err, ERR_IO, "gnuplot: no file in memory for it: %s", strerror(errno));
    const size_t length = strlen(script);
    if (write(run->stream[0], script, length) != (ssize_t)length || lseek(run->stream[0], 0, SEEK_SET) != 0)
        return FAIL(run->err, ERR_IO, "gnuplot: cannot write its script: %s", strerror(errno));
    TRY(start(run, &child));
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return FAIL(run->err, ERR_IO, "gnuplot: %s", strerror(errno));
    if (run->stopped && run->stopped())
        return FAIL(run->err, ERR_STOPPED, "stopped");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return FAIL(run->err, ERR_IO, "gnuplot: %s", last_words(run));
    out->data = stream_text(run, 1, &out->size);
    if (!out->data && run->stopped && run->stopped())
        return FAIL(run->err, ERR_STOPPED, "stopped");
    return out->data && out->size ? OK : FAIL(run->err, ERR_IO, "gnuplot: it drew nothing: %s", last_words(run));
}

Status gnuplot_draw(Drawing *out, const char *script, PlotStopped stopped, Arena *a, Error *err)
{
    Run run = {.stopped = stopped, .a = a, .err = err};
    *out = (Drawing){0};
    for (int i = 0; i < 3; i++)
        run.stream[i] = memfd_create("gnuplot", MFD_CLOEXEC);
    const Status status = run_script(&run, script, out);
    for (int i = 0; i < 3; i++)
        if (run.stream[i] >= 0)
            close(run.stream[i]);
    return status;
}
