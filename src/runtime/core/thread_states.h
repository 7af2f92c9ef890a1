/* Asserts that the states of all threads are as thread.h says, and that each new operation has its turn. For
 * schedule.c and executions.c; only while rt.checking. */
#ifndef MZ_RUNTIME_CORE_THREAD_STATES_H
#define MZ_RUNTIME_CORE_THREAD_STATES_H

#include "engine/program.h"

void mz_thread_states_chosen(struct mz_step step); /* mz_explore_next has returned this step */
void mz_thread_states_check(void);                 /* the operation of the running thread happens now */

#endif
