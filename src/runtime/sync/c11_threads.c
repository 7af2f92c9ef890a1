/* C11 <threads.h>: the objects and operations of POSIX threads under other names, with other return values.
 * The program calls these functions. */
#define _GNU_SOURCE
#include "runtime/core/runtime.h"
#include "runtime/sync/sync.h"

#include <errno.h>
#include <pthread.h>
#include <threads.h>

_Static_assert(sizeof(struct mz_mutex) <= sizeof(mtx_t), "a mutex must fit");
_Static_assert(sizeof(struct mz_cond) <= sizeof(cnd_t), "a condition variable must fit");

static struct mz_mutex *mutex_of(mtx_t *m) { return (struct mz_mutex *)(void *)m; }
static struct mz_cond *cond_of(cnd_t *c) { return (struct mz_cond *)(void *)c; }

static int answer(int error)
{
    switch (error) {
    case 0:
        return thrd_success;
    case ENOMEM:
        return thrd_nomem;
    case ETIMEDOUT:
        return thrd_timedout;
    case EBUSY:
        return thrd_busy;
    default:
        return thrd_error;
    }
}

/* ---- threads ---- */

static void *run(void *start)
{
    /* `start` points into the frame of thrd_create, which has not returned yet while this line runs. */
    struct {
        thrd_start_t function;
        void *argument;
    } call = {*(thrd_start_t *)start, ((void **)start)[1]};
    rt.channel->threads[rt.self].start = (uintptr_t)call.function; /* reports name the thread after this
                                                                    * function */
    return (void *)(intptr_t)call.function(call.argument);
}

MZ_EXPORT int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    struct {
        thrd_start_t function;
        void *argument;
    } call = {function, argument};
    return answer(mz_thread_create((uint64_t *)thread, NULL, run, &call, MZ_PC(), MZ_FRAME()));
}
MZ_EXPORT int thrd_join(thrd_t thread, int *result)
{
    void *value = NULL;
    int error = mz_thread_join((uint64_t)thread, &value, MZ_PC(), MZ_FRAME());
    if (!error && result) {
        mz_object_written(result, sizeof *result, MZ_PC(), MZ_FRAME());
        *result = (int)(intptr_t)value;
    }
    return answer(error);
}
MZ_EXPORT int thrd_detach(thrd_t thread) { return answer(pthread_detach((pthread_t)thread)); }
MZ_EXPORT _Noreturn void thrd_exit(int result) { mz_thread_exit((void *)(intptr_t)result); }
MZ_EXPORT int thrd_sleep(const struct timespec *t, struct timespec *left)
{
    return nanosleep(t, left) ? -2 : 0; /* -1 would mean: interrupted by a signal */
}
MZ_EXPORT void thrd_yield(void) { sched_yield(); }

/* ---- mutexes ---- */

MZ_EXPORT int mtx_init(mtx_t *mutex, int type)
{
    mz_object_written(mutex, sizeof *mutex, MZ_PC(), MZ_FRAME());
    *mutex_of(mutex) =
        (struct mz_mutex){.kind = type & mtx_recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL};
    return thrd_success;
}
MZ_EXPORT void mtx_destroy(mtx_t *mutex) { pthread_mutex_destroy((pthread_mutex_t *)(void *)mutex); }
MZ_EXPORT int mtx_lock(mtx_t *mutex) { return answer(mz_mutex_lock(mutex_of(mutex), MZ_PC(), MZ_FRAME())); }
MZ_EXPORT int mtx_trylock(mtx_t *mutex)
{
    return answer(mz_mutex_try(mutex_of(mutex), EBUSY, MZ_PC(), MZ_FRAME()));
}
MZ_EXPORT int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict until)
{
    if (!mz_time_is_valid(until)) return thrd_error;
    int error = mz_mutex_try(mutex_of(mutex), ETIMEDOUT, MZ_PC(), MZ_FRAME());
    if (error == ETIMEDOUT) mz_time_passes_to(until, MZ_PC());
    return answer(error);
}
MZ_EXPORT int mtx_unlock(mtx_t *mutex)
{
    return answer(mz_mutex_unlock(mutex_of(mutex), MZ_PC(), MZ_FRAME()));
}

/* ---- condition variables ---- */

MZ_EXPORT int cnd_init(cnd_t *cond)
{
    mz_object_written(cond, sizeof *cond, MZ_PC(), MZ_FRAME());
    *cond_of(cond) = (struct mz_cond){0, 0, 0};
    return thrd_success;
}
MZ_EXPORT void cnd_destroy(cnd_t *cond) { pthread_cond_destroy((pthread_cond_t *)(void *)cond); }
MZ_EXPORT int cnd_signal(cnd_t *cond) { return answer(mz_cond_signal(cond_of(cond), MZ_PC(), MZ_FRAME())); }
MZ_EXPORT int cnd_broadcast(cnd_t *cond)
{
    return answer(mz_cond_broadcast(cond_of(cond), MZ_PC(), MZ_FRAME()));
}
MZ_EXPORT int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
    return answer(mz_cond_wait(cond_of(cond), mutex_of(mutex), false, NULL, MZ_PC(), MZ_FRAME()));
}
MZ_EXPORT int cnd_timedwait(cnd_t *restrict cond, mtx_t *restrict mutex,
                            const struct timespec *restrict until)
{
    return answer(mz_cond_wait(cond_of(cond), mutex_of(mutex), true, until, MZ_PC(), MZ_FRAME()));
}

/* ---- once, thread-specific storage ---- */

MZ_EXPORT void call_once(once_flag *flag, void (*function)(void))
{
    mz_once((uint32_t *)(void *)flag, function, MZ_PC(), MZ_FRAME());
}
MZ_EXPORT int tss_create(tss_t *key, tss_dtor_t destructor)
{
    return answer(pthread_key_create((pthread_key_t *)key, destructor));
}
MZ_EXPORT void tss_delete(tss_t key) { pthread_key_delete((pthread_key_t)key); }
MZ_EXPORT void *tss_get(tss_t key) { return pthread_getspecific((pthread_key_t)key); }
MZ_EXPORT int tss_set(tss_t key, void *value)
{
    return answer(pthread_setspecific((pthread_key_t)key, value));
}
