/* replay.c -- runs a fuzz target without a fuzzer: on stored inputs (files, or folders of files) and on 20,000
 * random inputs, or as many as REPLAY_MADE says in the environment. `make check` does this for every target. */
#include "base/rng.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 20 };

static void run_file(const char *path)
{
    static uint8_t data[INPUT_MAX];
    FILE *file = fopen(path, "rb");
    if (!file)
        return;
    const size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    uint8_t *exact = malloc(size + 1);
    memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static void run_folder(const char *path)
{
    char name[512];
    DIR *dir = opendir(path);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.')
            run_file(name);
    }
    closedir(dir);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        run_folder(argv[i]);
    const char *wanted = getenv("REPLAY_MADE");
    const uint64_t made = wanted ? strtoull(wanted, NULL, 10) : 10000;
    for (uint64_t k = 0; k < made; k++) {
        const Rng rng = rng_open(3, k, 0, 0, rng_hash("replay"));
        const size_t size = rng_u32(&rng, USE_TEST, 0) % 200;
        uint8_t *data = malloc(size + 1);
        const RngKey key = rng_key(&rng, USE_DATA, 0);
        for (uint32_t i = 0; i < size; i++)
            data[i] = (uint8_t)rng_word(&key, i);
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    return 0;
}
