/* Steps that write more than fits into small tables: states are recognised all the same. Two threads
 * that have nothing to do with each other, three operations each: 16 states and the end.
 * EXPECT stateful verified states=17
 * EXPECT --backtrack=checkpoint stateful verified states=17
 * EXPECT --state-match=exact stateful verified states=17
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static char memory[512 << 10];
static _Atomic int x, y;

static void *writer(void *arg)
{
    for (int i = 0; i < 3; i++) {
        atomic_fetch_add(&x, 1);
        memset(memory, i + 1, sizeof memory);
    }
    return arg;
}

static void *counter(void *arg)
{
    for (int i = 0; i < 3; i++) atomic_fetch_add(&y, 1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, counter, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
