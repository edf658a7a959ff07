/* report_journal.h -- the journal (FILE.journal) keeps the records of an unfinished run for --resume.
 *
 * The format is JSON Lines. Each line is written with one call of write(2), so a killed run leaves at most
 * its last line incomplete; --resume drops it. Adding a line syncs the journal to the disk if the last sync
 * was a second or more ago. After a loss of power, later lines may read as zeros; --resume drops all lines
 * from the first zero on. The first line has the settings that the results depend on, each under the name that a refusal
 * calls it ("--repeats", "size of the dump"); a journal with other settings is refused.
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
    bool found;       /* there was a journal before this run */
    bool opened;      /* the file is this run's: it had no records, or journal_open has taken them up */
    const Json **old; /* records of the run that is resumed */
    size_t old_count;
    size_t added;  /* records of this run */
    double synced; /* time of the last sync to the disk */
} Journal;

/* Begins the journal of the file `output`; with `resume`, continues an existing one. Without `resume`, a
 * journal with records is ERR_USAGE and stays unchanged. If `output` is NULL, or exists and is not a regular
 * file, no journal is kept. Lines and path are allocated from the arena. */
Status journal_open(Journal *j, const char *output, bool resume, const Fact *settings, size_t count, Arena *a,
                    Error *err);

/* Adds a record; `line` has no line end. */
Status journal_add(Journal *j, const char *line, Arena *a, Error *err);

/* Waits until all lines are on the disk. */
Status journal_sync(Journal *j, Error *err);

/* Returns true if the journal has records, from which --resume can continue. */
bool journal_has_records(const Journal *j);

/* Keeps the file if it has records, else removes it; a zeroed Journal may be closed, too. */
void journal_close(Journal *j);
void journal_remove(Journal *j); /* removes the file; call when the results are complete */

/* Copies the values of the columns from a record of the journal to `row`; VALUE_NONE for columns that the
 * record lacks. */
Status journal_row(const Json *record, const Column *columns, size_t count, Value *row, Arena *a, Error *err);

#endif
