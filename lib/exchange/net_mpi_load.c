/* net_mpi_load.c -- loads the MPI library in a program that a launcher started. A program linked to it would load it,
 * and the six libraries that Open MPI needs, at every start. */
#ifdef ATOMO_MPI

#include "base/dynamic.h"
#include "exchange/net.h"
#include "exchange/net_mpi.h"

Mpi mpi;

#define FUNCTION(name)       {"MPI_" #name, &mpi.name},
#define VARIABLE(type, name) {#name, &mpi.name},
static const LibrarySymbol symbols[] = {MPI_FUNCTIONS(FUNCTION) MPI_VARIABLES(VARIABLE)};
#undef FUNCTION
#undef VARIABLE

/* The plug-ins of Open MPI are not linked to it, but look for its functions among those of the program. */
static const SharedLibrary library = {
    .title = "MPI",
    .file = MPI_FILE,
    .package = MPI_PACKAGE,
    .symbol = symbols,
    .count = countof(symbols),
    .global = true,
};

Status mpi_ready(Error *err)
{
    static void *handle;
    if (handle)
        return OK;
    return library_load(&library, &handle, err);
}

Status net_try(Error *err)
{
    return mpi_ready(err);
}

#endif
