/* 2008, Fig. 1: two threads that add to and take from one variable in loops. There are more interleavings
 * than could ever be run, but only 14 * 33 states where no thread is inside of its critical section, and the
 * end. The paper's tool makes 35 runs of 2,084 transitions.
 * EXPECT stateful verified states=463 transitions=878
 * EXPECT s-por verified states=463
 * EXPECT de-s-por verified states=463
 * EXPECT dl-s-por verified states=463
 * EXPECT sdpor verified states=463 transitions=878 revisited=416
 * EXPECT --state-match=exact stateful verified states=463
 * EXPECT --state-capture=delta stateful verified states=464
 * EXPECT --backtrack=rerun sdpor verified states=463 transitions=878
 * EXPECT --backtrack=checkpoint sdpor verified states=463 transitions=878
 * EXPECT -DCHECK stateful error kind=assertion
 * EXPECT -DCHECK sdpor error kind=assertion
 * EXPECT -DN=12 every verified
 */
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 64
#endif

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int d;

static void *thread1(void *arg)
{
    for (int i = 0; i < N; i += 5) {
        pthread_mutex_lock(&m);
        d = d + i;
#ifdef CHECK
        assert(d % 5 != 4);
#endif
        pthread_mutex_unlock(&m);
    }
    return arg;
}

static void *thread2(void *arg)
{
    for (int j = 0; j < N; j += 2) {
        pthread_mutex_lock(&m);
        d = d - j;
#ifdef CHECK
        assert(d % 5 != 4);
#endif
        pthread_mutex_unlock(&m);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, thread1, NULL);
    pthread_create(&b, NULL, thread2, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
