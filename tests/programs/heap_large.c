/* Large blocks in many executions: memory goes back every time.
 * EXPECT optimal verified 720
 * EXPECT source verified 720
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int x;

static void *work(void *arg)
{
    size_t size = 200000;
    char *p = malloc(size);
    assert(p);
    p[0] = p[size - 1] = (char)atomic_fetch_add(&x, 1);
    assert(p[0] == p[size - 1]);
    return arg; /* left behind on purpose */
}

int main(void)
{
    pthread_t t[6];
    for (int i = 0; i < 6; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 6; i++) pthread_join(t[i], NULL);
    assert(x == 6);
    return 0;
}
