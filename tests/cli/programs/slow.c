#include <pthread.h>
static void *w(void *a)
{
    for (volatile long k = 0; k < 4000000000000; k++) { }
    return a;
}
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); pthread_join(t, 0); return 0; }
