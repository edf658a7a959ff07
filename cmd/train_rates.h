/* train_rates.h -- the step sizes that tune chose, read from its result. */
#ifndef ATOMO_TRAIN_RATES_H
#define ATOMO_TRAIN_RATES_H

#include "codec/codec.h"

/* One for each codec, by the text of its spec. ERR_CORRUPT where the file is no result of tune's, ERR_USAGE where none was
 * chosen for a codec. */
Status rates_load(double **rate, const char *path, const Codec *const *codec, size_t codecs, Arena *a,
                  Error *err);

#endif
