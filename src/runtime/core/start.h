/* Setting up the runtime before the first execution. Private to start.c and phases.c. */
#ifndef MZ_RUNTIME_CORE_START_H
#define MZ_RUNTIME_CORE_START_H

void mz_phases_run(void);

#endif
