/* spec.h -- specs: parses texts to codecs, prints codecs as texts, and expands texts with several alternatives.
 *
 *     [WRAPPER[:KEYS]+]...CODEC[:KEYS]        KEYS: key=value,...        a/b: one spec with a, one with b
 *
 * A '+' begins a stage only before a letter, so that 1e+3 is a number. A stage is one codec with its keys. A
 * key whose value is a spec (induced's `with`) must be the last key of its stage: all text after the key,
 * commas included, belongs to that spec. */
#ifndef ATOMO_SPEC_H
#define ATOMO_SPEC_H

#include "compress/names.h"

/* Opens the codec of a spec, in `a`. ERR_USAGE: the spec is wrong; the message names the wrong part. */
Status codec_open(const Codec **out, const char *spec, Arena *a, Error *err);

char *codec_text(const Codec *codec, Arena *a); /* returns the canonical spec, in `a`; NULL: out of memory */

/* Writes the canonical spec to `out`, or its beginning, for a message. Returns `out`. */
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
