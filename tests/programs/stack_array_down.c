/* A thread goes down an array on main's stack. Each new lowest element makes the search start over (runtime/loops/lent.c),
 * but not for every element.
 * EXPECT all verified 1
 * EXPECT --max-executions=1000 optimal verified 1
 */
#include <pthread.h>
#include <stddef.h>

#define N 20000

static void *down(void *arg)
{
    int *a = arg;
    for (int i = N - 1; i >= 0; i--) a[i]++;
    return NULL;
}

int main(void)
{
    pthread_t t;
    int a[N];
    for (int i = 0; i < N; i++) a[i] = i;
    pthread_create(&t, NULL, down, a);
    pthread_join(t, NULL);
    return a[N - 1] != N;
}
