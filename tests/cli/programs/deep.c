#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int n, m;
static void *w(void *a) { m++; return a; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    for (int i = 0; i < 300; i++) n++;
    pthread_join(t, 0);
    assert(n == 0);
    return 0;
}
