/* rank_check.c -- implements rank_check.h: each rank writes a list of lines, such as "--lr 0.01", and compares it
 * with the list of rank 0. */
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
    text_addf(out, "%s of checksum %016llx\n", name, (unsigned long long)checksum(b, checksum(a, 0)));
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
    text_addf(out, "instruction set %s\n", kernels()->name);
    text_addf(out, "BLAS %s %s\n", loaded ? blas.core : "none", loaded ? blas.config : "");
}

static Status add_options(TextBuf *out, const TrainRun *r)
{
    Fact fact[TRAIN_FACTS];
    const TrainJob *j = &r->job;
    TRY(train_job_settings(j, fact));
    text_addf(out, "--seed %lld\n", (long long)j->common.seed);
    for (size_t i = 0; i < TRAIN_FACTS; i++) {
        const Value *v = &fact[i].value;
        char number[32];
        text_addf(out, "%s %s\n", fact[i].name,
                  v->type == VALUE_TEXT ? v->text : text_double(number, value_number(v)));
    }
    for (size_t k = 0; k < j->codecs; k++)
        text_addf(out, "%s-c %s", k ? " " : "", codec_text(j->codec[k], j->a));
    text_addf(out, "\n--max-steps %lld\n--epochs %lld\n--eval-freq %lld\n", (long long)j->max_steps,
              (long long)j->epochs, (long long)r->every);
    text_addf(out, "%s--train-dir\n%s--resume\n", r->dir ? "" : "no ", j->common.resume ? "" : "no ");
    text_addf(out, "--bucket-bytes %lld\n--overlap %s\n", (long long)j->bucket_bytes,
              j->overlap ? "on" : "off");
    text_addf(out, "%s--dump-gradients\n--dump-freq %lld\n", r->dump ? "" : "no ", (long long)r->dump_every);
    return OK;
}

static Status make_list(TrainRun *r, const char **list)
{
    TrainJob *j = &r->job;
    TextBuf out = {.arena = j->a};
    char *program;
    size_t size;
    if (file_load(&program, &size, own_program, SIZE_MAX / 2, j->a, j->err) != OK)
        return error_at(j->err, "%s", own_program);
    add_sum(&out, "a program", (Bytes){(const uint8_t *)program, size}, (Bytes){0});
    add_machine(&out);
    TRY(add_options(&out, r));
    add_data(&out, "training images", &j->train);
    add_data(&out, "test images", &j->test);
    *list = text_done(&out);
    return arena_check(*list, j->a, j->err);
}

/* ---- comparing ---- */

enum { SHOWN = 120 };

/* Returns where two lines begin to differ: the start of the word. A short line is shown from its start. */
static size_t shown_from(const char *mine, size_t length, const char *first, size_t other)
{
    size_t at = 0, word = 0;
    if (length <= SHOWN && other <= SHOWN)
        return 0;
    for (; at < length && at < other && mine[at] == first[at]; at++)
        word = mine[at] == ' ' ? at + 1 : word;
    return word;
}

/* Returns how many bytes of a text of `length` are shown; no character is cut. */
static int shown(const char *text, size_t length)
{
    size_t bytes = length < SHOWN ? length : SHOWN;
    while (bytes && bytes < length && ((unsigned char)text[bytes] & 0xc0) == 0x80)
        bytes--;
    return (int)bytes;
}

/* Programs that are not the same may have lists of different lengths, but their first lines differ. */
static Status compare(const Net *net, const char *mine, const char *first, Error *err)
{
    while (*mine || *first) {
        const size_t length = strcspn(mine, "\n"), other = strcspn(first, "\n");
        if (length != other || memcmp(mine, first, length) != 0) {
            const size_t from = shown_from(mine, length, first, other);
            const char *own = mine + from, *others = first + from;
            FAIL(err, ERR_USAGE, "rank %d has %s%.*s, but rank 0 has %s%.*s", net->rank, from ? "... " : "",
                 shown(own, length - from), own, from ? "... " : "", shown(others, other - from), others);
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
