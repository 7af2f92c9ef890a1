#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifndef N
#define N 5
#endif
static atomic_int a_counter_with_a_rather_long_name_for_one_column;
static void *worker_of_the_many_threads_test(void *arg)
{
    int old = atomic_fetch_add(&a_counter_with_a_rather_long_name_for_one_column, 1);
    for (int i = 0; i < 3; i++) atomic_load(&a_counter_with_a_rather_long_name_for_one_column);
    assert(old < N - 1);
    return arg;
}
int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) pthread_create(&t[i], 0, worker_of_the_many_threads_test, 0);
    for (int i = 0; i < N; i++) pthread_join(t[i], 0);
    return 0;
}
