#include <mazurka.h>
#include <pthread.h>
#include <stdatomic.h>
#ifndef __MAZURKA__
#error not defined
#endif
static atomic_int n;
static void *w(void *a) { n++; return a; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    int v = (int)mz_choose(3);
    n += v;
    pthread_join(t, 0);
    mz_assert(n < 3);
    return 0;
}
