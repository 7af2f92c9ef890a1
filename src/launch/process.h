/* Start other programs, wait for them, and handle the signals of the command itself.
 *
 * Invariant: after mz_process_init(), SIGCHLD and all signals that would end the command, except SIGKILL and its own
 * faults, are blocked and received only by sigtimedwait(). Each is a request to stop. So nothing kills the command
 * between creating a temporary file and removing it. Code that waits for a child must look at the signals
 * (mz_process_wait, src/launch/target.c). Children start with the signal state that the command started with. */
#ifndef MZ_LAUNCH_PROCESS_H
#define MZ_LAUNCH_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct rusage;
struct mz_inputs;

struct mz_command {
    char **argv;              /* argv[0] is looked up in PATH */
    int in, out, err;         /* descriptors; -1: the command's own */
    struct mz_inputs *inputs; /* collects the files that it and its children look for; NULL: not needed */
};

void mz_process_init(void);
/* In a child, before exec: restore the signals that the command was started with. */
void mz_process_restore_signals(void);

/* Start the program. Return its pid; or -1 with errno, also when exec failed; EINTR: mz_process_stopped(). */
pid_t mz_process_start(const struct mz_command *command);
/* Wait for the program. A signal to us ends it, with all processes that it has started. Return its wait status. */
int mz_process_wait(pid_t pid);
/* The signal that made us end a program that we waited for; 0: none. Then the program's output must not be used. */
int mz_process_stopped(void);
/* For callers that are not inside mz_process_wait(): wait up to that many seconds. Return true if a signal asked us
 * to stop, now or before. Then mz_process_wait() ends the program. */
bool mz_process_look(double seconds);
/* For a command that stands for the program (mazurka cc): end by the same signal. */
void mz_process_die_if_stopped(void);
/* Exit status as a shell sees it: 128 + n for a signal. */
int mz_process_status(int wait_status);
/* Start and wait. Return the exit status, or -1 with errno if the program could not be started. */
int mz_process_run(const struct mz_command *command);

/* Return the next of our signals, or 0 after that many seconds. */
int mz_process_next_signal(double seconds);
double mz_process_clock(void);                     /* seconds, monotonic */
double mz_process_used(void);                      /* processor seconds of this process */
double mz_process_used_of(pid_t pid);              /* ... of a running process */
double mz_process_used_by(const struct rusage *u); /* ... of a process that has ended */
uint64_t mz_process_peak(void);                    /* peak memory in bytes */
uint32_t mz_process_processors(void);              /* processors that it may use */

#endif
