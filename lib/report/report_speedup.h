/* report_speedup.h -- speed-up of each run of atomo-train over a baseline, to each target accuracy: Tables 3, 4 and 6 of the
 * ATOMO paper. */
#ifndef ATOMO_REPORT_SPEEDUP_H
#define ATOMO_REPORT_SPEEDUP_H

#include "base/csv.h"

/* From a run's records: a row for each summary: its compressor and, for each target, the baseline's simulated time / its own; "" if
 * one of the two never reached the target. Of several runs of the baseline, the first is used. */
Status speedup_rows(Csv *out, const Csv *run, const char *baseline, Arena *a, Error *err);

#endif
