/* report_journal.h -- FILE.journal: the records of a run that is at work, kept for --resume.
 *
 * JSON Lines, each line one write(2), so that a killed run leaves whole lines and at most one torn last one,
 * which is dropped when the journal is taken up again. The first line holds the settings that the run's
 * figures depend on; a journal of other settings is not taken up. The file goes when the results it stands
 * for are complete. */
#ifndef ATOMO_REPORT_JOURNAL_H
#define ATOMO_REPORT_JOURNAL_H

#include "base/json.h"
#include "report/report.h"

typedef struct {
    char *path; /* NULL: no journal is kept */
    int fd;
    const Json **old; /* records of the run that is resumed */
    size_t old_count;
    bool replaced; /* an earlier run's journal was there, and --resume was not asked for */
} Journal;

/* Begins a journal beside `output`, or takes up the one that is there (`resume`; none there is fine). Nothing
 * is kept where the output is NULL or no regular file. Lines and path live in the arena. */
Status journal_open(Journal *j, const char *output, bool resume, const Fact *settings, size_t count, Arena *a,
                    Error *err);

/* One record; `line` has no line end. */
Status journal_add(const Journal *j, const char *line, Arena *a, Error *err);

void journal_close(Journal *j);  /* the file stays; a journal of zeros is fine */
void journal_remove(Journal *j); /* the results are complete */

/* A record's columns out of its line; names that the line lacks are none. */
Status journal_row(const Json *record, const Column *columns, size_t count, Value *row, Arena *a, Error *err);

#endif
