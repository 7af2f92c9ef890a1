/* Starting other programs and waiting for them, and the signals of the command itself.
 *
 * Invariant: from mz_process_init() on, SIGCHLD and all signals that would end the command, but for SIGKILL and
 * faults of its own, are blocked and are only taken by sigtimedwait(): each is a request to stop. So the command is never killed between making a temporary file and
 * removing it; whoever waits for a child looks at the signals (mz_process_wait, src/cmd/target.c). Children
 * start with the signal state that the command was started with.
 */
#ifndef MZ_CMD_PROCESS_H
#define MZ_CMD_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct rusage;
struct mz_inputs;

struct mz_command {
    char **argv;              /* argv[0] is looked up in PATH */
    int in, out, err;         /* descriptors; -1: the command's own */
    struct mz_inputs *inputs; /* notes what it and all that it starts look at; NULL: does not matter */
};

void mz_process_init(void);
/* In a child, before exec: back to the signals the command was started with. */
void mz_process_restore_signals(void);

/* Starts it. Returns its pid; or -1 with errno, also when exec failed; EINTR: mz_process_stopped(). */
pid_t mz_process_start(const struct mz_command *command);
/* Waits for it. A signal to us ends it, with all that it has started. Returns its wait status. */
int mz_process_wait(pid_t pid);
/* The signal that has made us end a program that we waited for; 0: none. What it wrote is not to be used. */
int mz_process_stopped(void);
/* For who does something else than to wait for it: true if there was such a signal, now (waits so many seconds
 * for one) or before. Then mz_process_wait() ends the program. */
bool mz_process_look(double seconds);
/* Where the command stands for the program: it ends by that signal, too. */
void mz_process_die_if_stopped(void);
/* Exit status as a shell sees it: 128 + n for a signal. */
int mz_process_status(int wait_status);
/* Both at once: exit status, or -1 with errno if it could not be started. */
int mz_process_run(const struct mz_command *command);

/* Returns the next of our signals, or 0 after so many seconds. */
int mz_process_next_signal(double seconds);
double mz_process_clock(void);                     /* seconds, monotonic */
double mz_process_used(void);                      /* seconds of a processor, by this process */
double mz_process_used_of(pid_t pid);              /* ... by one that runs */
double mz_process_used_by(const struct rusage *u); /* ... by one that has ended */
uint64_t mz_process_peak(void);                    /* bytes that it has had */
uint32_t mz_process_processors(void);              /* that it may use */

#endif
