/* fuzz_checkpoint.c -- fuzzes checkpoints. A checkpoint of a small network is saved once, and modified for each
 * input. Loading it must fail with a reason, or restore the weights bit for bit.
 *
 * Input: one byte, then edits of four bytes: position (three bytes) and value. If the first byte is odd, the
 * checkpoint is the input itself, without the first byte. */
#include "compress/spec.h"
#include "nn/checkpoint.h"
#include "nn/step_folder.h"
#include "base/file.h"
#include "rig/tiny_data.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each input starts a reader process. */
extern const uint64_t replay_made;
const uint64_t replay_made = 1000;

enum { EDIT = 4 };

static struct {
    Arena *arena;
    Trainer *trainer;
    Dataset images;
    TrainSetup setup;
    uint8_t *file;
    size_t file_size;
    float *weights; /* (trainer_parameters) the weights in the checkpoint */
} saved;

static void load_saved(const char *dir)
{
    char *bytes;
    Error err;
    const char *path = step_file(dir, 1, saved.arena);
    if (!path || file_load(&bytes, &saved.file_size, path, SIZE_MAX, saved.arena, &err) != OK)
        abort();
    saved.file = (uint8_t *)bytes;
    unlink(path);
    rmdir(dir);
}

static void save_checkpoint(void)
{
    char dir[] = "/tmp/atomo-fuzz-XXXXXX";
    Error err = {0};
    StepRecord r;
    Arena *a = saved.arena = arena_open(0);
    saved.images = tiny_data(SPLIT_TRAIN, 20, a);
    saved.setup = (TrainSetup){.network = "softmax",
                               .train = &saved.images,
                               .workers = 2,
                               .aggregate = 2,
                               .batch = 4,
                               .test_batch = 4,
                               .optimizer = {.lr = 0.01, .momentum = 0.9, .decay = 0.9, .every = 3},
                               .seed = 5,
                               .threads = 1};
    if (!mkdtemp(dir) || codec_open(&saved.setup.codec, "ef+topk", a, &err) != OK ||
        trainer_open(&saved.trainer, &saved.setup, &err) != OK ||
        trainer_step(saved.trainer, &r, &err) != OK || checkpoint_save(saved.trainer, dir, &err) != OK)
        abort();
    const size_t parameters = trainer_parameters(saved.trainer);
    saved.weights = NEW(a, float, parameters);
    memcpy(saved.weights, trainer_weights(saved.trainer), parameters * sizeof(float));
    load_saved(dir);
}

static void put_file(char path[64], const uint8_t *data, size_t size)
{
    snprintf(path, 64, "/tmp/atomo-fuzz-%ld.h5", (long)getpid());
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    Error err = {0};
    if (!size)
        return 0;
    if (!saved.arena)
        save_checkpoint();
    const bool whole = *data & 1;
    uint8_t *file = malloc(saved.file_size);
    if (!file)
        abort();
    memcpy(file, saved.file, saved.file_size);
    for (size_t i = 1; i + EDIT <= size; i += EDIT)
        file[((size_t)data[i] << 16 | (size_t)data[i + 1] << 8 | data[i + 2]) % saved.file_size] ^=
            data[i + 3];
    put_file(path, whole ? data + 1 : file, whole ? size - 1 : saved.file_size);
    trainer_reset(saved.trainer);
    const Status status = checkpoint_load(saved.trainer, path, &err);
    const size_t bytes = trainer_parameters(saved.trainer) * sizeof(float);
    if (status == OK && memcmp(trainer_weights(saved.trainer), saved.weights, bytes) != 0)
        abort();
    if (status != OK && (!*err.text || (!whole && size < 1 + EDIT)))
        abort();
    unlink(path);
    free(file);
    return 0;
}
