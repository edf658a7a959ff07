/* bench_advise_rank.h -- chooses among codecs by the predicted time of a training iteration: checks limits, ranks what meets
 * them, and says in words why the other codecs are not chosen. bench_advise.c measures. */
#ifndef ATOMO_BENCH_ADVISE_RANK_H
#define ATOMO_BENCH_ADVISE_RANK_H

#include "compress/codec.h"
#include "measure/cost.h"

/* Limits: a codec that breaks one is not ranked. */
typedef struct {
    bool unbiased;  /* only unbiased codecs and the plain ones */
    bool undecoded; /* only codecs whose payloads add without decoding */
    double error;   /* most relative error of the mean of all workers' estimates, less its interval; INFINITY: no limit */
} AdviseLimits;

/* How a codec's bias is met. */
typedef enum {
    FEEDBACK_NONE,   /* unbiased, or an error below 1e-3, as of half precision: no error feedback needed */
    FEEDBACK_INSIDE, /* the spec keeps what it did not send */
    FEEDBACK_WANTED, /* biased, and the spec keeps nothing: needs ef+ */
} Feedback;
extern const char *const feedback_names[]; /* in the order of Feedback */

/* One codec. The caller sets all members above `limit`; `advise_rank` sets the others. */
typedef struct {
    const Codec *codec;
    const char *name;   /* the spec */
    const char *family; /* the spec without keys: ef+topk */
    bool plain;         /* true: none, bf16 or bf16:code=rans, which compression has to beat */
    bool unbiased, adds;
    const char *travels; /* how the payloads travel (codec_travels) */
    bool screened;       /* true: `time` is a lower bound, without merging */
    Feedback feedback;
    Topology topology;
    double repeats;  /* measurements behind each mean: Student's t has one degree of freedom less */
    IterationTime time, time_se; /* seconds */
    double bytes, bytes_se;      /* bytes that a worker sends in a step */
    double error, error_se;      /* relative error of the mean of all workers' estimates */
    double scratch;              /* bytes */
    const char *failure;         /* why the codec failed; NULL: it did not */

    const char *limit; /* the limit that the codec breaks, in words; NULL: it breaks none */
    size_t rank;       /* 1: the fastest. Codecs equal to the fastest have rank 1 too. 0: not ranked */
    const char *why;   /* why it is not the first; NULL: it is */
} Candidate;

/* Sorts the candidates: the ranked ones by total time; then those that break a limit or are only screened, by
 * total time; then those that failed. Sets limit, rank and why, with texts in `a`. A ranked candidate is
 * measured and breaks no limit. */
Status advise_rank(Candidate *list, size_t count, const AdviseLimits *limits, Arena *a, Error *err);

/* Returns the answer as a sentence. `list` is ranked, `baseline` the candidate bf16 in it. NULL: out of memory. */
char *advise_verdict(const Candidate *list, size_t count, const Candidate *baseline, Arena *a);

/* Marks the rows that the table shows: the first three that are ranked, the plain ones but none, and at most `more` further codecs, each
 * the first of a family that has no row yet. No further codec has an error of 1 or more, as if it sent nothing.
 * `list` is in the order of `advise_rank`; `shown` has an entry for each candidate. */
void advise_shown(const Candidate *list, size_t count, size_t more, bool *shown);

#endif
