/* A limit on executions: incomplete if it was reached before the end, verified if not.
 * EXPECT --max-executions=10 all incomplete
 * EXPECT --max-executions=100 optimal verified 24
 */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    return 0;
}
