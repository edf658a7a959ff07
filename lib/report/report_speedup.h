/* report_speedup.h -- the speed-up of each run of atomo-train over a baseline run, for each target accuracy:
 * Tables 3, 4 and 6 of the ATOMO paper. */
#ifndef ATOMO_REPORT_SPEEDUP_H
#define ATOMO_REPORT_SPEEDUP_H

#include "base/csv.h"

/* Makes a row for each run in `run`, or with several seeds for each compressor: for each target accuracy the
 * baseline's simulated time to reach the target, divided by the compressor's. A cell is "" if one of the two never
 * reached the target. Of several runs of the baseline, the first is used. With several seeds, the quotients are of
 * runs with the same seed; a cell is their mean, with its standard error in the next column, and "" unless every run
 * reached the target. The column `seeds` counts the runs. */
Status speedup_rows(Csv *out, const Csv *run, const char *baseline, Arena *a, Error *err);

#endif
