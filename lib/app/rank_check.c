/* rank_check.c -- implements rank_check.h: each rank writes a list of lines "NAME VALUE", and compares it with
 * the list of rank 0. */
#include "app/rank_check.h"

#include "base/checksum.h"
#include "base/file.h"
#include "compress/spec.h"
#include "num/linalg.h"
#include "vec/kernels.h"

#include <string.h>

static const char own_program[] = "/proc/self/exe";

/* ---- the list ---- */

static void add_sum(TextBuf *out, const char *name, Bytes a, Bytes b)
{
    text_addf(out, "%s %016llx\n", name, (unsigned long long)checksum(b, checksum(a, 0)));
}

static void add_data(TextBuf *out, const char *name, const Dataset *d)
{
    const size_t pixels =
        d->tokens ? d->tokens : d->count * d->info->channels * d->info->rows * d->info->columns;
    const Bytes images = d->values ? (Bytes){(const uint8_t *)d->values, pixels * sizeof *d->values}
                                   : (Bytes){d->pixels, pixels};
    add_sum(out, name, images,
            (Bytes){(const uint8_t *)d->labels, d->labels ? d->count * sizeof *d->labels : 0});
}

/* The kernels of the network and of BLAS round differently on different processors. */
static void add_machine(TextBuf *out)
{
    Error err;
    BlasInfo blas = {0};
    const bool loaded = linalg_blas_info(&blas, &err) == OK;
    text_addf(out, "instruction-set %s\n", kernels()->name);
    text_addf(out, "blas %s %s\n", loaded ? blas.core : "none", loaded ? blas.config : "");
}

static void add_facts(TextBuf *out, const TrainRun *r)
{
    Fact fact[TRAIN_FACTS];
    const TrainJob *j = &r->job;
    train_job_facts(j, fact);
    text_addf(out, "seed %lld\n", (long long)j->common.seed);
    for (size_t i = 0; i < TRAIN_FACTS; i++) {
        const Value *v = &fact[i].value;
        char number[32];
        text_addf(out, "%s %s\n", fact[i].name,
                  v->type == VALUE_TEXT ? v->text : text_double(number, value_number(v)));
    }
    for (size_t k = 0; k < j->codecs; k++)
        text_addf(out, "compressor %s\n", codec_text(j->codec[k], j->a));
    text_addf(out, "max_steps %lld\nepochs %lld\neval_freq %lld\n", (long long)j->max_steps,
              (long long)j->epochs, (long long)r->every);
    text_addf(out, "checkpoints %s\nresume %s\n", r->dir ? "yes" : "no", j->common.resume ? "yes" : "no");
    text_addf(out, "bucket_bytes %lld\noverlap %d\n", (long long)j->bucket_bytes, j->overlap);
    text_addf(out, "dump_freq %lld\n", (long long)(r->dump ? r->dump_every : 0));
}

static Status make_list(TrainRun *r, const char **list)
{
    TrainJob *j = &r->job;
    TextBuf out = {.arena = j->a};
    char *program;
    size_t size;
    if (file_load(&program, &size, own_program, SIZE_MAX / 2, j->a, j->err) != OK)
        return error_at(j->err, "%s", own_program);
    add_sum(&out, "program", (Bytes){(const uint8_t *)program, size}, (Bytes){0});
    add_machine(&out);
    add_facts(&out, r);
    add_data(&out, "training-images", &j->train);
    add_data(&out, "test-images", &j->test);
    *list = text_done(&out);
    return arena_check(*list, j->a, j->err);
}

/* ---- comparing ---- */

static Status compare(const Net *net, const char *mine, const char *first, Error *err)
{
    while (*mine || *first) {
        const size_t length = strcspn(mine, "\n"), name = strcspn(mine, " \n");
        const size_t other = strcspn(first, "\n");
        if (length != other || memcmp(mine, first, length) != 0) {
            const int value = (int)(length - name), value_there = other > name ? (int)(other - name) : 0;
            FAIL(err, ERR_USAGE, "rank %d: %.*s is%.*s, but on rank 0%.*s", net->rank, (int)name, mine, value,
                 mine + name, value_there, first + (other > name ? name : other));
            return error_hint(err, "all ranks need the same program, options and data, on processors alike");
        }
        mine += length + (mine[length] == '\n');
        first += other + (first[other] == '\n');
    }
    return OK;
}

Status rank_check(TrainRun *r)
{
    TrainJob *j = &r->job;
    const char *mine = NULL;
    if (!j->net)
        return OK;
    TRY(net_agree(j->net, make_list(r, &mine), j->err));
    uint64_t size = strlen(mine) + 1;
    net_broadcast(j->net, 0, &size, sizeof size);
    char *first = NEW(j->a, char, size);
    TRY(arena_check(first, j->a, j->err));
    if (j->net->rank == 0)
        memcpy(first, mine, size);
    net_broadcast(j->net, 0, first, size);
    return net_agree(j->net, compare(j->net, mine, first, j->err), j->err);
}
