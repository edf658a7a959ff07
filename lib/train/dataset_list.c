/* dataset_list.c -- the table of data sets; finds and loads a data set by its name. */
#include "train/files.h"
#include "base/text.h"

#include <string.h>

/* Initialisers of fields that several data sets share. The means and standard deviations of CIFAR's channels
 * are for pixels divided by 255, and are those in the ATOMO authors' code. */
#define GREY_28   .channels = 1, .rows = 28, .columns = 28
#define COLOUR_32 .channels = 3, .rows = 32, .columns = 32
#define CIFAR                                                                                                \
    COLOUR_32, .mean = {125.3f / 255, 123.0f / 255, 113.9f / 255},                                           \
               .deviation = {63.0f / 255, 62.1f / 255, 66.7f / 255}, .crop = CROP_REFLECT,                   \
               .licence = "none stated; cite Krizhevsky, 2009",                                              \
               .source = "https://www.cs.toronto.edu/~kriz/cifar.html", .load = cifar_load

static const DatasetInfo datasets[] = {
    {.name = "digits",
     .brief = "ten digits drawn by this program: 28 x 28, grey; needs no files",
     GREY_28,
     .classes = 10,
     .mean = {0.1078f},
     .deviation = {0.2342f},
     .licence = "that of this program",
     .source = "drawn from the seed",
     .load = digits_load},
    {.name = "colour-digits",
     .brief = "the same digits in colours of their own: 32 x 32; 10,000 and 1,000; needs no files",
     COLOUR_32,
     .classes = 10,
     .mean = {0.239f, 0.239f, 0.239f},
     .deviation = {0.168f, 0.168f, 0.168f},
     .licence = "that of this program",
     .source = "drawn from the seed",
     .load = colour_digits_load},
    {.name = "mnist",
     .brief = "handwritten digits: 28 x 28, grey; 60,000 and 10,000",
     GREY_28,
     .classes = 10,
     .mean = {0.1307f},
     .deviation = {0.3081f},
     .licence = "CC BY-SA 3.0, LeCun, Cortes and Burges",
     .source = "http://yann.lecun.com/exdb/mnist/",
     .load = idx_load},
    {.name = "fashion-mnist",
     .brief = "photographs of clothes: 28 x 28, grey; 60,000 and 10,000",
     GREY_28,
     .classes = 10,
     .mean = {0.2860f},
     .deviation = {0.3530f},
     .licence = "MIT, Zalando SE",
     .source = "https://github.com/zalandoresearch/fashion-mnist",
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
     .licence = "for non-commercial use only; cite Netzer and others, 2011",
     .source = "http://ufldl.stanford.edu/housenumbers/",
     .load = svhn_load},
    {.name = "text",
     .brief = "your own text, DIR/input.txt or a file; for gpt; the last tenth is to test",
     .channels = 1,
     .rows = 1,
     .text = true,
     .licence = "that of the text",
     .source = "your file; datasets/fetch.sh text gets Tiny Shakespeare",
     .load = text_load},
    {.name = "babble",
     .brief = "text drawn by this program, whose entropy rate is known; for gpt; needs no files",
     .channels = 1,
     .rows = 1,
     .text = true,
     .licence = "that of this program",
     .source = "drawn from the seed",
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

const DatasetInfo *dataset_find(const char *name, Error *err)
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
