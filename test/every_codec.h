/* every_codec.h -- every codec in the registry, in each of its modes, on every source: a codec that is added is
 * held to the promises of compressor.h without a word here.
 *
 * In the environment, CODEC=name leaves only those specs that have this codec as a stage, wrappers and what they
 * wrap included: CODEC=qsgd runs qsgd, ef+qsgd, induced:with=qsgd+topk and so on. */
#ifndef ATOMO_EVERY_CODEC_H
#define ATOMO_EVERY_CODEC_H

#include "codec_rig.h"
#include "sources.h"

enum { SPECS_MAX = 512, LARGEST = 70001 };

static const char *specs[SPECS_MAX];
static size_t
    spec_turn[SPECS_MAX]; /* its number where none is left out: what it does is the same by itself */
static size_t spec_count, spec_turns;
static Arena *forever;

/* Points of the parameter space that defaults and choices do not reach. */
static const char *const more_specs[] = {
    "entry:ratio=0.1",
    "entry:budget=2.5",
    "entry:bits=2",
    "entry:ratio=0.3,draw=systematic",
    "lq:q=1",
    "lq:q=0.5",
    "lq:q=inf",
    "gspar:density=0.3",
    "gspar:eps=0.5",
    "gspar:eps=1e-4",
    "gspar:eps=30",
    "randk:ratio=0.3",
    "randk:ratio=1",
    "randk:ratio=0.7,shared=off",
    "topk:ratio=0.1",
    "topk:ratio=0.6",
    "topk:ratio=1",
    "threshold:rel=0.3",
    "gaussiank:ratio=0.1",
    "gaussiank:ratio=0.7",
    "sidco:ratio=0.1",
    "sidco:ratio=0.6",
    "dgc:ratio=0.05,sample=0.1",
    "dgc:ratio=0.3,momentum=0",
    "threshold:tau=0.5",
    "svd:rank=1.5",
    "svd:rank=0.5",
    "svd:rank=100",
    "wavelet:ratio=0.1,family=db2,levels=3",
    "wavelet:ratio=0.3,family=db4,levels=64,draw=systematic",
    "fourier:ratio=0.1",
    "fourier:ratio=0.2,dims=2",
    "dct:ratio=0.2,dims=2",
    "hadamard:ratio=0.1",
    "hadamard:ratio=0.3,draw=systematic",
    "svd:rank=1.5,vectors=qsgd,vbits=3",
    "svd:rank=100,vectors=qsgd,vbits=1",
    "svd:vectors=qsgd,vbits=16,reshape=square",
    "qsgd:levels=1,bucket=0",
    "qsgd:bits=8,code=fixed",
    "qsgd:bits=16",
    "qsgd:bits=16,code=huffman",
    "qsgd:bits=12,bucket=0,code=rans",
    "qsgd:levels=5,bucket=100,code=rans",
    "terngrad:code=rans,share=on",
    "qsgd:levels=5,bucket=100,norm=linf",
    "qsgd:bits=2,bucket=1",
    "qsgd:bits=3,bucket=0,code=elias-dense",
    "terngrad:clip=2.5",
    "nuqsgd:bits=1,bucket=0",
    "nuqsgd:bits=6,bucket=100",
    "minmax:bits=8,bucket=0,rounding=stochastic",
    "minmax:bits=1,bucket=100,rounding=stochastic",
    "minmax:bits=9,bucket=7",
    "zipml:levels=3,bucket=100",
    "zipml:levels=200,bucket=1000,solver=greedy",
    "intsgd:bits=2",
    "intsgd:bits=11,share=off",
    "rotated:bits=1",
    "rotated:bits=8",
    "thc:bits=1",
    "thc:bits=8,share=off",
    "drive:rotations=1",
    "drive:rotations=3",
    "eden:bits=1,rotations=1",
    "eden:bits=0.3",
    "eden:bits=2.6,rotations=3",
    "eden:bits=8",
    "ef:decay=0.5+qsgd:bits=8",
    "ef+svd:rank=2",
    "ef+ef+none",
    "joint:bits=0.1",
    "joint:bits=6",
    "joint:bits=0.01+entry",
    "joint:bits=3+entry:draw=systematic",
    "joint:bits=4+svd:vectors=qsgd",
    "joint:bits=31+svd:vectors=bf16",
    "joint:bits=3+dct:dims=2",
    "joint:bits=3+svd:draw=systematic,reshape=square",
    "ef+joint:bits=2",
    "stc:ratio=0.3",
    "stc:ratio=1",
    "adaq:ratio=0.3",
    "adaq:ratio=1",
    "strom:tau=0.5",
    "strom:tau=1e-3",
    "powersgd:rank=1",
    "powersgd:rank=5,iters=2",
    "ef+powersgd:iters=3",
    "lowrank:rank=1",
    "lowrank:rank=7",
    "ef21:alpha=0.3+topk:ratio=0.1",
    "ef+ef21+stc:ratio=0.1",
    "ef21+strom:tau=0.5",
    "diana:alpha=0.1+qsgd:bits=2",
    "diana+joint:bits=2",
    "induced:with=qsgd:bits=4,bucket=512+topk:ratio=0.1",
    "induced:with=entry:ratio=0.1+scaledsign",
    "induced:with=natural+svd:rank=1",
    "induced:with=randk:ratio=0.3+ef+topk:ratio=0.1",
    "induced:with=hadamard:ratio=0.2+strom:tau=0.5",
    "ef+induced+sign",
    "zstd:level=19+sign",
    "zstd+ef+topk:ratio=0.1",
    "ef+zstd+qsgd:bits=2",
    "zstd+ef21+topk:ratio=0.1",
    "diana+zstd+randk:ratio=0.3",
    "zstd+induced+topk",
    "induced+zstd+topk",
    "zstd+joint:bits=2",
    "blosc+zstd+qsgd",
    "blosc:shuffle=bit,level=9+none",
    "blosc:shuffle=off,level=1+bf16",
    "diana+diana+none",
    "countsketch:rows=4,cols=20,topk=30",
    "countsketch:rows=1,bits=8",
    "countmin:bits=6,rows=2",
    "sketchml:quantiles=16,rows=1,cols=1,groups=3",
    "sketchml:quantiles=2,rows=8,cols=0.01,keys=delta-adaptive",
    "sketchml:quantiles=10,groups=100,keys=delta-adaptive",
    "ef+sketchml:quantiles=16,keys=delta-adaptive",
    "cas:min=0",
    "cas:min=0,clusters=1,buckets=9,index=fixed",
    "cas:min=0,clusters=128,percentile=0,sample=300",
    "cas:min=20,clusters=3,index=bitmap,allocate=entropy-centre",
    "cas:min=20,allocate=manual,sizes=1:9:9:1",
    "cas:bits=2.5,min=20",
    NULL,
};

/* What wrappers go round: ef, for every codec to have met one, round all of them; the others round one of each kind
 * (bare, random, sparse and biased, by LAPACK, in two rounds, merging without adding, linear, planned). */
static const char *const wrapped[] = {"none", "qsgd",  "topk", "svd", "terngrad:share=on",
                                      "sign", "randk", "entry"};

static inline bool goes_round(const Compressor *wrapper, const Compressor *codec)
{
    return !codec->wraps && (wrapper->alone[0] ? codec->curve != NULL : !strcmp(wrapper->name, "ef"));
}

static inline bool has_stage(const Codec *codec, const char *name)
{
    return codec && (!strcmp(codec->ops->name, name) || has_stage(codec->inner, name) ||
                     has_stage(codec->other, name));
}

static inline bool is_wanted(const char *spec)
{
    const char *only = getenv("CODEC");
    const Codec *codec;
    Error err;
    if (!only || !*only)
        return true;
    check_ok(codec_open(&codec, spec, forever, &err), &err);
    return has_stage(codec, only);
}

static inline void add_spec(const char *spec)
{
    check(spec && spec_count < SPECS_MAX);
    if (is_wanted(spec)) {
        specs[spec_count] = spec;
        spec_turn[spec_count++] = spec_turns;
    }
    spec_turns++;
}

/* The default of every codec, and each value of each choice; wrappers that can stand alone go round the codecs they
 * choose from. */
static inline int collect_specs(void **state)
{
    (void)state;
    forever = arena_open(0);
    for (size_t i = 0; compressors[i]; i++) {
        const Compressor *ops = compressors[i];
        for (size_t k = 0; ops->wraps && compressors[k]; k++)
            if (goes_round(ops, compressors[k]))
                add_spec(text_format(forever, "%s+%s", ops->name, compressors[k]->name));
        for (size_t k = 0; ops->wraps && !ops->alone[0] && strcmp(ops->name, "ef") && k < countof(wrapped);
             k++)
            add_spec(text_format(forever, "%s+%s", ops->name, wrapped[k]));
        if (!ops->wraps || ops->alone[0])
            add_spec(ops->name);
        if (ops->wraps)
            continue;
        for (const Param *p = ops->params; p && p->key; p++) {
            static const char *const switches[] = {"off", "on", NULL};
            const char *const *names = p->type == PARAM_BOOL   ? switches
                                       : p->type == PARAM_TEXT ? NULL
                                                               : p->choices;
            for (; names && *names; names++)
                if (strcmp(*names, p->fallback))
                    add_spec(text_format(forever, "%s:%s=%s", ops->name, p->key, *names));
        }
    }
    for (size_t i = 0; more_specs[i]; i++)
        add_spec(more_specs[i]);
    if (!spec_count)
        print_error("no codec is called %s, which is what CODEC says\n", getenv("CODEC"));
    return spec_count ? 0 : -1;
}

static inline int drop_specs(void **state)
{
    (void)state;
    arena_close(forever);
    return 0;
}

typedef void Property(Rig *rig, const Source *source, const float *x);

static inline void run_one(Property *property, const char *spec, const Source *source, const float *x)
{
    Rig rig;
    rig_open(&rig, spec, source_shape(source));
    const Status status = rig_encode(&rig, x, 0);
    if (status == OK)
        property(&rig, source, x);
    else if (status != ERR_NUMERIC || strncmp(source->name, "huge", 4)) {
        print_error("%s on %s: %s\n", spec, source->name, rig.err.text);
        check(status == OK);
    }
    rig_close(&rig);
}

/* Runs the property for every spec and source; ERR_NUMERIC is a fair answer to the huge source alone. For
 * statistics the modes of a codec share the sources, two and two. */
static inline void for_all(Property *property, bool statistics)
{
    float *x = NEW(forever, float, LARGEST);
    for (size_t s = 0; s < countof(sources); s++) {
        source_fill(&sources[s], x);
        for (size_t k = 0; k < spec_count; k++)
            if (!statistics ||
                (sources[s].smooth && (!strpbrk(specs[k], ":+") || (spec_turn[k] + s) % 2 == 0)))
                run_one(property, specs[k], &sources[s], x);
    }
}

#define SAY_WHERE(rig, source)                                                                               \
    (print_error("in %s on %s\n", codec_text((rig)->codec, forever), (source)->name))
#define CHECK_HERE(condition)                                                                                \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            SAY_WHERE(rig, source);                                                                          \
            check(condition);                                                                                \
        }                                                                                                    \
    } while (0)

#endif
