/* The progress line: see progress.h. */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>

#define FIRST          0.5 /* seconds: short searches show nothing */
#define EVERY          0.2
#define EVERY_NEW_LINE 2.0

void mz_progress_update(struct mz_progress *p, const struct mz_counters *c, double seconds)
{
    if (!p->on || seconds < FIRST || seconds < p->next) return;
    p->next = seconds + (p->terminal ? EVERY : EVERY_NEW_LINE);
    fprintf(stderr, "%s%" PRIu64 " executions, %.0f/s, depth %" PRIu64 ", %.0f s%s",
            p->terminal ? "\r\033[K" : "", c->executions, (double)c->executions / seconds, c->max_depth,
            seconds, p->terminal ? "" : "\n");
    fflush(stderr);
    p->visible = p->terminal;
}

void mz_progress_erase(struct mz_progress *p)
{
    if (p->visible) fputs("\r\033[K", stderr);
    p->visible = false;
}
