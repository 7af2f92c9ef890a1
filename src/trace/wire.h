/* How parts of a trace go into messages between workers and the balancer. See wire.c. */
#ifndef MZ_TRACE_WIRE_H
#define MZ_TRACE_WIRE_H

#include "event/packet.h"
#include "trace/trace.h"

#define MZ_WIRE 20 /* bytes of an element */
void mz_put_key(const struct mz_trace *tr, struct mz_message *m, uint64_t key);
uint64_t mz_get_key(const struct mz_trace *tr, struct mz_message *m);
void mz_put_elem(struct mz_trace *tr, struct mz_message *m, struct mz_elem elem);
struct mz_elem mz_get_elem(struct mz_trace *tr, struct mz_message *m);
/* A wakeup tree. */
void mz_put_tree(struct mz_trace *tr, struct mz_message *m, uint32_t list);
void mz_get_tree(struct mz_trace *tr, struct mz_message *m, uint32_t *list);
/* The same, branch by branch: mz_put_branch() goes down to a branch, mz_put_up() goes up again (once more at
 * the end). */
void mz_put_branch(struct mz_trace *tr, struct mz_message *m, struct mz_elem elem, uint32_t order,
                   enum mz_whose whose);
void mz_put_up(struct mz_message *m);
/* Read a tree, and insert the branches that are not in the list yet at their places. */
void mz_merge_tree(struct mz_trace *tr, struct mz_message *m, uint32_t *list);
/* Put tr->sequence, with the clocks of its events; read it back. */
void mz_put_sequence(struct mz_trace *tr, struct mz_message *m, uint32_t keep);
bool mz_get_sequence(struct mz_trace *tr, struct mz_message *m);
/* What was learned about objects and decides which operations are dependent: which objects overlap, and whether there
 * are atomic sections. */
void mz_put_objects(const struct mz_trace *tr, struct mz_message *m);
void mz_get_objects(struct mz_trace *tr, struct mz_message *m);

#endif
