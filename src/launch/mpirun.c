/* Has an mpirun started this process: see mpirun.h. */
#include "launch/mpirun.h"

#include <stdlib.h>

static const struct mz_mpirun known[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "openmpi"}, /* Open MPI's mpirun */
    {"PMI_RANK", "PMI_SIZE", "mpich"},                           /* MPICH's, and others of its kind */
    {"PMIX_RANK", NULL, "openmpi"},                              /* srun --mpi=pmix, prterun */
};

const struct mz_mpirun *mz_mpirun_find(void)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (getenv(known[i].rank)) return &known[i];
    return NULL;
}

bool mz_mpirun_is_parent(void) { return mz_mpirun_find() != NULL; }
