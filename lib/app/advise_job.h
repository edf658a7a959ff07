/* advise_job.h -- the command advise: measures codecs at several rates on a dump, and answers which of them makes
 * a training iteration fastest.
 *
 * All candidates are screened: measured with one worker and few repeats, which gives a lower bound on the time of an
 * iteration. The fastest of those that meet the limits are then measured as `cost` does. */
#ifndef ATOMO_ADVISE_JOB_H
#define ATOMO_ADVISE_JOB_H

#include "app/advise.h"
#include "app/cost_job.h"
#include "compress/rate.h"

typedef struct {
    CostJob cost; /* must be first: hooks cast CompareJob to AdviseJob */
    bool all;
    AdviseLimits limits;
    Bytecount most_bytes, most_memory; /* --max-bytes, --memory; 0: no limit */

    Candidate *list; /* (candidates) */
    size_t candidates;
    const char *verdict;
} AdviseJob;

/* Reads the options. --workers, --link and --topology must each have exactly one value. */
Status advise_read(AdviseJob *j);

/* Chooses the candidates: none, bf16, and the codecs of -c at their rates; without -c, a shortlist; with --all, every
 * codec that is no wrapper, where a biased codec that keeps no residual is wrapped in ef. */
Status advise_codecs(AdviseJob *j, CodecSet *set);

/* Screens, measures and ranks the candidates. */
Status advise_measure(AdviseJob *j, const CodecSet *set);

/* Writes the records; the hook CompareJob.write of advise. */
Status advise_write(CompareJob *j, ReportSpec spec);

#endif
