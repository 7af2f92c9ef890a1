/* One of several processes that mpirun started, on this host and others.
 *
 * Rank 0 is the command: it compiles, keeps the balancer, runs workers of its own and writes the report (remote.c is
 * its side of the other ranks). The other ranks are agents (agent.c): they get the program from rank 0, start
 * workers, and carry messages between their workers and rank 0. An agent is a child of the process that mpirun
 * started. That process only waits for its child, so that mpirun does not end all ranks when an agent is killed.
 *
 * MPI is a plug-in (src/dist/mpi), loaded only here. */
#ifndef MZ_DIST_CLUSTER_H
#define MZ_DIST_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

struct mz_cluster;

/* Our rank, from the environment; -1: mpirun did not start us, or started only us. */
int mz_cluster_rank(void);
/* Read the settings from the environment. Return 0, or MZ_STATUS_FAILED after one line. */
int mz_cluster_check_settings(void);
/* Start rank 0. *cluster is NULL if there is no cluster. Return 0, or MZ_STATUS_FAILED after one line. */
int mz_cluster_open(struct mz_cluster **cluster);
/* Send the other ranks home. */
void mz_cluster_dismiss(struct mz_cluster *cluster);
/* End MPI, after everything has been written: the last action before exit. May be NULL. */
void mz_cluster_close(struct mz_cluster *cluster, int status);
/* Any other rank: serve rank 0 until the search is over. Return the exit status. */
int mz_agent(void);

#endif
