/* strerror's buffer for unknown numbers comes from the heap and belongs to libc: each execution has a new
 * one.
 * EXPECT every verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static _Atomic int x;

static void *work(void *arg)
{
    assert(!strcmp(strerror(12345), "Unknown error 12345"));
    assert(!strcmp(strerror(54321), "Unknown error 54321"));
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    work(NULL);
    pthread_join(t, NULL);
    return 0;
}
