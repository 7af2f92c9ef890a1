/* A loop waits for a flag that nobody sets, in a thread on whose stack another one writes, to another variable: the
 * thread never comes back to the local state in which it was stopped, but goes round for ever all the same.
 * EXPECT all error kind=livelock thread=0
 * EXPECT -DPOLL all error kind=livelock thread=0
 * EXPECT -DSET all verified
 * EXPECT -DPOLL -DSET all verified
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct shared {
    _Atomic int flag, other;
};
#ifdef POLL
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *writes(void *arg)
{
    struct shared *s = arg;
    atomic_exchange(&s->other, 1);
    atomic_store(&s->other, 7);
#ifdef SET
    atomic_store(&s->flag, 1);
#endif
    return NULL;
}

static int is_set(struct shared *s)
{
#ifdef POLL
    pthread_mutex_lock(&m);
    int set = atomic_load(&s->flag);
    pthread_mutex_unlock(&m);
    return set;
#else
    return atomic_load(&s->flag);
#endif
}

int main(void)
{
    struct shared s;
    memset(&s, 0, sizeof s);
    pthread_t t;
    pthread_create(&t, NULL, writes, &s);
    while (!is_set(&s)) {
    }
    pthread_join(t, NULL);
    return 0;
}
