/* Our own memory: see own.c. Private to src/runtime. */
#ifndef MZ_RUNTIME_OWN_H
#define MZ_RUNTIME_OWN_H

#include <stdbool.h>
#include <stdint.h>

void mz_own_init(void);
bool mz_own_contains(uint64_t address);
void mz_own_check(void);                          /* the search is complete: is it still whole? */
void mz_our_data(uint64_t *start, uint64_t *end); /* start.c: the variables of our library */

#endif
