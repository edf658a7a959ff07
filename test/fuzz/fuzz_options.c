/* fuzz_options.c -- fuzzes the parser of command-line options. The parser must refuse the arguments with a
 * message, or set every option to a value in the option's range. Each line of the fuzzer's input is one
 * argument. */
#include "app/cli.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 64 };

static int split(char *text, char **argv)
{
    char *rest = NULL;
    int argc = 1;
    argv[0] = (char[]){"fuzz"};
    for (char *line = strtok_r(text, "\n", &rest); line && argc < MOST; line = strtok_r(NULL, "\n", &rest))
        argv[argc++] = line;
    argv[argc] = NULL;
    return argc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const kinds[] = {"one", "two", "three", NULL};
    Arena *a = arena_open((size_t)1 << 26);
    Error err = {0};
    Common common = {0};
    TextList list = {0}, arguments = {0};
    int64_t whole = 5;
    double real = 0.5;
    const char *text = NULL;
    int kind = 0;
    bool on = false, helped = false;
    Bytecount bytes = {1};
    const Option options[] = {
        OPTION('n', "whole", "N", &whole, "a whole number", .low = 1, .high = 9),
        OPTION(0, "real", "X", &real, "a number", .low = 0, .high = 1),
        OPTION('t', "text", "TEXT", &text, "a text", .alias = "words"),
        OPTION(0, "list", "TEXT", &list, "a list"),
        OPTION(0, "kind", "KIND", &kind, "a choice", .choices = kinds),
        OPTION(0, "on", NULL, &on, "a switch"),
        OPTION(0, "bytes", "BYTES", &bytes, "a size"),
        {0},
    };
    const Command command = {.program = "fuzz",
                             .command = "fuzz",
                             .usage = "[FILE]...",
                             .brief = "",
                             .options = options,
                             .common = &common,
                             .takes = TAKES_SEED | TAKES_THREADS | TAKES_FORMAT,
                             .arguments_max = 3};
    char *argv[MOST + 1], *copy = malloc(size + 1);
    /* an input that contains "-h" is skipped, as -h would print help */
    if (!copy || memmem(data, size, "-h", 2)) {
        free(copy);
        arena_close(a);
        return 0;
    }
    memcpy(copy, data, size);
    copy[size] = 0;
    const int argc = split(copy, argv);
    const Status status = cli_parse(&command, argc, argv, &arguments, &helped, a, &err);
    if (status == OK && !helped &&
        (whole < 1 || whole > 9 || !(real >= 0 && real <= 1) || kind < 0 || kind > 2 || arguments.count > 3 ||
         common.threads < 1 || common.seed < 0))
        abort();
    if (status != OK && (status != err.status || !*err.text || strchr(err.text, '\n')))
        abort();
    free(copy);
    arena_close(a);
    return 0;
}
