/* Changes to a model that keep it valid: for the generator and for shrinking. */
#ifndef MZ_RANDOM_EDIT_H
#define MZ_RANDOM_EDIT_H

#include "model/model.h"

void mz_edit_remove_op(struct mz_model *m, int thread, int index);
/* With every spawn and join of it; threads after it move up. */
void mz_edit_remove_thread(struct mz_model *m, int thread);
/* Loops that M1 does not allow are opened. */
void mz_edit_repair(struct mz_model *m);
/* Objects that nothing names go; those after them move up. */
void mz_edit_remove_unused(struct mz_model *m);
int mz_edit_size(const struct mz_model *m); /* operations in all */

#endif
