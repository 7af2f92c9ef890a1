/* Which waiter a signal wakes is not defined: both must be tried. Each assertion fails for one of the two.
 * EXPECT -DWHO=0 all error kind=assertion
 * EXPECT -DWHO=1 all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>

#ifndef WHO
#define WHO 0
#endif

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER, arrived = PTHREAD_COND_INITIALIZER;
static int waiting, go, woken;
static int id[2] = {0, 1};

static void *waiter(void *arg)
{
    pthread_mutex_lock(&m);
    waiting++;
    pthread_cond_signal(&arrived);
    while (!go) pthread_cond_wait(&c, &m);
    if (woken++ == 0) assert(*(int *)arg != WHO);
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, waiter, &id[i]);
    pthread_mutex_lock(&m);
    while (waiting < 2) pthread_cond_wait(&arrived, &m);
    go = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    return 0;
}
