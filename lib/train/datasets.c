/* datasets.c -- the table of data sets, and the readers of those that are published files or texts. */
#include "train/files.h"
#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define ZLIB_CONST
#include <zlib.h>

/* ---- files, plain or gzip ----
 *
 * A gzip file states its unpacked length at its end. Deflate compresses by a factor of at most 1032, so a file that states
 * more is refused before memory is allocated. */

static Status fetch_hint(const DatasetInfo *info, Error *err)
{
    return error_hint(err, "datasets/fetch.sh %s downloads the files of %s", info->name, info->name);
}

/* Puts the file's path in front of the error, and adds a hint with the command that downloads the file. */
static Status data_damaged(const DatasetInfo *info, const char *path, Error *err)
{
    error_at(err, "%s", path);
    return fetch_hint(info, err);
}

/* `fd` was opened with O_NONBLOCK: opening a named pipe would otherwise wait for a writer. */
static Status read_open_file(int fd, Bytes *out, Arena *a, Error *err)
{
    struct stat st;
    if (fstat(fd, &st))
        return FAIL(err, ERR_IO, "%s", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return FAIL(err, ERR_IO, "not a regular file");
    char *data;
    size_t size;
    TRY(file_read(&data, &size, fd, SIZE_MAX, a, err));
    *out = (Bytes){(const uint8_t *)data, size};
    return OK;
}

/* Unpacks `packed`. Fails unless it is exactly one gzip member. */
static Status gzip_unpack(Bytes packed, Bytes *out, Arena *a, Error *err)
{
    enum { LEAST = 18, PACKED_MOST = 1032 };
    if (packed.size < LEAST || packed.data[0] != 0x1f || packed.data[1] != 0x8b)
        return FAIL(err, ERR_CORRUPT, "not a gzip file");
    const size_t size = load_u32(packed.data + packed.size - 4);
    if (size / PACKED_MOST > packed.size || packed.size > UINT32_MAX)
        return FAIL(err, ERR_CORRUPT, "damaged gzip data: %zu bytes cannot unpack to %zu", packed.size, size);
    /* One byte more than the stated length, to detect longer content. */
    uint8_t *data = NEW(a, uint8_t, size + 1);
    TRY(arena_check(data, a, err));
    z_stream z = {
        .next_in = packed.data, .avail_in = (uInt)packed.size, .next_out = data, .avail_out = (uInt)size + 1};
    if (size == UINT32_MAX || inflateInit2(&z, 15 + 16) != Z_OK)
        return FAIL(err, ERR_CORRUPT, "damaged gzip data: an impossible length of %zu bytes", size);
    const int ended = inflate(&z, Z_FINISH);
    inflateEnd(&z);
    if (ended != Z_STREAM_END || z.total_out != size)
        return FAIL(err, ERR_CORRUPT, "damaged gzip data after %lu unpacked bytes", z.total_out);
    if (z.avail_in)
        return FAIL(err, ERR_CORRUPT, "%u bytes behind the gzip data", z.avail_in);
    *out = (Bytes){data, size};
    return OK;
}

static bool data_file_there(const char *dir, const char *name, Arena *a)
{
    const char *path = text_format(a, "%s/%s", dir, name);
    return path && !access(path, F_OK);
}

/* Reads the file dir/name. If there is none, reads dir/name.gz and unpacks it. Sets *path to the path of the
 * file that was read. Memory for bytes and path comes from `a`. */
static Status data_file(const DatasetInfo *info, const char *dir, const char *name, Bytes *out, const char **path,
                 Arena *a, Error *err)
{
    const bool packed = !data_file_there(dir, name, a);
    *path = text_format(a, "%s/%s%s", dir, name, packed ? ".gz" : "");
    TRY(arena_check(*path, a, err));
    const int fd = open(*path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        const bool absent = errno == ENOENT && packed;
        FAIL(err, ERR_IO, "%s/%s: %s", dir, name, absent ? "not there, nor packed as .gz" : strerror(errno));
        return fetch_hint(info, err);
    }
    Status status = read_open_file(fd, out, a, err);
    close(fd);
    if (status == OK && packed)
        status = gzip_unpack(*out, out, a, err);
    return status == OK ? OK : data_damaged(info, *path, err);
}

/* ---- the IDX files of MNIST and Fashion-MNIST: big-endian words, then bytes ----
 *
 *     images = 0x00000803:32 count:32 rows:32 columns:32 pixel:8 x count x rows x columns
 *     labels = 0x00000801:32 count:32 label:8 x count */

enum { MAGIC_IMAGES = 0x803, MAGIC_LABELS = 0x801, IMAGES_HEADER = 16, LABELS_HEADER = 8 };

static uint32_t word_at(Bytes file, size_t at)
{
    const uint8_t *p = file.data + at;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

typedef struct {
    size_t count;
    const uint8_t *first;
} Items;

/* Finds the items (images or labels), which follow the header, and checks their number. `size` is the bytes
 * of an item. */
static Status take_items(Bytes file, uint32_t magic, size_t header, size_t size, Items *out, Error *err)
{
    if (file.size < header)
        return FAIL(err, ERR_CORRUPT, "%zu bytes: want a header of %zu", file.size, header);
    if (word_at(file, 0) != magic)
        return FAIL(err, ERR_CORRUPT, "begins with 0x%08x: want 0x%08x", word_at(file, 0), magic);
    const size_t count = word_at(file, 4);
    if (!count || count > IMAGES_MOST)
        return FAIL(err, ERR_CORRUPT, "count %zu: want 1 to %d", count, IMAGES_MOST);
    if (file.size - header != count * size)
        return FAIL(err, ERR_CORRUPT, "%zu bytes: want %zu for %zu items", file.size, header + count * size,
                    count);
    *out = (Items){count, file.data + header};
    return OK;
}

static Status idx_images(Bytes file, size_t rows, size_t columns, Items *out, Error *err)
{
    if (file.size >= IMAGES_HEADER && word_at(file, 0) == MAGIC_IMAGES &&
        (word_at(file, 8) != rows || word_at(file, 12) != columns))
        return FAIL(err, ERR_CORRUPT, "images of %u x %u: want %zu x %zu", word_at(file, 8),
                    word_at(file, 12), rows, columns);
    return take_items(file, MAGIC_IMAGES, IMAGES_HEADER, rows * columns, out, err);
}

static Status idx_labels(Bytes file, size_t classes, Items *out, Error *err)
{
    TRY(take_items(file, MAGIC_LABELS, LABELS_HEADER, 1, out, err));
    for (size_t i = 0; i < out->count; i++)
        if (out->first[i] >= classes)
            return FAIL(err, ERR_CORRUPT, "label %u of image %zu: want 0 to %zu", out->first[i], i,
                        classes - 1);
    return OK;
}

static Status idx_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err)
{
    (void)seed;
    static const char *const images_name[] = {"train-images-idx3-ubyte", "t10k-images-idx3-ubyte"};
    static const char *const labels_name[] = {"train-labels-idx1-ubyte", "t10k-labels-idx1-ubyte"};
    const char *images_path, *labels_path;
    Bytes file;
    Items images = {0}, labels = {0};
    TRY(data_file(d->info, dir, images_name[d->split], &file, &images_path, a, err));
    if (idx_images(file, d->info->rows, d->info->columns, &images, err) != OK)
        return data_damaged(d->info, images_path, err);
    TRY(data_file(d->info, dir, labels_name[d->split], &file, &labels_path, a, err));
    if (idx_labels(file, d->info->classes, &labels, err) != OK)
        return data_damaged(d->info, labels_path, err);
    if (images.count != labels.count) {
        FAIL(err, ERR_CORRUPT, "%zu label%s: want one for each of the %zu images in %s", labels.count,
             text_s(labels.count), images.count, images_path);
        return data_damaged(d->info, labels_path, err);
    }
    uint32_t *own = NEW(a, uint32_t, labels.count);
    TRY(arena_check(own, a, err));
    for (size_t i = 0; i < labels.count; i++)
        own[i] = labels.first[i];
    d->count = images.count;
    d->pixels = images.first;
    d->labels = own;
    return OK;
}

/* ---- CIFAR's binary files, which are records without a header; datasets/svhn.py writes SVHN's images in the format of
 * CIFAR-10 ----
 *
 *     CIFAR-10:  label:8 pixel:8 x 3 x 32 x 32
 *     CIFAR-100: coarse:8 label:8 pixel:8 x 3 x 32 x 32    coarse: superclass, 0 .. 19, not used */

enum { PIXELS = 3 * 32 * 32, COARSE = 20, PUBLISHED = 10000, FILES = 5 };

static size_t label_bytes(size_t classes)
{
    return classes == 100 ? 2 : 1;
}

/* cifar_count counts the records (images with their labels) of a CIFAR file. cifar_take copies the pixels of
 * all records to an array (count, 3072), and their labels to an array (count). */
static Status cifar_count(Bytes file, size_t classes, size_t *count, Error *err)
{
    const size_t record = label_bytes(classes) + PIXELS;
    if (!file.size || file.size % record)
        return FAIL(err, ERR_CORRUPT, "%zu bytes: want whole records of %zu", file.size, record);
    if (file.size / record > IMAGES_MOST / FILES)
        return FAIL(err, ERR_CORRUPT, "%zu record%s: want at most %d", file.size / record,
                    text_s(file.size / record), IMAGES_MOST / FILES);
    *count = file.size / record;
    return OK;
}

static Status cifar_take(Bytes file, size_t classes, uint8_t *pixels, uint32_t *labels, Error *err)
{
    const size_t ahead = label_bytes(classes), record = ahead + PIXELS;
    for (size_t i = 0; i < file.size / record; i++) {
        const uint8_t *r = file.data + i * record;
        if (r[ahead - 1] >= classes)
            return FAIL(err, ERR_CORRUPT, "label %u of record %zu: want 0 to %zu", r[ahead - 1], i,
                        classes - 1);
        if (ahead == 2 && r[0] >= COARSE)
            return FAIL(err, ERR_CORRUPT, "coarse label %u of record %zu: want 0 to %d", r[0], i, COARSE - 1);
        labels[i] = r[ahead - 1];
        memcpy(pixels + i * PIXELS, r + ahead, PIXELS);
    }
    return OK;
}

typedef struct {
    Bytes bytes;
    const char *path;
    size_t count;
} Opened;

static Status open_file(const DatasetInfo *info, const char *dir, const char *name, Opened *out, Arena *a,
                        Error *err)
{
    TRY(data_file(info, dir, name, &out->bytes, &out->path, a, err));
    if (cifar_count(out->bytes, info->classes, &out->count, err) != OK)
        return data_damaged(info, out->path, err);
    return OK;
}

/* Opens CIFAR-10's training files, five of 10,000 records each. If the first file has another number of
 * records, the files are a user's own subset, which ends before the first missing file. */
static Status open_batches(const DatasetInfo *info, const char *dir, Opened *file, size_t *files, Arena *a,
                           Error *err)
{
    static const char *const names[FILES] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                             "data_batch_4.bin", "data_batch_5.bin"};
    for (*files = 0; *files < FILES; ++*files) {
        const char *name = names[*files];
        if (*files && file[0].count != PUBLISHED && !data_file_there(dir, name, a) &&
            !data_file_there(dir, text_format(a, "%s.gz", name), a))
            break;
        TRY(open_file(info, dir, name, &file[*files], a, err));
    }
    return OK;
}

static Status open_files(const Dataset *d, const char *dir, Opened *file, size_t *files, Arena *a, Error *err)
{
    const bool fine = d->info->classes == 100;
    if (d->split == SPLIT_TRAIN && !fine)
        return open_batches(d->info, dir, file, files, a, err);
    const char *name = !fine ? "test_batch.bin" : d->split == SPLIT_TRAIN ? "train.bin" : "test.bin";
    *files = 1;
    return open_file(d->info, dir, name, file, a, err);
}

static Status take_files(Dataset *d, const Opened *file, size_t files, Arena *a, Error *err)
{
    size_t count = 0, at = 0;
    for (size_t i = 0; i < files; i++)
        count += file[i].count;
    uint8_t *pixels = NEW(a, uint8_t, count * PIXELS);
    uint32_t *labels = NEW(a, uint32_t, count);
    TRY(arena_check(pixels && labels, a, err));
    for (size_t i = 0; i < files; at += file[i++].count)
        if (cifar_take(file[i].bytes, d->info->classes, pixels + at * PIXELS, labels + at, err) != OK)
            return data_damaged(d->info, file[i].path, err);
    d->count = count;
    d->pixels = pixels;
    d->labels = labels;
    return OK;
}

static Status cifar_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err)
{
    (void)seed;
    Opened file[FILES];
    size_t files;
    TRY(open_files(d, dir, file, &files, a, err));
    return take_files(d, file, files, a, err);
}

static Status svhn_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err)
{
    (void)seed;
    const bool train = d->split == SPLIT_TRAIN;
    const char *name = train ? "train.bin" : "test.bin", *mat = train ? "train_32x32.mat" : "test_32x32.mat";
    Opened file;
    if (!data_file_there(dir, name, a) && data_file_there(dir, mat, a)) {
        FAIL(err, ERR_IO, "%s/%s: a MATLAB file, want %s, which is made of it once", dir, mat, name);
        return error_hint(err, "sh datasets/fetch.sh svhn %s", dir);
    }
    TRY(open_file(d->info, dir, name, &file, a, err));
    return take_files(d, &file, 1, a, err);
}

/* ---- data sets of text: reads a file, numbers the bytes that occur in it, and cuts it into windows ---- */

/* Gives a data set its tokens, and a copy of its DatasetInfo with `classes` kinds of tokens and the entropy rate. */
static Status text_set(Dataset *d, const uint8_t *pixels, size_t tokens, size_t classes, double entropy, Arena *a,
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

static Status text_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err)
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

/* ---- a text drawn from a source whose entropy rate is known ----
 *
 * The source is a Markov chain: the distribution of a letter depends on the two letters before it. Each pair of
 * letters is followed by four letters with the probabilities WEIGHT / 64 each, times 31 / 32, or with
 * probability 1 / 32 by any letter. So every letter can follow every pair, and the chain has one stationary
 * distribution. The entropy rate is the mean, over the stationary distribution of pairs, of the entropy of the
 * letter that follows: no model of the source has a smaller expected loss. */

enum {
    BABBLE_LETTERS = 16,
    BABBLE_PAIRS = BABBLE_LETTERS * BABBLE_LETTERS,
    BABBLE_TRAIN = 1 << 20,
    BABBLE_TEST = 1 << 16,
};

enum { FOLLOWERS = 4, SUM = 2048, WEIGHT_SUM = 64, FLOOR = 64 / BABBLE_LETTERS };

static const unsigned weight[FOLLOWERS] = {28, 18, 12, 6};

/* Fills share[pair][letter] with the probabilities times SUM. The generator's word
 * FOLLOWERS pair + i picks follower i of a pair; two followers may be the same letter. */
static void draw_source(uint64_t seed, uint16_t share[BABBLE_PAIRS][BABBLE_LETTERS])
{
    const Rng rng = rng_open(seed, 0, RNG_EVERYONE, 0, rng_hash("babble"));
    const RngKey key = rng_key(&rng, USE_DATA, 0);
    for (uint32_t pair = 0; pair < BABBLE_PAIRS; pair++) {
        for (uint32_t k = 0; k < BABBLE_LETTERS; k++)
            share[pair][k] = FLOOR;
        for (uint32_t i = 0; i < FOLLOWERS; i++)
            share[pair][rng_word(&key, pair * FOLLOWERS + i) % BABBLE_LETTERS] +=
                (uint16_t)(weight[i] * (SUM - FLOOR * BABBLE_LETTERS) / WEIGHT_SUM);
    }
}

/* Multiplies the distribution of pairs by the chain's matrix until it is stationary. Each step shrinks the
 * distance to the stationary distribution, so 1,000 steps reach the precision of double. */
/* Returns the entropy rate of the source, in nats per letter. */
static double babble_entropy(uint64_t seed)
{
    enum { STEPS = 1000 };
    uint16_t share[BABBLE_PAIRS][BABBLE_LETTERS];
    double now[BABBLE_PAIRS], next[BABBLE_PAIRS], rate = 0;
    draw_source(seed, share);
    for (size_t pair = 0; pair < BABBLE_PAIRS; pair++)
        now[pair] = 1.0 / BABBLE_PAIRS;
    for (size_t step = 0; step < STEPS; step++) {
        memset(next, 0, sizeof next);
        for (size_t pair = 0; pair < BABBLE_PAIRS; pair++)
            for (size_t k = 0; k < BABBLE_LETTERS; k++)
                next[pair % BABBLE_LETTERS * BABBLE_LETTERS + k] += now[pair] * share[pair][k] / SUM;
        memcpy(now, next, sizeof now);
    }
    for (size_t pair = 0; pair < BABBLE_PAIRS; pair++)
        for (size_t k = 0; k < BABBLE_LETTERS; k++)
            rate -= now[pair] * share[pair][k] / SUM * log((double)share[pair][k] / SUM);
    return rate;
}

/* Fills `letters` (count) with letters below BABBLE_LETTERS, as determined by (seed, split). */
static void babble_draw(uint64_t seed, DataSplit split, size_t count, uint8_t *letters)
{
    uint16_t share[BABBLE_PAIRS][BABBLE_LETTERS];
    const Rng rng = rng_open(seed, 0, RNG_EVERYONE, split, rng_hash("babble text"));
    size_t pair = 0;
    draw_source(seed, share);
    for (size_t i = 0; i < count; i++) {
        uint32_t left = rng_u32(&rng, USE_DATA, i) % SUM, k = 0;
        while (left >= share[pair][k])
            left -= share[pair][k++];
        letters[i] = (uint8_t)k;
        pair = pair % BABBLE_LETTERS * BABBLE_LETTERS + k;
    }
}

static Status babble_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err)
{
    (void)dir;
    const size_t tokens = d->split == SPLIT_TRAIN ? BABBLE_TRAIN : BABBLE_TEST;
    uint8_t *letters = NEW(a, uint8_t, tokens);
    TRY(arena_check(letters, a, err));
    babble_draw(seed, d->split, tokens, letters);
    return text_set(d, letters, tokens, BABBLE_LETTERS, babble_entropy(seed), a, err);
}

/* ---- the table of data sets ---- */

/* Initialisers of fields that several data sets share. The means and standard deviations of CIFAR's channels
 * are for pixels divided by 255, and are those in the ATOMO authors' code. */
#define GREY_28   .channels = 1, .rows = 28, .columns = 28
#define COLOUR_32 .channels = 3, .rows = 32, .columns = 32
#define CIFAR                                                                                                \
    COLOUR_32, .mean = {125.3f / 255, 123.0f / 255, 113.9f / 255},                                           \
               .deviation = {63.0f / 255, 62.1f / 255, 66.7f / 255}, .crop = CROP_REFLECT, .load = cifar_load

static const DatasetInfo datasets[] = {
    {.name = "digits",
     .brief = "ten digits drawn by this program: 28 x 28, grey; needs no files",
     GREY_28,
     .classes = 10,
     .mean = {0.1078f},
     .deviation = {0.2342f},
     .load = digits_load},
    {.name = "colour-digits",
     .brief = "the same digits in colours of their own: 32 x 32; 10,000 and 1,000; needs no files",
     COLOUR_32,
     .classes = 10,
     .mean = {0.239f, 0.239f, 0.239f},
     .deviation = {0.168f, 0.168f, 0.168f},
     .load = colour_digits_load},
    {.name = "mnist",
     .brief = "handwritten digits: 28 x 28, grey; 60,000 and 10,000",
     GREY_28,
     .classes = 10,
     .mean = {0.1307f},
     .deviation = {0.3081f},
     .load = idx_load},
    {.name = "fashion-mnist",
     .brief = "photographs of clothes: 28 x 28, grey; 60,000 and 10,000",
     GREY_28,
     .classes = 10,
     .mean = {0.2860f},
     .deviation = {0.3530f},
     .load = idx_load},
    {.name = "cifar10",
     .brief = "photographs of ten kinds of things: 32 x 32, colour; 50,000 and 10,000",
     CIFAR,
     .classes = 10},
    {.name = "cifar100",
     .brief = "photographs of a hundred kinds of things: 32 x 32, colour; 50,000 and 10,000",
     CIFAR,
     .classes = 100},
    {.name = "svhn",
     .brief = "house numbers' digits, photographed: 32 x 32, colour; 73,257 and 26,032",
     COLOUR_32,
     .classes = 10,
     .mean = {0.4914f, 0.4822f, 0.4465f},
     .deviation = {0.2023f, 0.1994f, 0.2010f},
     .crop = CROP_ZERO,
     .load = svhn_load},
    {.name = "text",
     .brief = "your own text, DIR/input.txt or a file; for gpt; the last tenth is to test",
     .channels = 1,
     .rows = 1,
     .text = true,
     .load = text_load},
    {.name = "babble",
     .brief = "text drawn by this program, whose entropy rate is known; for gpt; needs no files",
     .channels = 1,
     .rows = 1,
     .text = true,
     .load = babble_load},
    {0},
};

const char *dataset_name(const void *data, size_t i)
{
    (void)data;
    return datasets[i].name;
}

/* Returns true if a data set's name is the path of the user's own file, FILE.h5 (own.c). */
static bool is_file(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && (!strcmp(dot, ".h5") || !strcmp(dot, ".hdf5"));
}

/* Returns NULL when there is no such data set; the error then suggests the most similar name. */
static const DatasetInfo *dataset_find(const char *name, Error *err)
{
    static const DatasetInfo file = {.name = "FILE.h5", .load = own_load};
    char all[200];
    if (is_file(name))
        return &file;
    for (const DatasetInfo *d = datasets; d->name; d++)
        if (!strcmp(d->name, name))
            return d;
    const char *nearest = text_nearest(name, dataset_name, NULL);
    FAIL(err, ERR_USAGE, "%s: no such data set", name);
    error_hint(err, "--dataset %s; there are %s, and files of your own, FILE.h5", nearest ? nearest : "NAME",
               text_names(all, sizeof all, dataset_name, NULL));
    return NULL;
}

Status dataset_load(Dataset *out, const char *name, const char *dir, DataSplit split, uint64_t seed, Arena *a,
                    Error *err)
{
    if (is_file(name) && dir) {
        FAIL(err, ERR_USAGE, "--data-dir %s: the data set is the file %s", dir, name);
        return error_hint(err, "--dataset DIR/FILE.h5");
    }
    Dataset d = {.info = dataset_find(name, err), .split = split};
    if (!d.info)
        return ERR_USAGE;
    if (is_file(name))
        dir = name;
    if (!dir && !(dir = text_format(a, "datasets/%s", name)))
        return arena_fail(a, err);
    TRY(d.info->load(&d, dir, seed, a, err));
    *out = d;
    return OK;
}
