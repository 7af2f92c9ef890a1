/* A system under test for unit tests of the engine: straight-line threads, written as text. It implements the contract of
 * engine/program.h and knows nothing else of the engine.
 *
 *     "wx ry"   store x, load y        (x, y: any letter; 4 bytes each)
 *     "+x"      read-modify-write
 *     "Lm Um"   lock and unlock mutex m (the unlock is local)
 *     "c3"      choose one of three
 *
 * All threads run from the start. Each store writes another value, a read-modify-write adds 1; what a thread reads is
 * kept in seen[]. Nothing that a thread does depends on values, so a state is where each thread is and who holds what.
 *
 * With `goes_back` set, an execution does not start anew but at an earlier node of the one before (mz_explore_resume). */
#ifndef MZ_TESTS_UNIT_FAKE_H
#define MZ_TESTS_UNIT_FAKE_H

#include "engine/program.h"

#define FAKE_THREADS 4
#define FAKE_STEPS   64
#define FAKE_READS   4

struct fake {
    const char *code[FAKE_THREADS]; /* NULL: no such thread */
    struct mz_view view;
    struct mz_explore_options options;
    struct mz_exploration *x;
    const char *at[FAKE_THREADS];
    int owner[128];                          /* of a mutex, by its letter: thread plus one */
    uint64_t value[128];                     /* of a variable, by its letter */
    uint64_t seen[FAKE_THREADS][FAKE_READS]; /* what the first reads of each thread have read */
    unsigned reads[FAKE_THREADS];
    bool goes_back;
    uint32_t goes_further;   /* how many nodes further than needed the system goes back */
    struct fake_node *nodes; /* going back: the state at each node of the path */
    /* Called after each execution that ran to its end (nothing is enabled). May be NULL. */
    void (*visit)(struct fake *f);
    /* Called after each step. May be NULL. */
    void (*stepped)(struct fake *f);
    void *arg; /* for both */
    uint64_t executions, asleep, visited;
};

/* Make f explore these threads; the caller may still change f->options. */
void fake_init(struct fake *f, enum mz_algorithm algorithm, bool sleep_sets,
               const char *const code[FAKE_THREADS]);
/* Run one execution; false when everything is explored, or the search cannot go on: see mz_explore_ending(). */
bool fake_execution(struct fake *f);
/* Run all of them. Return the number of those that ran to their end. */
uint64_t fake_explore(struct fake *f);
void fake_release(struct fake *f);

uint64_t fake_key(char letter);
/* Are two events of different threads in conflict, by the definition (CONTRIBUTING.md), not by the engine? */
bool fake_conflict(const struct mz_event *a, const struct mz_event *b);

#endif
