/* cli_other.c -- options of other programs, and the option, or the codec's key, that does the same here. */
#include "app/cli_other.h"

#include "compress/names.h"

#include <ctype.h>
#include <string.h>

/* The first row counts that has the name and whose option the command has (for a spec: if the command has --codec). */
static const struct {
    const char *names;  /* between blanks; "_" in a typed name counts as "-" */
    const char *option; /* NULL: `spec` does it */
    const char *spec;   /* an argument of --codec */
} others[] = {
    {" model arch architecture net ", "network", NULL},
    {" steps iters iterations num-steps train-steps max-iters num-iterations ", "max-steps", NULL},
    {" steps ", "step", NULL},
    {" num-epochs max-epochs ", "epochs", NULL},
    {" learning-rate ", "lr", NULL},
    {" batch bs global-batch-size ", "batch-size", NULL},
    {" n-workers num-workers world-size nproc nodes ranks gpus ", "workers", NULL},
    {" data ", "dataset", NULL},
    {" save-dir output-dir out-dir logdir checkpoint ", "train-dir", NULL},
    {" distribution dist ", "law", NULL},
    {" size dim dims ", "shape", NULL},
    {" layer layers param params name ", "tensor", NULL},
    {" runs trials reps samples ", "repeats", NULL},
    {" communicator collective backend ", "topology", NULL},
    {" bandwidth latency network ", "link", NULL},
    {" compute-time ", "compute-ms", NULL},
    {" out outfile save ", "output", NULL},
    {" random-seed ", "seed", NULL},
    {" jobs num-threads nthreads ", "threads", NULL},
    {" method algorithm compression reducer quantizer sparsifier ", "codec", NULL},
    {" bits nbits num-bits bit-width quantize-bits ", NULL, "qsgd:bits=4"},
    {" levels quantum-num quantization-level ", NULL, "qsgd:levels=16"},
    {" bucket bucket-size ", NULL, "qsgd:bucket=512"},
    {" svd-rank ", NULL, "svd:rank=3"},
    {" rank matrix-approximation-rank ", NULL, "powersgd:rank=2"},
    {" ratio compress-ratio compression-ratio density sparsity k ", NULL, "topk:ratio=0.01"},
    {" threshold ", NULL, "threshold:tau=0.01"},
    {" error-feedback ef residual use-memory ", NULL, "ef+topk"},
};

static bool names_it(const char *names, const char *name)
{
    char word[40];
    const int length = snprintf(word, sizeof word, " %s ", name);
    for (char *c = word; *c; c++)
        *c = *c == '_' ? '-' : (char)tolower((unsigned char)*c);
    return length < (int)sizeof word && strstr(names, word);
}

static const Option *row_of(const Option *rows, const char *name)
{
    while (rows->name && strcmp(rows->name, name) != 0)
        rows++;
    return rows->name ? rows : NULL;
}

Status cli_other_hint(const Option *rows, const char *name, Error *err)
{
    const bool codecs = row_of(rows, "codec");
    if (codecs && compressor_find(name))
        return error_hint(err, "%s is a codec: -c %s", name, name);
    for (size_t i = 0; i < countof(others); i++) {
        if (!names_it(others[i].names, name))
            continue;
        const Option *o = others[i].option ? row_of(rows, others[i].option) : NULL;
        if (o)
            return error_hint(err, "--%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
        if (others[i].spec && codecs)
            return error_hint(err, "it is part of a codec's spec, such as -c %s", others[i].spec);
    }
    return OK;
}
