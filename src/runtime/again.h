/* Running a schedule again, to see whether the program is deterministic: again.c. */
#ifndef MZ_RUNTIME_AGAIN_H
#define MZ_RUNTIME_AGAIN_H

#include <stdbool.h>

bool mz_again_turn(void); /* Is the next execution to run from the start? */
bool mz_again_last(
    void); /* The search is complete: run its last execution again. False: it was not the same. */
_Noreturn void mz_again_diverged(void); /* The engine says that the path leads to another node than before. */

/* schedule.c */
void mz_run_from_start(void);

#endif
