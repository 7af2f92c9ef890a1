/* Messages between the processes that mpirun started: what the command knows of MPI. A plug-in has it
 * (mpi.c, built once for each implementation of MPI), so that the command itself needs none.
 *
 * One to one, in order, never waiting: nothing here depends on a process that may have died. */
#ifndef MZ_MPI_TRANSPORT_H
#define MZ_MPI_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MZ_TRANSPORT_VERSION 2u
#define MZ_TRANSPORT_SYMBOL  "mz_transport"

struct mz_transport {
    uint32_t version;
    const char *name;                   /* "Open MPI", "MPICH" */
    bool (*open)(int *rank, int *size); /* waits for all the others to come so far */
    /* The bytes are copied. False: that one cannot be reached. */
    bool (*send)(int rank, const void *data, size_t size);
    /* The next message that has come, whole; NULL: none. Valid until the next call. */
    const void *(*receive)(int *rank, size_t *size);
    /* All that was sent has gone; of what is to come, nothing is here only in part. Those that are lost do not
     * count: what is under way to them or from them may stay so. */
    bool (*all_gone)(void);
    bool (*all_come)(void);
    void (*lose)(int rank);
    void (*close)(void); /* all must do so; waits for the others */
};

#endif
