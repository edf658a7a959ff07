/* train_rates.h -- reads the learning rates that atomo-train tune chose. */
#ifndef ATOMO_TRAIN_RATES_H
#define ATOMO_TRAIN_RATES_H

#include "codec/codec.h"

/* Sets rate (codecs), in the arena, to the learning rate chosen for each codec, found by its spec. ERR_CORRUPT if
 * the file at `path` is not a result of tune, ERR_USAGE if the file has no learning rate for a codec. */
Status train_rates_load(double **rate, const char *path, const Codec *const *codec, size_t codecs, Arena *a,
                        Error *err);

#endif
