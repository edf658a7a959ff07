/* rank_check.c -- implements rank_check.h: each rank compares a digest of its settings with that of rank 0, and where it
 * differs, the settings. */
#include "app/rank_check.h"

#include "base/checksum.h"
#include "base/file.h"
#include "math/linalg.h"
#include "math/vec/kernels.h"

#include <string.h>

static const char own_program[] = "/proc/self/exe";

static Value sum_of(Bytes a, Bytes b, Arena *arena)
{
    return value_text(text_format(arena, "%016llx", (unsigned long long)checksum(b, checksum(a, 0))));
}

static Value sum_of_data(const Dataset *d, Arena *a)
{
    const size_t pixels =
        d->tokens ? d->tokens : d->count * d->info->channels * d->info->rows * d->info->columns;
    const Bytes images = d->values ? (Bytes){(const uint8_t *)d->values, pixels * sizeof *d->values}
                                   : (Bytes){d->pixels, pixels};
    return sum_of(images, (Bytes){(const uint8_t *)d->labels, d->labels ? d->count * sizeof *d->labels : 0}, a);
}

/* The kernels of the network and of BLAS round differently on different processors. */
static Value blas_name(Arena *a)
{
    Error err;
    BlasInfo blas = {0};
    const bool loaded = linalg_blas_info(&blas, &err) == OK;
    return value_text(text_format(a, "%s %s", loaded ? blas.core : "none", loaded ? blas.config : ""));
}

static Status make_line(TrainRun *r, const char **line)
{
    TrainJob *j = &r->job;
    char *program;
    size_t size;
    if (file_load(&program, &size, own_program, SIZE_MAX / 2, j->a, j->err) != OK)
        return error_at(j->err, "%s", own_program);
    const Fact own[] = {{"the program", sum_of((Bytes){(const uint8_t *)program, size}, (Bytes){0}, j->a)},
                        {"the instruction set", value_text(kernels()->name)},
                        {"BLAS", blas_name(j->a)},
                        {"the training images", sum_of_data(&j->train, j->a)},
                        {"the test images", sum_of_data(&j->test, j->a)},
                        {"--max-steps", value_int(j->max_steps)},
                        {"--epochs", value_int(j->epochs)},
                        {"--eval-freq", value_int(r->every)},
                        {"--train-dir", value_bool(r->dir)},
                        {"--resume", value_bool(j->common.resume)},
                        {"--dump-gradients", value_bool(r->dump)},
                        {"--dump-freq", value_int(r->dump_every)}};
    Fact fact[countof(own) + TRAIN_FACTS_MOST];
    memcpy(fact, own, sizeof own);
    const size_t settings = train_job_settings(j, SETTING_SHOWN | SETTING_RUN, fact + countof(own));
    *line = settings ? part_head(fact, countof(own) + settings, j->a) : NULL;
    return arena_check(*line, j->a, j->err);
}

/* Programs that are not the same may have other settings, but the program itself differs, too. */
static Status compare(const TrainJob *j, const char *mine, const char *first)
{
    const Json *here, *there;
    TRY(json_read(&here, mine, strlen(mine), j->a, j->err));
    TRY(json_read(&there, first, strlen(first), j->a, j->err));
    const char *other = part_difference(there, here, j->a);
    TRY(arena_check(other, j->a, j->err));
    if (!*other)
        return OK;
    FAIL(j->err, ERR_USAGE, "rank %d differs from rank 0: %s", j->net->rank, other);
    return error_hint(j->err, "all ranks need the same program, options and data, on processors alike");
}

Status rank_check(TrainRun *r)
{
    TrainJob *j = &r->job;
    const char *mine = NULL;
    if (!j->net)
        return OK;
    TRY(net_agree(j->net, make_line(r, &mine), j->err));
    const uint64_t own = checksum((Bytes){(const uint8_t *)mine, strlen(mine)}, 0);
    uint64_t digest = own, size = strlen(mine) + 1;
    net_broadcast(j->net, 0, &digest, sizeof digest);
    if (!net_any(j->net, digest != own))
        return OK;
    net_broadcast(j->net, 0, &size, sizeof size);
    char *first = NEW(j->a, char, size);
    TRY(net_agree(j->net, arena_check(first, j->a, j->err), j->err));
    if (j->net->rank == 0)
        memcpy(first, mine, size);
    net_broadcast(j->net, 0, first, size);
    return net_agree(j->net, compare(j, mine, first), j->err);
}
