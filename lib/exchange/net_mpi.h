/* net_mpi.h -- the functions and constants of MPI that net_mpi.c uses, which net_mpi_load.c loads. */
#ifndef ATOMO_NET_MPI_H
#define ATOMO_NET_MPI_H

#include "base/base.h"

#include <mpi.h>

/* clang-format off */
#define MPI_FUNCTIONS(X)                                                                                     \
    X(Abort) X(Allgatherv) X(Bcast) X(Comm_free) X(Comm_rank) X(Comm_size) X(Comm_split_type) X(Finalize)    \
    X(Gatherv) X(Iallgatherv) X(Ibcast) X(Igatherv) X(Init_thread) X(Iprobe) X(Irecv) X(Isend) X(Recv)       \
    X(Testall) X(Wait) X(Waitall) X(Wtime)

/* Constants of Open MPI, such as MPI_BYTE, are addresses of its variables; those of MPICH are numbers. */
#ifdef OMPI_PREDEFINED_GLOBAL
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, variable) mpi.variable
#define MPI_VARIABLES(X)                                                                                     \
    X(MPI_Comm, ompi_mpi_comm_world) X(MPI_Datatype, ompi_mpi_byte) X(MPI_Info, ompi_mpi_info_null)          \
    X(MPI_Request, ompi_request_null)
#else
#define MPI_VARIABLES(X)
#endif
/* clang-format on */

typedef struct {
#define FUNCTION(name) __typeof__(MPI_##name) *name;
    MPI_FUNCTIONS(FUNCTION)
#undef FUNCTION
#define VARIABLE(type, name) type name;
    MPI_VARIABLES(VARIABLE)
#undef VARIABLE
} Mpi;

/* mpi.Bcast is MPI's MPI_Bcast. Usable after mpi_ready. */
extern Mpi mpi;

/* Loads the MPI library unless it is loaded. */
Status mpi_ready(Error *err);

#endif
