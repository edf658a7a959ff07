/* link_job.h -- the command link: measures the link between ranks (measure/link_trial.h), and writes the fits and the
 * measured times. */
#ifndef ATOMO_LINK_JOB_H
#define ATOMO_LINK_JOB_H

#include "app/cli.h"
#include "app/progress.h"
#include "measure/link_trial.h"

typedef struct {
    /* set from the command line */
    Common common;
    const char *sizes_text;
    int64_t repeats;

    Net *net; /* NULL: one process */
    Counts sizes;
    LinkTrial trial;
    Progress progress;
    Arena *a;
    Error *err;
} LinkJob;

/* Runs the whole command on each rank; returns the exit code. */
int link_job_main(LinkJob *j, const Command *command, int argc, char **argv);

#endif
