/* report_steps.h -- how much results differ between training steps. NAME_steps is the mean of metric NAME over
 * all steps and workers, NAME_steps_se its standard error, which counts steps as independent draws. */
#ifndef ATOMO_REPORT_STEPS_H
#define ATOMO_REPORT_STEPS_H

#include "report/report_compare.h"

extern const Column steps_columns[]; /* ends in {0} */
enum { STEPS_FIELDS = 12 };

/* Sets NAME_steps and NAME_steps_se in each codec's record of the whole run. They stay empty if there is
 * only one step, or if the codec failed in a step. */
void steps_fill(const Results *r);

#endif
