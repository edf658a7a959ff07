/* report_folder.h -- lists the files of a folder: results, figures, damaged files and other files. */
#ifndef ATOMO_REPORT_FOLDER_H
#define ATOMO_REPORT_FOLDER_H

#include "report/report_kinds.h"

typedef enum {
    ENTRY_RESULT,  /* written by a command of atomo */
    ENTRY_FIGURE,  /* svg or png */
    ENTRY_OTHER,   /* `why`: what kind of file it is */
    ENTRY_DAMAGED, /* `why`: what is wrong with it */
} EntryType;

typedef struct {
    const char *name, *path;
    EntryType type;
    const char *why;
    const ResultKind *kind; /* of an ENTRY_RESULT */
    const char *media;      /* of an ENTRY_FIGURE, such as "image/png" */
    /* ENTRY_RESULT: HTML text that the caller of folder_read may store; NULL at first */
    const char *article;
} Entry;

typedef struct {
    Entry *entry; /* sorted by name */
    size_t count, results, figures, damaged;
} Folder;

/* `result` is called with each result while the result is in memory; `number` is the index in
 * `Folder.entry`. */
typedef struct {
    Status (*result)(void *data, Entry *e, size_t number, const Stored *s, Error *err);
    bool (*stopped)(void); /* asked before each file; NULL: never */
    void *data;
} FolderVisitor;

/* Reads the files in the folder `path`, except subfolders, hidden files and the file `without` (the page to
 * be written; NULL: no such file). ERR_STOPPED when `stopped` returns true. A damaged file is not an error. */
Status folder_read(Folder *out, const char *path, const char *without, const FolderVisitor *visitor, Arena *a,
                   Error *err);

enum { PICTURE_MOST = 16 << 20 };

#endif
