/* --algorithm=portfolio: two algorithms side by side, the first to finish wins (2023, section 5). */
#ifndef MZ_CMD_PORTFOLIO_H
#define MZ_CMD_PORTFOLIO_H

#include "cmd/member.h"

/* Call `run` once for each algorithm, each in its own process with its own settings, and pass on the output of the
 * first to finish. Return its exit status. */
int mz_portfolio(const struct mz_settings *settings, struct mz_progress *progress, mz_member_run *run,
                 void *data);

#endif
