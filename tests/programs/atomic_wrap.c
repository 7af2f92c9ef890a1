/* Small atomics wrap around in their own size and leave their neighbours alone.
 * EXPECT every verified 4
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic unsigned char byte[4] = {0, 255, 0, 0};
static _Atomic unsigned short half[2] = {65535, 7};

static void *add(void *arg)
{
    atomic_fetch_add(&byte[1], 1);
    atomic_fetch_add(&half[0], 2);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, add, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(byte[0] == 0 && byte[1] == 1 && byte[2] == 0 && byte[3] == 0);
    assert(half[0] == 3 && half[1] == 7);
    return 0;
}
