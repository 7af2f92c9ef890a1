/* Two of N threads take two locks in opposite orders, once, among R other critical sections each. Depth 2. */
#include "bugs.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void both(pthread_mutex_t *first, pthread_mutex_t *second)
{
    pthread_mutex_lock(first), pthread_mutex_lock(second);
    x++;
    pthread_mutex_unlock(second), pthread_mutex_unlock(first);
}

static void *work(void *arg)
{
    intptr_t me = (intptr_t)arg;
    for (int i = 0; i < R; i++) {
        if (i == R / 2 && me == 0) both(&a, &b);
        if (i == R / 2 && me == 1) both(&b, &a);
        pthread_mutex_lock(&a), x++, pthread_mutex_unlock(&a);
    }
    return arg;
}

int main(void)
{
    run(N, work);
    return 0;
}
