/* bench_demo.c -- demo: compares the default codecs on the gradient that comes with the program. */
#include "bench_commands.h"

#include "base/text.h"

#include <string.h>
#include <unistd.h>

typedef struct {
    Common common;
    Arena *a;
    Error *err;
} Demo;

/* Where the dump lies from the folder of the program: installed, and in the source tree. */
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
    const Demo *d = options;
    (void)arguments;
    const char *path = find_dump(d->a);
    if (!path) {
        FAIL(d->err, ERR_IO, "%s: not there, neither beside this program nor installed", dump);
        return error_hint(d->err, "atomo-bench compare FILE.h5 compares codecs on your own gradients");
    }
    char *copy = text_copy(d->a, path);
    TRY(arena_check(copy, d->a, d->err));
    printf("$ atomo-bench compare %s\n", path);
    fflush(stdout);
    const int code = bench_compare(2, (char *[]){(char[]){"compare"}, copy, NULL});
    if (code)
        return FAIL(d->err, ERR_IO, "demo: compare failed with exit code %d", code);
    puts(
        "\nnext: atomo-bench advise FILE.h5 on your own gradients; atomo-bench help qsgd; atomo-bench --help");
    return OK;
}

int bench_demo(int argc, char **argv)
{
    Error err;
    Demo d = {.a = arena_open(0), .err = &err};
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
    return cli_run(&command, argc, argv, run, &d, d.a, &err);
}
