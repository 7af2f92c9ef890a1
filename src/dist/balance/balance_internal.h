/* Private to src/dist/balance: tree.c (nodes and branches), hand_out.c (tasks), balance.c (messages),
 * estimate.c (progress), save.c, samples.c (samples, which have no tree).
 *
 * The tree. A node has branches, in an order that never changes; new ones come last. A branch is
 *
 *   WAITING  to be handed out; has not been explored, or has to be explored again
 *   BUSY     held by a worker
 *   OPEN     a node of the balancer, with branches that are not all DONE
 *   DONE     explored to its end. If a sequence is inserted at its node, the branch becomes OPEN again
 *
 * A branch is either a part, which is what workers explore (part: true), or an inner branch of the wakeup tree.
 * With backtrack sets all branches are parts, and a branch that has not been explored is only a thread (choice
 * MZ_ANY): it is resolved when a worker explores it. Above the root is an artificial node, whose only branch is
 * the whole search.
 *
 * Invariants
 *  B1  Below a branch all branches before it at its node are asleep, whether they are DONE or not.
 *  B2  The sleep set of a node when it is entered follows from the branches on the way to it, and never changes. It is
 *      computed when it is needed, and kept (node.asleep): most nodes never need it.
 *  B3  When all branches of a node are DONE, the branch that leads to the node becomes DONE. The node is dropped when
 *      also all branches before that one, at its node and at the nodes above, are DONE: then nothing can be inserted
 *      there any more.
 *  B4  While a branch is only a thread, no branch behind it at its node has been handed out. So when it is resolved,
 *      its choices can take its place.
 *  B5  A node is in the list of its depth if it has branches that are WAITING. */
#ifndef MZ_DIST_BALANCE_BALANCE_INTERNAL_H
#define MZ_DIST_BALANCE_BALANCE_INTERNAL_H

#include "trace/wire.h"
#include "dist/balance/balance.h"

#define MZ_NONE UINT32_MAX

enum mz_branch_state { MZ_BRANCH_DONE, MZ_BRANCH_BUSY, MZ_BRANCH_WAITING, MZ_BRANCH_OPEN };

struct mz_branch {
    struct mz_elem elem;
    uint8_t state; /* enum mz_branch_state */
    bool part;
    uint32_t worker; /* BUSY */
    uint32_t node;   /* MZ_NONE: none */
    uint64_t leaves; /* reported executions below it, also those blocked or cut; see estimate.c */
};

struct mz_tree_node {
    uint32_t parent, branch; /* the branch of the parent that leads here */
    uint32_t depth;          /* steps before it; MZ_NONE: above the root */
    struct mz_branch *branches;
    uint32_t count, capacity;
    uint32_t undone, waiting; /* branches that are not DONE; that are WAITING */
    uint32_t below;           /* branches that are WAITING here and at all nodes below */
    struct mz_elem *asleep;
    uint32_t asleep_count; /* MZ_NONE: not computed yet */
    uint64_t threads;      /* those of all branches, and those left out because they are asleep */
    /* the number of branches, from the first one on, that are DONE for good and have no node */
    uint32_t pruned;
    uint32_t next, previous; /* B5: lists are circles */
    bool used;
};

struct mz_spot {
    uint32_t node, branch;
};

struct mz_held { /* the parts that a worker holds, in order */
    struct mz_spot *parts;
    uint32_t count, room;
    uint32_t done;       /* the number of parts that are DONE */
    uint64_t executions; /* that it has reported, ever */
    uint64_t leaves;     /* the same, also those blocked or cut */
};

struct mz_balance {
    struct mz_trace trace; /* never has events: for objects, sequences, wakeup trees */
    bool backtrack_sets;   /* not optimal: branches are steps of threads, there are no trees */
    bool sleep_sets;
    bool whole;       /* a stateful search: see whole.c */
    bool done;        /* it is complete */
    uint32_t workers; /* the expected number of workers */
    uint32_t telling; /* see mz_balance_tell() */
    struct mz_tree_node *nodes;
    uint32_t count, capacity, first_free;
    uint64_t bytes;       /* memory of all nodes besides their structs */
    uint32_t *lists;      /* B5: for each depth, from above the root on, 1 + the first node; 0: none */
    uint32_t listed;      /* nodes in all lists */
    uint32_t shallowest;  /* the lists before this one are empty */
    struct mz_held *held; /* for each worker */
    uint8_t *knowledge;   /* of the runtime */
    size_t knowledge_size;
    bool known;                  /* there is knowledge */
    struct mz_spot *path, *walk; /* scratch */
    struct mz_elem *asleep;      /* scratch */
    uint32_t asleep_room;
    struct mz_balance_counts counts;
    struct mz_samples *samples; /* NULL: it is a search, not a sample */
};

/* tree.c */
void *mz_grow(void *p, size_t bytes);
static inline struct mz_branch *mz_branch_at(struct mz_balance *b, struct mz_spot p)
{
    return &b->nodes[p.node].branches[p.branch];
}
void mz_tree_begin(struct mz_balance *b); /* a tree of one branch, WAITING: the whole search */
void mz_tree_clear(struct mz_balance *b);
/* Make a node at the end of the branch. */
uint32_t mz_tree_node(struct mz_balance *b, struct mz_spot p);
/* Make room for `more` branches, which are all that are expected. */
void mz_tree_reserve(struct mz_balance *b, uint32_t node, uint32_t more);
/* Add a branch behind all others of the node; return its number. */
uint32_t mz_tree_branch(struct mz_balance *b, uint32_t node, struct mz_elem elem, enum mz_branch_state state);
/* The same, right behind branch p, where nothing has been handed out (B4). */
void mz_tree_branch_behind(struct mz_balance *b, struct mz_spot p, struct mz_elem elem);
void mz_tree_state(struct mz_balance *b, struct mz_spot p, enum mz_branch_state state);
/* With backtrack sets: is all that the thread could do at the node asleep when it is entered? */
bool mz_tree_asleep(struct mz_balance *b, uint32_t node, uint8_t thread);
void mz_tree_prune(struct mz_balance *b);
/* Add the branches of a wakeup tree to the node, to be handed out leaf by leaf. The list is used up. */
void mz_tree_add(struct mz_balance *b, uint32_t node, uint32_t *list);
/* Insert trace.sequence at the node of `from`, for a race found below that branch. Put the branches from
 * there down to the leaf that answers the race into b->path; return their number. */
uint32_t mz_tree_insert(struct mz_balance *b, struct mz_spot from);

/* hand_out.c */
void mz_balance_hold(struct mz_balance *b, uint32_t worker, struct mz_spot p); /* give it one more part */
void mz_balance_put_answer(struct mz_balance *b, struct mz_message *m, uint32_t length);

/* samples.c: of a sample, these take the place of the functions of the same name */
void mz_samples_free(struct mz_balance *b);
void mz_samples_reuse(struct mz_balance *b);
bool mz_samples_task(struct mz_balance *b, uint32_t worker, bool is_new, struct mz_message *task);
enum mz_heard mz_samples_hear(struct mz_balance *b, uint32_t worker, struct mz_message *m);
void mz_samples_lost(struct mz_balance *b, uint32_t worker);
bool mz_samples_holds(const struct mz_balance *b, uint32_t worker);
void mz_samples_save(struct mz_balance *b, struct mz_message *m);
bool mz_samples_load(struct mz_balance *b, struct mz_message *m);
/* whole.c */
bool mz_whole_task(struct mz_balance *b, uint32_t worker, struct mz_message *task);
enum mz_heard mz_whole_hear(struct mz_balance *b, uint32_t worker, struct mz_message *m);
void mz_whole_lost(struct mz_balance *b, uint32_t worker);
void mz_whole_save(struct mz_balance *b, struct mz_message *m);
bool mz_whole_load(struct mz_balance *b, struct mz_message *m);

/* balance.c */
void mz_balance_put_knowledge(struct mz_balance *b, struct mz_message *m);
void mz_balance_get_knowledge(struct mz_balance *b, struct mz_message *m);

#endif
