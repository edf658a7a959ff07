/* train_rates.h -- reads the learning rates that atomo-train tune chose. */
#ifndef ATOMO_TRAIN_RATES_H
#define ATOMO_TRAIN_RATES_H

#include "compress/codec.h"

/* Reads the output of `atomo-train tune` from the file at `path`, and sets (*rate)[k] to the learning rate
 * chosen for codec[k]. Codecs are found by their specs. `*rate` is allocated in the arena. Returns
 * ERR_CORRUPT if the file is not an output of tune. Returns ERR_USAGE if the file has no learning rate for a
 * codec. */
Status train_rates_load(double **rate, const char *path, const Codec *const *codec, size_t codecs, Arena *a,
                        Error *err);

#endif
