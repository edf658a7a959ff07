/* train_job.h -- code that the commands of atomo-train share: options of a training setup, loading of its data,
 * and its description in reports. */
#ifndef ATOMO_TRAIN_JOB_H
#define ATOMO_TRAIN_JOB_H

#include "app/cli.h"
#include "app/progress.h"
#include "nn/train.h"
#include "report/report.h"

static const double USUAL_LR = 0.01, USUAL_MOMENTUM = 0.9, USUAL_BETA2 = 0.999;

typedef struct {
    /* set from the command line */
    Common common;
    const char *network, *dataset, *data_dir, *weights, *link;
    TextList specs;
    int64_t workers, aggregate, batch, test_batch, decay_steps, max_steps, epochs, min_elements;
    double lr, decay, momentum, weight_decay; /* lr NaN: each run has its own learning rate */
    double beta2, clip, least;
    int64_t warmup, cosine, local_steps;
    double outer_lr, outer_momentum;
    int grouping, average, topology, optimizer;
    int64_t seeds;        /* number of runs of each codec, with the seeds common.seed, common.seed + 1, ... */
    int64_t bucket_bytes; /* on several ranks: the most bytes of gradients whose payloads share a message */
    int overlap, aggregate_by;
    bool takes_ranks; /* true: the command may run as several ranks (net.h); set before parsing */
    Arena *a;
    Error *err;

    Net *net; /* the ranks of this run; NULL: one process; set by train_job_main */

    /* set by train_job_open */
    const Codec **codec;
    size_t codecs;

    TrainSetup
        setup; /* the setup of a run; without data until train_job_data; the codec is that of the present run */

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

/* Fails with ERR_USAGE if `path`, the value of `option`, is the name of a checkpoint file in `dir`: writing to
 * `path` would destroy that checkpoint. OK if `dir` or `path` is NULL. */
Status train_job_keep(const char *dir, const char *option, const char *path, Arena *a, Error *err);

/* Writes the training setup as name-value pairs (facts), which reports show at their beginning. */
enum { TRAIN_FACTS = 28 };
void train_job_facts(const TrainJob *j, Fact out[TRAIN_FACTS]);

/* The same facts, each under the name by which a user knows it: the option as typed, or what it is. */
Status train_job_settings(const TrainJob *j, Fact out[TRAIN_FACTS]);

/* Returns the number of steps of a run: --max-steps, or else --epochs times the trainer's steps per epoch, rounded
 * up so that the run ends with an exchange. */
size_t train_job_steps(const TrainJob *j, const Trainer *t);

#endif
