#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include "h.h"
static atomic_int n;
static void *w(void *a) { n++; return a; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    n++;
    pthread_join(t, 0);
    assert(answer == 1);
    return 0;
}
