#include <pthread.h>
static int n;
static void *w(void *a) { __asm__ volatile("lock incl %0" : "+m"(n)); return a; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    pthread_join(t, 0);
    return 0;
}
