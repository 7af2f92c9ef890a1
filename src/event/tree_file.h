/* The file that a search is recorded into (src/engine/record_tree.c writes it, tools/simulate reads it).
 *
 *   head    MZ_TREE_MAGIC, then one byte each: MZ_TREE_VERSION, enum mz_algorithm, sleep sets, eager updates
 *   then, for each execution, in the order of the search, numbers as LEB128:
 *     new steps * 4 + enum mz_tree_ending
 *     the node where it branches off: the number of steps that it shares with the execution before it
 *     optimal: how many wakeup nodes it has made
 *     not for the first one:
 *       optimal     the number of steps it is led by the wakeup tree; the age of the leaf it is led to
 *       backtrack   the thread that it branches off with
 *     how many branches were asked for, and for each
 *       the steps from its node to the end of the execution
 *       optimal     the age of the leaf that answers for it
 *       backtrack   the thread that answers for it
 *   end     MZ_TREE_END, then executions, blocked, cut, transitions; eight bytes: mz_tree_sum of all before
 *
 * Wakeup nodes are numbered as they are made; the age of one is the number of the newest, when this execution
 * has ended, less its own. What is asked for is a branch, old or new, that the races of this execution call
 * for at a node of its path, unless what is asleep there stands for it:
 *
 *   optimal     once for each branch that the node is being explored through;
 *   backtrack   once for each path: what the events that are shared with the execution before have asked for
 *               is not repeated. */
#ifndef MZ_EVENT_TREE_FILE_H
#define MZ_EVENT_TREE_FILE_H

#include <stddef.h>
#include <stdint.h>

#define MZ_TREE_MAGIC    "mazurka tree\n"
#define MZ_CLASSES_MAGIC "# mazurka classes 1\n" /* of --classes: text, see engine/record_classes.c */
#define MZ_TREE_VERSION  1
#define MZ_TREE_HEAD     (sizeof MZ_TREE_MAGIC - 1 + 4)

enum mz_tree_ending { MZ_TREE_COMPLETE, MZ_TREE_BLOCKED, MZ_TREE_CUT, MZ_TREE_END };

#define MZ_TREE_SUM UINT64_C(0xcbf29ce484222325) /* of nothing */
static inline uint64_t mz_tree_sum(uint64_t sum, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

#endif
