/* How mutexes and condition variables look inside program memory. Private to the pthread files. */
#ifndef MZ_RUNTIME_PTHREAD_OBJECTS_H
#define MZ_RUNTIME_PTHREAD_OBJECTS_H

#include "runtime.h"

struct mz_mutex {
    uint32_t owner; /* slot + 1; 0: free */
    uint32_t depth;
    uint64_t waiters;
    int32_t kind;
    uint32_t unused;
};

struct mz_cond {
    uint64_t waiters;   /* threads that wait and have not been woken */
    uint64_t signalers; /* threads whose pending operation is to signal it: their choice is among waiters */
};

void mz_mutex_post(struct mz_mutex *m, int slot, const void *pc);
void mz_mutex_take(struct mz_mutex *m);
void mz_mutex_give(struct mz_mutex *m, const void *pc, const void *frame);

#endif
