/* A mutex that is initialised and destroyed at run time, on the heap.
 * EXPECT every verified 6
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t m;
    int money;
};

static void *pay(void *arg)
{
    struct account *a = arg;
    assert(pthread_mutex_lock(&a->m) == 0);
    a->money += 10;
    assert(pthread_mutex_unlock(&a->m) == 0);
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    struct account *a = malloc(sizeof *a);
    a->money = 0;
    assert(pthread_mutex_init(&a->m, NULL) == 0);
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, pay, a);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    assert(a->money == 30);
    assert(pthread_mutex_destroy(&a->m) == 0);
    free(a);
    return 0;
}
