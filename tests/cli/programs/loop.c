#include <pthread.h>
static void *w(void *a)
{
    volatile int k = 1;
    while (k)
        ;
    return a;
}
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); pthread_join(t, 0); return 0; }
