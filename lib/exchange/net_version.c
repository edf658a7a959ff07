/* net_version.c -- names the MPI library of this build, without calling it. So programs that print versions do not
 * load it. */
#include "exchange/net.h"

#ifdef ATOMO_MPI
#include <mpi.h>
#endif

#define TEXT_OF(x) #x
#define NUMBER(x)  TEXT_OF(x)
#if defined ATOMO_MPI && defined OMPI_MAJOR_VERSION
static const char library[] =
    "Open MPI " NUMBER(OMPI_MAJOR_VERSION) "." NUMBER(OMPI_MINOR_VERSION) "." NUMBER(OMPI_RELEASE_VERSION);
#elif defined ATOMO_MPI && defined MPICH_VERSION
static const char library[] = "MPICH " MPICH_VERSION;
#elif defined ATOMO_MPI
static const char library[] = "MPI " NUMBER(MPI_VERSION) "." NUMBER(MPI_SUBVERSION);
#else
static const char library[] = "none";
#endif

const char *net_library(void)
{
    return library;
}
