/* More threads than mazurka can follow: said in one line, not a wrong verdict. See threads_too_many.c.
 * EXPECT -DN=100 all incomplete
 */
#include <pthread.h>

#ifndef N
#define N 100
#endif

static void *work(void *arg) { return arg; }

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    return 0;
}
