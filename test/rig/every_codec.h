/* every_codec.h -- runs a test on all codecs in the registry, with each value of their parameters that are
 * choices, on every test vector (Source). A new codec in the registry is tested without a change in this
 * file.
 *
 * The environment variable CODEC=name restricts the test to specs with this codec, also inside wrappers:
 * CODEC=qsgd tests qsgd, ef+qsgd, induced:with=qsgd+topk and so on. */
#ifndef ATOMO_EVERY_CODEC_H
#define ATOMO_EVERY_CODEC_H

#include "rig/codec_rig.h"
#include "rig/more_specs.h"
#include "rig/sources.h"
#include "compress/spec.h"

enum { SPECS_MAX = 512, LARGEST = 70001 };

static const char *specs[SPECS_MAX];
/* spec_turn[k] is the index of specs[k] in the full list of specs, without the restriction CODEC=name */
static size_t spec_turn[SPECS_MAX];
static size_t spec_count;
static Arena *forever;

/* Specs that are tested inside wrappers, one for each kind of codec: "none" changes nothing, "qsgd" is
 * random, "topk" is sparse and biased, "svd" calls LAPACK, "terngrad:share=on" has two rounds, "sign" merges
 * payloads by a vote, "randk" is linear, and "entry" can be planned by joint. */
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

/* Adds a spec to the list, unless the list already has it. */
static inline void add_spec(const char *spec)
{
    for (size_t k = 0; spec && k < spec_count; k++)
        if (!strcmp(specs[k], spec))
            return;
    check(spec && spec_count < SPECS_MAX);
    specs[spec_count++] = spec;
}

static inline int keep_wanted(void)
{
    size_t kept = 0;
    for (size_t k = 0; k < spec_count; k++)
        if (is_wanted(specs[k])) {
            spec_turn[kept] = k;
            specs[kept++] = specs[k];
        }
    spec_count = kept;
    if (!kept)
        print_error("no codec is called %s, which is what CODEC says\n", getenv("CODEC"));
    return kept ? 0 : -1;
}

/* Lists the specs to test: the default of every codec, each value of each parameter that is a choice, wrappers
 * around other codecs, and the specs in more_specs.h. ef wraps every codec. A wrapper with a default inner
 * codec wraps the codecs whose variance is a closed form of the rate. All other wrappers wrap the codecs in
 * `wrapped`. */
static inline int collect_specs(void **state)
{
    forever = arena_open(0);
    for (size_t i = 0; compressor_number(i); i++) {
        const Compressor *ops = compressor_number(i);
        for (size_t k = 0; ops->wraps && compressor_number(k); k++)
            if (goes_round(ops, compressor_number(k)))
                add_spec(text_format(forever, "%s+%s", ops->name, compressor_number(k)->name));
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
    for (size_t i = 0; i < countof(more_specs); i++)
        add_spec(more_specs[i].spec);
    return keep_wanted();
}

static inline int drop_specs(void **state)
{
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

/* The specs that a property tests on each vector. A codec's default is tested on all of them; of the other specs, all or
 * every second one, EVEN_SPECS or ODD_SPECS, the other half of them on the next vector. LONG_SPECS: all specs on the
 * longest vector, the only one of two blocks (BLOCK), and every second one on the others. SHORT_SPECS: the same the other
 * way round. FOURTH_SPECS: every fourth one. SMOOTH: only smooth vectors of one block are used; a codec's default is tested on every third one, other specs
 * on every seventh. */
typedef enum { EVEN_SPECS, ODD_SPECS, LONG_SPECS, SHORT_SPECS, FOURTH_SPECS, SMOOTH } Choice;

/* Returns the number of smooth vectors before vector s. */
static inline size_t smooth_before(size_t s)
{
    size_t count = 0;
    while (s-- > 0)
        count += sources[s].smooth;
    return count;
}

static inline bool takes_part(size_t k, size_t s, Choice choice)
{
    const bool other = strpbrk(specs[k], ":+"), is_long = source_shape(&sources[s]).n > 5000;
    if (choice == SMOOTH)
        return sources[s].smooth && !is_long && (spec_turn[k] + smooth_before(s)) % (other ? 7 : 3) == 0;
    return !other || (choice == LONG_SPECS && is_long) || (choice == SHORT_SPECS && !is_long) ||
           (spec_turn[k] + s) % (choice == FOURTH_SPECS ? 4 : 2) == (choice == ODD_SPECS) || getenv("TEST") || getenv("CODEC");
}

/* The spec and the vector of the property that runs. */
static size_t spec_now, source_now;

/* Tests the property for the specs on the test vectors. An encoder may fail with ERR_NUMERIC only on the vector
 * `huge`. */
static inline void for_all(Property *property, Choice choice)
{
    float *x = NEW(forever, float, LARGEST);
    for (size_t s = 0; s < countof(sources); s++) {
        source_fill(&sources[s], x);
        for (size_t k = 0; k < spec_count; k++)
            if (takes_part(k, s, choice)) {
                spec_now = k;
                source_now = s;
                run_one(property, specs[k], &sources[s], x);
            }
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
