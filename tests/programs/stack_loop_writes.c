/* A loop that waits and writes to a variable on its own stack, which another thread reads: the writes are seen,
 * so the rounds of the loop cannot be left out. The same with a global variable. Without states an execution of
 * it does not end; the search then follows the loop for three rounds (runtime/loops/rounds.c).
 * EXPECT all error kind=assertion line=36
 * EXPECT none error kind=assertion line=36
 * EXPECT -j2 optimal error kind=assertion line=36
 * EXPECT -DGLOBAL all error kind=assertion line=36
 * EXPECT -DHARMLESS all incomplete search=stateless says=rounds
 * EXPECT -DHARMLESS -j2 optimal incomplete says=rounds
 * EXPECT -DHARMLESS stateful verified
 * EXPECT -DHARMLESS s-por verified
 * EXPECT -DONCE every verified
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
#ifdef HARMLESS
    assert(a + b + c <= 3);
#else
    assert(!(a == 1 && b == 0 && c == 1));
#endif
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
