/* Changes to a model that keep it valid: for the generator and for shrinking. */
#ifndef MZ_RANDOM_EDIT_H
#define MZ_RANDOM_EDIT_H

#include "model/model.h"

void mz_edit_remove_op(struct mz_model *m, int thread, int index);
/* Remove a thread and every spawn and join of it; the threads after it move up. */
void mz_edit_remove_thread(struct mz_model *m, int thread);
/* Open the loops that rule M1 does not allow. */
void mz_edit_repair(struct mz_model *m);
/* Remove the objects that no operation names; the objects after them move up. */
void mz_edit_remove_unused(struct mz_model *m);
int mz_edit_size(const struct mz_model *m); /* operations in all */

#endif
