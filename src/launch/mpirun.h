/* Has an mpirun started this process? What the environment tells about it. */
#ifndef MZ_LAUNCH_MPIRUN_H
#define MZ_LAUNCH_MPIRUN_H

#include <stdbool.h>

struct mz_mpirun { /* names of the variables that it sets in its processes; size may be NULL */
    const char *rank, *size;
    const char *plugin; /* our plug-in for its implementation of MPI */
};

/* NULL: no mpirun has started us. */
const struct mz_mpirun *mz_mpirun_find(void);
/* Then our standard output belongs to mpirun, even if it looks like a terminal (Open MPI). */
bool mz_mpirun_is_parent(void);

#endif
