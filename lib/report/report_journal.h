/* report_journal.h -- the journal (FILE.journal) keeps the records of a run that has not ended, for
 * --resume.
 *
 * The format is JSON Lines. Each line is written with one call of write(2). So a killed run leaves at most
 * one incomplete line, the last; --resume drops it. The first line has the settings that the results depend
 * on. A journal with other settings is refused. Lines reach the disk within a second. The file is removed
 * when the results are complete.
 *
 * The journal must be a regular file written by this program. Symbolic links and other files are refused and
 * stay unchanged. */
#ifndef ATOMO_REPORT_JOURNAL_H
#define ATOMO_REPORT_JOURNAL_H

#include "base/json.h"
#include "report/report.h"

typedef struct {
    char *path; /* path of the journal; NULL: no journal is kept */
    int fd;
    const Json **old; /* records of the run that is resumed */
    size_t old_count;
    double synced; /* time of the last sync to the disk */
} Journal;

/* Begins the journal of the file `output`. With `resume`, continues an existing journal. Without `resume`,
 * returns ERR_USAGE if a journal with records exists, and leaves it unchanged. If `output` is NULL or not a
 * regular file, no journal is kept. The journal's lines and path are allocated from the arena. */
Status journal_open(Journal *j, const char *output, bool resume, const Fact *settings, size_t count, Arena *a,
                    Error *err);

/* Adds a record; `line` has no line end. */
Status journal_add(Journal *j, const char *line, Arena *a, Error *err);

/* Waits until all lines are on the disk. */
Status journal_sync(Journal *j, Error *err);

void journal_close(Journal *j);  /* keeps the file; a zeroed Journal may be closed, too */
void journal_remove(Journal *j); /* removes the file; call when the results are complete */

/* Copies the values of the columns from a record of the journal to `row`. A column that the record lacks
 * gets VALUE_NONE. */
Status journal_row(const Json *record, const Column *columns, size_t count, Value *row, Arena *a, Error *err);

#endif
