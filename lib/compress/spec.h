/* spec.h -- specs: parses texts to codecs, prints codecs as texts, and expands texts with several alternatives.
 *
 *     [WRAPPER[:KEYS]+]...CODEC[:KEYS]        KEYS: key=value,...        a/b: one spec with a, one with b
 *
 * A '+' begins a stage only before a letter, so that 1e+3 is a number. A stage is one codec with its keys. A
 * key whose value is a spec (induced's `with`) must be the last key of its stage: all text after the key,
 * commas included, belongs to that spec. The case of a codec's name does not matter. A name of the literature stands for its
 * spec (names.h) if the two are the same method; keys behind the name belong to the last stage. */
#ifndef ATOMO_SPEC_H
#define ATOMO_SPEC_H

#include "base/text.h"
#include "compress/names.h"

/* Opens the codec of a spec, in `a`. ERR_USAGE: the spec is wrong; the message names the wrong part. */
Status codec_open(const Codec **out, const char *spec, Arena *a, Error *err);

/* A codec's spec in three forms, in `a`; NULL: out of memory. Each opens to an equal codec. */
char *codec_text(const Codec *codec, Arena *a); /* canonical: without the keys at their defaults; identifies a codec */
/* with every key that is set: means the same after defaults have changed */
char *codec_complete(const Codec *codec, Arena *a);
/* as it was typed; after a key was set, with the keys that were named, as `codec_text` writes values */
const char *codec_typed(const Codec *codec, Arena *a);

/* True if both texts are specs, of equal codecs, however they are typed. */
bool spec_equal(const char *spec, const char *other);

/* Writes the spec as it was typed to `out`, or its beginning, for a message. Returns `out`. */
enum { SPEC_SHOWN = 80 };
const char *codec_shown(char out[SPEC_SHOWN], const Codec *codec);
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
