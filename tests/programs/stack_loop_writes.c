/* A loop that waits and writes to a variable on its own stack, which another thread reads: the writes are seen,
 * so the rounds of the loop cannot be left out. The same with a global variable. Without states an execution of
 * it does not end.
 * EXPECT --max-steps=1000 every incomplete
 * EXPECT -O2 --max-steps=1000 all incomplete
 * EXPECT -j2 --max-steps=1000 optimal incomplete
 * EXPECT -DGLOBAL --max-steps=1000 every incomplete
 * EXPECT stateful error kind=assertion line=33
 * EXPECT s-por error kind=assertion line=33
 * EXPECT -DGLOBAL stateful error kind=assertion line=33
 * EXPECT -DONCE every verified
 * EXPECT -O2 -DONCE all verified
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int done;

static int look(const int *p)
{
    pthread_mutex_lock(&m);
    int value = *p;
    pthread_mutex_unlock(&m);
    return value;
}

static void *observer(void *argument)
{
    const int *p = argument;
    int a = look(p), b = look(p), c = look(p);
    assert(!(a == 1 && b == 0 && c == 1));
    atomic_store(&done, 1);
    return NULL;
}

static void set(int *p, int value)
{
    pthread_mutex_lock(&m);
    *p = value;
    pthread_mutex_unlock(&m);
}

int main(void)
{
#ifdef GLOBAL
    static
#endif
        int x;
    pthread_t t;
    x = 0;
    pthread_create(&t, NULL, observer, &x);
#ifdef ONCE
    set(&x, 1);
    set(&x, 0);
    while (!atomic_load(&done)) continue;
#else
    while (!atomic_load(&done)) {
        set(&x, 1);
        set(&x, 0);
    }
#endif
    pthread_join(t, NULL);
    return 0;
}
