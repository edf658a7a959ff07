/* spec.h -- specs: parses texts to codecs, prints codecs as texts, and expands texts with several alternatives.
 *
 *     [WRAPPER[:KEYS]+]...CODEC[:KEYS]        KEYS: key=value,...        a/b: one spec with a, one with b
 *
 * A '+' begins a stage only before a letter, so that 1e+3 is a number. A stage is one codec with its keys. A
 * key whose value is a spec (induced's `with`) must be the last key of its stage: all text after the key,
 * commas included, belongs to that spec. The case of a codec's name does not matter. A name of the literature stands for its
 * spec if the two are the same method; keys behind the name belong to the last stage. */
#ifndef ATOMO_SPEC_H
#define ATOMO_SPEC_H

#include "base/text.h"
#include "compress/compressor.h"

/* ---- names. Names of the literature ("signSGD", "deep gradient compression") are not names of codecs. Where a codec is the method, a
 * spec may have the name instead; where it is only similar, an error about the name hints at it. ---- */

/* returns a compressor by its place in the output of `list` (all.c); NULL: there are no more */
const Compressor *compressor_number(size_t i);
/* returns the compressor of this name, written in any case; NULL: there is none */
const Compressor *compressor_find(const char *name);

/* Returns the codec at the beginning of `spec` if this build lacks it, because it was built without the codec's
 * library libCODEC; else NULL. */
const char *compressor_left_out(const char *spec);

/* One name of the literature. */
typedef struct {
    const char *title; /* compared by letters and digits alone, without case: "EF-signSGD" matches
                        * "efsignsgd" */
    const char *spec;  /* spec of the method or, if `note` is not NULL, of a similar codec */
    const char *note;  /* how the codec of `spec` differs from the method; NULL: not at all */
} Literature;

extern const Literature literature[]; /* ends in {0} */
/* Returns the row whose title is `name`, compared as described above, or `name` without a last "SGD"; NULL: there is none. */
const Literature *literature_find(const char *name);
/* Returns the row of `name` if the codec of its spec is the method; NULL: `name` is a codec's, or there is no such row. */
const Literature *literature_alias(const char *name);

/* Fails with ERR_USAGE: no codec is called `name`. If a correct spec can be guessed from `name`, a hint shows
 * the spec. */
Status compressor_unknown(Error *err, const char *name);

/* ---- specs ---- */

/* Opens the codec of a spec, in `a`. ERR_USAGE: the spec is wrong; the message names the wrong part. */
Status codec_open(const Codec **out, const char *spec, Arena *a, Error *err);

/* A codec's spec in three forms, in `a`; NULL: out of memory. Each opens to an equal codec. */
char *codec_text(const Codec *codec, Arena *a); /* canonical: without the keys at their defaults; identifies a codec */
/* with every key that is set: means the same after defaults have changed */
char *codec_complete(const Codec *codec, Arena *a);
/* as it was typed; after a key was set, with the keys that were named, as `codec_text` writes values */
const char *codec_typed(const Codec *codec, Arena *a);

char *codecs_complete(const Codec *const *codec, size_t count, Arena *a); /* those of several codecs, with blanks between them */

/* True if both texts are specs, of equal codecs, however they are typed. */
bool spec_equal(const char *spec, const char *other);

/* Returns the names of a spec's codecs without their keys, "ef+topk", in `a`; NULL: out of memory. */
char *codec_family(const Codec *codec, Arena *a);
bool codec_alone(const Codec *codec); /* True for a wrapper whose spec wraps no codec, such as `joint` */

/* Opens every alternative of each spec ("qsgd:bits=1/2/4" has three), in order of appearance. */
Status codec_alternatives(const Codec ***out, size_t *count, const TextList *specs, Arena *a, Error *err);

/* Removes codecs whose canonical spec appears earlier in the array. */
Status codec_unique(const Codec **codec, size_t *count, Arena *a, Error *err);

/* Calls codec_alternatives, then codec_unique. */
Status codec_list(const Codec ***out, size_t *count, const TextList *specs, Arena *a, Error *err);

#endif
