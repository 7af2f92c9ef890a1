/* Floating point and vector registers survive a change of thread.
 * EXPECT every verified 20
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;

static void *work(void *arg)
{
    double a = *(double *)arg, sum = 0;
    long double l = a;
    for (int i = 0; i < 3; i++) {
        sum += a * a;
        l *= 2;
        atomic_fetch_add(&x, 1);
    }
    assert(sum == 3 * a * a && l == 8 * (long double)a);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    static double number[2] = {1.5, 2.25};
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, &number[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    return 0;
}
