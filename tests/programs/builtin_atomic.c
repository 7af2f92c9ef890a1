/* The __atomic builtins on ordinary variables of several sizes.
 * EXPECT every verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

static int winner;
static short half;
static long whole;
static bool flag;
static char *text;

static void *work(void *arg)
{
    int none = 0, me = *(int *)arg;
    if (__atomic_compare_exchange_n(&winner, &none, me, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&half, 7, __ATOMIC_RELEASE);
        assert(__atomic_add_fetch(&half, 1, __ATOMIC_RELAXED) == 8);
        assert(__atomic_exchange_n(&whole, 3L, __ATOMIC_SEQ_CST) == 0);
        assert(__atomic_fetch_sub(&whole, 1L, __ATOMIC_SEQ_CST) == 3);
        assert(!__atomic_test_and_set(&flag, __ATOMIC_SEQ_CST));
        assert(__atomic_test_and_set(&flag, __ATOMIC_SEQ_CST));
        __atomic_clear(&flag, __ATOMIC_SEQ_CST);
        char *hello = "hello", *got;
        __atomic_store(&text, &hello, __ATOMIC_SEQ_CST);
        __atomic_load(&text, &got, __ATOMIC_SEQ_CST);
        assert(got == hello);
    } else {
        assert(none == 3 - me);
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return NULL;
}

int main(void)
{
    static int id[2] = {1, 2};
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, &id[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    assert(__atomic_load_n(&half, __ATOMIC_SEQ_CST) == 8 && whole == 2 && !flag);
    return 0;
}
