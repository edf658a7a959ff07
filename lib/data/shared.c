/* shared.c -- dataset_load_once: the ranks of a machine keep one copy of a data set. */
#include "data/dataset.h"

#include "base/checksum.h"
#include "base/text.h"

#include <string.h>

/* The head of shared memory. Pixels and labels follow. */
typedef struct {
    uint64_t key;     /* of the data set and its folder */
    DatasetInfo info; /* its pointers are those of the rank that loaded the data set */
    size_t count, tokens, pixel_bytes, label_bytes;
    bool floats; /* pixels are floats, Dataset.values */
} Head;

enum { HEAD = (sizeof(Head) + 63) / 64 * 64 };

static uint64_t key_of(const char *name, const char *dir)
{
    const uint64_t key = checksum((Bytes){(const uint8_t *)name, strlen(name)}, dir != NULL);
    return dir ? checksum((Bytes){(const uint8_t *)dir, strlen(dir)}, key) : key;
}

static size_t pixel_bytes(const Dataset *d)
{
    const DatasetInfo *i = d->info;
    return d->tokens ? d->tokens
                     : d->count * i->channels * i->rows * i->columns * (d->values ? sizeof *d->values : 1);
}

/* Where labels begin: a multiple of their size. */
static size_t labels_at(const Head *h)
{
    return HEAD + (h->pixel_bytes + 3) / 4 * 4;
}

static Head head_of(const Dataset *d, uint64_t key)
{
    const DatasetInfo *i = d->info;
    return (Head){.key = key,
                  .info = *i,
                  .count = d->count,
                  .tokens = d->tokens,
                  .floats = d->values != NULL,
                  .pixel_bytes = pixel_bytes(d),
                  .label_bytes = d->labels ? d->count * sizeof *d->labels : 0};
}

static void put(uint8_t *room, const Head *h, const Dataset *d)
{
    memcpy(room, h, sizeof *h);
    memcpy(room + HEAD, h->floats ? (const void *)d->values : d->pixels, h->pixel_bytes);
    if (h->label_bytes)
        memcpy(room + labels_at(h), d->labels, h->label_bytes);
}

/* Sets all of *d but `split` and `stopped`. `name` is that of dataset_load. */
static Status take(Dataset *d, const char *name, const uint8_t *room, Arena *a, Error *err)
{
    const Head *h = (const Head *)room;
    DatasetInfo *info = NEW(a, DatasetInfo, 1);
    const DatasetInfo own = *d->info;
    const char *copy = text_copy(a, name);
    TRY(arena_check(info && copy, a, err));
    *info = h->info;
    info->name = copy;
    info->brief = own.brief, info->licence = own.licence, info->source = own.source;
    info->load = own.load;
    d->info = info;
    d->count = h->count;
    d->tokens = h->tokens;
    d->pixels = h->floats ? NULL : room + HEAD;
    d->values = h->floats ? (const float *)(room + HEAD) : NULL;
    d->labels = h->label_bytes ? (const uint32_t *)(room + labels_at(h)) : NULL;
    return OK;
}

/* A request for a data set: the parameters of dataset_load. */
typedef struct {
    const char *name, *dir;
    DataSplit split;
    uint64_t seed;
    int threads;
    bool (*stopped)(void);
} Request;

static Status load(Dataset *out, const Request *r, Arena *a, Error *err)
{
    TRY(dataset_load(out, r->name, r->dir, r->split, r->seed, r->stopped, a, err));
    return dataset_complete(out, r->threads, err);
}

/* Gives *d of the machine's first rank to the others. */
static Status spread(Dataset *d, Net *net, const Request *r, Arena *a, Error *err)
{
    const uint64_t key = key_of(r->name, r->dir);
    const Head h = net->first_here ? head_of(d, key) : (Head){0};
    uint8_t *room = net_share(net, labels_at(&h) + h.label_bytes);
    if (!room)
        return load(d, r, a, err);
    if (net->first_here)
        put(room, &h, d);
    net_meet(net);
    if (((const Head *)room)->key != key)
        return load(d, r, a, err);
    *d = (Dataset){.info = dataset_find(r->name, err), .split = r->split, .stopped = r->stopped};
    return d->info ? take(d, r->name, room, a, err) : ERR_USAGE;
}

Status dataset_load_once(Dataset *out, Net *net, const char *name, const char *dir, DataSplit split,
                         uint64_t seed, int threads, bool (*stopped)(void), Arena *a, Error *err)
{
    const Request r = {name, dir, split, seed, threads, stopped};
    if (!net)
        return dataset_load(out, name, dir, split, seed, stopped, a, err);
    const bool alone = net->neighbours == 1;
    Arena *own = arena_open(0); /* until the data are in shared memory */
    Dataset d = {0};
    Status status = net_agree(net, net->first_here ? load(&d, &r, alone ? a : own, err) : OK, err);
    if (status == OK)
        status = net_agree(net, alone ? OK : spread(&d, net, &r, a, err), err);
    arena_close(own);
    *out = d;
    return status;
}
