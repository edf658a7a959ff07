/* report_part.h -- FILE.part: the finished records of a run that works into FILE, from which --resume continues.
 *
 * JSON Lines. The first line has the schema under "part", then the settings that the records depend on, each under the name
 * that a refusal calls it ("--repeats", "size of the dump"). Then comes a line for each record: the fields of the result and,
 * in comparisons, its row of the result under "part_row" and under "sums" the numbers that its "*" row needs. A line is written with one call of
 * write(2), so a kill leaves at most the last one incomplete. What is read ends before the first line that is incomplete or
 * no JSON; --resume drops the rest.
 *
 * FILE.part is locked while a run is at work on it. Only a regular file that is not reached through /dev or /proc has one. */
#ifndef ATOMO_REPORT_PART_H
#define ATOMO_REPORT_PART_H

#include "base/json.h"
#include "report/report.h"

typedef struct {
    const char *path; /* NULL: no file is kept */
    int fd;
    const Json **record; /* the records that were there */
    size_t *end;         /* where the line of each ends in the file */
    size_t count, head;  /* number of records; where the first line ends */
    size_t added;        /* records of this run */
} Part;

typedef struct {
    const char *output; /* FILE; NULL: standard output */
    bool resume, force;
    bool lasting;        /* --resume can continue the run */
    const char *command; /* without --resume and --force, for hints */
    const Fact *setting; /* "part" first */
    size_t settings;
} PartSpec;

/* Opens and locks FILE.part. With `force` its records are discarded. ERR_USAGE: it has records and `resume` is false, or
 * they are of a run with other settings. ERR_IO: another run is at work on it, or it is no file of records. `*p` may be
 * closed after a failure, too. Lines and path are allocated from the arena. */
Status part_open(Part *p, const PartSpec *spec, Arena *a, Error *err);

Status part_add(Part *p, const char *line, Arena *a, Error *err); /* `line` has no line end */
/* Drops all records that were there but the first `count`; before the first part_add. */
Status part_keep(Part *p, size_t count, Error *err);
Status part_sync(Part *p, Error *err);               /* waits until all lines are on the disk */

/* True if there are records, from which --resume can continue. */
bool part_has_records(const Part *p);

void part_close(Part *p);  /* removes the file if it has no records */
void part_remove(Part *p); /* for a run whose FILE is written */

/* True if FILE has results, is not older than the file `input` (NULL: any), and has no FILE.part beside it: a run has written
 * it to its end. */
bool part_ended(const char *output, const char *input);

/* Reads the line at `*at` and moves `*at` behind it. Returns false, with err->status OK, if the line is incomplete or no
 * object, and at the end. */
bool part_line(const Json **out, const char *data, size_t size, size_t *at, Arena *a, Error *err);

/* Returns settings as a line, an object. NULL: out of memory. */
char *part_head(const Fact *setting, size_t count, Arena *a);

/* Names the members of the objects that differ, with both values: "--repeats (10 there, 5 here), ...". "": none does. NULL:
 * out of memory. */
char *part_difference(const Json *there, const Json *here, Arena *a);

#endif
