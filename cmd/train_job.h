/* train_job.h -- what the commands that train share: the options of a setup, its data, its facts. */
#ifndef ATOMO_TRAIN_JOB_H
#define ATOMO_TRAIN_JOB_H

#include "app/cli.h"
#include "nn/train.h"
#include "app/progress.h"
#include "report/report.h"

static const double USUAL_LR = 0.01;

typedef struct {
    /* what the user asked for */
    Common common;
    const char *network, *dataset, *data_dir, *link;
    TextList specs;
    int64_t workers, aggregate, batch, test_batch, decay_steps, max_steps, epochs, min_elements;
    double lr, decay, momentum, weight_decay;
    int grouping, topology;
    int argc;
    char **argv;
    Arena *a;
    Error *err;

    /* what there is */
    Dataset train, test;
    const Codec **codec;
    size_t codecs;
    TrainSetup setup; /* all but the codec */
    size_t steps;     /* the last one's number */
    Progress progress;
} TrainJob;

/* Defaults before parsing, and the rows of options behind the command's own, which end in {0}. NULL: out of memory. */
void train_job_defaults(TrainJob *j, int argc, char **argv);
const Option *train_job_options(TrainJob *j, const Option *own);

/* Codecs, data and setup, after parsing. */
Status train_job_open(TrainJob *j);

Status train_job_load(Dataset *out, const char *name, const char *dir, Part part, int threads, Arena *a,
                      Error *err);

/* ERR_USAGE where an output, `path` of `option`, would land on a checkpoint of `dir`; either may be NULL. */
Status train_job_keep(const char *dir, const char *option, const char *path, Arena *a, Error *err);

enum { TRAIN_FACTS = 16 };
void train_job_facts(const TrainJob *j, Fact out[TRAIN_FACTS]);

/* Parses and runs: the whole of a command. */
int train_job_main(TrainJob *j, const Command *command, Status (*run)(TrainJob *j));

#endif
