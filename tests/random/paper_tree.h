/* Wakeup trees as section 6 of the paper (2017) defines them, on the words of paper.h. */
#ifndef MZ_RANDOM_PAPER_TREE_H
#define MZ_RANDOM_PAPER_TREE_H

#include "paper.h"

struct paper_tree { /* a node of an ordered tree; the root's step means nothing */
    paper_step step;
    struct paper_tree *child, *sibling; /* in their order */
};

struct paper_tree *paper_tree_new(paper_step p);
void paper_tree_free(struct paper_tree *t); /* with its siblings */
struct paper_tree *paper_tree_copy_children(const struct paper_tree *t);

/* The smallest node v of the tree, in post-order, with v ~ w; s is the state at the root. `way` must be empty, and is v
 * afterwards. The root always is such a node. */
struct paper_tree *paper_tree_smallest(struct mz_machine *k, const struct mz_machine_state *s,
                                       struct paper_tree *t, struct paper_sequence *way,
                                       const struct paper_sequence *w);
/* Definition 6.1 for one leaf, at the end of `way`: a wakeup tree after <E, sleep>. */
bool paper_tree_is_good_leaf(struct mz_machine *k, const struct mz_machine_state *s,
                             const struct paper_sequence *sleep, const struct paper_tree *t,
                             const struct paper_sequence *way);
/* Definition 6.1 for all leaves, each of which must be an execution sequence after s. */
bool paper_tree_is_good(struct mz_machine *k, const struct mz_machine_state *s,
                        const struct paper_sequence *sleep, const struct paper_tree *t);
/* Section 6.2, property (3): is there a leaf u with u ~ w? */
bool paper_tree_has_leaf_for(struct mz_machine *k, const struct mz_machine_state *s,
                             const struct paper_tree *t, const struct paper_sequence *w);

#endif
