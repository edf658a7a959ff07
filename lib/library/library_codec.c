/* library_codec.c -- the functions of atomo.h that report versions, open codecs, and read gradient files. */
#include "library/library_parts.h"

#include "compress/spec.h"
#include "dump/tensor.h"

#include <assert.h>
#include <stdlib.h>

/* The public types of atomo.h must have the memory layout and values of the private types that they stand
 * for. */
_Static_assert(sizeof(atomo_error) == sizeof(Error), "atomo_error is Error");
_Static_assert(offsetof(atomo_error, text) == offsetof(Error, text), "atomo_error is Error");
_Static_assert(offsetof(atomo_error, hint) == offsetof(Error, hint), "atomo_error is Error");
_Static_assert((int)ATOMO_OK == (int)OK && (int)ATOMO_USAGE == (int)ERR_USAGE &&
                   (int)ATOMO_IO == (int)ERR_IO && (int)ATOMO_CORRUPT == (int)ERR_CORRUPT &&
                   (int)ATOMO_NUMERIC == (int)ERR_NUMERIC && (int)ATOMO_MEMORY == (int)ERR_MEMORY &&
                   (int)ATOMO_STOPPED == (int)ERR_STOPPED,
               "atomo_status is Status");
_Static_assert((int)ATOMO_RANK_MAX == (int)RANK_MAX, "one limit");

int atomo_interface(void)
{
    return ATOMO_INTERFACE;
}

const char *atomo_version(void)
{
    return ATOMO_VERSION;
}

typedef struct {
    atomo_codec **out;
    const char *spec;
} Opening;

static Status open_codec(void *arg, Visit *v)
{
    const Opening *o = arg;
    Error *e = v->err;
    *o->out = NULL;
    if (!o->spec)
        return FAIL(e, ERR_USAGE, "no spec: want one such as qsgd:bits=4");
    atomo_codec *c = calloc(1, sizeof *c);
    if (!c)
        return FAIL(e, ERR_MEMORY, "out of memory");
    c->arena = arena_open(0);
    Status status = codec_open(&c->codec, o->spec, c->arena, e);
    if (status == OK) {
        c->spec = codec_typed(c->codec, c->arena);
        c->complete = codec_complete(c->codec, c->arena);
        c->canonical = codec_text(c->codec, c->arena);
        status = arena_check(c->spec && c->complete && c->canonical, c->arena, e);
    }
    if (status == OK)
        *o->out = c;
    else
        atomo_codec_close(c);
    return status;
}

atomo_status atomo_codec_open(atomo_codec **out, const char *spec, atomo_error *err)
{
    return library_call(open_codec, &(Opening){out, spec}, err);
}

void atomo_codec_close(atomo_codec *codec)
{
    if (codec)
        arena_close(codec->arena);
    free(codec);
}

const char *atomo_codec_spec(const atomo_codec *codec)
{
    return codec->spec;
}

const char *atomo_codec_complete(const atomo_codec *codec)
{
    return codec->complete;
}

unsigned atomo_codec_traits(const atomo_codec *codec)
{
    static const struct {
        unsigned own, shown;
    } pairs[] = {
        {UNBIASED, ATOMO_UNBIASED}, {LINEAR, ATOMO_LINEAR},           {MERGEABLE, ATOMO_MERGEABLE},
        {RANDOM, ATOMO_RANDOM},     {EXACT_BYTES, ATOMO_EXACT_BYTES}, {DECODES_STATE, ATOMO_READS_STATE},
    };
    const unsigned own = codec_traits(codec->codec);
    unsigned shown = 0;
    for (size_t i = 0; i < countof(pairs); i++)
        shown |= own & pairs[i].own ? pairs[i].shown : 0;
    if (!codec_adds(codec->codec))
        shown &= ~(ATOMO_LINEAR | ATOMO_MERGEABLE);
    return shown | (codec_keeps_state(codec->codec) ? ATOMO_STATEFUL : 0) |
           (codec_trains(codec->codec) ? ATOMO_TRAINS : 0);
}

int atomo_codec_rounds(const atomo_codec *codec)
{
    return codec_rounds(codec->codec);
}

const char *atomo_codec_caution(const atomo_codec *codec)
{
    return codec_caution(codec->codec);
}

const char *atomo_compressor(size_t index, const char **brief)
{
    const Compressor *found = compressor_number(index);
    if (found && brief)
        *brief = found->brief;
    return found ? found->name : NULL;
}

int atomo_compressor_key(size_t index, size_t key, atomo_key *out)
{
    const Compressor *found = compressor_number(index);
    const Param *p = found ? found->params : NULL;
    for (size_t i = 0; p && p->key && i < key; i++)
        p++;
    if (!p || !p->key)
        return 0;
    *out = (atomo_key){p->key, param_type(p), p->fallback, p->help, p->rate, ""};
    param_range(p, out->range);
    return 1;
}

/* ---- files of gradients ---- */

struct atomo_dump {
    Arena *arena;
    Dump *dump;
};

typedef struct {
    atomo_dump **out;
    const char *path;
} DumpOpening;

static Status open_dump(void *arg, Visit *v)
{
    const DumpOpening *o = arg;
    Error *e = v->err;
    *o->out = NULL;
    if (!o->path)
        return FAIL(e, ERR_USAGE, "no path: want that of a gradient file");
    atomo_dump *d = calloc(1, sizeof *d);
    if (!d)
        return FAIL(e, ERR_MEMORY, "out of memory");
    d->arena = arena_open(0);
    const Status status = dump_open(&d->dump, o->path, d->arena, e);
    if (status == OK)
        *o->out = d;
    else
        atomo_dump_close(d);
    return status;
}

atomo_status atomo_dump_open(atomo_dump **out, const char *path, atomo_error *err)
{
    return library_call(open_dump, &(DumpOpening){out, path}, err);
}

void atomo_dump_close(atomo_dump *d)
{
    if (!d)
        return;
    dump_close(d->dump);
    arena_close(d->arena);
    free(d);
}

size_t atomo_dump_count(const atomo_dump *d)
{
    return dump_count(d->dump);
}

atomo_gradient atomo_dump_gradient(const atomo_dump *d, size_t index)
{
    if (index >= dump_count(d->dump))
        return (atomo_gradient){0};
    const TensorInfo *t = dump_tensor(d->dump, index);
    return (atomo_gradient){
        .name = t->name, .rank = t->shape.rank, .dim = t->shape.dim, .step = t->step, .worker = t->worker};
}

typedef struct {
    Dump *dump;
    size_t index;
    float *x;
} Reading;

static Status read_tensor(void *arg, Visit *v)
{
    const Reading *r = arg;
    if (r->index >= dump_count(r->dump))
        return FAIL(v->err, ERR_USAGE, "tensor %zu: the file has %zu", r->index, dump_count(r->dump));
    return dump_read(r->dump, r->index, r->x, v->err);
}

atomo_status atomo_dump_read(atomo_dump *d, size_t index, float *x, atomo_error *err)
{
    return library_call(read_tensor, &(Reading){d->dump, index, x}, err);
}
