/* train_rates.h -- the step sizes that tune chose, read from its result. */
#ifndef ATOMO_TRAIN_RATES_H
#define ATOMO_TRAIN_RATES_H

#include "../lib/report_stored.h"

/* ERR_CORRUPT where the file is no result of tune's. */
Status rates_load(Stored *out, const char *path, Arena *a, Error *err);

/* ERR_USAGE where none was chosen for this compressor, by the text of its spec. */
Status rates_find(double *lr, const Stored *rates, const char *path, const char *compressor, Error *err);

#endif
