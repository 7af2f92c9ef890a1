/* The kernel's state for the program, as a part of the identity of a state: see kernel_state.c. */
#ifndef MZ_RUNTIME_KERNEL_KERNEL_STATE_H
#define MZ_RUNTIME_KERNEL_KERNEL_STATE_H

#include "runtime/kernel/kernel.h"

/* Does this file know the effect of the call, which is about to be made? Then mz_kernel_state_after() must
 * follow. */
bool mz_kernel_state_knows(const struct mz_call *call);
void mz_kernel_state_after(const struct mz_call *call, long result);
void mz_kernel_state_unknown(void); /* A call has an unknown effect: the state is unique. */
void mz_kernel_state_reset(void);   /* An execution begins from the start. */
void mz_kernel_state_each(void (*write)(const void *p, size_t size));

#endif
