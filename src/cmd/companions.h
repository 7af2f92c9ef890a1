/* --strategy=auto: searches of other kinds beside an exhaustive search that takes long.
 *
 * The exhaustive search begins alone. If it has not ended after a second, its companions start, each in a child of the
 * command (member.h): stateful search, sampling, a bound on preemptions (the table in companions.c). All take turns: together they use
 * no more processors than -j allows. The first answer ends all searches: an error that anybody finds, or a proof.
 * The counts of the exhaustive search are its own. What the others have done is in the report, apart. */
#ifndef MZ_CMD_COMPANIONS_H
#define MZ_CMD_COMPANIONS_H

#include "cmd/member.h"
#include "report/report.h"

/* Prepare for companions that call run(data, settings). From now on settings->alongside gives them their turns. It
 * stays NULL if this search has no companions. */
void mz_companions_prepare(struct mz_settings *settings, mz_member_run *run, void *data);
/* The exhaustive search has ended, with an answer or without. End the companions. Return the one whose output is the
 * better answer, which the caller passes on; NULL: none. */
const struct mz_member *mz_companions_end(bool answer);
/* Has a companion found the answer? */
bool mz_companions_have_answer(void);
/* For the report of the exhaustive search, or of a companion: what the other searches have done. */
void mz_companions_tell(struct mz_report *report);

#endif
