/* spec.h -- specs: text to codecs and back, and the alternatives that one text stands for.
 *
 *     [WRAPPER[:KEYS]+]...CODEC[:KEYS]        KEYS: key=value,...        a/b: one spec each
 *
 * A '+' begins a stage only before a letter, so that 1e+3 is a number. A key that holds a spec itself (induced's
 * `with`) must be the last of its stage: all that follows, commas included, belongs to that spec. */
#ifndef ATOMO_SPEC_H
#define ATOMO_SPEC_H

#include "codec/compressor.h"

extern const Compressor *const compressors[];        /* all.c; ends in NULL */
const Compressor *compressor_find(const char *name); /* NULL: no such compressor */

/* The codec lives in `a`. ERR_USAGE: the spec is wrong, the message says where. */
Status codec_open(const Codec **out, const char *spec, Arena *a, Error *err);

char *codec_text(const Codec *codec, Arena *a); /* the canonical spec, in `a`; NULL: out of memory */
bool codec_alone(const Codec *codec);           /* a wrapper whose spec names nothing to wrap: `joint` */

/* Every alternative of each spec ("qsgd:bits=1/2/4" are three), in order of appearance. */
Status codec_alternatives(const Codec ***out, size_t *count, const TextList *specs, Arena *a, Error *err);

/* Drops codecs whose canonical spec appeared before. */
Status codec_unique(const Codec **codec, size_t *count, Arena *a, Error *err);

/* codec_alternatives, then codec_unique. */
Status codec_list(const Codec ***out, size_t *count, const TextList *specs, Arena *a, Error *err);

#endif
