/* dynamic.h -- loads a shared library that few commands need, when it is needed. */
#ifndef ATOMO_DYNAMIC_H
#define ATOMO_DYNAMIC_H

#include "base/base.h"

typedef struct {
    const char *name; /* a function or variable of the library */
    void *pointer;    /* the address of the pointer that is set to it */
} LibrarySymbol;

typedef struct {
    const char *title;   /* the library's name in error messages */
    const char *file;    /* its soname, for example "libopenblas.so.0" */
    const char *package; /* the Debian package to install where it is missing; both come from loaded.sh */
    const LibrarySymbol *symbol;
    size_t count;
    /* true: libraries that are loaded later find its symbols, and functions of the same names in the program or in
     * preloaded libraries, as profilers of MPI have, take the place of its own */
    bool global;
} SharedLibrary;

/* Loads the library and sets the pointers of all its symbols. `*handle` is for dlclose. Fails if the library or one
 * of the symbols cannot be found. */
Status library_load(const SharedLibrary *l, void **handle, Error *err);

#endif
