/* texts.c -- data sets of text: reads a file, numbers the bytes that occur in it, and cuts it into windows. */
#include "train/files.h"

#include "base/text.h"

#include <string.h>
#include <sys/stat.h>

Status text_set(Dataset *d, const uint8_t *pixels, size_t tokens, size_t classes, double entropy, Arena *a,
                Error *err)
{
    DatasetInfo *info = NEW(a, DatasetInfo, 1);
    TRY(arena_check(info, a, err));
    *info = *d->info;
    info->classes = classes;
    info->entropy = entropy;
    d->info = info;
    d->pixels = pixels;
    d->tokens = tokens;
    return OK;
}

Status dataset_window(Dataset *d, size_t context, Arena *a, Error *err)
{
    const char *name = d->info->name;
    if (!d->info->text != !context) {
        FAIL(err, ERR_USAGE, "data set %s: has %s, and the network takes %s", name,
             context ? "images" : "a text", context ? "a text" : "images");
        return error_hint(err, "--dataset babble and text go with --network gpt, the others with the others");
    }
    if (!context)
        return OK;
    /* A window needs one token more than it has, as the last label. A training window may start up to
     * context - 1 tokens later. */
    const size_t spare = d->split == SPLIT_TRAIN ? context : 1;
    if (d->tokens < context + spare) {
        FAIL(err, ERR_USAGE, "data set %s: %zu tokens to %s, want %zu for a window of %zu", name, d->tokens,
             d->split == SPLIT_TRAIN ? "train" : "test", context + spare, context);
        return error_hint(err, "a longer text, or a shorter window: --network gpt:context=N");
    }
    DatasetInfo *info = NEW(a, DatasetInfo, 1);
    TRY(arena_check(info, a, err));
    *info = *d->info;
    info->columns = context;
    d->info = info;
    d->count = (d->tokens - spare) / context;
    return d->count <= IMAGES_MOST ? OK
                                   : FAIL(err, ERR_USAGE, "data set %s: %zu windows, want at most %d", name,
                                          d->count, IMAGES_MOST);
}

/* Numbers the bytes that occur, in ascending order. Returns how many there are. */
static size_t number_bytes(Bytes file, uint8_t number[256])
{
    bool occurs[256] = {false};
    size_t count = 0;
    for (size_t i = 0; i < file.size; i++)
        occurs[file.data[i]] = true;
    for (size_t b = 0; b < 256; b++) {
        number[b] = (uint8_t)count;
        count += occurs[b];
    }
    return count;
}

/* Reads `dir` if it is a file, else dir/input.txt. */
static Status read_text(Bytes *out, const DatasetInfo *info, const char *dir, Arena *a, Error *err)
{
    struct stat st;
    const char *path;
    const bool folder = stat(dir, &st) || S_ISDIR(st.st_mode);
    const char *slash = strrchr(dir, '/');
    const char *parent = slash ? text_format(a, "%.*s", (int)(slash - dir), dir) : ".";
    TRY(arena_check(parent, a, err));
    if (folder)
        return data_file(info, dir, "input.txt", out, &path, a, err);
    TRY(data_file(info, parent, slash ? slash + 1 : dir, out, &path, a, err));
    return !text_ends(dir, ".gz") ? OK : gzip_unpack(*out, out, a, err) == OK ? OK : error_at(err, "%s", dir);
}

Status text_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err)
{
    Bytes file;
    uint8_t number[256];
    (void)seed;
    TRY(read_text(&file, d->info, dir, a, err));
    const size_t classes = number_bytes(file, number);
    if (file.size && classes < 2)
        return FAIL(err, ERR_CORRUPT, "%s: one byte, %d, in all of the text: want two or more different ones",
                    dir, file.data[0]);
    const size_t split = file.size / 10 * 9 + file.size % 10 * 9 / 10;
    const size_t from = d->split == SPLIT_TRAIN ? 0 : split,
                 tokens = d->split == SPLIT_TRAIN ? split : file.size - split;
    uint8_t *pixels = NEW(a, uint8_t, tokens);
    TRY(arena_check(pixels, a, err));
    for (size_t i = 0; i < tokens; i++)
        pixels[i] = number[file.data[from + i]];
    return text_set(d, pixels, tokens, classes, 0, a, err);
}
