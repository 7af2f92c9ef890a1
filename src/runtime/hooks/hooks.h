/* Functions of the hooks that other folders of the runtime call. */
#ifndef MZ_RUNTIME_HOOKS_HOOKS_H
#define MZ_RUNTIME_HOOKS_HOOKS_H

#include "runtime/core/runtime.h"

/* atomic.c: the pending atomic access of the running thread has been performed. It read `old` and left `new`
 * in the cell. */
void mz_atomic_happened(uint8_t op, const volatile void *a, unsigned size, int order, enum mz_access access,
                        uint64_t old, uint64_t new);

/* plugin.c: an atomic instruction on p, which no hook shows, follows in libc or a library like it. A visible operation. */
void mz_atomic_instruction(void *p, size_t size, void *pc, const void *frame);

void mz_strings_reset(void); /* string.c */

/* core/notes.c: report the accesses without hooks. Return true if our plug-in compiled code of the module. */
bool mz_notes_read(const void *notes, size_t size);

/* mazurka_api.c: choose any of 0 .. n-1, by one operation or several */
uint64_t mz_choose_of(uint64_t n, const void *pc, const void *frame);

#endif
