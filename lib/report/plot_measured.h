/* plot_measured.h -- puts the measured iterations of training runs beside those that cost predicts. */
#ifndef ATOMO_PLOT_MEASURED_H
#define ATOMO_PLOT_MEASURED_H

#include "base/csv.h"

/* Replaces the records of training runs on several ranks in `data`, which may also have rows of cost. The median time of
 * a compressor's measured steps becomes the column measured_ms of cost's rows with the same compressor and number of
 * workers. Where cost has no such row, the run itself gives one: the medians of its parts, with the modelled link's time to
 * communicate, and the predicted iteration as total_ms. The table's cells are copied before they
 * change. Without a measured step, `data` stays as it is. */
Status plot_measured(Csv *data, Arena *a, Error *err);

#endif
