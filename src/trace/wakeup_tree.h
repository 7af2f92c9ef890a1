/* Wakeup trees (2017, section 6): lists of branches, in a pool with a free list. See wakeup_tree.c. */
#ifndef MZ_TRACE_WAKEUP_TREE_H
#define MZ_TRACE_WAKEUP_TREE_H

#include "trace/sequence.h"

/* In a shared search, who explores a branch of a node that the balancer keeps: */
enum mz_whose {
    MZ_MINE,   /* this worker, or something below the branch is this worker's */
    MZ_OTHERS, /* another worker; what is below the branch is known */
    MZ_SLEEPER /* another worker; what is below the branch is not known, so the branch covers nothing */
};

struct mz_wakeup_node {
    struct mz_elem elem;
    uint32_t child, next; /* first child, next sibling; 0: none */
    /* grows along a list of siblings; in a shared search: the index of the balancer's branch */
    uint32_t order;
    uint8_t whose; /* enum mz_whose */
};

struct mz_wakeup_pool {
    struct mz_wakeup_node *nodes; /* node 0 is none */
    uint32_t count, first_free;   /* nodes ever used; list of free ones */
    uint32_t order;               /* of the newest node */
    uint32_t live, peak;          /* nodes in use; the most at one time */
    uint32_t *stack;              /* scratch: the way from a list down to a node; only in shared searches */
};
#define MZ_WAKEUP_NODES (1u << 30)

/* Take the first branch off the list. Return the list of its children. */
uint32_t mz_wakeup_pop(struct mz_trace *tr, uint32_t *list, struct mz_elem *first);
/* insert(v, tree) of the paper, section 6.2. v is used up. */
enum mz_cover mz_wakeup_insert(struct mz_trace *tr, uint32_t *list, struct mz_sequence *v);
void mz_wakeup_clear(struct mz_trace *tr, uint32_t *list);
/* Is v covered by a branch of the list, down to its leaf? v is used up. */
enum mz_cover mz_wakeup_covers(struct mz_trace *tr, uint32_t list, struct mz_sequence *v);
/* Add a branch behind all others of the list. */
uint32_t mz_wakeup_append(struct mz_trace *tr, uint32_t *list, struct mz_elem elem);
/* Find the node of this order, or put it into its place. A node that was a sleeper becomes `whose`. */
uint32_t mz_wakeup_learn(struct mz_trace *tr, uint32_t *list, struct mz_elem elem, uint32_t order,
                         enum mz_whose whose);
/* All branches, at all depths, belong to other workers from now on. Number the branches of each list: this list from
 * `first` on, the lists below it from 0 on. */
void mz_wakeup_give(struct mz_trace *tr, uint32_t list, uint32_t first);
/* The number of branches in the list. */
uint32_t mz_wakeup_branches(const struct mz_trace *tr, uint32_t list);
/* Forget all nodes, and give their memory back. Lists that are still in use become invalid. */
void mz_wakeup_drop_all(struct mz_trace *tr);

#endif
