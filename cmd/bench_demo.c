/* bench_demo.c -- demo [NETWORK]: compares the default codecs on a gradient that comes with the program. */
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

/* The dumps; the first is the default. */
static const struct {
    const char *network, *file;
} dumps[] = {{"lenet", "lenet-mnist.h5"}, {"gpt-nano", "gpt-nano-babble.h5"}};

static const char *network_at(const void *data, size_t i)
{
    (void)data;
    return i < countof(dumps) ? dumps[i].network : NULL;
}

static const char *find_dump(const char *file, Arena *a)
{
    char program[4096];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length < 0 ? 0 : length] = 0;
    char *slash = strrchr(program, '/');
    if (slash)
        *slash = 0;
    for (size_t i = 0; i < countof(places); i++) {
        const char *path = text_format(a, "%s/%s/%s", program, places[i], file);
        if (path && access(path, R_OK) == 0)
            return path;
    }
    return NULL;
}

/* Makes the command line of compare, (*count) words: the dump in place of the network, and all options. */
static Status compare_words(Demo *d, const char *network, const char *path, char **words, int *count)
{
    words[(*count)++] = text_copy(d->a, "compare");
    words[(*count)++] = text_copy(d->a, path);
    TRY(arena_check(words[0] && words[1], d->a, d->err));
    for (int i = 1; i < d->argc; i++)
        if (d->argv[i] != network)
            words[(*count)++] = d->argv[i];
    words[*count] = NULL;
    return OK;
}

static Status run(void *options, const TextList *arguments)
{
    Demo *d = options;
    const char *network = arguments->count ? arguments->item[0] : NULL;
    size_t which = 0;
    while (network && which < countof(dumps) && strcmp(network, dumps[which].network) != 0)
        which++;
    if (which == countof(dumps))
        return text_unknown(d->err, network, network_at, NULL,
                            "demo: no gradient of \"%s\", want lenet or gpt-nano", network);
    const char *file = dumps[which].file, *path = find_dump(file, d->a);
    if (!path) {
        FAIL(d->err, ERR_IO, "%s: not there, neither beside this program nor installed", file);
        return error_hint(d->err, "atomo-bench compare FILE compares codecs on your own gradients");
    }
    char **words = NEW(d->a, char *, (size_t)d->argc + 2);
    TRY(arena_check(words, d->a, d->err));
    int count = 0;
    TRY(compare_words(d, network, path, words, &count));
    printf("$ atomo-bench");
    for (char **word = words; *word; word++)
        printf(" %s", *word);
    puts("");
    fflush(stdout);
    d->code = bench_compare(count, words);
    if (!d->code)
        puts(
            "\nnext: atomo-bench advise FILE on your own gradients; atomo-bench help qsgd; atomo-bench --help");
    return OK;
}

int bench_demo(int argc, char **argv)
{
    Error err;
    Demo d = {.argc = argc, .argv = argv, .a = arena_open(0), .err = &err};
    const Command command = {
        .program = "atomo-bench",
        .command = "demo",
        .usage = "[NETWORK]",
        .brief = "compare the usual codecs on a gradient that comes with the program",
        .examples = "\n"
                    "gpt-nano\n",
        .details =
            "NETWORK is lenet (the default: LeNet on MNIST, 431,080 elements, steps 200 and 1000) or gpt-nano (a small "
            "language model on babble, 797,824 elements, step 1001). The codecs are those of compare without -c.\n",
        .common = &d.common,
        .arguments_max = 1,
    };
    const int code = cli_run(&command, argc, argv, run, &d, d.a, &err);
    return code ? code : d.code;
}
