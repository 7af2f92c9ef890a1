/* The oracle for the stateful algorithms: every state that a model can reach, each once, by the interpreter
 * of machine.h alone. Unlike the oracle by prefixes (oracle.h) it comes to an end in programs with loops. */
#ifndef MZ_RANDOM_STATES_H
#define MZ_RANDOM_STATES_H

#include "oracle.h"

/* What has been reached; also filled from the engine's executions. */
struct mz_reached {
    struct mz_set states;
    struct mz_set locals; /* local states: of one thread, whatever the rest is. Whether it had to wait for
                             what others do (a join, a signal) depends on the order of independent events:
                             that is left out, as are the states in which it waits so. */
    struct mz_findings finals; /* outcomes, deadlocks; failing assertions of all states. No classes. */
    /* sets of states that no step leaves: which threads step there, and which of them write */
    struct mz_set traps;
    uint64_t transitions;
    bool sections; /* of the program: one happened */
};

void mz_reached_clear(struct mz_reached *r);
void mz_reached_free(struct mz_reached *r);
/* Counts the state and the local states; returns whether it is new. Its clocks and form are made zero. */
bool mz_reached_add(struct mz_reached *r, struct mz_machine *k, struct mz_machine_state *s);
bool mz_reached_has(const struct mz_reached *r, const struct mz_machine *k, struct mz_machine_state *s);

void mz_reached_trap(struct mz_reached *r, uint64_t threads, uint64_t writers);

/* Find all reachable states. Returns false if there are more than `max`. */
bool mz_states_run(const struct mz_model *m, bool sections, uint32_t max, struct mz_reached *r);

#endif
