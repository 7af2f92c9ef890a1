/* Follow a compiler and all processes that it starts: note every file that they look for, found or not, in a list of
 * inputs (inputs.h). It uses ptrace and a seccomp filter that stops a process only where it names a file. So it
 * works for wrappers, assemblers, linkers and plug-ins, whatever their flags mean.
 *
 * Each stop is a switch from the compiler to us and back. Between processors this costs several times as much as on one
 * (measured: 230 against 115 ms for a small program). So both run on the same processor at first: until the compiler
 * has run for NEAR seconds, in which it names most of its files.
 *
 * Where ptrace is not allowed (in a container, or under a debugger), the compiler runs without it, and
 * inputs->complete says that the list is not complete. */
#ifndef MZ_LAUNCH_FOLLOW_H
#define MZ_LAUNCH_FOLLOW_H

#include <sys/types.h>
#include "launch/inputs.h"

/* In the parent, before it starts the child: from now on both run on one processor. */
void mz_follow_near(void);
void mz_follow_spread(void);
/* In the child, before exec: let the parent attach. Return when the parent has attached or could not. */
void mz_follow_child(int go);
/* In the parent: attach to the child, and let it continue. */
void mz_follow_parent(struct mz_inputs *inputs, pid_t child, int go);
/* Like waitpid(child, status, WNOHANG); handles all stops of the processes below the child. */
pid_t mz_follow_wait(struct mz_inputs *inputs, pid_t child, int *status);
/* The next call returns this status. */
void mz_follow_ended(struct mz_inputs *inputs, int status);

#endif
