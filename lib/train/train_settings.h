/* train_settings.h -- the settings of a training run, in one table: what options, results, checkpoints and ranks know of
 * them. */
#ifndef ATOMO_TRAIN_SETTINGS_H
#define ATOMO_TRAIN_SETTINGS_H

#include "dump/tensor.h"
#include "train/train.h"

typedef enum { SETTING_TEXT, SETTING_WHOLE, SETTING_REAL, SETTING_CHOICE } SettingType;

enum {
    SETTING_KEPT = 1,  /* the weights depend on it: a checkpoint has it, and a run that resumes must have the same */
    SETTING_SHOWN = 2, /* results have it, and so has FILE.part */
    SETTING_RUN = 4    /* only the command run has it as an option */
};

typedef struct {
    const char *name; /* in files; the option has - for _ */
    SettingType type;
    size_t at; /* its place in TrainSetup: const char *, size_t, double, or an int that counts `choices` */
    unsigned use;
    const char *arg, *help; /* of the option; NULL: the command makes it */
    double low, high, usual;
    const char *const *choices;
} Setting;

extern const Setting train_settings[]; /* ends in {0} */

void settings_usual(TrainSetup *s); /* sets the defaults of numbers and choices */

Attr setting_attr(const Setting *of, const TrainSetup *s);

/* Sets the setting of `s` to an attribute's value. False: the attribute has another type, or a value that there is not. */
bool setting_take(const Setting *of, TrainSetup *s, const Attr *attr);

/* Returns the topology as text, "hier:node=K,within=SPEC" if it is that; NULL: out of memory. */
const char *setup_topology(const TrainSetup *s, Arena *a);

/* Sets the topology from its text; that of hier may end before ",within=", and `s->within` is then unchanged. */
Status setup_read_topology(TrainSetup *s, const char *text, Arena *a, Error *err);

/* ---- the training setup, written as attributes into the files of a run ---- */

enum { SETUP_MOST = 40 };

/* Writes to `out` every setting that the weights depend on (SETTING_KEPT), the data set, the codec and the seed. Returns the number of attributes. Memory for texts comes from `a`. */
size_t setup_attrs(const TrainSetup *s, Attr out[SETUP_MOST], Arena *a);

/* Checks that a file's attributes `theirs` include all of `own` with equal values. Returns ERR_CORRUPT if an
 * attribute is missing: the file is not `what` (for example "a checkpoint"). Returns ERR_USAGE if a value
 * differs: the file belongs to another setup. */
Status setup_check(const Attr *own, size_t count, const AttrList *theirs, const char *path, const char *what,
                   Error *err);

#endif
