/* The old __sync builtins.
 * EXPECT every verified 2
 */
#include <assert.h>
#include <pthread.h>

static int x, winner;

static void *work(void *arg)
{
    int me = *(int *)arg;
    __sync_synchronize();
    if (__sync_bool_compare_and_swap(&winner, 0, me)) {
        assert(__sync_fetch_and_add(&x, 5) == 0);
        assert(__sync_sub_and_fetch(&x, 2) == 3);
        assert(__sync_fetch_and_or(&x, 4) == 3);
        assert(__sync_and_and_fetch(&x, 5) == 5);
        assert(__sync_xor_and_fetch(&x, 1) == 4);
        assert(__sync_val_compare_and_swap(&x, 9, 1) == 4);
        assert(__sync_lock_test_and_set(&x, 8) == 4);
        __sync_lock_release(&x);
    }
    return NULL;
}

int main(void)
{
    static int id[2] = {1, 2};
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, &id[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    assert(x == 0 && winner != 0);
    return 0;
}
