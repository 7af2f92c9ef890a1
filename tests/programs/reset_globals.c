/* Every execution starts from the initial values: data, bss, statics in functions, a large array.
 * EXPECT every verified 6
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int counter = 5, zero;
static struct {
    const char *name;
    double number;
} record = {"initial", 1.5};
static char large[1 << 20];
static _Atomic int x;

static int local_static(void)
{
    static int calls = 3;
    return ++calls;
}

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t t[3];
    assert(counter == 5 && zero == 0 && record.number == 1.5 && record.name[0] == 'i');
    assert(local_static() == 4 && local_static() == 5);
    for (int i = 0; i < (1 << 20); i += 4096) assert(large[i] == 0);
    for (int i = 0; i < (1 << 20); i += 4096) large[i] = 1;
    counter = 0, zero = 1, record.number = 0, record.name = "changed";
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    assert(x == 3);
    return 0;
}
