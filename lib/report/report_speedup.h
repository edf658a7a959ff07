/* report_speedup.h -- how much sooner each run of atomo-train reached each target accuracy than a baseline did: Tables
 * 3, 4 and 6 of the ATOMO paper. */
#ifndef ATOMO_REPORT_SPEEDUP_H
#define ATOMO_REPORT_SPEEDUP_H

#include "base/csv.h"

/* From a run's records: a row to each summary, its compressor and, for each target, the baseline's simulated time over
 * its own; "" where either never got there. Of several runs of the baseline the first counts. */
Status speedup_rows(Csv *out, const Csv *run, const char *baseline, Arena *a, Error *err);

#endif
