/* Optimal-DPOR to the letter of the paper (2017): Algorithm 2, with blocking as in Algorithm 6. See literal.c. */
#ifndef MZ_RANDOM_LITERAL_H
#define MZ_RANDOM_LITERAL_H

#include "paper.h"

enum mz_literal_answer {
    MZ_LITERAL_DONE,
    MZ_LITERAL_STOPPED,   /* by visit */
    MZ_LITERAL_TOO_LARGE, /* an execution is too long, or there are too many races */
    MZ_LITERAL_BLOCKED,   /* something sleeps where the wakeup tree is empty: Lemma 7.1 (2) does not hold */
    MZ_LITERAL_NO_TREE    /* an insertion has made what is not a wakeup tree: Definition 6.1 does not hold */
};

struct mz_literal {
    uint64_t max_races; /* most tests at lines 6 and 14; 0: no limit */
    /* Called for every maximal execution; false stops. */
    bool (*visit)(void *arg, const struct mz_machine_state *end);
    void *arg;
    uint64_t executions, races, leaves; /* counted: maximal executions, tests at lines 6 and 14, insertions */
};

enum mz_literal_answer mz_literal_explore(struct mz_literal *l, const struct mz_model *m, bool sections);

#endif
