/* bench_demo.c -- demo: compares the default codecs on the gradient that comes with the program. */
#include "bench_commands.h"

#include "base/text.h"

#include <string.h>
#include <unistd.h>

typedef struct {
    Common common;
    int argc; /* the command line, whose options are those of compare */
    char **argv;
    int code; /* exit code of compare */
    Arena *a;
    Error *err;
} Demo;

/* The dump's folder relative to the program's: of an installed program, and in the source tree. */
static const char *const places[] = {"../share/atomo/datasets", "../../../datasets"};
static const char dump[] = "lenet-mnist.h5";

static const char *find_dump(Arena *a)
{
    char program[4096];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length < 0 ? 0 : length] = 0;
    char *slash = strrchr(program, '/');
    if (slash)
        *slash = 0;
    for (size_t i = 0; i < countof(places); i++) {
        const char *path = text_format(a, "%s/%s/%s", program, places[i], dump);
        if (path && access(path, R_OK) == 0)
            return path;
    }
    return NULL;
}

static Status run(void *options, const TextList *arguments)
{
    Demo *d = options;
    (void)arguments;
    const char *path = find_dump(d->a);
    if (!path) {
        FAIL(d->err, ERR_IO, "%s: not there, neither beside this program nor installed", dump);
        return error_hint(d->err, "atomo-bench compare FILE.h5 compares codecs on your own gradients");
    }
    const size_t count = (size_t)d->argc;
    char **words = NEW(d->a, char *, count + 2);
    TRY(arena_check(words, d->a, d->err));
    words[0] = (char[]){"compare"};
    words[1] = text_copy(d->a, path);
    TRY(arena_check(words[1], d->a, d->err));
    memcpy(words + 2, d->argv + 1, count * sizeof *words); /* the NULL at the end, too */
    printf("$ atomo-bench");
    for (char **word = words; *word; word++)
        printf(" %s", *word);
    puts("");
    fflush(stdout);
    d->code = bench_compare(d->argc + 1, words);
    if (!d->code)
        puts(
            "\nnext: atomo-bench advise FILE.h5 on your own gradients; atomo-bench help qsgd; atomo-bench --help");
    return OK;
}

int bench_demo(int argc, char **argv)
{
    Error err;
    Demo d = {.argc = argc, .argv = argv, .a = arena_open(0), .err = &err};
    const Command command = {
        .program = "atomo-bench",
        .command = "demo",
        .usage = "",
        .brief = "compare the usual codecs on a gradient that comes with the program",
        .examples = "\n",
        .details =
            "The gradient is of LeNet on MNIST, 431,080 elements. The codecs are those of compare without -c.\n",
        .common = &d.common,
    };
    const int code = cli_run(&command, argc, argv, run, &d, d.a, &err);
    return code ? code : d.code;
}
