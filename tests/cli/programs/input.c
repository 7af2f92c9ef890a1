#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_int n;
static void *w(void *a) { atomic_fetch_add(&n, 1); return a; }
int main(void)
{
    pthread_t t;
    int number;
    assert(scanf("%d", &number) == 1 && number == 42);
    pthread_create(&t, 0, w, 0);
    atomic_fetch_add(&n, 1);
    pthread_join(t, 0);
    return 0;
}
