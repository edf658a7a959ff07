/* report_journal.h -- FILE.journal: the records of a run that has not ended, kept for --resume.
 *
 * JSON Lines, each line one write(2), so that a killed run leaves complete lines and at most one incomplete last
 * line, which --resume drops. The first line has the settings that the results depend on; a journal with other
 * settings is refused. Lines reach the disk within a second, and at the latest when the journal is closed. The
 * file is removed when the results are complete.
 *
 * A symbolic link, a file that is not regular and a file that is no journal of this program are refused and stay
 * unchanged. */
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

/* Begins a journal beside `output`; with `resume`, continues an existing one. Without `resume` a journal that has
 * records is refused (ERR_USAGE) and stays as it is. Keeps no journal if `output` is NULL or not a regular file.
 * Lines and path live in the arena. */
Status journal_open(Journal *j, const char *output, bool resume, const Fact *settings, size_t count, Arena *a,
                    Error *err);

/* Adds a record; `line` has no line end. */
Status journal_add(Journal *j, const char *line, Arena *a, Error *err);

/* Waits until all lines are on the disk. */
Status journal_sync(Journal *j, Error *err);

void journal_close(Journal *j);  /* keeps the file; a zeroed Journal may be closed, too */
void journal_remove(Journal *j); /* removes the file; call when the results are complete */

/* Sets `row` to the values of the columns in a journal's record; VALUE_NONE if the record lacks a column. */
Status journal_row(const Json *record, const Column *columns, size_t count, Value *row, Arena *a, Error *err);

#endif
