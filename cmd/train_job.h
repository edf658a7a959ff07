/* train_job.h -- code that the commands of atomo-train share: options of a training setup, loading of its data,
 * and its description in reports. */
#ifndef ATOMO_TRAIN_JOB_H
#define ATOMO_TRAIN_JOB_H

#include "app/cli.h"
#include "app/progress.h"
#include "train/train_settings.h"
#include "report/report.h"

typedef struct {
    /* set from the command line, as are the settings of `setup` (train_settings.h) */
    Common common;
    const char *dataset, *data_dir, *link, *topology, *within, *near;
    TextList specs;
    int64_t test_batch, max_steps, epochs;
    int64_t seeds;    /* number of runs of each codec, with the seeds common.seed, common.seed + 1, ... */
    bool takes_ranks; /* true: the command is run, and may run as several ranks (net.h); set before parsing */
    Arena *a;
    Error *err;

    Net *net; /* the ranks of this run; NULL: one process; set by train_job_main */

    /* set by train_job_open */
    const Codec **codec;
    size_t codecs;

    /* the setup of a run; without data until train_job_data; the codec and, with several rates (lr NaN until then), the rate
     * are those of the present run */
    TrainSetup setup;

    /* set by train_job_data */
    Dataset train, test;
    size_t steps; /* steps of a run; set when the run's trainer has been opened */
    Progress progress;
} TrainJob;

/* Sets the defaults of the shared options; call before train_job_main. */
void train_job_defaults(TrainJob *j);

/* Runs the whole command: parses the command's own options and the common ones, then calls run(). Returns the
 * exit code. */
int train_job_main(TrainJob *j, const Command *command, int argc, char **argv, Status (*run)(TrainJob *j));

/* Fails with ERR_USAGE if an MPI launcher has started several processes. For commands that do not use them. */
Status train_job_alone(const char *command, Error *err);

/* Opens the codecs and the link, checks the network's name, without --dataset chooses the data set, and checks the options
 * together. */
Status train_job_open(TrainJob *j);

/* Loads the data, and adds them to the setup. All ranks call it; an error is an error on all of them. */
Status train_job_data(TrainJob *j);

/* The names of a network and a data set, and the folder of the data set's files; NULL: datasets/NAME. */
typedef struct {
    const char *network, *dataset, *dir;
} TrainData;

/* Loads the training or test images; once on each machine if `net` has several ranks there, which then all call
 * it. A text is cut into windows for the network. Data that the program draws
 * do not depend on --seed. */
Status train_job_load(Dataset *out, const TrainData *from, DataSplit split, Net *net, Arena *a, Error *err);

/* Returns the number of images per testing pass: `wanted`, or the default if it is 0. */
size_t train_job_pass(int64_t wanted, const DatasetInfo *info);

/* Sets the settings as name-value pairs (facts), which reports show at their beginning; returns their number. */
enum { TRAIN_FACTS_MOST = 64 };
size_t train_job_facts(const TrainJob *j, Fact out[TRAIN_FACTS_MOST]);

/* Sets what the records of a run depend on, by the names by which a user knows it: the option as typed, or what it is. Returns
 * its number; 0: out of memory. `use`: these settings (SETTING_...). */
size_t train_job_settings(const TrainJob *j, unsigned use, Fact out[TRAIN_FACTS_MOST]);

/* Returns the number of steps of a run: --max-steps, or else --epochs times the trainer's steps per epoch, rounded
 * up so that the run ends with an exchange. */
size_t train_job_steps(const TrainJob *j, const Trainer *t);

#endif
