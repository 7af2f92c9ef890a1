/* Following a compiler and all that it starts: every file that they look for, found or not, is noted in a list of
 * inputs (inputs.h). By ptrace, and a seccomp filter that stops a process only where it names a file; so it holds for
 * wrappers, assemblers, linkers and plugins alike, whatever their flags mean.
 *
 * Where that is not allowed (a container, a debugger that has us already) the compiler runs as ever, and
 * inputs->complete says that the list is not one to rely on. */
#ifndef MZ_CMD_FOLLOW_H
#define MZ_CMD_FOLLOW_H

#include <sys/types.h>
#include "inputs.h"

/* In the child, before exec: let the parent attach. Returns when it has, or could not. */
void mz_follow_child(int go);
/* In the parent: attach to the child, and let it go on. */
void mz_follow_parent(struct mz_inputs *inputs, pid_t child, int go);
/* As waitpid(child, status, WNOHANG); handles all that processes under it have stopped for. */
pid_t mz_follow_wait(struct mz_inputs *inputs, pid_t child, int *status);
/* The next call returns this status. */
void mz_follow_ended(struct mz_inputs *inputs, int status);

#endif
