/* Being one of several processes that mpirun started, on this host and others.
 *
 * Rank 0 is the command as ever: it compiles, keeps the balancer, runs workers of its own and writes the
 * report (remote.c: its side of what the others do). The other ranks are agents (agent.c): they start
 * workers, get the program from rank 0, and carry messages between their workers and rank 0. An agent is the
 * child of the process that mpirun started, which only waits for it, so that mpirun does not end all of them
 * when an agent is killed.
 *
 * MPI comes as a plug-in (src/mpi), loaded only here. */
#ifndef MZ_CMD_CLUSTER_H
#define MZ_CMD_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

struct mz_cluster;

/* Whose standard output is mpirun's, though it may look like a terminal (Open MPI). */
bool mz_cluster_is_launched(void);
/* Which of them are we? From the environment; -1: mpirun did not start us, or started only us. */
int mz_cluster_rank(void);
/* What is set in the environment for us. Returns 0, or MZ_STATUS_FAILED after one line. */
int mz_cluster_check_settings(void);
/* Rank 0. NULL: there is no cluster. Returns 0, or MZ_STATUS_FAILED after one line. */
int mz_cluster_open(struct mz_cluster **cluster);
/* The other ranks are not needed any more. */
void mz_cluster_dismiss(struct mz_cluster *cluster);
/* The end, after everything has been written: the last thing to be done before exiting. May be NULL. */
void mz_cluster_close(struct mz_cluster *cluster, int status);
/* Any other rank: does what rank 0 says until that is done. Its exit status. */
int mz_agent(void);

#endif
