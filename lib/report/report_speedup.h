/* report_speedup.h -- the speed-up of each run of atomo-train over a baseline run, for each target accuracy:
 * Tables 3, 4 and 6 of the ATOMO paper. */
#ifndef ATOMO_REPORT_SPEEDUP_H
#define ATOMO_REPORT_SPEEDUP_H

#include "base/csv.h"

/* Makes a row for each run in `run`. A cell is the speed-up to one target accuracy: the baseline's simulated
 * time to the target, divided by the run's time. A cell is "" if the run or the baseline never reached the
 * target. Of several runs of the baseline, the first is used.
 *
 * If the runs have several seeds, makes a row for each compressor instead. Each of the compressor's runs is
 * compared with the baseline's run of the same seed. A cell is the mean of these speed-ups, and the next
 * column has the mean's standard error. A cell is "" unless all these runs exist and reached the target. The
 * column `seeds` counts the compressor's runs. */
Status speedup_rows(Csv *out, const Csv *run, const char *baseline, Arena *a, Error *err);

#endif
