/* rank_check.h -- checks before a run that all ranks (net.h) are about to do the same work: with the same
 * program, the same options and the same data, on processors that give the same bits. */
#ifndef ATOMO_RANK_CHECK_H
#define ATOMO_RANK_CHECK_H

#include "app/train_codec.h"

/* Called on all ranks. ERR_USAGE: a rank differs from rank 0; the error names the rank and the difference. */
Status rank_check(TrainRun *r);

#endif
