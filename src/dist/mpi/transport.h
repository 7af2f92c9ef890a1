/* Messages between the processes that mpirun started: the command's view of MPI. A plug-in implements it (mpi.c,
 * built once for each implementation of MPI), so that the command itself needs no MPI.
 *
 * Messages go from one rank to another, in order. No call waits, except where it says so, so nothing depends on a
 * process that may have died. */
#ifndef MZ_DIST_MPI_TRANSPORT_H
#define MZ_DIST_MPI_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MZ_TRANSPORT_VERSION 2u
#define MZ_TRANSPORT_SYMBOL  "mz_transport"

struct mz_transport {
    uint32_t version;
    const char *name;                   /* "Open MPI", "MPICH" */
    bool (*open)(int *rank, int *size); /* waits until all other ranks have called it */
    /* Send; the bytes are copied. Return false if that rank cannot be reached. */
    bool (*send)(int rank, const void *data, size_t size);
    /* The next complete message; NULL: none. It stays valid until the next call. */
    const void *(*receive)(int *rank, size_t *size);
    /* Has everything been sent, and is no received message incomplete? Lost ranks do not count: messages to or from
     * them may stay under way. */
    bool (*all_gone)(void);
    bool (*all_come)(void);
    void (*lose)(int rank);
    void (*close)(void); /* all ranks must call it; waits for the others */
};

#endif
