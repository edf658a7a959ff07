/* report_folder.h -- what a folder holds for a page: results, figures, and what is neither, each with the reason. */
#ifndef ATOMO_REPORT_FOLDER_H
#define ATOMO_REPORT_FOLDER_H

#include "report/report_kinds.h"

typedef enum {
    ENTRY_RESULT,  /* of a command of ours */
    ENTRY_FIGURE,  /* svg or png */
    ENTRY_OTHER,   /* `why`: what it is instead */
    ENTRY_DAMAGED, /* `why`: where it breaks off */
} EntryType;

typedef struct {
    const char *name, *path;
    EntryType type;
    const char *why;
    const ResultKind *kind; /* ENTRY_RESULT */
    const char *media;      /* ENTRY_FIGURE: "image/png" */
} Entry;

typedef struct {
    Entry *entry; /* by name */
    size_t count, results, figures, damaged;
} Folder;

/* Files in `path` itself; hidden ones and `without` (NULL: none), where the page is to go, are passed over. Stops where
 * `stopped` says so. */
Status folder_read(Folder *out, const char *path, const char *without, bool (*stopped)(void), Arena *a,
                   Error *err);

enum { PICTURE_MOST = 16 << 20 };

#endif
