/* report_journal.h -- FILE.journal: the records of a run that has not ended, kept for --resume.
 *
 * JSON Lines, each line one write(2), so that a killed run leaves complete lines and at most one incomplete last
 * line, which --resume drops. The first line has the settings that the results depend on; a journal with other
 * settings is refused. The file is removed when the results are complete. */
#ifndef ATOMO_REPORT_JOURNAL_H
#define ATOMO_REPORT_JOURNAL_H

#include "base/json.h"
#include "report/report.h"

typedef struct {
    char *path; /* NULL: no journal is kept */
    int fd;
    const Json **old; /* records of the run that is resumed */
    size_t old_count;
    bool replaced; /* true: an earlier run's journal was overwritten, as --resume was not given */
} Journal;

/* Begins a journal beside `output`; with `resume`, continues an existing one. Keeps no journal if `output` is NULL
 * or not a regular file. Lines and path live in the arena. */
Status journal_open(Journal *j, const char *output, bool resume, const Fact *settings, size_t count, Arena *a,
                    Error *err);

/* Appends a record; `line` has no newline. */
Status journal_add(const Journal *j, const char *line, Arena *a, Error *err);

void journal_close(Journal *j);  /* keeps the file; a zeroed Journal may be closed, too */
void journal_remove(Journal *j); /* call when the results are complete */

/* Sets `row` to the values of the columns in a journal's record; VALUE_NONE if the record lacks a column. */
Status journal_row(const Json *record, const Column *columns, size_t count, Value *row, Arena *a, Error *err);

#endif
