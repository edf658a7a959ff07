/* names.h -- finds compressors by name, and gives hints for names and keys that only papers or other programs
 * use.
 *
 * Names of the literature ("signSGD", "deep gradient compression") are not names of codecs. Where a codec is the method, a
 * spec may have the name instead (spec.h); where it is only similar, an error about the name hints at it. */
#ifndef ATOMO_NAMES_H
#define ATOMO_NAMES_H

#include "compress/compressor.h"

extern const Compressor *const compressors[];        /* all compressors (all.c); ends in NULL */
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

extern const Literature literature[];  /* ends in {0} */
bool literature_has(const char *name); /* true if `name` is a title, compared as described above */
/* Returns the row of `name` if the codec of its spec is the method; NULL: `name` is a codec's, or there is no such row. */
const Literature *literature_alias(const char *name);

/* Fails with ERR_USAGE: no codec is called `name`. If a correct spec can be guessed from `name`, a hint shows
 * the spec. */
Status compressor_unknown(Error *err, const char *name);

/* Adds a hint to the error `err` of a spec whose keys are wrong. `keys` is the text after the codec's name and
 * colon. Without a better hint, `err` is unchanged. Returns the status of `err`. */
Status compressor_wrong_keys(Error *err, const Compressor *ops, const char *keys);

#endif
