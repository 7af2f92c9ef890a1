/* A third way to count classes, straight from the definition and without clocks or canonical forms: write
 * down all interleavings, join any two that differ by a swap of two adjacent independent steps, and count the
 * groups. Only for tiny programs; it checks the oracle's happens-before relation. */
#ifndef MZ_RANDOM_SWAP_H
#define MZ_RANDOM_SWAP_H

#include "machine.h"

#define MZ_SWAP_MAX   4096 /* interleavings */
#define MZ_SWAP_STEPS 64   /* of one */

enum mz_swap_answer {
    MZ_SWAP_DONE,
    MZ_SWAP_TOO_LARGE,
    MZ_SWAP_WRONG /* a swap of independent steps is not possible, or leads elsewhere */
};

/* *classes is set if the answer is DONE. sections: as the oracle found. */
enum mz_swap_answer mz_swap_classes(const struct mz_model *m, bool sections, uint32_t max, uint32_t *classes);

#endif
