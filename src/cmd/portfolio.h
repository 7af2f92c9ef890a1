/* --algorithm=portfolio: two algorithms side by side, the first to finish wins (2023, section 5). */
#ifndef MZ_CMD_PORTFOLIO_H
#define MZ_CMD_PORTFOLIO_H

#include "options.h"
#include "progress.h"

/* Runs `run` once for each algorithm, in processes of their own with settings of their own, and passes on
 * what the first to finish has written. Returns its exit status. */
int mz_portfolio(const struct mz_settings *settings, struct mz_progress *progress,
                 int (*run)(void *data, const struct mz_settings *settings), void *data);

#endif
