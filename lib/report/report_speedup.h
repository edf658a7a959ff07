/* report_speedup.h -- the speed-up of each run of atomo-train over a baseline, for each target accuracy, as in
 * Tables 3, 4 and 6 of the ATOMO paper. */
#ifndef ATOMO_REPORT_SPEEDUP_H
#define ATOMO_REPORT_SPEEDUP_H

#include "base/csv.h"

/* Makes a row from each summary in a run's records: the compressor and, for each target accuracy, the baseline's
 * simulated time divided by this compressor's; "" if one of the two never reached the target. If the baseline ran
 * several times, its first run is used. */
Status speedup_rows(Csv *out, const Csv *run, const char *baseline, Arena *a, Error *err);

#endif
