/* average.h -- over which workers the mean of an element is taken: all, or only those that sent the element. */
#ifndef ATOMO_AVERAGE_H
#define ATOMO_AVERAGE_H

#include "compress/codec.h"

/* AVERAGE_AUTO: as the codec's paper does (the promise SENDERS_MEAN). */
typedef enum { AVERAGE_AUTO, AVERAGE_ALL, AVERAGE_SENDERS } Average;

extern const char *const average_names[]; /* "auto", "all", "senders", NULL: the values of --average */
extern const char average_help[];         /* the help text of --average */

/* Fails with ERR_USAGE if the codec does not leave elements out, so that a mean over senders is none. */
Status average_check(Average average, const Codec *codec, Error *err);

/* Returns true if the mean is over the workers that sent an element (Exchange.senders). */
bool average_over_senders(Average average, const Codec *codec);

#endif
