/* report_steps.h -- how results differ between steps: for the record of a whole run, the mean and its standard error of the
 * results of each step (and worker), as fields NAME_steps and NAME_steps_se. The steps count as independent draws. */
#ifndef ATOMO_REPORT_STEPS_H
#define ATOMO_REPORT_STEPS_H

#include "report/report_compare.h"

extern const Column steps_columns[]; /* ends in {0} */
enum { STEPS_FIELDS = 12 };

/* Sets the fields of each codec's record of the whole run; none without several steps, or where the codec
 * failed in one. */
void steps_fill(const Results *r);

#endif
