/* report_beside.h -- one result beside another: a measurement and what others printed, a run of today and an old one. */
#ifndef ATOMO_REPORT_BESIDE_H
#define ATOMO_REPORT_BESIDE_H

#include "base/csv.h"

/* Each row of `own` with each of `other` that agrees in the fields `on`, names with commas between them; one with which
 * none agrees stands alone. Behind own's columns come other's, without those fields; what both have is "other NAME".
 *
 * Of several rows that agree those that lead go first, and alone: a total stands beside the other total, not beside each
 * of the tensors that it sums up. `leads` is of other's rows; NULL: all alike.
 *
 * Fields agree as texts or as numbers; a text of `other` with a * in it, but for "*" itself, is a pattern for text_glob.
 * ERR_USAGE: a field that one of the two lacks, or no row of `other` agrees with any. */
Status beside_rows(Csv *out, const Csv *own, const Csv *other, const bool *leads, const char *on, Arena *a,
                   Error *err);

#endif
